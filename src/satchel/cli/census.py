"""How many packs there are, and what became of each: one sentence for every command."""

from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from satchel.model import Catalog

__all__ = ["count_locations", "take_census"]

_ORDER: Final = (
    "refused",
    "disabled",
    "untrusted",
    "shadowed",
    "deprecated",
    "hidden",
)


def count_locations(catalog: "Catalog") -> int:
    """Return in how many places there are packs, as ``satchel check`` counts them."""
    return sum(_places(catalog).values())


def take_census(catalog: "Catalog") -> str:
    """Return how many packs there are, and how many are listed.

    ``3 skills listed``; where packs are not, what became of them: ``11 packs: 7 skills
    listed; not listed: 2 of a name claimed twice, 1 refused, 1 copy of another``.
    """
    places = _places(catalog)
    total, listed = sum(places.values()), len(catalog)
    said = f"{_many(listed, 'skill')} listed"
    others: list[str] = []
    if places["conflict"]:
        others.append(f"{places['conflict']:,} of a name claimed twice")
    reasons = [each for each in places if each not in ("listed", "conflict", "copy")]
    for reason in sorted(reasons, key=_rank):
        others.append(f"{places[reason]:,} {reason}")  # noqa: PERF401 - two loops in one
    if places["copy"]:
        copies = "copy" if places["copy"] == 1 else "copies"
        others.append(f"{places['copy']:,} {copies} of another")
    if not others:
        return said
    return f"{_many(total, 'pack')}: {said}; not listed: {', '.join(others)}"


def _places(catalog: "Catalog") -> Counter[str]:
    """Count packs by what became of them, each place once."""
    seen: set[str] = set()
    count: Counter[str] = Counter()
    owners = [("conflict", own) for each in catalog.unresolved for own in each.owners]
    held = [(each.reason, each.descriptor) for each in catalog.withheld]
    for reason, pack in (
        *(("listed", entry) for entry in catalog.entries),
        *owners,
        *held,
    ):
        for number, origin in enumerate(pack.origins):
            if origin.location not in seen:
                seen.add(origin.location)
                count["copy" if number else reason] += 1
    return count


def _rank(reason: str) -> tuple[int, str]:
    return _ORDER.index(reason) if reason in _ORDER else len(_ORDER), reason


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
