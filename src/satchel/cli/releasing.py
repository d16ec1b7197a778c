"""What ``satchel build`` and ``satchel publish`` have in common: how they talk."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager

import click

from satchel.cli.findings import show_findings
from satchel.cli.output import tell
from satchel.errors import RefusedReleaseError
from satchel.model import Finding

__all__ = ["explained", "many", "tell_findings"]


class _Refused(click.ClickException):
    """Status 1: there is a reason not to release, and it was told."""

    exit_code = 1

    def show(self, file: object = None) -> None:
        """Say it in one line; the reasons stand above it."""
        del file
        tell(f"satchel: {self.message}")


@contextmanager
def explained() -> Generator[None]:
    """Print every reason for which a release is refused, one a line."""
    try:
        yield
    except RefusedReleaseError as error:
        for reason in error.reasons:
            tell(reason)
        count = many(len(error.reasons), "reason")
        raise _Refused(
            f"nothing was released, for {count}; see satchel explain release-refused"
        ) from error


def tell_findings(findings: Iterable[Finding]) -> None:
    """Print what is worth knowing of a release; what it lacks, loudly."""
    every = tuple(findings)
    errors = [each for each in every if each.severity == "error"]
    show_findings(every, hint="satchel doctor")
    if errors:
        count = many(len(errors), "error")
        tell(f"warning: this release lacks what is in error ({count} above)")


def many(count: int, noun: str) -> str:
    """Return a count with its noun, as ``2 skills``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
