"""Segments of documents that a test writes term by term."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from satchel.search._documents import SegmentWriter


@dataclass(frozen=True, slots=True)
class Indexed:
    """A document as a segment keeps it: each term with ``fields << 8 | impact``."""

    key: bytes
    id: str
    terms: Mapping[bytes, int]


def write_segment(documents: Iterable[Indexed]) -> bytes:
    writer = SegmentWriter()
    for document in documents:
        high = writer.add(document.key, document.id)
        numbers = writer.number(document.terms)
        terms = [numbers[term] for term in document.terms]
        writer.append(terms, [high | value for value in document.terms.values()])
    return writer.data()
