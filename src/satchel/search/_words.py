"""The words that search sees: of a query, of a skill's name, of its text."""

import re
import sqlite3
import unicodedata
from collections.abc import Iterable
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")
# As `_WORD` for plain text, three times as fast.
_PLAIN: Final = str.maketrans(
    {chr(code): " " for code in range(128) if not chr(code).isalnum()}
)
_CJK: Final = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)
_ACCENT: Final = re.compile("[\u0300-\u036f]+")
_HUMP: Final = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
STOP_WORDS: Final = frozenset(
    (  # noqa: SIM905 - ninety lines of one word each would read worse
        "a about after all also am an and any are as at be been but by can could did "
        "do does for from get had has have he her here him his how i if in into is it "
        "its just me my no not now of off on only or our out please she should so some "
        "such than that the their them then there these they this to too up us use "
        "using very want was we were what when where which who why will with would you "
        "your"
    ).split()
)
# A longer run is data, such as a key or an image, of which the start tells enough.
_MAX_WORD_CHARS: Final = 40


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, without case and accents."""
    # Chinese, Japanese and Korean write no spaces; overlapping pairs of signs let a
    # part of a run be found.
    text = text.lower()
    if text.isascii():
        return text.translate(_PLAIN).split()
    bare = _ACCENT.sub("", unicodedata.normalize("NFKD", text))
    return _WORD.findall(_CJK.sub(_pairs, unicodedata.normalize("NFC", bare).lower()))


def name_words(name: str) -> list[str]:
    """Return the words of a name; ``pdfForms`` is `pdfforms`, `pdf` and `forms`."""
    words = words_of(name)
    apart = words_of(_HUMP.sub(" ", name))
    return words if apart == words else list(dict.fromkeys(words + apart))


def query_words(query: str) -> list[str]:
    """Return the words of a query that are worth looking up, each once, in order."""
    words = list(dict.fromkeys(words_of(query)))
    # Where a query is nothing but common words, these are kept.
    telling = [word for word in words if word not in STOP_WORDS]
    return telling or words


def normal_name(text: str) -> str:
    """Return what is equal for two spellings of one id, as somebody types it."""
    # Accents composed or not (macOS), hyphens, underscores and spaces: `PDF forms` is
    # `pdf-forms`.
    folded = unicodedata.normalize("NFC", text).casefold()
    return " ".join(folded.replace("-", " ").replace("_", " ").split())


def _pairs(match: re.Match[str]) -> str:
    run = match.group()
    if len(run) == 1:
        return f" {run} "
    return " " + " ".join(run[i : i + 2] for i in range(len(run) - 1)) + " "


class Stemmer:
    """Porter's stems, made by SQLite's full-text index, which has them in C.

    A stemmer in pure Python takes seven times as long and ranks no better
    (docs/decisions/0025-search.md). One thread at a time.
    """

    def __init__(self) -> None:
        # The lock of the caller is what keeps threads apart.
        self._db = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False
        )
        self._db.execute(
            "CREATE VIRTUAL TABLE word USING "
            "fts5(text, content='', tokenize='porter ascii')"
        )
        self._db.execute("CREATE VIRTUAL TABLE stem USING fts5vocab(word, instance)")

    def stems(self, words: Iterable[str]) -> dict[str, str]:
        """Return each word's stem; words of other scripts are their own."""
        stems = {word: word[:_MAX_WORD_CHARS] for word in words}
        # One word is one token of `ascii` where it has only letters and digits.
        plain = [word for word, cut in stems.items() if cut.isascii() and cut.isalnum()]
        self._db.execute("INSERT INTO word(word) VALUES ('delete-all')")
        text = " ".join(stems[word] for word in plain)
        self._db.execute("INSERT INTO word(rowid, text) VALUES (1, ?)", (text,))
        for stem, place in self._db.execute('SELECT term, "offset" FROM stem'):
            stems[plain[place]] = stem
        return stems

    def close(self) -> None:
        """Free its memory."""
        self._db.close()
