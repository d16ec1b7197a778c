"""The names that a caller may have meant."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

# Names that are compared letter by letter, at some 50 microseconds each.
MAX_COMPARED: Final = 200


def nearest(
    name: str, names: Sequence[str], count: int, cutoff: float = 0.6
) -> list[str]:
    """Return at most ``count`` names that are close to ``name``, the closest first."""
    from difflib import get_close_matches

    folded = _folded(name)
    alike = [candidate for candidate in names if _folded(candidate) == folded]
    if alike:
        return alike[:count]
    if len(names) > MAX_COMPARED:
        from heapq import nlargest

        pairs = _pairs(name)
        names = nlargest(
            MAX_COMPARED, names, key=lambda candidate: len(pairs & _pairs(candidate))
        )
    return get_close_matches(name, names, count, cutoff)


def _folded(name: str) -> str:
    if name.isascii():
        return name.lower()
    from unicodedata import normalize

    return normalize("NFC", name).casefold()


def _pairs(name: str) -> set[tuple[str, str]]:
    return set(pairwise(name))
