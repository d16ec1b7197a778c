"""What may come out of an archive, counted while it does."""

import zlib
from collections.abc import Iterator
from typing import Final

from satchel.errors import ArchiveError, LimitExceededError
from satchel.model import Limits

__all__ = ["CHUNK_BYTES", "Budget", "inflate"]

CHUNK_BYTES: Final = 65_536
"""Bytes that go into, and come out of, a decompressor at a time."""
RATIO_FROM_BYTES: Final = 262_144
"""Below this nothing is a bomb; a tar of tiny files is mostly padding."""
MEMBERS_PER_FILE: Final = 4
"""Folders and extended headers count, too, but may be more than the files."""


class Budget:
    """Counts members, files and bytes of one archive; over the limit is an error."""

    def __init__(self, limits: Limits, packed: int, where: str) -> None:
        """Take the limits; ``packed`` is the size of the archive itself, in bytes."""
        self.where: Final = where
        self._packed = max(packed, 1)
        self._ratio = limits.archive_ratio
        self._most_files = _smaller(limits, "archive_files", "pack_files")
        self._most_bytes = _smaller(limits, "archive_bytes", "pack_bytes")
        self._files = self._members = self._bytes = self._streamed = 0

    @property
    def most_members(self) -> int:
        """How many members an archive may have, of all kinds together."""
        return self._most_files[1] * MEMBERS_PER_FILE

    def take_member(self) -> None:
        """Count one member of any kind.

        Raises:
            LimitExceededError: It is one too many.
        """
        self._members += 1
        self.check_members(self._members)

    def check_members(self, count: int) -> None:
        """Refuse more members than there may be.

        Raises:
            LimitExceededError: They are too many.
        """
        if count > self.most_members:
            name, _ = self._most_files
            most = self.most_members
            raise LimitExceededError(name, most, count, "members", self.where)

    def take_file(self, size: int) -> None:
        """Count one file and its bytes.

        Raises:
            LimitExceededError: It is one file too many, or too large.
        """
        self._files += 1
        name, most = self._most_files
        if self._files > most:
            raise LimitExceededError(name, most, self._files, "files", self.where)
        self._bytes += size
        name, most = self._most_bytes
        if self._bytes > most:
            raise LimitExceededError(name, most, self._bytes, "bytes", self.where)

    def take_out(self, size: int, *, overhead: int = 0) -> None:
        """Count bytes that a decompressor gave.

        Args:
            size: How many.
            overhead: How many of all of them may be no file's.

        Raises:
            LimitExceededError: They are too many, or too many for this archive.
        """
        self._streamed += size
        name, most = self._most_bytes
        if self._streamed > most + overhead:
            raise LimitExceededError(name, most, self._streamed, "bytes", self.where)
        ratio = self._ratio
        if self._streamed > max(RATIO_FROM_BYTES, ratio * self._packed):
            times = -(-self._streamed // self._packed)
            unit = "times its size"
            raise LimitExceededError("archive_ratio", ratio, times, unit, self.where)


def _smaller(limits: Limits, *names: str) -> tuple[str, int]:
    """Return the name and the value of the limit that is reached first."""
    return min(((name, getattr(limits, name)) for name in names), key=lambda at: at[1])


def inflate(
    data: bytes | memoryview, wbits: int, budget: Budget, *, overhead: int = 0
) -> Iterator[bytes]:
    """Yield what ``data`` holds compressed, in pieces of `CHUNK_BYTES` at most.

    Args:
        data: One stream, all of it, and nothing behind it.
        wbits: Its kind, as `zlib.decompressobj` names it.
        budget: What counts the bytes as they come.
        overhead: As for `Budget.take_out`.

    Raises:
        ArchiveError: It is damaged, ends early, or something stands behind its end.
        LimitExceededError: Too much comes out.
    """
    engine = zlib.decompressobj(wbits)
    for start in range(0, len(data), CHUNK_BYTES):
        feed = bytes(data[start : start + CHUNK_BYTES])
        out = b""
        # A full piece may leave more behind although all input is eaten.
        while feed or len(out) == CHUNK_BYTES:
            try:
                out = engine.decompress(feed, CHUNK_BYTES)
            except zlib.error as error:
                detail = f"the compressed data is damaged ({error})"
                raise ArchiveError(budget.where, detail) from None
            budget.take_out(len(out), overhead=overhead)
            yield out
            feed = engine.unconsumed_tail
            if engine.eof:
                if engine.unused_data or start + CHUNK_BYTES < len(data):
                    detail = "something stands behind the end of the compressed data"
                    raise ArchiveError(budget.where, detail)
                return
    raise ArchiveError(budget.where, "the compressed data ends early")
