"""What keeps skills from being released: what a deploy should fail on."""

from collections.abc import Iterator

from satchel.catalog.registry import duplicate_error
from satchel.model import Finding
from satchel.runtime import Satchel
from satchel.runtime.findings import unanswered

__all__ = ["refusals"]


def refusals(skills: Satchel) -> tuple[Finding, ...]:
    """Return every reason, as errors: sources away, conflicts, packs in error.

    What only a program can know, whether it offers the tools that a skill names, is no
    matter of a release.
    """
    return tuple(_refusals(skills))


def _refusals(skills: Satchel) -> Iterator[Finding]:
    latest = skills.registry.latest
    yield from unanswered(latest)
    for conflict in latest.unresolved:
        error = duplicate_error(conflict)
        yield Finding(error.code, "error", str(error), fix=error.fix)
    yield from (each for each in latest.findings if each.severity == "error")
