"""How lists of skills are made: one function for each kind of rule.

Each takes the skills, the numbers of a client from ``listings.json`` and the context
window in tokens; it returns the skills that are listed, in the order of the list.
"""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

# Characters that join what is before them: they take no column of their own.
_NO_WIDTH: Final = frozenset(["Mn", "Me", "Cf", "Cc"])
# Marks in the order of the Unicode collation algorithm; digits and letters follow.
_MARKS: Final = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"


@dataclass(frozen=True, slots=True)
class LibrarySkill:
    """A skill of a library, as far as lists of skills show it.

    ``folder`` is the name of its folder, ``when_to_use`` that field of its frontmatter.
    """

    name: str
    description: str
    folder: str
    when_to_use: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """The text that is shown of the skill at this place of the entries."""

    at: int
    text: str
    is_whole: bool


def columns_of(text: str) -> int:
    """Return how wide a terminal shows a text: wide characters count twice."""
    if text.isascii():
        return sum(char >= " " and char != "\x7f" for char in text)
    return sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.category(char) in _NO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _utf16_prefix(text: str, units: int) -> str:
    """Return as much of a text as has so many UTF-16 units."""
    data = text.encode("utf-16-le", "surrogatepass")
    return data[: units * 2].decode("utf-16-le", "ignore")


def _utf16_units(text: str) -> int:
    return len(text) + sum(char > "\uffff" for char in text)


def whole_in_order(
    entries: Sequence[LibrarySkill], numbers: Mapping[str, Any], window: int
) -> list[Shown]:
    """List all, each up to a fixed length."""
    del window
    return [_capped(entries, at, numbers) for at in _order(entries, numbers)]


def _capped(
    entries: Sequence[LibrarySkill], at: int, numbers: Mapping[str, Any]
) -> Shown:
    """Return a description, cut where it is longer than the client allows."""
    entry = entries[at]
    text = entry.description
    if numbers.get("joins_when_to_use") and entry.when_to_use:
        text = f"{text}{numbers['joins_when_to_use']}{entry.when_to_use}"
    most, end = numbers.get("most_chars"), str(numbers.get("end", ""))
    if numbers.get("first_line") and "\n" in text.strip():
        return Shown(at, text.strip().partition("\n")[0], is_whole=False)
    counts_chars = bool(numbers.get("counts_chars"))
    if most is None or (len(text) if counts_chars else _utf16_units(text)) <= most:
        return Shown(at, text, is_whole=True)
    rest = int(most) - len(end)
    start = text[:rest] if counts_chars else _utf16_prefix(text, rest)
    return Shown(at, f"{start}{end}", is_whole=False)


def _order(entries: Sequence[LibrarySkill], numbers: Mapping[str, Any]) -> list[int]:
    """Return the places of the entries, in the order of the list."""
    by_folder = numbers.get("by") == "folder"

    def key(at: int) -> tuple[object, ...]:
        name, folder = entries[at].name, entries[at].folder
        first, second = (folder, name) if by_folder else (name, folder)
        return (_collated(first) if numbers.get("collates") else first, first, second)

    return sorted(range(len(entries)), key=key)


def _collated(text: str) -> tuple[tuple[int, str], ...]:
    """Return a key that sorts as dictionaries do: marks, digits, letters."""
    return tuple((_MARKS.find(char) % 99, char.casefold()) for char in text)


def whole_then_names(
    entries: Sequence[LibrarySkill], numbers: Mapping[str, Any], window: int
) -> list[Shown]:
    """List whole descriptions up to a fixed length, then names, and leave the rest out.

    The first skill that has no room ends each part.
    """
    del window
    rest, names = numbers["most_list_chars"], numbers["most_name_chars"]
    is_full = False
    shown: list[Shown] = []
    for at in _order(entries, numbers):
        one = _capped(entries, at, numbers)
        text = escape(one.text) if numbers.get("escapes") else one.text
        size = numbers["around_chars"] + _utf16_units(entries[at].name + text)
        if not is_full and size <= rest:
            rest -= size
            shown.append(one)
            continue
        # A comma and a space are between two names, and before none.
        names -= _utf16_units(entries[at].name) + (2 if is_full else 0)
        is_full = True
        if names < 0:
            break
        shown.append(Shown(at, "", is_whole=False))
    return shown


