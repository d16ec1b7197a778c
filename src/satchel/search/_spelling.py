"""When a misspelled word of a query is read as another, and as which."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol

# A shorter word is too close to too many others; of a longer one two letters may be
# wrong. A longer run is no word.
_FEWEST_LETTERS: Final = 5
_FEWEST_FOR_TWO: Final = 9
_MOST_LETTERS: Final = 18
_MOST_READINGS: Final = 2
# Of a longer query the words that are known tell enough; the others are often names of
# a program's text.
_MOST_TERMS: Final = 16

_Words = dict[int, list[tuple[str, int, int]]]
"""By length: a word, its letters and pairs as bits, and how many skills have it."""


class Vocabulary(Protocol):
    """What has the words."""

    def beginning_with(self, letter: bytes) -> Iterable[tuple[bytes, int]]:
        """Return the terms that begin with a letter, and in how many skills each is."""
        ...


class Spelling:
    """The nearest words of a library, by one or two wrong letters; safe across threads.

    A wrong letter is one too many, one too few, another one, or two that changed
    places. The first letter is taken to be right.
    """

    def __init__(self, vocabularies: Sequence[Vocabulary]) -> None:
        self._vocabularies = vocabularies
        self._by_letter: dict[str, _Words] = {}

    def readings(
        self, words: Iterable[str], stems: Mapping[str, str], terms: int
    ) -> Iterator[tuple[str, str]]:
        """Yield the unknown words of a query of so many terms, each with a reading."""
        if terms <= _MOST_TERMS:
            for word in words:
                yield from ((word, stem) for stem in self.nearest(word, stems[word]))

    def nearest(self, word: str, stem: str) -> list[str]:
        """Return the stems that a word may stand for, the most frequent first."""
        if not (word.isascii() and word.isalpha()):
            return []
        if not _FEWEST_LETTERS <= len(stem) <= len(word) <= _MOST_LETTERS:
            return []
        words = self._by_letter.get(stem[0])
        if words is None:
            words = self._by_letter[stem[0]] = self._words(stem[0])
        letters = _letters(stem)
        for wrong in (1, 2) if len(stem) >= _FEWEST_FOR_TWO else (1,):
            near = [
                (-count, other)
                for length in range(len(stem) - wrong, len(stem) + wrong + 1)
                for other, bits, count in words.get(length, ())
                if (bits ^ letters).bit_count() <= 6 * wrong
                and _distance(stem, other) <= wrong
            ]
            if near:
                return [other for _, other in sorted(near)[:_MOST_READINGS]]
        return []

    def _words(self, letter: str) -> _Words:
        counts = Counter[bytes]()
        for vocabulary in self._vocabularies:
            for term, count in vocabulary.beginning_with(letter.encode()):
                counts[term] += count
        words: _Words = {}
        for term, count in counts.items():
            if term.isalpha() and _FEWEST_LETTERS - 2 < len(term) <= _MOST_LETTERS:
                word = term.decode()
                words.setdefault(len(word), []).append((word, _letters(word), count))
        return words


def _letters(word: str) -> int:
    """Return bits of which a wrong letter changes at most six."""
    bits, before = 0, 0
    for code in word.encode():
        bits |= 1 << code - 97 | 1 << 26 + (5 * before + code) % 101
        before = code
    return bits


def _distance(one: str, other: str) -> int:
    """Return how many letters are wrong, where two that changed places count once."""
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    last, before = list[int](), list[int]()
    row: list[int] = [*range(len(other) + 1)]
    for i, letter in enumerate(one, 1):
        last, before = before, row
        row = [i]
        for j, sign in enumerate(other, 1):
            least = min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != sign))
            if i > 1 < j and letter == other[j - 2] and one[i - 2] == sign:
                least = min(least, last[j - 2] + 1)
            row.append(least)
    return row[-1]
