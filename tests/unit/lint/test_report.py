"""A report counts, fails, and states each fact once."""

from itertools import combinations
from pathlib import Path

import pytest

from benchmarks.faults.planted import PLANTED
from satchel.model import Finding, codes
from satchel_lab.checking import check
from satchel_lab.lint import CheckReport, fingerprint, without_repeats
from satchel_lab.lint._report import COVERED_BY

ERROR = Finding("no-name", "error", "there is no name", "a/SKILL.md", 1)
WARNING = Finding("odd", "warning", "that is odd", "a/SKILL.md", 4)
NOTE = Finding("left-out", "note", "left out: 1 cache", "a")


@pytest.mark.parametrize(
    ("findings", "on_error", "on_warning"),
    [
        ((), False, False),
        ((NOTE,), False, False),
        ((NOTE, WARNING), False, True),
        ((ERROR,), True, True),
    ],
)
def test_a_report_fails_from_a_severity_on(
    findings: tuple[Finding, ...], on_error: bool, on_warning: bool
) -> None:
    report = CheckReport(1, findings)

    assert (report.fails(), report.fails("warning")) == (on_error, on_warning)


@pytest.mark.parametrize(
    ("report", "summary"),
    [
        (CheckReport(1, ()), "1 pack checked: no findings"),
        (CheckReport(2, (ERROR,)), "2 packs checked: 1 error"),
        (
            CheckReport(3, (ERROR, ERROR, WARNING, NOTE), known=4),
            "3 packs checked: 2 errors, 1 warning, 1 note (4 more in the baseline)",
        ),
    ],
)
def test_the_summary_counts(report: CheckReport, summary: str) -> None:
    assert report.summary == summary


def test_a_fingerprint_outlives_a_move_and_takes_any_path() -> None:
    moved = Finding("no-name", "warning", "there is no name", "./a//SKILL.md", 9)

    assert fingerprint(moved) == fingerprint(ERROR)

    assert len(fingerprint(Finding("x", "note", "m", "a\udcff"))) == 16


@pytest.mark.parametrize(
    "other",
    [
        Finding("no-names", "error", "there is no name", "a/SKILL.md"),
        Finding("no-name", "error", "there is no names", "a/SKILL.md"),
        Finding("no-name", "error", "there is no name", "b/SKILL.md"),
    ],
)
def test_a_fingerprint_tells_findings_apart(other: Finding) -> None:
    assert fingerprint(other) != fingerprint(ERROR)


CASES = Path(__file__).parents[2] / "cases" / "check"


def finding(code: str, line: int | None = 1, path: str = "a", fix: str = "") -> Finding:
    return Finding(code, "note", f"about {code}", path, line, fix)


@pytest.mark.row("F55")
@pytest.mark.parametrize(
    ("code", "said"),
    [(code, each) for code in COVERED_BY for each in sorted(COVERED_BY[code])],
)
def test_what_another_finding_says_is_left_out(code: str, said: str) -> None:
    first, second, other = finding(code), finding(said), finding(said, path="b")

    assert {code, said} <= set(codes())
    assert [each.code for each in without_repeats([first, second, other])] == [
        code,
        said,
    ]
    assert without_repeats([second, other]) == (second, other)


@pytest.mark.row("F55")
def test_a_fact_is_of_a_line_or_of_a_file() -> None:
    found = (finding("unknown-field", 1), finding("client-only-field", 2))

    assert without_repeats(found) == found

    (one,) = without_repeats([finding("conflict-marker", 4), finding("python-syntax")])
    assert one.code == "conflict-marker"

    of_line = (finding("unknown-field", fix="move it"), finding("client-only-field"))
    (one,) = without_repeats(of_line)
    assert one.fix == "move it"


def repeats(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    """Return the pairs of findings of one line that state the same fact.

    That is the same message, the same code about the same words, or two codes of which
    one says the other.
    """
    return [
        (one.code, other.code)
        for one, other in combinations(findings, 2)
        if (one.path, one.line) == (other.path, other.line)
        and (
            one.message == other.message
            or other.code in COVERED_BY.get(one.code, ())
            or one.code in COVERED_BY.get(other.code, ())
        )
    ]


@pytest.mark.row("F55")
def test_no_fact_is_reported_twice_in_a_case() -> None:
    for case in CASES.iterdir():
        assert repeats(check([str(case / "pack")]).findings) == [], case


@pytest.mark.row("F55")
def test_no_fact_is_reported_twice_of_a_fault(tmp_path: Path) -> None:
    for fault in PLANTED:
        folder = tmp_path / fault.id
        fault.bad.write(folder)

        assert repeats(check([str(folder)]).findings) == [], fault.id
