"""Findings on a library: what its sources and packs say, and what gives nothing."""

import os
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from satchel.model import (
    MARKETPLACES,
    Catalog,
    Finding,
    LazyTuple,
    SourceStatus,
    joined_findings,
)

if TYPE_CHECKING:
    from satchel.catalog import Registry
    from satchel.policy import Policy


# Sources that a message names.
MAX_LABELS: Final = 3


def library_findings(
    registry: "Registry", named: frozenset[str], policy: "Policy", advice: str = ""
) -> tuple[Finding, ...]:
    """Return the findings of the sources and packs, and what gives or names nothing.

    ``advice`` is what to do if nothing says which skills are meant.
    """
    # Of `latest`: what an id's holder covers up in this process is wrong all the same.
    latest = registry.latest
    findings: list[Finding] = []
    empty: list[Finding] = []
    for state in latest.sources:
        if state.error:
            findings.append(_unavailable(state))
        elif not state.packs and state.label in named:
            from satchel.runtime._rare_findings import empty_folder

            empty += empty_folder(latest, state.label)
    conflicts = registry.conflict_findings() if latest.conflicts else ()
    if not (registry.catalog.entries or empty):
        empty = list(_nothing_listed(latest, advice))
    if registry.rules.disabled:
        from satchel.runtime._rare_findings import unused_finding

        empty += [
            unused_finding(pattern, latest) for pattern in registry.unused_disabled()
        ]
    # Of skills that have not answered nobody can tell; of none, others do.
    has_rules = policy.rules or policy.requirements
    if has_rules and latest.entries and latest.incomplete_source is None:
        from satchel.runtime._rare_findings import idle_rules

        empty += idle_rules(policy, registry)
    empty += _lookalikes(latest)
    # Of skills that have not answered nobody can tell, either.
    if latest.incomplete_source is None and (needing := [*latest.needing]):
        from satchel.runtime._rare_findings import need_findings

        empty += need_findings(latest, needing)
    every = [(one, file) for one in latest.readers.values() for file in MARKETPLACES]
    files = (f"{one.root}/{file}" for one, file in every if one.root)
    if any(file in one.tree for one, file in every) or any(map(os.path.isfile, files)):
        from satchel.runtime._rare_findings import plugin_findings

        empty += plugin_findings(latest)
    more = joined_findings(conflicts, latest.findings, empty)
    return joined_findings(findings, more, ())


def _lookalikes(latest: Catalog) -> Iterator[Finding]:
    """Yield each id that looks like another one: a reader may take it for that."""
    entries: object = latest.entries  # most catalogs need not be made for this
    ids = entries.ids if isinstance(entries, LazyTuple) else [e.id for e in latest]
    if all(map(str.isascii, ids)):
        return
    from satchel.text import folded

    by_look: dict[str, str] = {}
    for id in sorted(ids, key=lambda id: not id.isascii()):
        other = by_look.setdefault(folded(id), id)
        if other != id and not id.isascii():
            place = latest.entries[ids.index(id)].origin.location
            yield Finding.of("lookalike-id", place, id=id, other=other)


def _nothing_listed(latest: Catalog, advice: str) -> Iterator[Finding]:
    """Yield that no skill is listed at all, unless something else says why."""
    # One cause, one finding: a conflict or a dead source says it better.
    if latest.unresolved or any(state.error for state in latest.sources):
        return
    reasons = Counter(excluded.reason for excluded in latest.excluded)
    if "refused" in reasons:
        return
    why = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    labels = ", ".join(state.label for state in latest.sources[:MAX_LABELS])
    yield Finding.of(
        "no-skills",
        labels,
        why=f": {why}" if why else "",
        advice=advice or "add skills, or look whether this is the place that was meant",
    )


def unavailable_sources(latest: Catalog) -> list[Finding]:
    return [_unavailable(state) for state in latest.sources if state.error]


def _unavailable(state: SourceStatus) -> Finding:
    in_use = "" if state.partial else ", its last answer is in use"
    return Finding.of(
        "source-unavailable", state.label, problem=state.error, in_use=in_use
    )
