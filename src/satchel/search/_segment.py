"""A segment: postings of some documents, as immutable bytes; and how they are scored.

Made once, then read from memory or from a mapped file without a copy, by `memoryview`
and by numpy alike. It depends on its documents alone, so two segments can be merged
and no score changes.

Layout, each number four bytes in the machine's order:

    header     magic, documents, terms, postings, bytes of ids, bytes of terms,
               CRC-32 of all that follows the postings, CRC-32 of the header
    postings   by term, then by document: ordinal << 12 | fields << 8 | impact
    starts     of each term, and the end: where its postings begin
    checks     of each term: CRC-32 of its postings
    term ends  of each term: where its text ends
    id ends    of each document: where its id ends
    keys       of each document, 16 bytes: what it was made from
    terms, ids text in UTF-8

A file of another version or of a machine with another byte order has another magic.
"""

import math
import struct
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, TypeAlias
from zlib import crc32

from satchel.model import Match
from satchel.search._words import SIGNS

if TYPE_CHECKING:
    from satchel.search._spelling import Spelling

MAGIC: Final = int.from_bytes(b"SSG2", "little")
HEADER: Final = struct.Struct("=8I")
KEY_BYTES: Final = 16
FIELDS: Final = ("name", "description", "keywords", "body")
"""The fields of a posting, from its lowest bit; file names are in ``body``."""
FIELD_BITS: Final = 8
ORDINAL_BITS: Final = 12
# What is left of 32 bits: a million documents; more need another segment.
MAX_DOCUMENTS: Final = 1 << (32 - ORDINAL_BITS)
# More words cost time and gain nothing: docs/explanation/search.md.
MAX_TERMS: Final = 64
# Of the terms that a segment finds without a search.
_MAX_KNOWN: Final = 20_000
# Whole numbers are equal in every engine; a thousandth of an idf decides nothing.
IDF_UNIT: Final = 1024
IMPACT_UNIT: Final = 94
"""The impact of a score of 1: 255 is 2.7, which no word can pass."""
UNIT: Final = IDF_UNIT * IMPACT_UNIT
# Fitted on 7,802 answers in pools of 50 to 9,440 public skills, half of them with the
# right ones taken out: docs/explanation/search.md.
_BIAS, _RARE, _SHARE, _LEAD = -2.45, 1.58, 1.44, 3.56


class InvalidSegment(ValueError):
    """These bytes are no segment of this version; it has to be built again."""


class Segment:
    """A segment, read from its bytes.

    The tables are checked now, the postings of a term when it is first asked for.

    Raises:
        InvalidSegment: They are damaged, or of another version.
    """

    def __init__(self, data: bytes | memoryview) -> None:
        view = memoryview(data).cast("B")
        if len(view) < HEADER.size:
            raise InvalidSegment("shorter than its header")
        head = view[: HEADER.size]
        counts: tuple[int, ...] = HEADER.unpack(head)
        magic, self.documents, terms, postings, ids, texts, tables, own = counts
        if magic != MAGIC or own != crc32(head[:-4]):
            raise InvalidSegment("another version, or a damaged header")
        sizes = (
            *(4 * postings, 4 * (terms + 1), 4 * terms, 4 * terms),
            *(4 * self.documents, KEY_BYTES * self.documents, texts, ids),
        )
        ends = list(accumulate(sizes, initial=HEADER.size))
        if ends[-1] != len(view) or tables != crc32(view[ends[1] :]):
            raise InvalidSegment("damaged tables")
        parts = [view[start:end] for start, end in pairwise(ends)]
        self._postings, self._starts, self._checks, self._term_ends, self._id_ends = (
            part.cast("I") for part in parts[:5]
        )
        self._keys, self._terms, self._ids = parts[5:]
        self._checked: set[int] = set()
        self._known: dict[bytes, memoryview] = {}

    def keys(self) -> list[bytes]:
        """Return what each document was made from, by ordinal."""
        data = bytes(self._keys)
        return [data[at : at + KEY_BYTES] for at in range(0, len(data), KEY_BYTES)]

    def id(self, ordinal: int) -> str:
        """Return a document's id."""
        start = self._id_ends[ordinal - 1] if ordinal else 0
        text = self._ids[start : self._id_ends[ordinal]]
        return str(text, "utf-8", "surrogatepass")

    def terms(self) -> list[bytes]:
        """Return every term, sorted."""
        data = bytes(self._terms)
        return [data[start:end] for start, end in pairwise((0, *self._term_ends))]

    def beginning_with(self, letter: bytes) -> Iterator[tuple[bytes, int]]:
        """Yield the terms that begin with a letter, and how many postings each has."""
        first = self._place(letter)
        start = self._term_ends[first - 1] if first else 0
        for at in range(first, self._place(bytes((letter[0] + 1,)))):
            end = self._term_ends[at]
            yield bytes(self._terms[start:end]), self._starts[at + 1] - self._starts[at]
            start = end

    def postings(self, term: bytes) -> memoryview:
        """Return a term's postings, one number each; none for an unknown term.

        Raises:
            InvalidSegment: They are damaged.
        """
        earlier = self._known.get(term)
        if earlier is not None:
            return earlier
        at = self._place(term)
        if at == len(self._term_ends) or self._term(at) != term:
            return self._postings[:0]
        postings = self._postings[self._starts[at] : self._starts[at + 1]]
        if at not in self._checked:
            if crc32(postings) != self._checks[at]:
                raise InvalidSegment("damaged postings")
            self._checked.add(at)
        if len(self._known) < _MAX_KNOWN:
            self._known[term] = postings
        return postings

    def _place(self, term: bytes) -> int:
        """Return the number of a term, or of the next one."""
        ends, low, high = self._term_ends, 0, len(self._term_ends)
        while low < high:
            at = (low + high) // 2
            if bytes(self._terms[ends[at - 1] if at else 0 : ends[at]]) < term:
                low = at + 1
            else:
                high = at
        return low

    def _term(self, at: int) -> bytes:
        start = self._term_ends[at - 1] if at else 0
        return bytes(self._terms[start : self._term_ends[at]])


