"""What a change brought, in words, for reporters: what deceives and runs first."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from satchel.lint.change import Change, Likeness
from satchel.lint.report import plural

__all__ = ["MOST", "Section", "sections"]

MOST: Final = 50
"""Lines of one section that are shown before the rest is only counted."""

_LIKENESS: Final[dict[Likeness, str]] = {
    "files": "has the same files as",
    "name": "has the same name as",
    "description": "says nearly the same as",
}


class Section(NamedTuple):
    """A heading, and pairs of what it is about and what is said of that."""

    title: str
    lines: tuple[tuple[str, str], ...]
    more: int = 0


def sections(change: Change) -> Iterator[Section]:
    """Yield the sections that have something to say; texts are those of the packs."""
    yield from _section(
        "hidden text",
        [
            (f"{each.path}:{each.line}" if each.line else each.path, each.message)
            for each in change.hidden
        ],
    )
    yield from _section(
        "executable",
        [
            (each.path, f"{'new' if each.new else 'changed'} ({each.why})")
            for each in change.executables
        ],
    )
    yield from _section(
        "duplicate",
        [
            (each.path, f"{_LIKENESS[each.likeness]} {each.other}")
            for each in change.twins
        ],
    )
    yield from _section(
        "pack",
        [
            *((path, "added") for path in change.added),
            *((path, "changed") for path in change.changed),
            *((path, f"moved from {origin}") for origin, path in change.moved),
            *((path, "removed") for path in change.removed),
        ],
    )


def _section(noun: str, lines: list[tuple[str, str]]) -> Iterator[Section]:
    if lines:
        title = noun if noun == "hidden text" else plural(len(lines), noun)
        more = max(0, len(lines) - MOST)
        yield Section(title, tuple(lines[:MOST]), more)
