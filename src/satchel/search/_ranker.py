"""The ranker that is used where no other is given."""

import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Final

from satchel.model import Descriptor, Hit
from satchel.protocols import CatalogView
from satchel.search._documents import DocumentWords
from satchel.search._library import LibrarySegments, document_of
from satchel.search._segment import (
    ORDINAL_BITS,
    Engine,
    InvalidSegment,
    Place,
    Postings,
    Term,
    array_engine,
)
from satchel.search._words import Stemmer, normal_name, query_words, words_of

FOLLOWER: Final = "satchel-search"
# A command asks once, and numpy would take longer to import than the answer takes.
_QUERIES_WITHOUT_NUMPY: Final = 8


class SegmentRanker:
    """BM25 over name, description and keywords, and half as much over a body's head.

    The index is made at the first query of a catalog; for the next one only what
    changed is indexed. Of more than 5,000 new skills names and descriptions are
    indexed first, and bodies in a thread. A query is taken apart into words before it
    reaches the index. Safe across threads.

    ``home`` is a folder for segments that the next process reads; None is none. It is
    used for a library of ``fewest`` skills or more.
    """

    def __init__(self, home: str | None = None, fewest: int = 0) -> None:
        self._segments = LibrarySegments(home, fewest)
        self._lock = threading.Lock()
        self._stemmer = Stemmer()
        self._engine: Engine = array_engine
        self._queries = 0
        self._catalog: CatalogView | None = None
        self._postings = Postings(())

    def rank(
        self,
        catalog: CatalogView,
        query: str,
        k: int,
        accepts: Callable[[Descriptor], bool] | None = None,
        *,
        whole: bool = False,
    ) -> list[Hit]:
        """Return at most ``k`` hits, best first, ties by id.

        ``accepts`` says which may be among them; ``whole`` waits for all bodies.

        A skill whose id is the whole query goes first, whatever its case, accents,
        hyphens and underscores. A word of a query that happens to be an id decides
        nothing, since public skills are called ``test``, ``go`` and ``review``.
        """
        words = query_words(query)
        if not words or k < 1:
            return []
        with self._lock:
            if self._catalog is not catalog or (whole and self._segments.waiting):
                self._take(catalog, whole=whole)
            self._queries += 1
            if self._queries == _QUERIES_WITHOUT_NUMPY:
                self._engine = _fastest_engine()
            postings, engine = self._postings, self._engine
            stems = self._stemmer.stems(words)
        try:
            terms = postings.terms(words, stems)
        except InvalidSegment:  # a file of the index was damaged
            with self._lock:
                self._segments.drop_all()
                self._catalog = None
            return self.rank(catalog, query, k, accepts, whole=whole)
        # One more than asked for, since a hit's confidence is also about its lead.
        depth = k + 1
        while True:
            in_name, best = postings.best(terms, depth, engine)
            # Nothing but the whole query counts as an id.
            first = [p for p in in_name if normal_name(p.id) == normal_name(query)]
            rows: dict[Place, tuple[Descriptor, list[str]]] = {}
            by_name: dict[str, list[Place]] = {}
            for place in dict.fromkeys((*first, *best)):
                entry = catalog.get(place.id)
                if entry is None or (accepts is not None and not accepts(entry)):
                    continue
                same_name = by_name.setdefault(entry.name or entry.id, [])
                originals = (p for p in same_name if _is_copy(entry, rows[p][0]))
                if (original := next(originals, None)) is not None:
                    rows[original][1].append(entry.id)
                    continue
                rows[place] = entry, []
                same_name.append(place)
            # Again with more where copies, or what is not accepted, took the places.
            if len(rows) > k or len(best) < depth:
                break
            depth *= 4
        judged = postings.judge(list(rows), terms)
        hits = [
            Hit(
                *(entry.id, entry.description, score, entry.source, matches),
                1.0 if place in first else sure,
                tuple(copies),
                postings.partial,
            )
            for (place, (entry, copies)), (score, matches, sure) in zip(
                rows.items(), judged, strict=True
            )
        ][:k]
        return self._spelled(catalog, hits, terms)

    def _spelled(
        self, catalog: CatalogView, hits: list[Hit], terms: Sequence[Term]
    ) -> list[Hit]:
        """Say in each hit which word of the skill a misspelled one was read as."""
        typed = {term.word: term.typed for term in terms if term.typed}
        if not typed:
            return hits
        spelled: list[Hit] = []
        for hit in hits:
            read: dict[str, str] = {}
            entry = catalog.get(hit.id)
            if entry is not None and not typed.keys().isdisjoint(hit.terms):
                words = [*DocumentWords(document_of(catalog, entry, b""))]
                with self._lock:
                    stems = self._stemmer.stems(words)
                for word, stem in stems.items():
                    if stem in typed:
                        read.setdefault(stem, word)
            matches = [replace(m, word=read.get(m.word, m.word)) for m in hit.matches]
            pairs = tuple((typed[stem], word) for stem, word in read.items())
            spelled.append(replace(hit, matches=tuple(matches), read_as=pairs))
        return spelled

    def scores(self, catalog: CatalogView, query: str, k: int) -> dict[str, int]:
        """Return the scores of the ``k`` best and of all that tie, without a unit."""
        words = query_words(query)
        with self._lock:
            if self._catalog is not catalog:
                self._take(catalog, whole=True)
            postings, stems = self._postings, self._stemmer.stems(words)
        return postings.scores(postings.terms(words, stems), k, _fastest_engine())

    def having_any(self, catalog: CatalogView, queries: Iterable[str]) -> set[str]:
        """Return the ids of the skills that have a word of one of these queries."""
        words = list(dict.fromkeys(w for query in queries for w in query_words(query)))
        with self._lock:
            if self._catalog is not catalog:
                self._take(catalog, whole=True)
            parts, stems = self._postings.parts, self._stemmer.stems(words)
        ids: set[str] = set()
        for part in parts:
            ordinals: set[int] = set()
            for stem in {*stems.values()}:
                postings = part.segment.postings(stem.encode("utf-8", "replace"))
                ordinals.update(posting >> ORDINAL_BITS for posting in postings)
            live = part.live
            ids.update(part.segment.id(n) for n in ordinals if live is None or live[n])
        return ids

    def close(self) -> None:
        """Index nothing more for the catalog in use."""
        with self._lock:
            self._catalog = None

    def _take(self, catalog: CatalogView, *, whole: bool) -> None:
        self._postings = self._segments.postings(catalog, whole=whole)
        self._catalog = catalog
        if self._segments.waiting:
            try:
                threading.Thread(
                    target=self._follow, args=(catalog,), name=FOLLOWER, daemon=True
                ).start()
            except RuntimeError:  # the system has no more threads to give
                self._postings = self._segments.postings(catalog, whole=True)
        if sys.modules.get("numpy") is not None:  # None: its import is blocked
            self._engine = _fastest_engine()

    def _follow(self, catalog: CatalogView) -> None:
        """Index bodies piece by piece, for as long as the catalog is in use."""
        waiting = self._segments.waiting
        while waiting:
            data = self._segments.index_piece(catalog)
            with self._lock:
                if self._segments.waiting is not waiting or self._catalog is None:
                    return
                self._postings = self._segments.take_piece(data)


# Near duplicates in the public corpus were told by the same share of shared words.
_COPY_SHARE: Final = 0.5


def _is_copy(one: Descriptor, other: Descriptor) -> bool:
    """Return whether the text of two skills of one name is nearly the same."""
    if one.digest and one.digest == other.digest:
        return True
    words, others = (set(words_of(entry.description)) for entry in (one, other))
    return len(words & others) >= _COPY_SHARE * len(words | others)


def _fastest_engine() -> Engine:
    try:
        import_module("numpy")
    except ImportError:
        return array_engine
    from satchel.search._numpy_engine import numpy_engine

    return numpy_engine
