"""What is searched of a skill, how much each word counts, and a segment of them."""

from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, count, islice
from typing import Final, cast

from satchel.model import Descriptor
from satchel.search._segment import (
    FIELD_BITS,
    FIELDS,
    IMPACT_UNIT,
    KEY_BYTES,
    ORDINAL_BITS,
    assemble,
)
from satchel.search._words import SIGNS, Stemmer, bag_of_words, name_words, words_of
from satchel.text import STOP_WORDS

_APPEND: Final = cast("Callable[[array[int], int], None]", vars(array)["append"])


class SegmentWriter:
    """A segment of at most `MAX_DOCUMENTS` documents that is being made.

    ``postings`` are those of each term, by its number: ``ordinal << 12 | fields << 8 |
    impact``, in the order of the documents.
    """

    def __init__(self) -> None:
        self.postings: list[array[int]] = []
        self._terms: dict[bytes, int] = {}
        self._keys, self._ids = bytearray(), list[bytes]()

    def __len__(self) -> int:
        """Return how many documents there are."""
        return len(self._ids)

    def number(self, terms: Iterable[bytes]) -> dict[bytes, int]:
        """Return the number of every term so far, after some more."""
        new = {*terms}.difference(self._terms)
        self._terms.update(zip(new, count(len(self.postings))))
        self.postings += [array("I") for _ in new]
        return self._terms

    def add(self, key: bytes, id: str) -> int:
        """Add a document; return what is the same in each of its postings."""
        self._keys += key
        self._ids.append(id.encode("utf-8", "surrogatepass"))
        return len(self._ids) - 1 << ORDINAL_BITS

    def append(self, terms: Iterable[int], postings: Iterable[int]) -> None:
        """Append a posting to each of some terms."""
        arrays = map(self.postings.__getitem__, terms)
        deque(map(_APPEND, arrays, postings), maxlen=0)

    def data(self) -> bytes:
        """Return the segment."""
        terms = sorted((t, n) for t, n in self._terms.items() if self.postings[n])
        rows = ((term, self.postings[number]) for term, number in terms)
        return assemble(bytes(self._keys), self._ids, rows)


# How much of a body is indexed; more ranked worse (docs/explanation/search.md).
BODY_CHARS: Final = 8_000
# A pack can have thousands of files; their names may not outweigh its text.
_FILES_CHARS: Final = 1_024

# Saturation (k1) and length normalisation (b) of BM25, chosen on public queries: see
# "How well it ranks" in docs/explanation/search.md. The mean lengths are those of 9,440
# public skills, without common words. They are constants, so that what a word counts in
# one skill does not depend on the others.
_K1: Final = 0.8
_HEAD_B, _HEAD_WORDS = 0.2, 36.0
_BODY_B, _BODY_WORDS = 0.5, 640.0
_BODY_WEIGHT: Final = 0.5
_PLAIN_SHARE: Final = 0.5

_IN_BODY: Final = 1 << FIELDS.index("body") + FIELD_BITS
_CHUNK: Final = 256
_COMMON: Final = -1
# Some 60 bytes each; 11,793 public skills have 260,000 different words.
_MAX_CACHED_WORDS: Final = 400_000


@dataclass(frozen=True, slots=True)
class Document:
    """What is searched of one skill; ``body`` is None where it is not searched."""

    key: bytes
    entry: Descriptor
    body: str | None


def document_key(entry: Descriptor, *, with_body: bool) -> bytes:
    """Return a digest of all that is searched of a skill, with or without its body."""
    digest = blake2b(digest_size=KEY_BYTES)
    for text in (
        *(entry.id, entry.description, entry.digest if with_body else "-"),
        *("\n".join(entry.keywords), _files(entry)),
    ):
        data = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d:%b" % (len(data), data))
    return digest.digest()


def index_documents(documents: Iterable[Document]) -> SegmentWriter:
    """Return a segment of these documents, in their order, and not yet as bytes."""
    stemmer, writer = Stemmer(), SegmentWriter()
    vocabulary = _Vocabulary(stemmer, writer)
    rest = iter(documents)
    try:
        while chunk := [DocumentWords(document) for document in islice(rest, _CHUNK)]:
            vocabulary.learn(chunk)
            for words in chunk:
                _add(writer, words, vocabulary)
    finally:
        stemmer.close()
    return writer


