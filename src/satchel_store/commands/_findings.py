"""What the findings of skills mean for a release, and the option to leave them out."""

from collections.abc import Iterable
from typing import Final

from satchel.cli import echo_error, flag, show_findings
from satchel.model import Finding
from satchel.text import plural

allow_findings_option: Final = flag(
    "--allow-findings", "Leave out what is in error instead of refusing everything."
)


def show_release_findings(findings: Iterable[Finding]) -> None:
    """Print the findings of a release; warn of what it lacks because of an error."""
    findings = tuple(findings)
    show_findings(findings, hint="satchel doctor")
    errors = sum(finding.severity == "error" for finding in findings)
    if errors:
        count = plural(errors, "error")
        echo_error(f"warning: this release lacks what is in error ({count} above)")
