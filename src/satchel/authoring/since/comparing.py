"""Two states of a library, side by side."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from satchel.authoring.since.alike import alike, alike_pairs
from satchel.authoring.since.facts import Facts
from satchel.lint.change import Executable, Likeness, Twin

__all__ = ["Moves", "executables", "moves", "twins"]

_Library = Mapping[str, Facts]


class Moves(NamedTuple):
    """What happened to packs; locations, sorted."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    moved: tuple[tuple[str, str], ...]
    removed: tuple[str, ...]


def moves(before: _Library, after: _Library) -> Moves:
    """Return what happened; a pack that went and one that came, the same, moved."""
    added = [each for each in after if each not in before]
    removed = [each for each in before if each not in after]
    gone = {before[each].digest: each for each in reversed(removed)}
    moved: list[tuple[str, str]] = []
    for each in added:
        origin = gone.pop(after[each].digest, None)
        if origin is not None:
            moved.append((origin, each))
    froms, tos = {origin for origin, _ in moved}, {place for _, place in moved}
    return Moves(
        tuple(sorted(each for each in added if each not in tos)),
        tuple(
            sorted(
                each
                for each, facts in after.items()
                if each in before and before[each].digest != facts.digest
            )
        ),
        tuple(sorted(moved)),
        tuple(sorted(each for each in removed if each not in froms)),
    )


def executables(
    before: _Library, after: _Library, moved: Mapping[str, str]
) -> Iterator[Executable]:
    """Yield what runs and did not before, or has other bytes; sorted by path.

    ``moved`` tells, by where a pack is, where it was.
    """
    for location, facts in sorted(after.items()):
        old = before.get(moved.get(location, location))
        known = old.programs if old else {}
        for path, (digest, why) in sorted(facts.programs.items()):
            if path not in known or known[path] != (digest, why):
                yield Executable(f"{location}/{path}", path not in known, why)


def twins(before: _Library, after: _Library, new: tuple[str, ...]) -> Iterator[Twin]:
    """Yield every pack that is like another, once a pair, by its first likeness.

    ``new`` are the packs that were added or changed. A likeness that was there
    before, between the same two, is none of this change's.
    """
    fresh = frozenset(new)
    told: set[tuple[str, str]] = set()
    descriptions = {place: facts.description for place, facts in after.items()}
    likenesses: tuple[tuple[Likeness, Iterator[tuple[str, str]]], ...] = (
        ("files", _equal(after, fresh, lambda facts: facts.digest)),
        ("name", _equal(after, fresh, lambda facts: facts.id)),
        ("description", alike_pairs(descriptions, fresh)),
    )
    for likeness, pairs in likenesses:
        for pair in pairs:
            if pair not in told and not _was_so(before, *pair, likeness):
                told.add(pair)
                yield Twin(*pair, likeness)


def _equal(
    library: _Library, fresh: frozenset[str], of: Callable[[Facts], str]
) -> Iterator[tuple[str, str]]:
    """Yield each fresh pack that has something in common with another, with that."""
    groups: dict[str, list[str]] = defaultdict(list)
    for place in sorted(library):
        groups[of(library[place])].append(place)
    for places in groups.values():
        known = [place for place in places if place not in fresh]
        for place in places:
            if place in fresh:
                if known:
                    yield place, known[0]
                known.append(place)


def _was_so(before: _Library, place: str, other: str, likeness: Likeness) -> bool:
    if place not in before or other not in before:
        return False
    one, two = before[place], before[other]
    match likeness:
        case "files":
            return one.digest == two.digest
        case "name":
            return one.id == two.id
        case "description":
            return alike(one.description, two.description)