def assemble(
    keys: bytes, ids: Sequence[bytes], terms: Iterable[tuple[bytes, "array[int]"]]
) -> bytes:
    """Return a segment of these keys and ids, and of terms, sorted, with postings."""
    postings, texts = array("I"), bytearray()
    starts, checks, ends = array("I", [0]), array("I"), array("I")
    for term, numbers in terms:
        postings += numbers
        texts += term
        starts.append(len(postings))
        checks.append(crc32(numbers))
        ends.append(len(texts))
    id_ends = array("I", accumulate(map(len, ids)))
    joined = b"".join(ids)
    tables = b"".join((starts, checks, ends, id_ends, keys, texts, joined))
    counts = (len(ids), len(ends), len(postings), len(joined), len(texts))
    head = HEADER.pack(MAGIC, *counts, crc32(tables), 0)[:-4]
    return b"".join((head, struct.pack("=I", crc32(head)), postings, tables))


Weighted: TypeAlias = tuple[memoryview, int]
"""A term's postings in one segment, and what its impacts are multiplied by."""

Engine: TypeAlias = Callable[
    [int, Sequence[Weighted], bytes | None, int], list[tuple[int, int]]
]
"""Returns scores and ordinals of the best ``k`` and of all that tie with the last.

Given are the number of documents, the weighted postings, one byte for each document
(0: it is not searched; None: all are), and ``k``. Their order has no meaning. All
engines add whole numbers, so that scores and ties are the same in each.
"""


def array_engine(
    documents: int, terms: Sequence[Weighted], live: bytes | None, k: int
) -> list[tuple[int, int]]:
    """Score with lists."""
    scores = [0] * documents
    for postings, weight in terms:
        for posting in postings:
            scores[posting >> ORDINAL_BITS] += weight * (posting & 255)
    if live is not None:
        scores = [score * alive for score, alive in zip(scores, live, strict=True)]
    best = nlargest(k, scores)
    least = max(1, best[-1]) if best else 1
    return [(score, at) for at, score in enumerate(scores) if score >= least]


@dataclass(frozen=True, slots=True)
class Part:
    """A segment, and which of its documents are searched: all, or those with a 1."""

    segment: Segment
    live: bytes | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a query, its weight, and its postings in each part.

    Where no document has ``typed``, ``word`` is a stem that it was read as.
    """

    word: str
    weight: int
    postings: tuple[memoryview, ...]
    typed: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A document: its part, and its ordinal there."""

    id: str
    part: int
    ordinal: int


