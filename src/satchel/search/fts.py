"""The first ranker: SQLite's full-text index, in memory."""

import sqlite3
import threading
from collections.abc import Callable, Iterable
from typing import Final

from satchel.errors import SkillError
from satchel.model import SKILL_FILE, Catalog, Descriptor, Hit, Reader
from satchel.search.words import index_text, query_words, same_name
from satchel.spec import body_of

__all__ = ["FtsRanker"]

BODY_CHARS: Final = 8_000
"""How much of a body is indexed; more ranked worse (docs/explanation/search.md)."""
_BODY_WEIGHT: Final = 0.7
"""Chosen on public queries; .5 to .9 differ little (docs/explanation/search.md)."""
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
        """Build nothing before the first query."""
        self._lock = threading.Lock()
        self._catalog: Catalog | None = None
        self._index: sqlite3.Connection | None = None

    def rank(self, catalog: Catalog, query: str, k: int) -> list[Hit]:
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
        asked = same_name(query)
        named = {entry.id for entry in catalog.entries if same_name(entry.id) == asked}
        for skill_id in named:
            scores.setdefault(skill_id, 0.0)
        order = sorted(scores, key=lambda i: (i not in named, -scores[i], i))
        return [_hit(catalog, skill_id, scores[skill_id]) for skill_id in order[:k]]


def _hit(catalog: Catalog, skill_id: str, score: float) -> Hit:
    entry = catalog.get(skill_id)
    description, source = (entry.description, entry.source) if entry else ("", "")
    return Hit(skill_id, description, round(score, 6), source)


def _build(catalog: Catalog) -> sqlite3.Connection:
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
                index_text(_safe(entry.description)),
                index_text(_safe(" ".join(entry.keywords))),
                _safe(entry.id),
            )
            for entry in entries
        ),
    )
    index.executemany("INSERT INTO body VALUES (?, ?)", _bodies(catalog, entries))
    return index


def _words(name: str) -> str:
    return index_text(_safe(name).replace("-", " ").replace("_", " "))


def _safe(text: str) -> str:
    """Return text that UTF-8 can hold; a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _bodies(
    catalog: Catalog, entries: Iterable[Descriptor]
) -> Iterable[tuple[str, str]]:
    for entry in entries:
        data = _at_hand(catalog.readers.get(entry.source), entry)
        if data is None:
            continue  # it is found by its name and description
        text = body_of(data.decode("utf-8", "replace"))[:BODY_CHARS]
        yield index_text(text), _safe(entry.id)


def _at_hand(reader: Reader | None, entry: Descriptor) -> bytes | None:
    """Return a SKILL.md that is had at once: nothing is fetched for a search.

    A source that says that it lies elsewhere (``near`` is false) may have kept some
    (``at_hand``); one that hangs must not keep anybody from what is here.
    """
    key = entry.origin.key
    at_hand: Callable[[str], bytes | None] | None = getattr(reader, "at_hand", None)
    if callable(at_hand):
        kept: bytes | None = at_hand(key)
        return kept
    if reader is None or entry.remote or getattr(reader, "near", None) is False:
        return None
    try:
        return reader.read(key, SKILL_FILE, _READ_BYTES)
    except SkillError:
        return None


def _scores(index: sqlite3.Connection, words: list[str]) -> dict[str, float]:
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
