"""All that a Satchel has to tell its user: of packs, of sources, of tools."""

from typing import TYPE_CHECKING

from satchel.model import SKILL_FILE, Catalog, Finding
from satchel.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Callable

    from satchel.runtime.offers import Offers

__all__ = ["all_findings", "no_skills"]


def all_findings(
    latest: Catalog,
    named: frozenset[str],
    policy: Policy,
    offers: "Callable[[], Offers]",
) -> tuple[Finding, ...]:
    """Return what the registry found, and what only the whole can know.

    Tools that packs name and nobody offers; folders that were named and hold nothing;
    rules of the policy that raised. ``offers`` is asked only where a pack names tools.
    """
    missing = offers().missing(latest) if _carries(latest) else ()
    empty = tuple(
        no_skills(state.label)
        for state in latest.sources
        if state.label in named and not state.packs and not state.error
    )
    return latest.findings + missing + empty + policy.problems


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
