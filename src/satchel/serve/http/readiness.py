"""Whether what is served is worth a request, and what is wrong with it all the same."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from satchel.model import Catalog, Finding
from satchel.runtime import Satchel
from satchel.serve.library import Library
from satchel.serve.telling import is_of_machine, labels_outside

__all__ = ["Readiness", "Reason", "readiness"]

_TAIL: Final = 2
"""Last names of a path that are told: a pack's folder, and the file in it."""
_TOLD: Final = frozenset({"source-unavailable", "duplicate-skill"})
"""Findings that are told of by their source, or by their id, already."""
_LOADS: Final = frozenset({"hidden", "deprecated"})


@dataclass(frozen=True, slots=True)
class Reason:
    """What is wrong: a code and a sentence without a path of the machine.

    ``detail`` is for whoever runs the server, paths and all.
    """

    code: str
    message: str
    detail: str


@dataclass(frozen=True, slots=True)
class Readiness:
    """Why a server should get no requests, and what is wrong besides.

    ``against`` is that nothing is served. ``degraded`` costs some skills, or events of
    use: the others are as good as ever, and on another server it is likely the same.
    """

    against: tuple[Reason, ...]
    degraded: tuple[Reason, ...]

    @property
    def every(self) -> tuple[Reason, ...]:
        """All that is wrong."""
        return self.against + self.degraded


def readiness(library: Library) -> Readiness:
    """Return whether a library is ready, and what is wrong with it."""
    skills = library.skills
    against = () if library.settings.allow_empty else tuple(_nothing(library.catalog))
    return Readiness(against, tuple(_degraded(skills)))


def _nothing(catalog: Catalog) -> Iterator[Reason]:
    if catalog.entries or any(held.reason in _LOADS for held in catalog.withheld):
        return
    by_reason = Counter(held.reason for held in catalog.withheld)
    packs = sum(state.packs for state in catalog.sources)
    found = f"{packs:,} pack{'' if packs == 1 else 's'} found"
    held = ", ".join(f"{count:,} {why}" for why, count in sorted(by_reason.items()))
    message = f"no skill is served: {found}{f'; {held}' if held else ''}"
    places = ", ".join(state.label for state in catalog.sources)
    advice = "look whether the folder is mounted, or allow it with --allow-empty"
    yield Reason("empty-library", message, f"{message} in {places}; {advice}")


def _degraded(skills: Satchel) -> Iterator[Reason]:
    latest = skills.registry.latest
    for state in latest.sources:
        if state.error:
            label = labels_outside(latest)[state.label]
            yield Reason(
                "source-unavailable",
                f"source {label!r} does not answer; what it last had is served",
                f"source {state.label!r} does not answer: {state.error}",
            )
    for conflict in latest.unresolved:
        yield Reason(
            "duplicate-skill",
            f"skill {conflict.id!r} is claimed by {len(conflict.owners)} packs",
            f"skill {conflict.id!r} is claimed by {conflict.places}; {conflict.fix}",
        )
    usage = skills.usage_state
    if usage.problem or usage.lost:
        now = f" now ({usage.problem})" if usage.problem else ""
        message = f"events of use are not all kept{now}"
        counts = f"{usage.lost:,} lost, {usage.waiting:,} waiting"
        yield Reason("usage-not-kept", f"{message}: {counts}", f"{message}: {counts}")
    for finding in skills.findings:
        if finding.severity == "error" and finding.code not in _TOLD:
            where = _place(finding)
            message = f"error {finding.code}{where}"
            yield Reason(finding.code, message, str(finding))


def _place(finding: Finding) -> str:
    """Return where it is; of a path of the machine only the last names."""
    path = finding.path
    if is_of_machine(path):
        path = "/".join(path.replace("\\", "/").split("/")[-_TAIL:])
    line = f", line {finding.line}" if finding.line else ""
    return f" in {path}{line}" if path else ""
