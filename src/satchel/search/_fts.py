"""The first ranker: SQLite's full-text index in memory, and the words that it sees."""

import re
import sqlite3
import threading
import unicodedata
from collections.abc import Iterable
from typing import Final

from satchel.errors import SkillError
from satchel.model import Descriptor, FileReader, Hit
from satchel.protocols import CatalogView
from satchel.skill_md import body_of

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
# More words cost time and gain nothing: docs/explanation/search.md.
MAX_QUERY_WORDS: Final = 64


def index_text(text: str) -> str:
    """Return ``text`` with runs of Chinese, Japanese or Korean as pairs of signs."""
    # These scripts write no spaces; overlapping pairs let a part of a run be found.
    return text if text.isascii() else _CJK.sub(_pairs, text)


def query_words(query: str) -> list[str]:
    """Return the words of a query that are worth looking up, each once, in order."""
    words = list(dict.fromkeys(_WORD.findall(index_text(query.lower()))))
    # Where a query is nothing but common words, these are kept.
    telling = [word for word in words if word not in _STOP]
    return (telling or words)[:MAX_QUERY_WORDS]


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


# How much of a body is indexed; more ranked worse (docs/explanation/search.md).
BODY_CHARS: Final = 8_000
# Chosen on public queries; .5 to .9 differ little (docs/explanation/search.md).
_BODY_WEIGHT: Final = 0.7
_CANDIDATES: Final = 400
_READ_BYTES: Final = 1024 * 1024
_TOKENIZER: Final = "porter unicode61 remove_diacritics 2"


class FtsRanker:
    """BM25 over name, description and keywords, and half as much over a body's head.

    The index is built at the first query of a catalog and kept until another
    catalog is asked about. A query is taken apart into words before it reaches the
    index: none of its operators is ever interpreted. Safe across threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._catalog: CatalogView | None = None
        self._index: sqlite3.Connection | None = None

    def rank(self, catalog: CatalogView, query: str, k: int) -> list[Hit]:
        """Return at most ``k`` hits, best first, ties by id.

        A skill whose id is the whole query goes first: `same_name` says what counts
        as the same. A word of a query that happens to be an id decides nothing, since
        public skills are called ``test``, ``go`` and ``review``.
        """
        words = query_words(query)
        if not words or k < 1:
            return []
        with self._lock:
            if self._index is None or self._catalog is not catalog:
                self._index = _build(catalog)
                self._catalog = catalog
            scores = _scores(self._index, words)
        asked = normal_name(query)
        named = {
            entry.id for entry in catalog.entries if normal_name(entry.id) == asked
        }
        for skill_id in named:
            scores.setdefault(skill_id, 0.0)
        order = sorted(scores, key=lambda i: (i not in named, -scores[i], i))
        return [_hit(catalog, skill_id, scores[skill_id]) for skill_id in order[:k]]


def _hit(catalog: CatalogView, skill_id: str, score: float) -> Hit:
    entry = catalog.get(skill_id)
    description, source = (entry.description, entry.source) if entry else ("", "")
    return Hit(skill_id, description, round(score, 6), source)


def _build(catalog: CatalogView) -> sqlite3.Connection:
    # Any thread may use it, since `rank` holds its lock meanwhile.
    index = sqlite3.connect(":memory:", check_same_thread=False)
    index.execute(
        "CREATE VIRTUAL TABLE head USING fts5"
        f"(name, description, extra, id UNINDEXED, tokenize='{_TOKENIZER}')"
    )
    index.execute(
        "CREATE VIRTUAL TABLE body USING fts5"
        f"(text, id UNINDEXED, tokenize='{_TOKENIZER}')"
    )
    entries = catalog.entries
    index.executemany(
        "INSERT INTO head VALUES (?, ?, ?, ?)",
        (
            (
                _words(entry.id),
                index_text(_utf8_text(entry.description)),
                index_text(_utf8_text(" ".join(entry.keywords))),
                _utf8_text(entry.id),
            )
            for entry in entries
        ),
    )
    index.executemany("INSERT INTO body VALUES (?, ?)", _bodies(catalog, entries))
    return index


def _words(name: str) -> str:
    return index_text(_utf8_text(name).replace("-", " ").replace("_", " "))


def _utf8_text(text: str) -> str:
    """Return text that UTF-8 can hold; a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _bodies(
    catalog: CatalogView, entries: Iterable[Descriptor]
) -> Iterable[tuple[str, str]]:
    for entry in entries:
        data = _local_skill_md(catalog.readers.get(entry.source), entry)
        if data is None:
            continue  # it is found by its name and description
        text = body_of(data.decode("utf-8", "replace"))[:BODY_CHARS]
        yield index_text(text), _utf8_text(entry.id)


def _local_skill_md(reader: FileReader | None, entry: Descriptor) -> bytes | None:
    """Return a SKILL.md that can be had at once: nothing is fetched for a search."""
    # A source elsewhere that hangs must not delay a search of what is here.
    if reader is None or entry.remote:
        return None
    try:
        return reader.local_skill_md(entry.origin.key, _READ_BYTES)
    except SkillError:
        return None


def _scores(index: sqlite3.Connection, words: list[str]) -> dict[str, float]:
    # Words of letters and digits alone, in quotes: no operator of FTS5 is in them.
    match = " OR ".join(f'"{word}"' for word in words)
    scores: dict[str, float] = {}
    for sql, weight in (
        ("SELECT id, -bm25(head, 2.0, 1.0, 1.0) FROM head WHERE head MATCH ?", 1.0),
        ("SELECT id, -bm25(body) FROM body WHERE body MATCH ?", _BODY_WEIGHT),
    ):
        rows = index.execute(f"{sql} ORDER BY rank LIMIT {_CANDIDATES}", (match,))
        for skill_id, score in rows:
            scores[skill_id] = scores.get(skill_id, 0.0) + weight * score
    return scores
