"""The segments of one library, and which of their documents it has."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias

from satchel.errors import SkillError
from satchel.model import Descriptor, LazyTuple
from satchel.protocols import CatalogView
from satchel.search._documents import Document, document_key, index_documents
from satchel.search._segment import Part, Postings, Segment

if TYPE_CHECKING:  # few libraries are so large, or change so often
    from satchel.search._segment_folder import SegmentFolder

_READ_BYTES: Final = 1024 * 1024
# More make a query slower; fewer make edits dearer, since each merge writes again.
_MAX_SEGMENTS: Final = 8
# Above that, names and descriptions are searched first: to index so many bodies takes
# seconds. Up to it the first answer is complete, and equal calls give equal answers.
MOST_AT_ONCE: Final = 5_000
# Bodies that are indexed at a time, at the least; there are at most so many segments.
_PIECE: Final = 2_048

_Parts: TypeAlias = list[tuple[Segment, bytes]]


class _Live:
    """Which documents of some segments a catalog has."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = segments
        self._masks = [bytearray(segment.documents) for segment in segments]
        self._places = {
            key: (at, ordinal)
            for at, segment in enumerate(segments)
            for ordinal, key in enumerate(segment.keys())
        }

    def add(self, key: bytes) -> bool:
        """Note that the catalog has a document; False if no segment has it."""
        place = self._places.get(key)
        if place is None:
            return False
        at, ordinal = place
        self._masks[at][ordinal] = 1
        return True

    def parts(self) -> _Parts:
        return list(zip(self._segments, map(bytes, self._masks), strict=True))


class LibrarySegments:
    """Segments, in memory and in a folder if there is one. One thread at a time."""

    def __init__(self, home: str | None, fewest: int) -> None:
        self._home, self._fewest = home, fewest
        self._folder: SegmentFolder | None = None
        self._segments: list[Segment] = []
        self._stamp = ""
        self._heads: Segment | None = None
        self._piece = _PIECE
        self.waiting: list[tuple[bytes, Descriptor]] = []
        """Skills whose bodies are not searched yet, the last ones of ``_heads``."""

    def postings(self, catalog: CatalogView, *, whole: bool) -> Postings:
        """Index what no segment has yet, and return the postings of this catalog.

        Of very many skills, if not ``whole``, names and descriptions; bodies then wait.
        """
        entries = catalog.entries
        self._stamp = entries.stamp if isinstance(entries, LazyTuple) else ""
        self._heads, self.waiting = None, []
        if self._folder is None and self._home and len(entries) >= self._fewest:
            from satchel.search._segment_folder import SegmentFolder

            # However a folder is spelled, its skills have the same words.
            places = (
                os.path.realpath(reader.root) if reader.root else name
                for name, reader in catalog.readers.items()
            )
            self._folder = SegmentFolder(self._home, "\n".join(sorted(places)))
            self._segments += self._folder.read()
        parts = None
        if self._folder and self._stamp:
            parts = self._folder.live_of(self._stamp)
        if parts is None:
            return self._index(catalog, whole=whole)
        return self._use(parts)

    def _index(self, catalog: CatalogView, *, whole: bool) -> Postings:
        live = _Live(self._segments)
        missing: dict[bytes, Descriptor] = {}
        for entry in catalog.entries:
            key = document_key(entry, with_body=True)
            if not live.add(key):
                missing[key] = entry
        new = None
        if whole or len(missing) <= MOST_AT_ONCE:
            new = index_documents(self._read(catalog, missing, live))
        else:
            self.waiting = [*missing.items()]
            self._piece = max(_PIECE, -(-len(missing) // (_MAX_SEGMENTS - 1)))
        parts = live.parts()
        # Those of which nothing is left need no place in memory and on disk.
        for segment, alive in parts:
            if 1 not in alive:
                self._drop(segment)
        parts = [part for part in parts if 1 in part[1]]
        if new:
            parts.append((self._add(new.data()), b"\1" * len(new)))
        elif self.waiting:
            heads = (_head(entry) for _, entry in self.waiting)
            self._heads = Segment(index_documents(heads).data())
        return self._finish(parts)

    def index_piece(self, catalog: CatalogView) -> bytes:
        """Return a segment of the first that wait; it may take seconds."""
        some = self.waiting[: self._piece]
        documents = (document_of(catalog, entry, key) for key, entry in some)
        return index_documents(documents).data()

    def take_piece(self, data: bytes) -> Postings:
        """Use such a segment from now on."""
        del self.waiting[: self._piece]
        segment = self._add(data)
        return self._finish([*self._parts, (segment, b"\1" * segment.documents)])

    def _finish(self, parts: _Parts) -> Postings:
        """Use these; where no body waits, for the next process too."""
        if not self.waiting:
            parts = self._merge(parts) if len(parts) > _MAX_SEGMENTS else parts
            if self._folder and self._stamp:
                self._folder.note_live(self._stamp, dict(parts))
        return self._use(parts)

    def _use(self, parts: _Parts) -> Postings:
        self._parts = parts
        self._segments = [segment for segment, _ in parts]
        if self._heads and self.waiting:
            done = self._heads.documents - len(self.waiting)
            heads = self._heads, bytes(done) + b"\1" * len(self.waiting)
            parts = [*parts, heads]
        return Postings(
            [Part(segment, live if 0 in live else None) for segment, live in parts],
            partial=bool(self.waiting),
        )

    def drop_all(self) -> None:
        """Forget all segments, on disk too: one of them is damaged."""
        for segment in self._segments:
            self._drop(segment)
        self._segments = []

    def _read(
        self, catalog: CatalogView, missing: Mapping[bytes, Descriptor], live: _Live
    ) -> Iterator[Document]:
        """Yield the documents of skills; one that turns out to be here is live."""
        for key, entry in missing.items():
            document = document_of(catalog, entry, key)
            if document.key == key or not live.add(document.key):
                yield document

    def _merge(self, parts: _Parts) -> _Parts:
        """Merge all but the largest, and that one too if half of it is dead."""
        from satchel.search._segment_folder import merge_segments

        rest = sorted(parts, key=lambda part: part[0].documents)
        large = [] if 2 * sum(rest[-1][1]) < rest[-1][0].documents else [rest.pop()]
        merged = self._add(merge_segments(rest))
        for segment, _ in rest:
            self._drop(segment)
        return [*large, (merged, b"\1" * merged.documents)]

    def _add(self, data: bytes) -> Segment:
        return Segment(data) if self._folder is None else self._folder.add(data)

    def _drop(self, segment: Segment) -> None:
        if self._folder is not None:
            self._folder.drop(segment)


def _head(entry: Descriptor) -> Document:
    return Document(document_key(entry, with_body=False), entry, None)


def document_of(catalog: CatalogView, entry: Descriptor, key: bytes) -> Document:
    """Return what is searched of a skill: without a body where that is not at hand."""
    reader, data = catalog.readers.get(entry.source), None
    # A source elsewhere that hangs must not delay a search of what is here.
    if reader is not None and not entry.remote:
        with suppress(SkillError):
            data = reader.local_skill_md(entry.origin.key, _READ_BYTES)
    if data is None:
        return _head(entry)
    from satchel.skill_md import body_of  # not where all is indexed already

    return Document(key, entry, body_of(data.decode("utf-8", "replace")))
