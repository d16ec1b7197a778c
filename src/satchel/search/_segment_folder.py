"""The segments of one library on disk, for the next process; and many made one."""

import heapq
import logging
import mmap
import os
import shutil
import sys
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b, sha256
from itertools import accumulate, groupby, pairwise, repeat
from operator import itemgetter
from pathlib import Path
from typing import Final

from satchel.search._segment import ORDINAL_BITS, InvalidSegment, Segment, assemble

_log: Final = logging.getLogger("satchel")
_SUFFIX: Final = ".segment"
_LIVE: Final = "live"
_SEAL_BYTES: Final = 16
# The same as for rows of the index that nobody used.
_KEPT_S: Final = 60 * 24 * 3600


class SegmentFolder:
    """The segments of one library, each a file that is never changed.

    A file is named by its content and put in place as a whole, so processes can read
    and write at once. Whatever fails is logged at debug level: search is slower then.
    """

    def __init__(self, home: str, library: str) -> None:
        name = blake2b(library.encode("utf-8", "surrogatepass"), digest_size=16)
        self._folder = Path(home, name.hexdigest())
        self._paths: dict[Segment, Path] = {}

    def read(self) -> list[Segment]:
        """Return those that are intact, mapped; damaged ones are removed."""
        segments: list[Segment] = []
        try:
            if not self._is_ours():
                return segments
            os.utime(self._folder)
            paths = sorted(self._folder.glob(f"*{_SUFFIX}"))
        except OSError as error:
            self._report(error)
            return segments
        for path in paths:
            try:
                segments.append(self._open(path))
            except (OSError, ValueError) as error:  # no file to map is empty
                self._report(error)
                self._remove(path)
        return segments

    def add(self, data: bytes) -> Segment:
        """Store a segment and return it, mapped if that succeeded."""
        name = blake2b(data, digest_size=16).hexdigest() + _SUFFIX
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._is_ours() and self._put(name, data):
                self._prune()
                return self._open(self._folder / name)
        except (OSError, InvalidSegment) as error:  # a full disk can cut a file short
            self._report(error)
        return Segment(data)

    def live_of(self, stamp: str) -> list[tuple[Segment, bytes]] | None:
        """Return the segments, and what of each a catalog has; None if unknown."""
        segments = self._in_order()
        try:
            data = (self._folder / _LIVE).read_bytes()
        except OSError:
            return None
        # Without segments it may be a folder that others can write: see `read`.
        if not segments:
            return None
        live = data[_SEAL_BYTES:]
        sizes = [segment.documents for segment in segments]
        if len(live) != sum(sizes) or data != self._sealed(stamp, segments, live):
            return None
        ends = list(accumulate(sizes, initial=0))
        masks = [live[start:end] for start, end in pairwise(ends)]
        return list(zip(segments, masks, strict=True))

    def note_live(self, stamp: str, parts: Mapping[Segment, bytes]) -> None:
        """Store what of each segment is live in a catalog."""
        segments = self._in_order()
        if len(segments) == len(parts):  # else one could not be stored
            live = b"".join(parts[segment] for segment in segments)
            self._put(_LIVE, self._sealed(stamp, segments, live))

    def _in_order(self) -> list[Segment]:
        return sorted(self._paths, key=self._paths.__getitem__)

    def _sealed(self, stamp: str, segments: Sequence[Segment], live: bytes) -> bytes:
        names = [self._paths[segment].name for segment in segments]
        of_what = repr((stamp, names)).encode()
        seal = blake2b(live, digest_size=_SEAL_BYTES, key=sha256(of_what).digest())
        return seal.digest() + live

    def drop(self, segment: Segment) -> None:
        """Remove a segment's file, if it has one; processes that read it go on."""
        path = self._paths.pop(segment, None)
        if path is not None:
            self._remove(path)

    def _put(self, name: str, data: bytes) -> bool:
        """Write a file as a whole; return whether it is there now."""
        new = self._folder / f"{name}.{os.getpid()}"
        try:
            new.write_bytes(data)
            new.chmod(0o600)
            new.replace(self._folder / name)
        except OSError as error:
            self._report(error)
            self._remove(new)
            return False
        return True

    def _open(self, path: Path) -> Segment:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        segment = Segment(memoryview(mapped))
        self._paths[segment] = path
        return segment

    def _is_ours(self) -> bool:
        """Return whether nobody but this user can have written the folder."""
        status = self._folder.stat()
        return sys.platform == "win32" or (
            status.st_uid == os.geteuid() and not status.st_mode & 0o022
        )

    def _prune(self) -> None:
        """Remove the folders of libraries that nobody searched for two months."""
        oldest = time.time() - _KEPT_S
        for folder in self._folder.parent.iterdir():
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)

    def _remove(self, path: Path) -> None:
        with suppress(OSError):  # open elsewhere, on Windows: the next process does it
            path.unlink()

    def _report(self, error: Exception) -> None:
        _log.debug("the segments in %s: %s", self._folder, error)


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
    return assemble(bytes(keys), ids, _merged(parts, moved))


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
