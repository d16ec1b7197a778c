"""The words that search sees: of a query, of a skill's name, of its text."""

import re
import sqlite3
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from operator import add
from typing import Final
from weakref import finalize

from satchel.text import STOP_WORDS

_WORD: Final = re.compile(r"[^\W_]+")
# A word with the sign that makes a name of it: `.net`, `@angular`, `$ref`, `c++`, `c#`.
# Dots in a row, prices and what glues two words together are no names.
_NAME: Final = re.compile(
    r"((?:(?<![.@$])\.|(?<![\w.@$])[@$])(?=[^\W\d_]))?"
    r"([^\W_]+)(\+\+|[+#](?![^\W_]|[+#]))?"
)
_SIGNED: Final = re.compile(r"[+#@$]|\.(?=[^\W\d_])")
# The signs behind it alone; it begins with them, since that is found several times as
# fast.
_BEHIND: Final = re.compile(r"[+#](?<=[^\W_].)(?:(?<=\+)\+|(?![^\W_]|[+#]))")
SIGNS: Final = "+#.@$"
# As `_WORD` for plain text, three times as fast.
_PLAIN: Final = str.maketrans(
    {chr(code): " " for code in range(128) if not chr(code).isalnum()}
)
# Runs of signs and letters; most are one word, and are done with.
_APART: Final = str.maketrans(
    dict.fromkeys(
        (c for c in map(chr, range(128)) if not c.isalnum() and c not in SIGNS), " "
    )
)
_CJK: Final = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)
_ASCII: Final = bytes(range(128))
_ACCENT: Final = re.compile("[\u0300-\u036f]+")
_HUMP: Final = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# A longer run is data, such as a key or an image, of which the start tells enough.
_MAX_WORD_CHARS: Final = 40
# Of the stems that are kept for the next query.
_MAX_STEMS: Final = 20_000


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, without case and accents.

    A name with a sign comes after its plain word. Where that is one letter it is left
    out, since `c#` is neither `c` nor `c++`.
    """
    # Chinese, Japanese and Korean write no spaces; overlapping pairs of signs let a
    # part of a run be found.
    text = text.lower()
    if not text.isascii():
        text = _CJK.sub(_pairs, _bare(text))
    elif not _SIGNED.search(text):
        return text.translate(_PLAIN).split()
    return _split(text)


def _split(text: str) -> list[str]:
    words = list[str]()
    for run in text.translate(_APART).split():
        if run.isalnum():
            words.append(run)
        else:
            words += _names(run)
    return words


@lru_cache(32_768)
def _names(run: str) -> tuple[str, ...]:
    words = list[str]()
    for before, word, behind in _NAME.findall(run):
        is_name = word not in STOP_WORDS and not word.isdigit()
        if not (is_name and behind and len(word) == 1):
            words.append(word)
        if is_name:
            words += [name for name in (before + word, word + behind) if name != word]
    return tuple(words)


def _bare(text: str) -> str:
    bare = _ACCENT.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", bare).lower()


def _foreign_words(text: str) -> list[str]:
    text = _bare(text)
    parts = _CJK.split(text)
    for run in _CJK.findall(text):
        parts += map(add, run, run[1:]) if len(run) > 1 else run
    text = " ".join(parts)
    return _with_signs(_WORD.findall(text), text)


def bag_of_words(text: str) -> list[str]:
    """Return the words of a long text in some order, several times as fast.

    They are those of `words_of` but for names that begin with a sign: in instructions,
    most of these are files and variables.
    """
    text = text.lower()
    if not text.isascii():
        # A dash or an arrow here and there is no reason to read every letter as one
        # of another script.
        utf_8 = text.encode("utf-8", "surrogatepass")
        signs = utf_8.translate(None, _ASCII).decode("utf-8", "surrogatepass")
        if any(map(_writes_words, {*signs})):
            runs = text.split()
            foreign = " ".join([run for run in runs if not run.isascii()])
            plain = " ".join([run for run in runs if run.isascii()])
            return _plain_words(plain) + _foreign_words(foreign)
        text = text.encode("ascii", "replace").decode("ascii")
    return _plain_words(text)


def _plain_words(text: str) -> list[str]:
    return _with_signs(text.translate(_PLAIN).split(), text)


def _with_signs(words: list[str], text: str) -> list[str]:
    """Return the words of a text after their names that end in a sign are put in."""
    for match in _BEHIND.finditer(text):
        start = end = match.start()
        while start and text[start - 1].isalnum():
            start -= 1
        word = text[start:end]
        if not (word in STOP_WORDS or word.isdigit()):
            words.append(word + match.group())
            if len(word) == 1:
                words.remove(word)
    return words


@lru_cache(4_096)
def _writes_words(sign: str) -> bool:
    """Return whether a sign beyond ASCII is a part, an accent or a sign of a word."""
    apart = unicodedata.normalize("NFKD", sign)
    return bool(_ACCENT.search(apart) or _WORD.search(apart)) or apart in SIGNS


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
    # Accents, hyphens, underscores and spaces: `PDF fórms` is `pdf-forms`.
    folded = _bare(text).casefold()
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
        # Few programs close a Satchel, and Python warns of it from 3.13 on.
        finalize(self, self._db.close)
        self._db.execute(
            "CREATE VIRTUAL TABLE word USING "
            "fts5(text, content='', tokenize='porter ascii')"
        )
        self._db.execute("CREATE VIRTUAL TABLE stem USING fts5vocab(word, instance)")
        self._stems: dict[str, str] = {}

    def stems(self, words: Iterable[str]) -> dict[str, str]:
        """Return each word's stem; words of other scripts are their own."""
        words = tuple(words)
        if len(words) > _MAX_STEMS:
            return self._new_stems(words)
        if len(self._stems) + len(words) > 2 * _MAX_STEMS:
            self._stems.clear()
        self._stems |= self._new_stems(w for w in words if w not in self._stems)
        return {word: self._stems[word] for word in words}

    def _new_stems(self, words: Iterable[str]) -> dict[str, str]:
        stems = {word: word[:_MAX_WORD_CHARS] for word in words}
        if not stems:
            return stems
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
