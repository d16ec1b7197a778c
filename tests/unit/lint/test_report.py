"""A report counts, fails, and tells one finding from another."""

from __future__ import annotations

import pytest

from satchel.lint import CheckReport, fingerprint
from satchel.model import Finding

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


def test_a_fingerprint_outlives_a_move_and_another_spelling_of_the_path() -> None:
    moved = Finding("no-name", "warning", "there is no name", "./a//SKILL.md", 9)

    assert fingerprint(moved) == fingerprint(ERROR)


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


def test_a_fingerprint_takes_any_path() -> None:
    assert len(fingerprint(Finding("x", "note", "m", "a\udcff"))) == 16
