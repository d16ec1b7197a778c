"""What is listed in a catalog section, in which format, and how a text is cut."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol

from satchel.model import LOAD_TOOLS, Descriptor, LazyTuple, Style
from satchel.text import clean_line, list_line


class Layout(Protocol):
    """One format of the catalog section. All text it is given is clean, on one line.

    It escapes what it is given, so that no skill can end its own element or begin
    another.
    """

    def entry(self, id: str, description: str | None) -> str:
        """Return one skill; None leaves the description out, not the skill."""
        ...

    def section(self, entries: Sequence[str], note: str) -> str:
        """Return the whole section; an empty ``note`` leaves no trace."""
        ...

    def bare(self, note: str) -> str:
        """Return the smallest text that carries ``note``, without any skill."""
        return note


_GUIDANCE: Final = (
    "If a skill fits the task, load it with {} before you begin. Do not guess.\n"
)
LIST: Final = "<available_skills>\n"
TAIL: Final = "</available_skills>"


class Lean(Layout):
    """One line a skill, in one element, below two sentences and the note.

    The lines are escaped as those of `Markdown` are, so that none can end the element
    or hold the id of another skill. The note comes first, for what it says (search!) is
    what to do before the list is read.
    """

    def __init__(self, style: Style) -> None:
        self._guidance = _GUIDANCE.format(LOAD_TOOLS[style][0])

    def entry(self, id: str, description: str | None) -> str:
        return list_line(id, description)

    def section(self, entries: Sequence[str], note: str) -> str:
        head = f"{self._guidance}{note}\n" if note else self._guidance
        return "".join((head, LIST, *entries, TAIL))

    def overview(self, entries: Sequence[str], note: str, groups: str) -> str:
        """Return a section of some skills and a map of all; either may be empty."""
        text = self.section(entries, note) if entries else f"{self._guidance}{note}"
        return f"{text}\n{groups}" if groups else text


@dataclass(frozen=True)
class SkillLines:
    """The skills of a section, side by side: ids, ids as shown, descriptions.

    ``whole`` are their entries in full. ``featured`` are the ids that come first where
    not all have room.
    """

    layout: Layout
    entries: Sequence[Descriptor]
    featured: Sequence[str]

    @cached_property
    def ids(self) -> tuple[str, ...]:
        entries = self.entries
        if isinstance(entries, LazyTuple):  # not one is read for its id
            return tuple(entries.ids)
        return tuple(entry.id for entry in entries)

    @cached_property
    def shown(self) -> list[str]:
        return list(map(clean_line, self.ids))

    @cached_property
    def descriptions(self) -> list[str]:
        return [clean_line(entry.description) for entry in self.entries]

    @cached_property
    def whole(self) -> list[str]:
        return list(map(self.layout.entry, self.shown, self.descriptions))


_ELLIPSIS: Final = "…"
# What cannot begin a text of its own: marks, joiners, selectors, skin tones, tags.
_TRAILING: Final = (
    "\u0300-\u036f\u200c\u200d\u20d0-\u20ff\ufe00-\ufe0f\U0001f3fb-\U0001f3ff"
    "\U000e0020-\U000e007f\U000e0100-\U000e01ef"
)
_TRAILING_CHAR: Final = re.compile(f"[{_TRAILING}]")
_LOOSE_END: Final = " ,;:.-(\u2013\u2014\u200c\u200d"


def shorten(text: str, limit: int) -> str:
    """Return ``text`` in at most ``limit`` characters, "…" included where it was cut.

    Cut behind a word where one ends in the second half, else between characters, and
    never within an emoji sequence or before a combining mark.
    """
    if len(text) <= limit:
        return text
    end = text.rfind(" ", limit // 2, limit)
    if end < 0:
        end = limit - 1
        while end > 0 and (
            _TRAILING_CHAR.match(text, end) or text[end - 1] == "\u200d"
        ):
            end -= 1
    return text[:end].rstrip(_LOOSE_END) + _ELLIPSIS
