"""Findings on standard error: in short, for commands that print something else."""

from collections.abc import Iterable
from typing import Final

from satchel.cli._terminal import echo_always, echo_error
from satchel.cli._verbosity import is_verbose
from satchel.model import Finding
from satchel.text import plural

# Findings that are printed one by one; the rest is only counted.
MOST: Final = 10

SEVERITIES: Final = ("error", "warning", "note")


def show_findings(findings: Iterable[Finding], *, hint: str) -> None:
    """Print errors, then warnings, each with its fix; count the rest."""
    ordered = sorted(findings, key=lambda f: SEVERITIES.index(f.severity))
    severe = sum(finding.severity != "note" for finding in ordered)
    shown = len(ordered) if is_verbose() else min(severe, MOST)
    for finding in ordered[:shown]:
        show_finding(finding)
    rest = ordered[shown:]
    if rest:
        more = "" if len(rest) == len(ordered) else " more"
        echo_error(f"{counted(rest)}{more}: see {hint}")


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


def counted(findings: Iterable[Finding]) -> str:
    """Return how many there are of each severity, as ``2 errors, 1 note``."""
    severities = [finding.severity for finding in findings]
    counts = ((severity, severities.count(severity)) for severity in SEVERITIES)
    return ", ".join(plural(count, severity) for severity, count in counts if count)


def show_release_findings(findings: Iterable[Finding]) -> None:
    """Print the findings of a release; warn of what it lacks because of an error."""
    findings = tuple(findings)
    show_findings(findings, hint="satchel doctor")
    errors = sum(finding.severity == "error" for finding in findings)
    if errors:
        count = plural(errors, "error")
        echo_error(f"warning: this release lacks what is in error ({count} above)")
