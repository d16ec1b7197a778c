"""Text and queries as words: what the index sees."""

import re
import unicodedata
from typing import Final

__all__ = ["index_text", "query_words", "same_name"]

_WORD: Final = re.compile(r"[^\W_]+")
_CJK: Final = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)
_STOP: Final = frozenset(
    (  # noqa: SIM905 - sixty lines of one word each would read worse
        "a an and are as at be by can do does for from has have how i in into is it "
        "its me my of on or our please so some that the their them then these this to "
        "use using want was we what when where which who will with would you your"
    ).split()
)
MAX_QUERY_WORDS: Final = 64
"""More words cost time and gain nothing: docs/explanation/search.md."""


def index_text(text: str) -> str:
    """Return ``text`` with runs of Chinese, Japanese or Korean as pairs of signs.

    These scripts write no blanks; overlapping pairs let a part of a run be found.
    """
    return text if text.isascii() else _CJK.sub(_pairs, text)


def query_words(query: str) -> list[str]:
    """Return the words of a query that are worth looking up, each once, in order.

    Where a query is made of nothing but common words, these are kept.
    """
    words = list(dict.fromkeys(_WORD.findall(index_text(query.lower()))))
    telling = [word for word in words if word not in _STOP]
    return (telling or words)[:MAX_QUERY_WORDS]


def same_name(text: str) -> str:
    """Return what is equal for two spellings of one id, as somebody types it.

    Case, composed or decomposed accents, and whether words are joined by hyphens,
    underscores or spaces make no difference: ``PDF forms`` is ``pdf-forms``.
    """
    folded = unicodedata.normalize("NFC", text).casefold()
    return " ".join(folded.replace("-", " ").replace("_", " ").split())


def _pairs(match: re.Match[str]) -> str:
    run = match.group()
    if len(run) == 1:
        return f" {run} "
    return " " + " ".join(run[i : i + 2] for i in range(len(run) - 1)) + " "
