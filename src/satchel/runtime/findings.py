"""All that a Satchel has to tell its user: of packs, of sources, of tools."""

from collections import Counter
from typing import TYPE_CHECKING, Final

from satchel.errors import DuplicateSkillError, SourceUnavailableError
from satchel.model import SKILL_FILE, Catalog, Finding
from satchel.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from satchel.catalog import Registry
    from satchel.runtime.offers import Offers

MOST_LABELS: Final = 3
"""Sources that a message names."""

__all__ = ["all_findings", "library_findings", "no_skills", "unanswered"]


def all_findings(
    registry: "Registry",
    found: tuple[Finding, ...],
    policy: Policy,
    offers: "Callable[[], Offers]",
) -> tuple[Finding, ...]:
    """Return what there is to say of the library, of its tools and of its policy.

    ``found`` is what `library_findings` gives; then tools that packs name and nobody
    offers, and rules of the policy that raised.
    ``offers`` is asked only where a pack names tools.
    """
    latest = registry.latest
    missing = offers().missing(latest) if _carries(latest) else ()
    return (*found, *missing, *policy.problems)


def library_findings(
    registry: "Registry", named: frozenset[str], advice: str = ""
) -> tuple[Finding, ...]:
    """Return what was found, and which sources, ids and folders give nothing.

    Sources that do not answer, ids that several packs claim, what the sources and
    packs told, folders that were named and hold no pack. ``advice`` is what to do
    where nothing says which skills are meant.
    """
    latest = registry.latest
    empty = [
        no_skills(state.label)
        for state in latest.sources
        if state.label in named and not state.packs and not state.error
    ]
    if not (registry.catalog.entries or empty):
        empty = list(_nothing_listed(latest, advice))
    return (
        *unanswered(latest),
        *_contested(latest, registry.catalog),
        *latest.findings,
        *empty,
        *_idle(registry),
    )


def _idle(registry: "Registry") -> "Iterator[Finding]":
    """Yield what is switched off by a name that nothing has."""
    for switch in registry.idle_switches:
        kind = "skill" if switch.kind == "skill" else "source"
        names = (
            [entry.id for entry in registry.latest.entries]
            if kind == "skill"
            else [state.label for state in registry.latest.sources]
        )
        from satchel.text.nearest import nearest

        close = nearest(switch.pattern, names, 1)
        fix = f"write {close[0]!r}, or " if close else ""
        yield Finding(
            "disabled-unknown",
            "warning",
            f"no {kind} is called {switch.pattern!r}, so that nothing is switched off",
            switch.where.strip("`"),
            fix=f"{fix}{switch.fix}",
        )


def _nothing_listed(latest: Catalog, advice: str) -> "Iterator[Finding]":
    """Yield that no skill is listed at all, where nothing else says why."""
    if latest.unresolved or any(state.error for state in latest.sources):
        return
    reasons = Counter(held.reason for held in latest.withheld)
    if "refused" in reasons:
        return
    why = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    labels = ", ".join(state.label for state in latest.sources[:MOST_LABELS])
    yield Finding(
        "no-skills",
        "warning",
        f"no skill is listed{f': {why}' if why else ''}",
        labels,
        fix=advice or "add skills, or look whether this is the place that was meant",
    )


def unanswered(latest: Catalog) -> "Iterator[Finding]":
    """Yield an error for each source that did not answer."""
    for state in latest.sources:
        if state.error:
            yield Finding(
                SourceUnavailableError.code,
                "error",
                f"the source did not answer: {state.error}",
                state.label,
                fix="check its address, its rights and that it runs; the next sync "
                f"asks again{'' if state.partial else ', its last answer is in use'}",
            )


def _contested(latest: Catalog, in_use: Catalog) -> "Iterator[Finding]":
    """Yield an error for each id that several packs claim."""
    for conflict in latest.unresolved:
        holder = in_use.get(conflict.id)
        ends = (
            "none of them is listed"
            if holder is None
            else f"{holder.origin.location} had it first and keeps it until this "
            "process ends"
        )
        yield Finding(
            DuplicateSkillError.code,
            "error",
            f"{conflict.id!r} is claimed by {conflict.places}; {ends}",
            f"{conflict.owners[1].origin.location}/{SKILL_FILE}",
            fix=conflict.fix,
        )


def _carries(catalog: Catalog) -> bool:
    """Tell whether some pack names a tool."""
    return any(entry.tools for entry in catalog.entries) or any(
        held.descriptor.tools for held in catalog.withheld
    )


def no_skills(label: str) -> Finding:
    """Return what there is to say of a folder that was named and holds no pack."""
    return Finding(
        "no-skills",
        "warning",
        f"there is no folder with a {SKILL_FILE} in it",
        label,
        fix=f"put each skill into a folder of its own, with a {SKILL_FILE}",
    )
