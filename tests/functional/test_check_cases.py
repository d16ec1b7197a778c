"""Packs as authors write them, and what `satchel check` says of each.

A case is a folder with ``pack`` (a pack, or a folder of packs), ``expect.txt`` (one
``severity code path:line`` a finding, in order, paths relative to the case; none where
nothing is found) and, where they are not the defaults, ``options.toml``: profile,
limits, thresholds, and which codes are selected.

What is looked for only when it is asked is asked for, where it is about packs alone.
The case with the name of a code shows it; the case ``CODE-not`` is as similar as
possible, and silent.
"""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from satchel.model import Finding, Level, Limits
from satchel_lab.checking import check
from satchel_lab.lint import RULES, LintSettings
from satchel_lab.lint._settings import thresholds_for

FOLDER = Path(__file__).parents[1] / "cases" / "check"
CASES = sorted(case for case in FOLDER.iterdir() if case.is_dir())


def checked(case: Path) -> tuple[Finding, ...]:
    options: dict[str, Any] = {}
    if (case / "options.toml").exists():
        options = tomllib.loads((case / "options.toml").read_text("utf-8"))
    limits = Limits(**options.pop("limits", {}))
    profile = options.get("profile", "spec")
    thresholds = thresholds_for(profile, options.get("thresholds"))
    select = frozenset(options["select"]) if "select" in options else None
    asked: dict[str, Level] = {
        "client-only-syntax": "note",
        "skipped-heading": "warning",
        "unpinned-command": "note",
    }
    settings = LintSettings(
        profile=profile, thresholds=thresholds, select=select, severity=asked
    )
    return check(["pack"], limits=limits, settings=settings).findings


def expected(case: Path) -> list[str]:
    """Return the lines of ``expect.txt``; a case without one is silent."""
    file = case / "expect.txt"
    return file.read_text("utf-8").splitlines() if file.exists() else []


def line(finding: Finding) -> str:
    place = f"{finding.path}:{finding.line}" if finding.line else finding.path
    return f"{finding.severity} {finding.code} {place}"


@pytest.mark.row(
    "A26", "A29", "A30", "A31", "A32", "G07", "R28", "R36", "X08", "X12", "F82"
)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every finding of the case is as expected, and says what to do."""
    monkeypatch.chdir(case)
    findings = checked(case)

    assert list(map(line, findings)) == expected(case)
    assert [line(finding) for finding in findings if not finding.fix] == []


CODES = sorted({code for rule in RULES for code in rule.codes})
MACHINE = {"program-not-checked"}
"""Codes that this machine may have no reason for: tests/unit/lint shows them."""


def codes_in(case: str) -> set[str]:
    return {line.split()[1] for line in expected(FOLDER / case)}


@pytest.mark.row("E02")
def test_every_code_has_a_case_and_a_silent_neighbour() -> None:
    """A code that nobody has seen fire, or keep silent, is not known to be right."""
    for code in sorted({*CODES} - MACHINE):
        assert (FOLDER / f"{code}-not" / "pack").is_dir(), code
        assert code in codes_in(code)
        assert code not in codes_in(f"{code}-not")
