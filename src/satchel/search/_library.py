"""The segments of one library: what is in them, what is missing, what can go."""

from typing import Final

from satchel.errors import SkillError
from satchel.model import Descriptor, FileReader, LazyTuple
from satchel.protocols import CatalogView
from satchel.search._documents import Document, analyze, document_key
from satchel.search._folder import SegmentFolder
from satchel.search._segment import Part, Postings, Segment
from satchel.search._writing import merge_segments, write_segment

_READ_BYTES: Final = 1024 * 1024
# More make a query slower; fewer make edits dearer, since each merge writes again.
_MAX_SEGMENTS: Final = 8


class LibrarySegments:
    """Segments, in memory and in a folder if there is one. One thread at a time."""

    def __init__(self, home: str | None, fewest: int) -> None:
        self._home, self._fewest = home, fewest
        self._folder: SegmentFolder | None = None
        self._segments: list[Segment] = []

    def postings(self, catalog: CatalogView) -> Postings:
        """Index what no segment has yet, and return the postings of this catalog."""
        entries = catalog.entries
        stamp = entries.stamp if isinstance(entries, LazyTuple) else ""
        if self._folder is None and self._home and len(entries) >= self._fewest:
            roots = (f"{name}\n{r.root}\n" for name, r in catalog.readers.items())
            self._folder = SegmentFolder(self._home, "".join(sorted(roots)))
            self._segments += self._folder.read()
        parts = self._folder.live_of(stamp) if self._folder and stamp else None
        if parts is None:
            parts = self._index(catalog)
            if self._folder and stamp:
                self._folder.note_live(stamp, dict(parts))
        self._segments = [segment for segment, _ in parts]
        return Postings(
            [Part(segment, live if 0 in live else None) for segment, live in parts]
        )

    def _index(self, catalog: CatalogView) -> list[tuple[Segment, bytes]]:
        live, missing = self._look(catalog)
        parts = list(zip(self._segments, map(bytes, live), strict=True))
        # Those of which nothing is left need no place in memory and on disk.
        for segment, alive in parts:
            if 1 not in alive:
                self._drop(segment)
        parts = [part for part in parts if 1 in part[1]]
        if missing:
            data = write_segment(analyze(missing.values()))
            parts.append((self._add(data), b"\1" * len(missing)))
        return self._merge(parts) if len(parts) > _MAX_SEGMENTS else parts

    def drop_all(self) -> None:
        """Forget all segments, on disk too: one of them is damaged."""
        for segment in self._segments:
            self._drop(segment)
        self._segments = []

    def _look(
        self, catalog: CatalogView
    ) -> tuple[list[bytearray], dict[bytes, Document]]:
        """Return which documents of the segments are here, and those in none."""
        places = {
            key: (at, ordinal)
            for at, segment in enumerate(self._segments)
            for ordinal, key in enumerate(segment.keys())
        }
        live = [bytearray(segment.documents) for segment in self._segments]
        missing: dict[bytes, Document] = {}
        for entry in catalog.entries:
            key = document_key(entry, with_body=True)
            if key not in places:
                document = _document(catalog, entry, key)
                key = document.key
                if key not in places:
                    missing[key] = document
            if key in places:
                at, ordinal = places[key]
                live[at][ordinal] = 1
        return live, missing

    def _merge(self, parts: list[tuple[Segment, bytes]]) -> list[tuple[Segment, bytes]]:
        """Merge all but the largest, and that one too if half of it is dead."""
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


def _document(catalog: CatalogView, entry: Descriptor, key: bytes) -> Document:
    """Return what is searched of a skill: without a body where that is not at hand."""
    data = _local_skill_md(catalog.readers.get(entry.source), entry)
    if data is None:
        return Document(document_key(entry, with_body=False), entry, None)
    from satchel.skill_md import body_of  # not where all is indexed already

    return Document(key, entry, body_of(data.decode("utf-8", "replace")))


def _local_skill_md(reader: FileReader | None, entry: Descriptor) -> bytes | None:
    """Return a SKILL.md that can be had at once: nothing is fetched for a search."""
    # A source elsewhere that hangs must not delay a search of what is here.
    if reader is None or entry.remote:
        return None
    try:
        return reader.local_skill_md(entry.origin.key, _READ_BYTES)
    except SkillError:
        return None