class Postings:
    """Segments as one library: what is rare and what is best counts over all.

    ``partial`` means that the bodies of some skills are not in it yet.
    """

    def __init__(self, parts: Sequence[Part], *, partial: bool = False) -> None:
        self.parts = tuple(parts)
        self.partial: Final = partial
        self.size = sum(
            part.segment.documents if part.live is None else sum(part.live)
            for part in parts
        )
        self._spelling: Spelling | None = None

    def terms(self, words: Sequence[str], stems: Mapping[str, str]) -> list[Term]:
        """Return a query's terms, rarest first; words of one stem count once.

        A word that no document has is followed by what it was read as, at half weight.

        Raises:
            InvalidSegment: Some postings are damaged.
        """
        terms: dict[str, Term] = {}
        unknown: list[str] = []
        for word in words:
            stem = stems[word]
            if stem in terms:
                continue
            term, having = self._term(word, stem)
            if not having:
                # A name with a sign is also here as its plain word.
                if (plain := word.strip(SIGNS)) != word and plain in words:
                    continue
                unknown.append(word)
            terms[stem] = term
        for word, stem in self._readings(unknown, stems, len(terms)):
            if stem not in terms:
                term, _ = self._term(stem, stem)
                weight = max(1, term.weight // 2)
                terms[stem] = replace(term, weight=weight, typed=word)
        rarest = sorted(terms, key=lambda stem: (-terms[stem].weight, stem))
        return [terms[stem] for stem in rarest[:MAX_TERMS]]

    def _readings(
        self, words: Sequence[str], stems: Mapping[str, str], terms: int
    ) -> Iterable[tuple[str, str]]:
        """Return unknown words, each with a stem that it may stand for."""
        if not words:
            return ()
        from satchel.search._spelling import Spelling  # few queries have one

        if self._spelling is None:
            self._spelling = Spelling([part.segment for part in self.parts])
        return self._spelling.readings(words, stems, terms)

    def _term(self, word: str, stem: str) -> tuple[Term, int]:
        """Return a term, and how many documents have it."""
        by_part, having = list[memoryview](), 0
        for part in self.parts:
            postings = part.segment.postings(stem.encode("utf-8", "replace"))
            by_part.append(postings)
            if (live := part.live) is None:
                having += len(postings)
            else:
                having += sum([live[one >> ORDINAL_BITS] for one in postings])
        # The idf of BM25 as Lucene computes it, which is never negative.
        idf = math.log(1 + (self.size - having + 0.5) / (having + 0.5))
        return Term(word, max(1, round(IDF_UNIT * idf)), tuple(by_part)), having

    def scores(self, terms: Sequence[Term], k: int, engine: Engine) -> dict[str, int]:
        """Return the scores of the ``k`` best documents and of all that tie, by id."""
        rows: list[tuple[int, int, int]] = []
        for at, part in enumerate(self.parts):
            weighted = [(t.postings[at], t.weight) for t in terms if t.postings[at]]
            documents = part.segment.documents
            best = engine(documents, weighted, part.live, k) if weighted else ()
            rows += [(score, at, ordinal) for score, ordinal in best]
        rows.sort(reverse=True)
        least = rows[min(k, len(rows)) - 1][0] if rows else 0
        return {
            self.parts[at].segment.id(ordinal): score
            for score, at, ordinal in rows
            if score >= least
        }

    def best(
        self, terms: Sequence[Term], k: int, engine: Engine
    ) -> tuple[list[Place], list[Place]]:
        """Return those whose name has the rarest term, and the ``k`` best, in order.

        Ties go by id.
        """
        in_name: list[Place] = []
        scored: list[tuple[int, int, int]] = []
        for at, part in enumerate(self.parts):
            segment, live = part.segment, part.live
            weighted = [(t.postings[at], t.weight) for t in terms if t.postings[at]]
            if not weighted:
                continue
            rows = engine(segment.documents, weighted, live, k)
            scored += [(-score, at, ordinal) for score, ordinal in rows]
            for posting in terms[0].postings[at]:
                ordinal = posting >> ORDINAL_BITS
                if posting >> FIELD_BITS & 1 and (live is None or live[ordinal]):
                    in_name.append(Place(segment.id(ordinal), at, ordinal))
        scored.sort()
        # Each part has its own best; ids are only read of those that may be among all.
        last = scored[min(k, len(scored)) - 1][0] if scored else 0
        ranked = sorted(
            (score, self.parts[at].segment.id(ordinal), at, ordinal)
            for score, at, ordinal in scored
            if score <= last
        )
        return in_name, [Place(*row[1:]) for row in ranked[:k]]

    def judge(
        self, places: Sequence[Place], terms: Sequence[Term]
    ) -> list[tuple[float, tuple[Match, ...], float]]:
        """Return of each document its score, what terms add to it, and a confidence.

        The confidence is a logistic regression on three figures: the score in units of
        the rarest word there could be, its share of the query's words by weight, and by
        how much it leads the other documents. Each means the same in a small library
        and in a large one: `python -m benchmarks.controls` tests it.
        """
        scores: list[tuple[float, tuple[Match, ...]]] = []
        for place in places:
            matches: list[Match] = []
            total = 0
            for term in terms:
                postings = term.postings[place.part]
                at = bisect_left(postings, place.ordinal << ORDINAL_BITS)
                if at == len(postings) or postings[at] >> ORDINAL_BITS != place.ordinal:
                    continue
                points = (postings[at] & 255) * term.weight
                total += points
                bits = postings[at] >> FIELD_BITS
                fields = tuple([f for bit, f in enumerate(FIELDS) if bits >> bit & 1])
                matches.append(Match(term.word, fields, round(points / UNIT, 6)))
            matches.sort(key=lambda match: (-match.points, match.word))
            scores.append((round(total / UNIT, 6), tuple(matches)))
        # With a place in front, so that the best of all others is one of two.
        first, second = sorted([0.0, 0.0, *(s for s, _ in scores)], reverse=True)[:2]
        rarest = math.log(1 + 2 * self.size)
        asked = sum(term.weight for term in terms if not term.typed) / IDF_UNIT
        judged: list[tuple[float, tuple[Match, ...], float]] = []
        for score, why in scores:
            sure = 0.0
            if score:
                lead = max(0.0, score - (second if score == first else first)) / score
                logit = _BIAS + _RARE * math.log(score / rarest)
                logit += _SHARE * math.log(score / asked) + _LEAD * lead
                sure = round(1 / (1 + math.exp(-logit)), 4)
            judged.append((score, why, sure))
        return judged
