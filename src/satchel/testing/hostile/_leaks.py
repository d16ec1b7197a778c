"""What of a pack must not be in a catalog, found independently of Satchel."""

import unicodedata
from typing import Final

from satchel.testing.hostile._pack import FORGED, HEADING, SECRET

_BIDI: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e") | {
    chr(point) for point in range(0x2066, 0x206A)
}
# Invisible although Unicode calls them letters or marks.
_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u3164\uffa0")
_TAGS: Final = range(0xE0000, 0xE0080)
_SELECTORS: Final = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
_UNSEEN: Final = frozenset({"Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


def find_leaks(text: str) -> tuple[str, ...]:
    """Return what of hostile packs reached ``text``, by name, sorted.

    - ``bidi``, ``tag``, ``control``, ``hidden``: characters that reorder, hide,
      steer a terminal or cannot be seen; only the line feed is allowed.
    - ``line``: a line that the pack wrote begins as a line of the catalog.
    - ``markup``: a tag that the pack wrote is a tag.
    - ``secret``: text from a file outside the library.
    """
    leaks = {_kind(character) for character in set(text)} - {""}
    if any(line.lstrip().startswith(HEADING) for line in text.split("\n")):
        leaks.add("line")
    if FORGED in text:
        leaks.add("markup")
    if SECRET in text:
        leaks.add("secret")
    return tuple(sorted(leaks))


def _kind(character: str) -> str:
    point = ord(character)
    if point in _TAGS:
        return "tag"
    if character in _BIDI:
        return "bidi"
    category = unicodedata.category(character)
    if category == "Cc":
        return "" if character == "\n" else "control"
    unseen = category in _UNSEEN or character in _INVISIBLE
    unseen |= any(point in selectors for selectors in _SELECTORS)
    return "hidden" if unseen else ""
