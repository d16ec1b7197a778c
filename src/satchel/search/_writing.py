"""Documents to the bytes of a segment, and several segments to one."""

import heapq
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, repeat
from operator import itemgetter
from struct import pack
from zlib import crc32

from satchel.search._segment import HEADER, MAGIC, ORDINAL_BITS, Segment


@dataclass(frozen=True, slots=True)
class Indexed:
    """A document as a segment keeps it: each term with ``fields << 8 | impact``."""

    key: bytes
    id: str
    terms: Mapping[bytes, int]


def write_segment(documents: Iterable[Indexed]) -> bytes:
    """Return a segment of at most `MAX_DOCUMENTS` documents, in their order."""
    keys, ids = bytearray(), list[bytes]()
    postings: dict[bytes, array[int]] = {}
    for ordinal, document in enumerate(documents):
        keys += document.key
        ids.append(document.id.encode("utf-8", "surrogatepass"))
        high = ordinal << ORDINAL_BITS
        for term, value in document.terms.items():
            if (numbers := postings.get(term)) is None:
                numbers = postings[term] = array("I")
            numbers.append(high | value)
    return _assemble(bytes(keys), ids, ((t, postings[t]) for t in sorted(postings)))


def merge_segments(parts: Sequence[tuple[Segment, Sequence[int]]]) -> bytes:
    """Return one segment of the documents of several.

    Each part comes with one number for each of its documents: 0 leaves it out.

    Raises:
        InvalidSegment: Some postings are damaged.
    """
    keys, ids = bytearray(), list[bytes]()
    moved: list[list[int]] = []
    for segment, live in parts:
        new, own = list[int](), segment.keys()
        for ordinal, lives in enumerate(live):
            new.append(len(ids) << ORDINAL_BITS if lives else -1)
            if lives:
                keys += own[ordinal]
                ids.append(segment.id(ordinal).encode("utf-8", "surrogatepass"))
        moved.append(new)
    return _assemble(bytes(keys), ids, _merged(parts, moved))


def _merged(
    parts: Sequence[tuple[Segment, Sequence[int]]], moved: Sequence[Sequence[int]]
) -> Iterator[tuple[bytes, "array[int]"]]:
    low = (1 << ORDINAL_BITS) - 1
    terms = heapq.merge(
        *(zip(part.terms(), repeat(at)) for at, (part, _) in enumerate(parts))
    )
    for term, sources in groupby(terms, key=itemgetter(0)):
        numbers = array("I")
        for _, at in sources:
            new = moved[at]
            numbers.extend(
                new[posting >> ORDINAL_BITS] | posting & low
                for posting in parts[at][0].postings(term)
                if new[posting >> ORDINAL_BITS] >= 0
            )
        if numbers:
            yield term, numbers


def _assemble(
    keys: bytes, ids: Sequence[bytes], terms: Iterable[tuple[bytes, "array[int]"]]
) -> bytes:
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
    return b"".join((head, pack("=I", crc32(head)), postings, tables))
