"""Pairs of packs, with a fault and without it: what `satchel check` says of them."""

import os
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.faults.fault import Fault, Pack
from benchmarks.faults.not_found import NOT_FOUND, all_faults
from benchmarks.faults.outcomes import FOUND, NOTED, SILENT, judge
from benchmarks.faults.reports import Report, Said, kind_of, level_of
from benchmarks.faults.subjects import NOT_OURS, SUBJECTS, unknown
from satchel_lab._pages import read_page
from satchel_lab.checking import check

FAULTS = all_faults()
# Their files take a second to write; tests/functional/test_hostile.py has them too.
HEAVY = {"many-files", "body-20mb", "frontmatter-10mb"}


def said(pack: Pack, folder: Path) -> Said:
    library = folder / "library" / "skills"
    library.mkdir(parents=True)
    pack.write(library)
    findings = check([str(library / pack.folder)]).findings
    return Said(
        frozenset(
            Report(finding.code, level_of(finding.severity)) for finding in findings
        )
    )


def ids(fault: Fault) -> str:
    return f"{fault.row}-{fault.id}"


@pytest.mark.row("A29", "A30", "E02")
@pytest.mark.skipif(os.name == "nt", reason="many of these packs need POSIX")
@pytest.mark.parametrize(
    "fault", [item for item in FAULTS if item.id not in HEAVY], ids=ids
)
def test_it_is_found_or_known_to_be_missed(fault: Fault, tmp_path: Path) -> None:
    outcome = judge(said(fault.bad, tmp_path / "1"), said(fault.good, tmp_path / "2"))

    if fault.id in NOT_FOUND or fault.harmless:
        assert (outcome.mark, outcome.kinds) == (SILENT, ())
    else:
        assert outcome.mark in {FOUND, NOTED}


def test_each_has_a_name_of_its_own() -> None:
    """Those that share a library must not share a folder."""
    for which in ("bad", "good"):
        folders = Counter(getattr(f, which).folder for f in FAULTS if not f.alone)

        assert [name for name, count in folders.items() if count > 1] == []
    assert len({fault.id for fault in FAULTS}) == len(FAULTS)
    assert set(NOT_FOUND) <= {fault.id for fault in FAULTS}


def test_the_twin_differs() -> None:
    same = {
        one.id
        for one in FAULTS
        if (one.bad.folder, one.bad.files) == (one.good.folder, one.good.files)
        and not one.alone
    }

    assert same == {"01-plain", "03-block", "18-symlink", "21-quotedcolon"}


def test_our_codes_next_to_those_of_peers_have_pages() -> None:
    codes = {code for ours in SUBJECTS.values() for code in ours}

    assert [code for code in sorted(codes) if not read_page(code)] == []
    assert list(unknown([*SUBJECTS, *NOT_OURS, ("agnix", "X-1")])) == [("agnix", "X-1")]


@pytest.mark.parametrize(
    ("bad", "good", "mark"),
    [
        ({("a", "error")}, set[tuple[str, str]](), FOUND),
        ({("a", "error")}, {("a", "error")}, SILENT),
        ({("a", "note")}, set[tuple[str, str]](), NOTED),
        ({("a", "warning"), ("b", "note")}, {("c", "error")}, FOUND),
    ],
    ids=["error", "both", "note", "warning"],
)
def test_only_what_the_twin_has_not_counts(
    bad: set[tuple[str, str]], good: set[tuple[str, str]], mark: str
) -> None:
    def of(reports: set[tuple[str, str]]) -> Said:
        return Said(frozenset(Report(kind, level_of(word)) for kind, word in reports))

    assert judge(of(bad), of(good)).mark == mark
    assert judge(Said(failed="hang"), of(good)).mark == "hang"


def test_a_kind_has_no_names_and_numbers() -> None:
    one = kind_of("Directory name 'pdf' must match 'forms' (3 chars) in /tmp/a/b")
    other = kind_of("Directory name 'doc' must match 'x' (12 chars) in /tmp/c")

    assert one == other == "Directory name … must match … (N chars) in PATH"
