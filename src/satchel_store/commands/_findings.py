"""What the findings of skills mean for a release, and the option to leave them out."""

from collections.abc import Iterable, Mapping
from typing import Final

import click

from satchel.cli import echo_error, line_about, show_findings
from satchel.model import Finding
from satchel.text import first_names, plural

# `--allow-findings` is what it was called.
skip_bad_option: Final = click.option(
    *("--skip-bad", "--allow-findings", "skip_bad"),
    is_flag=True,
    help="Leave out what is in error, and say so, instead of refusing everything.",
)


def show_release_findings(
    findings: Iterable[Finding], left_out: Iterable[Mapping[str, str]] = ()
) -> None:
    """Print the findings of a release; warn of what it lacks because of an error."""
    findings = tuple(findings)
    show_findings(findings, hint=line_about("doctor"))
    errors = sum(finding.severity == "error" for finding in findings)
    if errors:
        count = plural(errors, "error")
        echo_error(f"warning: this release lacks what is in error ({count} above)")
    if names := list(dict.fromkeys(row["path"] for row in left_out)):
        echo_error(f"left out: {first_names(names)}; left-out.json says why")
