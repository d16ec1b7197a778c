"""Whether what is served is what should be: what a deploy should fail on."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from satchel.model import Finding
from satchel.runtime import Satchel
from satchel.serve.telling import is_of_machine, labels_outside

__all__ = ["Reason", "reasons"]

_TOLD_ABOVE: Final = ("source-unavailable", "duplicate-skill")

_TAIL: Final = 2
"""Last names of a path that are told: a pack's folder, and the file in it."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a server is not ready: a code and a sentence without a path of the machine.

    ``detail`` is for whoever runs the server, paths and all.
    """

    code: str
    message: str
    detail: str


def reasons(skills: Satchel) -> tuple[Reason, ...]:
    """Return what is wrong: sources away, undecided conflicts, error findings."""
    return tuple(_reasons(skills))


def _reasons(skills: Satchel) -> Iterator[Reason]:
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
        places = " and ".join(owner.origin.location for owner in conflict.owners)
        yield Reason(
            "duplicate-skill",
            f"skill {conflict.id!r} is claimed by {len(conflict.owners)} packs",
            f"skill {conflict.id!r} is claimed by {places}",
        )
    for finding in skills.findings:
        if finding.severity == "error" and finding.code not in _TOLD_ABOVE:
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
