"""Findings in short, on standard error: for commands that show something else."""

from collections.abc import Iterable
from typing import Final

from satchel.cli.output import tell
from satchel.model import Finding

__all__ = ["counted", "show_findings"]

MOST: Final = 10
"""Findings that are printed one by one before the rest is only counted."""

_SEVERITIES: Final = ("error", "warning", "note")


def show_findings(findings: Iterable[Finding], *, hint: str) -> None:
    """Print the errors and warnings with their fixes, gravest first; count the rest."""
    every = sorted(findings, key=lambda each: _SEVERITIES.index(each.severity))
    grave = [finding for finding in every if finding.severity != "note"]
    for finding in grave[:MOST]:
        tell(str(finding))
        if finding.fix:
            tell(f"    fix: {finding.fix}")
    rest = every[min(len(grave), MOST) :]
    if rest:
        more = "" if len(rest) == len(every) else " more"
        tell(f"{counted(rest)}{more}: see {hint}")


def counted(findings: Iterable[Finding]) -> str:
    """Return how many there are of each severity, as ``2 errors, 1 note``."""
    severities = [finding.severity for finding in findings]
    counts = ((severity, severities.count(severity)) for severity in _SEVERITIES)
    return ", ".join(
        f"{count} {severity}{'' if count == 1 else 's'}"
        for severity, count in counts
        if count
    )
