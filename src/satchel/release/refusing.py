"""What keeps skills from being released: what a deploy should fail on."""

from collections.abc import Iterator

from satchel.catalog.registry import duplicate_error
from satchel.model import Finding
from satchel.runtime import Satchel

__all__ = ["refusals"]


def refusals(skills: Satchel) -> tuple[Finding, ...]:
    """Return every reason, as errors: sources away, conflicts, packs in error.

    What only a program can know, whether it offers the tools that a skill names, is no
    matter of a release.
    """
    return tuple(_refusals(skills))


def _refusals(skills: Satchel) -> Iterator[Finding]:
    latest = skills.registry.latest
    for state in latest.sources:
        if state.error:
            fix = "bring it back, and try again"
            yield Finding(
                "source-unavailable", "error", state.error, state.label, fix=fix
            )
    for conflict in latest.unresolved:
        error = duplicate_error(conflict)
        yield Finding(error.code, "error", str(error))
    yield from (each for each in latest.findings if each.severity == "error")
