"""docs/reference/lint-rules.md says what the rules and their cases say."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

from satchel.lint import FIXABLE, RULES
from satchel.model import title_of

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "lint-rules.md"
CASES = ROOT / "tests" / "cases" / "check"
UNSEEN = {"program-not-checked": "note"}
"""What depends on the machine: tests/unit/lint shows it."""


def severities() -> dict[str, tuple[set[str], set[str]]]:
    """Return each code's severities in the cases: in profile strict, and elsewhere."""
    seen: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for case in sorted(CASES.iterdir()):
        options = case / "options.toml"
        told = tomllib.loads(options.read_text("utf-8")) if options.exists() else {}
        elsewhere = told.get("profile") != "strict"
        for line in (case / "expect.txt").read_text("utf-8").splitlines():
            severity, code, _ = line.split(maxsplit=2)
            seen[code][elsewhere].add(severity)
    return seen


def rows() -> list[str]:
    """Return the table's rows, by code."""
    seen = severities()
    order = ["error", "warning", "note"]
    lines: list[str] = []
    for code in sorted({code for rule in RULES for code in rule.codes}):
        strict, usual = seen[code]
        usual = usual or strict or {UNSEEN[code]}
        severity = ", ".join(sorted(usual, key=order.index))
        if strict - usual:
            severity += f"; {', '.join(strict - usual)} in `strict`"
        fix = "yes" if code in FIXABLE else ""
        lines.append(f"| `{code}` | {severity} | {fix} | {title_of(code)} |")
    return lines


@pytest.mark.row("E02")
def test_the_page_lists_every_rule() -> None:
    lines = PAGE.read_text("utf-8").splitlines()

    assert [line for line in lines if line.startswith("| `")] == rows()