class DocumentWords:
    """The words of a document's fields; those of its body apart."""

    def __init__(self, document: Document) -> None:
        entry = document.entry
        self.key, self.id = document.key, entry.id
        self.head = (
            name_words(entry.id),
            words_of(entry.description),
            words_of(" ".join(entry.keywords)),
        )
        self.body = bag_of_words(
            f"{_files(entry)} {(document.body or '')[:BODY_CHARS]}"
        )

    def __iter__(self) -> Iterator[str]:
        """Yield them all, those of the name first."""
        return chain(*self.head, self.body)


class _Vocabulary:
    """The number of each word's term in a segment: one for all words of a stem."""

    def __init__(self, stemmer: Stemmer, writer: SegmentWriter) -> None:
        self._stemmer, self._writer = stemmer, writer
        self.terms: dict[str, int] = {}
        self.body_terms: dict[str, int] = {}

    def learn(self, chunk: Sequence[DocumentWords]) -> None:
        """Number the words of some documents that were not seen before."""
        if len(self.terms) > _MAX_CACHED_WORDS:
            self.terms.clear()
            self.body_terms.clear()
        # Stems are what takes the time, so each is made once, and many in one call.
        new = set[str]().union(*chunk)
        new.update([word[0] for word in new if word.strip(SIGNS) == word[0] != word])
        stems = self._stemmer.stems(sorted(new.difference(self.terms)))
        texts = list(map(str.encode, stems.values()))
        numbers = map(self._writer.number(texts).__getitem__, texts)
        terms = dict(zip(stems, numbers, strict=True))
        self.terms.update(terms)
        # Common words of a body are half of its postings, and tell nothing.
        terms.update(dict.fromkeys(STOP_WORDS.intersection(stems), _COMMON))
        self.body_terms.update(terms)


def _add(writer: SegmentWriter, words: DocumentWords, vocabulary: _Vocabulary) -> None:
    """Add one document; called for every skill, so what loops here loops in C."""
    high = writer.add(words.key, words.id)
    body = Counter(map(vocabulary.body_terms.__getitem__, words.body))
    body.pop(_COMMON, None)
    norm = _K1 * (1 - _BODY_B + _BODY_B * body.total() / _BODY_WORDS)
    # A word is seldom there more than a few times, so each value is made once.
    top = _BODY_WEIGHT * (_K1 + 1)
    scores = {times: top * times / (times + norm) for times in {*body.values()}}
    head, where, length = dict[int, float](), dict[int, int](), 0
    for bit, field in enumerate(words.head):
        for word in field:
            term = vocabulary.terms[word]
            head[term] = head.get(term, 0) + 1
            where[term] = where.get(term, 0) | 1 << bit + FIELD_BITS
            length += word not in STOP_WORDS
            if word[-1] in SIGNS and word[1] in SIGNS:  # `c` finds `c++`, after `c`
                plain = vocabulary.terms[word[0]]
                head[plain] = head.get(plain, 0) + _PLAIN_SHARE
                where[plain] = where.get(plain, 0) | 1 << bit + FIELD_BITS
    norm = _K1 * (1 - _HEAD_B + _HEAD_B * length / _HEAD_WORDS)
    for term, times in head.items():
        score = (_K1 + 1) * times / (times + norm)
        fields = where[term]
        if (in_body := body.pop(term, 0)) > 0:
            fields |= _IN_BODY
            score += scores[in_body]
        writer.postings[term].append(high | fields | _impact(score))
    values = {n: high | _IN_BODY | _impact(score) for n, score in scores.items()}
    writer.append(body, map(values.__getitem__, body.values()))


def _impact(score: float) -> int:
    return max(1, round(score * IMPACT_UNIT))


def _files(entry: Descriptor) -> str:
    return "\n".join(entry.resources)[:_FILES_CHARS]
