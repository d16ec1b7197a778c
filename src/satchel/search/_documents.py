"""What is searched of a skill, and how much each word counts in it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import Final

from satchel.model import Descriptor
from satchel.search._segment import FIELD_BITS, FIELDS, IMPACT_UNIT, KEY_BYTES
from satchel.search._words import STOP_WORDS, Stemmer, name_words, words_of
from satchel.search._writing import Indexed

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

_IN_BODY: Final = 1 << FIELDS.index("body") + FIELD_BITS
_CHUNK: Final = 256
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


def analyze(documents: Iterable[Document]) -> Iterator[Indexed]:
    """Yield each document with its terms, and what each counts."""
    stemmer, cached = Stemmer(), dict[str, bytes]()
    rest = iter(documents)
    try:
        while chunk := [_Words(document) for document in islice(rest, _CHUNK)]:
            if len(cached) > _MAX_CACHED_WORDS:
                cached.clear()
            # Stems are what takes the time, so each is made once, and many in one call.
            new = set[str]().union(*(f for w in chunk for f in (*w.head, w.body)))
            stems = stemmer.stems(sorted(new.difference(cached)))
            cached.update((word, stem.encode()) for word, stem in stems.items())
            for words in chunk:
                yield words.indexed(cached)
    finally:
        stemmer.close()


class _Words:
    """The words of a document's fields, counted; those of its body apart."""

    def __init__(self, document: Document) -> None:
        self.document = document
        entry = document.entry
        self.head = (
            Counter(name_words(entry.id)),
            Counter(words_of(entry.description)),
            Counter(words_of(" ".join(entry.keywords))),
        )
        body = f"{_files(entry)} {(document.body or '')[:BODY_CHARS]}"
        # Common words of a body are half of its postings, and tell nothing.
        self.body = Counter(words_of(body))
        for word in STOP_WORDS.intersection(self.body):
            del self.body[word]

    def indexed(self, stems: Mapping[str, bytes]) -> Indexed:
        """Return what each term counts; called for every skill, so built for speed."""
        body: dict[bytes, int] = {}
        for word, times in self.body.items():
            term = stems[word]
            body[term] = body.get(term, 0) + times
        length = sum(body.values())
        norm = _K1 * (1 - _BODY_B + _BODY_B * length / _BODY_WORDS)
        # A word is seldom there more than a few times, so each value is made once.
        top = _BODY_WEIGHT * (_K1 + 1)
        scores = {times: top * times / (times + norm) for times in {*body.values()}}
        values = {n: _IN_BODY | _impact(score) for n, score in scores.items()}
        terms = {term: values[n] for term, n in body.items()}
        head, where, length = dict[bytes, int](), dict[bytes, int](), 0
        for bit, words in enumerate(self.head):
            for word, times in words.items():
                term = stems[word]
                head[term] = head.get(term, 0) + times
                where[term] = where.get(term, 0) | 1 << bit + FIELD_BITS
                length += 0 if word in STOP_WORDS else times
        norm = _K1 * (1 - _HEAD_B + _HEAD_B * length / _HEAD_WORDS)
        for term, times in head.items():
            score = (_K1 + 1) * times / (times + norm)
            fields = where[term]
            if term in body:
                fields |= _IN_BODY
                score += scores[body[term]]
            terms[term] = fields | _impact(score)
        return Indexed(self.document.key, self.document.entry.id, terms)


def _impact(score: float) -> int:
    return max(1, round(score * IMPACT_UNIT))


def _files(entry: Descriptor) -> str:
    paths = (*entry.references, *entry.scripts, *entry.assets, *entry.others)
    return "\n".join(paths)[:_FILES_CHARS]
