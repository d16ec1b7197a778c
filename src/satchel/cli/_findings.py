"""Findings on standard error: in short, for commands that print something else."""

from collections.abc import Iterable
from typing import Final

from satchel.cli._terminal import echo_always, echo_error, is_verbose
from satchel.model import SEVERITIES, UNSEARCHED, Finding
from satchel.text import count_severities, unsearched_folders

# Findings that are printed one by one; the rest is only counted.
MOST: Final = 10

_NOTE: Final = SEVERITIES.index("note")
# Codes of a SKILL.md that is there and not listed, or not where one looks for it.
_LOST: Final = frozenset({"unlisted-skill", "limit-exceeded", "not-in-plugin"})


def show_findings(findings: Iterable[Finding], *, hint: str) -> None:
    """Print errors, warnings and lost skills, each with its fix; count the rest."""
    every = sorted(findings, key=_rank)
    ordered = [finding for finding in every if finding.code != UNSEARCHED]
    severe = sum(_rank(finding) < _NOTE for finding in ordered)
    shown = len(ordered) if is_verbose() else min(severe, MOST)
    for finding in ordered[:shown]:
        show_finding(finding)
    rest = ordered[shown:]
    if rest:
        more = "" if len(rest) == len(ordered) else " more"
        echo_error(f"{count_severities(rest)}{more}: see {hint}")
    if unsearched := unsearched_folders(every):
        echo_error(unsearched)


def _rank(finding: Finding) -> float:
    """Return the place of a finding; a skill that is not there is no mere note."""
    at = SEVERITIES.index(finding.severity)
    return _NOTE - 0.5 if at == _NOTE and finding.code in _LOST else at


def show_finding(finding: Finding) -> None:
    """Print one finding with its fix; with ``-q`` errors only."""
    echo = echo_always if finding.severity == "error" else echo_error
    echo(str(finding))
    if finding.fix:
        echo(f"    fix: {finding.fix}")


def finding_fields(findings: Iterable[Finding]) -> list[dict[str, object]]:
    """Return findings as JSON has them."""
    keys = ("code", "severity", "path", "line", "message", "fix")
    return [{key: getattr(finding, key) for key in keys} for finding in findings]
