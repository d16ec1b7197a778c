"""Pairs of packs, with a fault and without it: what `satchel check` says of them."""

import os
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.faults.fault import Fault, Pack
from benchmarks.faults.not_found import NOT_FOUND, all_faults
from satchel_lab.checking import check

FAULTS = all_faults()
# Their files take a second to write; tests/functional/test_hostile.py has them too.
HEAVY = {"many-files", "body-20mb", "frontmatter-10mb"}


def said(pack: Pack, folder: Path) -> set[tuple[str, str]]:
    library = folder / "library" / "skills"
    library.mkdir(parents=True)
    pack.write(library)
    findings = check([str(library / pack.folder)]).findings
    return {(finding.code, finding.severity) for finding in findings}


def ids(fault: Fault) -> str:
    return f"{fault.row}-{fault.id}"


@pytest.mark.row("A29", "A30", "E02")
@pytest.mark.skipif(os.name == "nt", reason="many of these packs need POSIX")
@pytest.mark.parametrize(
    "fault", [item for item in FAULTS if item.id not in HEAVY], ids=ids
)
def test_it_is_found_or_known_to_be_missed(fault: Fault, tmp_path: Path) -> None:
    new = said(fault.bad, tmp_path / "1") - said(fault.good, tmp_path / "2")

    assert bool(new) != (fault.id in NOT_FOUND or bool(fault.harmless)), new


def test_each_has_a_name_of_its_own() -> None:
    ids = Counter(fault.id for fault in FAULTS)

    assert [id for id, count in ids.items() if count > 1] == []
    assert set(NOT_FOUND) <= set(ids)


@pytest.mark.parametrize("fault", [f for f in FAULTS if not f.alone], ids=ids)
def test_the_twin_differs(fault: Fault) -> None:
    same = (fault.bad.folder, fault.bad.files) == (fault.good.folder, fault.good.files)

    assert same == (
        fault.id in {"01-plain", "03-block", "18-symlink", "21-quotedcolon"}
    )
