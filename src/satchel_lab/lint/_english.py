"""English words: enough to tell which descriptions are in English."""

from typing import Final

from satchel.lazy import lazy_pattern

_WORD: Final = lazy_pattern(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
# Frequent words that are rare or unknown in other languages with Latin letters.
_GRAMMAR: Final = frozenset(
    """
    the and of with for from to that by or your their its using into this are is an as
    on when it not
    """.split()  # noqa: SIM905 - a list would be a column of words
)
# Words of English descriptions without grammar: verbs, since languages share nouns.
_USUAL: Final = frozenset(
    """
    across all always analyze analyzes automatically before between browse build
    builds capture check checks compile convert create creates detect detects
    extract extracts fetch fetches generate generates get handle handles including
    manage manages monitor monitors over pause plan review reviews run runs search
    send set should so support supports through track tracks via view without write
    writes
    """.split()  # noqa: SIM905
)
_FOREIGN: Final = frozenset(
    """
    al avec bei con das de del della den der des di dos du een ein eine el en est et
    für het il ist la las le les los mais met mit não och oder os para por pour que
    sur um uma un una und van von voor zu zur
    """.split()  # noqa: SIM905
)
_OPENING: Final = _GRAMMAR | frozenset(
    """
    a about advanced all also always any asks asked ask at automatically be been
    being can capabilities capability collection complete comprehensive could
    designed do does doing different each easy effective enable enables every
    everything expert expertise explicitly framework general guidance guide guides
    have has help helper helps how i if in includes including intended invoke
    invoked kind kinds many me modern must need needs needed offers only other
    proactively powerful professional provide provides providing request requests
    set should simple skill skills so some someone sorts specialist such support
    supports system task tasks them then there these they things those tool toolkit
    tools topic type us use used useful user user's users uses various want wants we
    what whenever where which who will work working works workflow would you
    """.split()  # noqa: SIM905
)
_LEAST_LETTERS: Final = 0.9
_FEW_WORDS: Final = 8


def is_english(text: str) -> bool:
    """Tell whether a text is in English, by its letters and its frequent words."""
    letters = [char for char in text if char.isalpha()]
    if not letters or sum(map(str.isascii, letters)) < _LEAST_LETTERS * len(letters):
        return False
    words = [word.lower() for word in _WORD.findall(text)]
    english = len(_GRAMMAR.union(_USUAL).intersection(words))
    if english <= len(_FOREIGN.intersection(words)):
        return False
    # One frequent word is enough in a short text; in a long one it may be a loan.
    return english > 1 or len(words) < _FEW_WORDS


def opening_chars(text: str) -> int:
    for match in _WORD.finditer(text):
        if match[0].lower().replace("\u2019", "'") not in _OPENING:
            return match.start()
    return len(text)