def names_then_descriptions(
    entries: Sequence[LibrarySkill], numbers: Mapping[str, Any], window: int
) -> list[Shown]:
    """List all names; give each description its place, in order, while there is room.

    The client's own skills come out of the same budget, and are never shortened. A
    description that has no room is left out, and a shorter one after it may have some.
    """
    budget = int(window * numbers["fraction"] * numbers["chars_per_token"])
    names = [_label(entries, at) for at in range(len(entries))]
    rest = budget - numbers["own_columns"]
    rest -= sum(columns_of(f"- {name}") + 1 for name in names)
    shown: list[Shown] = []
    for at in _order(entries, numbers):
        one = _capped(entries, at, numbers)
        cost = columns_of(f": {one.text}")
        if cost <= rest:
            rest -= cost
            shown.append(one)
        else:
            shown.append(Shown(at, "", is_whole=False))
    return shown


def _label(entries: Sequence[LibrarySkill], at: int) -> str:
    """Return the folder's name, and the other name behind it where both are shown."""
    entry = entries[at]
    if entry.name == entry.folder or any(e.folder == entry.name for e in entries):
        return entry.folder
    return f"{entry.folder} ({entry.name})"


def equal_shares(
    entries: Sequence[LibrarySkill], numbers: Mapping[str, Any], window: int
) -> list[Shown]:
    """List all names and paths, and share what is left equally among descriptions.

    One character at a time goes to each skill that has more, in order. If the names and
    paths alone have no room, no description is shown, and those skills are left out
    that find none, in order.
    """
    budget = min(window, numbers["most_window"]) * numbers["percent"] // 100
    own = [
        _Line(f"- {name}: (file: r0/{name}/SKILL.md)", "x" * chars)
        for name, chars in numbers["own_skills"]
    ]
    order = _order(entries, numbers)
    capped = [_capped(entries, at, numbers) for at in order]
    lines = [
        _Line(
            f"- {entries[at].name}: (file: r1/{entries[at].folder}/SKILL.md)", one.text
        )
        for at, one in zip(order, capped, strict=True)
    ]
    every = [*own, *lines]
    if sum(line.cost(len(line.text)) for line in every) <= budget:
        return capped
    names = sum(line.cost(0) for line in every)
    if names > budget:
        return _names_that_fit(every, len(own), order, budget)
    chars = _share(every, budget - names)[len(own) :]
    return [
        Shown(at, line.text[:count], is_whole=one.is_whole and count == len(line.text))
        for at, line, count, one in zip(order, lines, chars, capped, strict=True)
    ]


def _names_that_fit(
    every: "Sequence[_Line]", own: int, order: Sequence[int], budget: int
) -> list[Shown]:
    shown: list[Shown] = []
    for at, line in enumerate(every):
        cost = line.cost(0)
        if cost <= budget:
            budget -= cost
            if at >= own:
                shown.append(Shown(order[at - own], "", is_whole=not line.text))
    return shown


class _Line:
    """A line of the list: what it costs with so many characters of its description."""

    def __init__(self, head: str, text: str) -> None:
        self.text = text
        self._head = len(head.encode("utf-8", "replace")) + 1
        self._bytes = [0]
        for char in text:
            self._bytes.append(self._bytes[-1] + len(char.encode("utf-8", "replace")))

    def cost(self, chars: int) -> int:
        """Return the tokens of the line: four bytes are one."""
        size = self._head + (self._bytes[chars] + 1 if chars else 0)
        return -(-size // 4)


def _share(lines: "Sequence[_Line]", rest: int) -> list[int]:
    """Return how many characters of each description have room."""
    counts = [0] * len(lines)
    costs = [line.cost(0) for line in lines]
    changed = True
    while changed:
        changed = False
        for at, line in enumerate(lines):
            if counts[at] >= len(line.text):
                continue
            cost = line.cost(counts[at] + 1)
            if cost - costs[at] <= rest:
                rest -= cost - costs[at]
                costs[at] = cost
                counts[at] += 1
                changed = True
    return counts


Rule = Callable[[Sequence[LibrarySkill], Mapping[str, Any], int], list[Shown]]

RULES: Final[dict[str, Rule]] = {
    "whole": whole_in_order,
    "whole-then-names": whole_then_names,
    "names-then-descriptions": names_then_descriptions,
    "equal-shares": equal_shares,
}
"""The kinds of rules, by their names in ``listings.json``."""
