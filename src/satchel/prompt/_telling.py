"""The words of a description that tell a skill from its neighbours.

The first words of a description are those of many others: "Use when the user ...". So
where there is no room, a description loses its commonest words first, and what is left
keeps its order. Figures were chosen by `python -m benchmarks.catalog_lines`.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from satchel.text import STOP_WORDS

_TOKEN: Final = re.compile(r"\w+(?:[.'\u2019&/+#-]+\w+)*[+#]*")
_WORD: Final = re.compile(r"[^\W_]+")
_COMMON: Final = STOP_WORDS | {
    *("asks", "don", "e", "eg", "etc", "g", "helps", "ie", "including", "isn", "ll"),
    *("mentions", "need", "needs", "provides", "re", "s", "skill", "skills", "t"),
    *("used", "user", "users", "uses", "via", "want", "wants", "whenever"),
}
# What a skill is *not* for must not read as what it is for.
_DENIED: Final = re.compile(
    r"\b(?:do not|don['\u2019]t|not|never|instead of|rather than|unless|except|cannot|"
    r"can['\u2019]t)\b[^.;:!?(\u2014]*|(?:不要|不用|不是|而不|不适|除非)[^\u3002\uff1b\uff0c]*",
    re.IGNORECASE,
)
# Chinese and Japanese write no spaces; these signs are between words.
_PARTICLES: Final = str.maketrans(dict.fromkeys("的了和与或及在是を", " "))
# What stays between two words that stay.
_JOINTS: Final = ",;:. \u200c\u200d"
# A word is worth less the more its line says already: at so much, one over e. What is
# left of a description after its words is worth little, unless it is short.
_ENOUGH: Final = 24.0
_REST: Final = 0.4


class TellingWords:
    """The descriptions of some skills, each cut to any number of words.

    ``order`` has the index of a skill for each of its words, and once more for the
    rest of its description: first what is worth most for its length.
    """

    def __init__(self, ids: Sequence[str], descriptions: Sequence[str]) -> None:
        self._descriptions = descriptions
        self._tokens = list(map(_tokens, descriptions))
        having = Counter[str]()
        for id, tokens in zip(ids, self._tokens, strict=True):
            having.update({*_words(id)}.union(*[words for *_, words in tokens]))
        rare = {
            w: math.log1p((len(ids) - n + 0.5) / (n + 0.5)) for w, n in having.items()
        }
        self._ranked: list[list[int]] = []
        worth = (
            (-w, at) for at in range(len(ids)) for w in self._rank(at, ids[at], rare)
        )
        self.order = [at for _, at in sorted(worth)]

    def _rank(self, at: int, id: str, rare: dict[str, float]) -> Iterator[float]:
        """Rank a skill's words; yield what each is worth, which never grows."""
        listed, tokens, description = (
            {*_words(id)},
            self._tokens[at],
            self._descriptions[at],
        )
        weight, times = sum([rare[word] for word in _words(id)]), Counter[str]()
        for *_, words in tokens:
            times.update(words)
        rows: list[tuple[float, int, float]] = []
        for number, (start, end, words) in enumerate(tokens):
            new = [word for word in words if word not in listed]
            if not new:
                continue
            listed.update(new)
            worth = max([rare[word] ** 0.7 * math.sqrt(times[word]) for word in new])
            worth *= 1 - 0.8 * number / len(tokens)
            if (
                description[start].isupper()
                and description[:start][-2:-1] not in ".!?:"
            ):
                worth *= 1.5  # a name, not the start of a sentence
            # Short words are no bargain: a letter or two tells little.
            length = max(4, 1 + len(description[start:end].encode()))
            rows.append((-worth / length, number, worth))
        rows.sort()
        self._ranked.append([number for _, number, _ in rows])
        least = math.inf
        for density, _, worth in rows:
            share = math.exp(-weight / _ENOUGH) * (1 - math.exp(-worth / _ENOUGH))
            least = min(least, share * -density / worth)
            yield least
            weight += worth
        rest = max(1, len(description) - len(self.text(at, len(rows))))
        yield min(least, math.exp(-weight / _ENOUGH) * _REST / _ENOUGH / rest)

    def text(self, at: int, words: int) -> str:
        """Return a description cut to so many words, or whole with one more."""
        description, tokens = self._descriptions[at], self._tokens[at]
        if words > len(self._ranked[at]):
            return description
        text, before = "", -1
        for number in sorted(self._ranked[at][:words]):
            start, end, _ = tokens[number]
            between = description[tokens[before][1] : start] if text else ""
            apart = text and (number > before + 1 or between.strip(_JOINTS))
            text += (" " if apart else between) + description[start:end]
            before = number
        return text


def _tokens(description: str) -> list[tuple[int, int, tuple[str, ...]]]:
    text = _DENIED.sub(lambda match: " " * len(match[0]), description)
    text = text if text.isascii() else text.translate(_PARTICLES)
    return [(*match.span(), _words(match[0])) for match in _TOKEN.finditer(text)]


@lru_cache(8_192)
def _words(text: str) -> tuple[str, ...]:
    words = set(_WORD.findall(text.casefold())) - _COMMON
    # Six letters tell a word, whatever its ending; a single sign of Chinese is no word.
    return tuple(sorted({w[:6] for w in words if len(w) > 1 or w.isascii()}))
