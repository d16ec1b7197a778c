"""Findings on standard error: in short, or as the reasons why a release is refused."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Final

import click

from satchel.cli._terminal import echo_error
from satchel.errors import RefusedReleaseError
from satchel.model import Finding

MOST: Final = 10
"""Findings that are printed one by one before the rest is only counted."""

_SEVERITIES: Final = ("error", "warning", "note")


def show_findings(findings: Iterable[Finding], *, hint: str) -> None:
    """Print the errors and warnings with their fixes, gravest first; count the rest."""
    every = sorted(findings, key=lambda f: _SEVERITIES.index(f.severity))
    grave = [finding for finding in every if finding.severity != "note"]
    for finding in grave[:MOST]:
        echo_error(str(finding))
        if finding.fix:
            echo_error(f"    fix: {finding.fix}")
    rest = every[min(len(grave), MOST) :]
    if rest:
        more = "" if len(rest) == len(every) else " more"
        echo_error(f"{counted(rest)}{more}: see {hint}")


def counted(findings: Iterable[Finding]) -> str:
    """Return how many there are of each severity, as ``2 errors, 1 note``."""
    severities = [finding.severity for finding in findings]
    counts = ((severity, severities.count(severity)) for severity in _SEVERITIES)
    return ", ".join(
        f"{count} {severity}{'' if count == 1 else 's'}"
        for severity, count in counts
        if count
    )


class _ReleaseRefused(click.ClickException):
    """Status 1: there is a reason not to release, and it was told."""

    exit_code = 1

    def show(self, file: object = None) -> None:
        """Say it in one line; the reasons stand above it."""
        del file
        echo_error(f"satchel: {self.message}")


@contextmanager
def refusals_explained() -> Generator[None]:
    """Print every reason for which a release is refused, one a line."""
    try:
        yield
    except RefusedReleaseError as error:
        for reason in error.reasons:
            echo_error(reason)
        count = plural(len(error.reasons), "reason")
        raise _ReleaseRefused(
            f"nothing was released, for {count}; see satchel explain release-refused"
        ) from error


def show_release_findings(findings: Iterable[Finding]) -> None:
    """Print what is worth knowing of a release; what it lacks, loudly."""
    every = tuple(findings)
    errors = [finding for finding in every if finding.severity == "error"]
    show_findings(every, hint="satchel doctor")
    if errors:
        count = plural(len(errors), "error")
        echo_error(f"warning: this release lacks what is in error ({count} above)")


def plural(count: int, noun: str) -> str:
    """Return a count with its noun, as ``2 skills``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
