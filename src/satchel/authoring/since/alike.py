"""Descriptions that are nearly the same, found without comparing each with each."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

__all__ = ["ALIKE", "alike", "alike_pairs"]

ALIKE: Final = 0.8
"""Of all words of two descriptions, the part that both have, from which on they are
alike: an agent that reads one cannot tell when to use the other."""

_FEWEST_WORDS: Final = 5
_WORD: Final = re.compile(r"\w+")


def alike(one: str, other: str) -> bool:
    """Tell whether two descriptions have nearly the same words."""
    return _are_alike(_words(one), _words(other))


def alike_pairs(
    descriptions: Mapping[str, str], fresh: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of keys whose descriptions are alike, one of them ``fresh``.

    Two sets that have most words in common share one of their rarest: only those that
    do are compared. Each pair comes once, a fresh key first, in the order of keys.
    """
    words = {key: _words(text) for key, text in descriptions.items()}
    counts = Counter(word for each in words.values() for word in each)
    by_rare: dict[str, list[str]] = defaultdict(list)
    rare: dict[str, list[str]] = {}
    for key, own in words.items():
        ranked = sorted(own, key=lambda word: (counts[word], word))
        rare[key] = ranked[: len(ranked) - math.ceil(ALIKE * len(ranked)) + 1]
        for word in rare[key]:
            by_rare[word].append(key)
    for key in sorted(fresh & words.keys()):
        near = {other for word in rare[key] for other in by_rare[word]} - {key}
        for other in sorted(near):
            # Of two that are fresh, the later one is told.
            if other in fresh and other > key:
                continue
            if _are_alike(words[key], words[other]):
                yield key, other


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if min(len(one), len(other)) < _FEWEST_WORDS:
        return False
    common = len(one & other)
    return common >= ALIKE * (len(one) + len(other) - common)
