"""Events in a file that only grows: JSON Lines, plain or chained by digests."""

import json
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from satchel.errors import ConfigError
from satchel.model import CatalogSynced
from satchel.usage._locking import locked
from satchel.usage._private import open_private
from satchel.usage.lines import (
    canonical,
    closed_line,
    dropped_line,
    event_line,
    started_line,
)
from satchel.usage.records import DAY_S
from satchel.usage.stores import SCHEMA_VERSION, Row, Writer, blaming_rows

__all__ = ["GENESIS", "HEAD_SUFFIX", "ChainStore", "LineStore"]

GENESIS: Final = "0" * 64
"""What stands for the digest of the line before the first."""
HEAD_SUFFIX: Final = ".head"
_TAIL: Final = 64 * 1024

_Line = Mapping[str, object]


class LineStore:
    """One writer's hold on a file of JSON lines; see `satchel.usage.stores.Store`.

    The file is opened for each batch, so that it can be moved away at any time. A batch
    is one write under a lock of the system; many processes may share the file.
    """

    def __init__(self, path: str) -> None:
        """Take the path; nothing is opened yet."""
        self._path = path
        self._writer = ""
        self._dropped = 0
        self._offered: tuple[int, object] = -1, None

    def open(self, writer: Writer) -> None:
        """Put the writer on record."""
        self._append([started_line(writer)])
        self._writer = writer.id

    def write(self, rows: Sequence[Row], dropped: int, now: float) -> None:
        """Append a line for each row that says something new."""
        with blaming_rows():
            self._write(rows, dropped, now)

    def _write(self, rows: Sequence[Row], dropped: int, now: float) -> None:
        lines: list[_Line] = []
        offered = self._offered
        for seq, event in rows:
            if isinstance(event, CatalogSynced):
                news = int(event.at // DAY_S), (event.entries, event.owners)
                if news == offered:
                    continue  # told on this day already
                offered = news
            lines.append(event_line(event, self._writer, seq))
        if dropped > self._dropped:
            lines.append(dropped_line(self._writer, dropped, now))
        if lines:
            self._append(lines)
        self._offered, self._dropped = offered, dropped

    def close(self, dropped: int, now: float) -> None:
        """Put the close on record."""
        self._append([closed_line(self._writer, dropped, now)])

    def _append(self, lines: Sequence[_Line]) -> None:
        data = b"".join(
            json.dumps(line, allow_nan=False).encode("ascii") + b"\n" for line in lines
        )
        with _opened(self._path) as fd:
            end = os.lseek(fd, 0, os.SEEK_END)
            if end and _read(fd, end - 1, 1) != b"\n":
                data = b"\n" + data  # another was cut off in the middle of its line
            _write_or_undo(fd, end, data)


class ChainStore(LineStore):
    """The same lines, each with the SHA-256 of the line before it.

    Besides, ``line`` is the number of the line, and the JSON is canonical. The last
    line's number and digest also go to a file beside it, ``PATH.head``, so that a cut
    tail is told: by whoever keeps a copy of that file elsewhere, for who can cut the
    one file can write the other. `satchel.usage.chain.verify` looks at both.
    """

    _written: tuple[int, str] = 0, GENESIS

    def _append(self, lines: Sequence[_Line]) -> None:
        with _opened(self._path) as fd:
            end = _whole_end(fd)
            # An empty file begins anew: both were moved away. One that is shorter than
            # this process left it was cut, and its gap is to stay.
            known = [self._head(), self._last(fd, end), *([self._written] * (end > 0))]
            number, digest = max(known, key=itemgetter(0))
            parts: list[bytes] = []
            for line in lines:
                number += 1
                data = canonical({**line, "line": number, "prev": digest})
                digest = sha256(data).hexdigest()
                parts.append(data + b"\n")
            _write_or_undo(fd, end, b"".join(parts))
            os.fsync(fd)
            self._written = number, digest
            self._write_head(number, digest)

    def _last(self, fd: int, end: int) -> tuple[int, str]:
        """Return number and digest of the last line.

        Raises:
            ConfigError: The file holds something else.
        """
        if not end:
            return 0, GENESIS
        data = _last_line(fd, end)
        try:
            value: Any = json.loads(data)
            number = value["line"]
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(self._path, "not a chained log of events") from error
        if not isinstance(number, int):
            raise ConfigError(self._path, "not a chained log of events")
        return number, sha256(data).hexdigest()

    def _head(self) -> tuple[int, str]:
        """Return what the head says; that nothing is there where it says nothing."""
        try:
            value: Any = json.loads(Path(f"{self._path}{HEAD_SUFFIX}").read_bytes())
            number, digest = value["line"], value["digest"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return 0, GENESIS
        known = isinstance(number, int) and isinstance(digest, str)
        return (number, digest) if known else (0, GENESIS)

    def _write_head(self, number: int, digest: str) -> None:
        head = {"schema_version": SCHEMA_VERSION, "line": number, "digest": digest}
        path = f"{self._path}{HEAD_SUFFIX}"
        beside = f"{path}.{os.getpid()}"
        fd = open_private(beside)
        try:
            os.ftruncate(fd, 0)
            _write(fd, canonical(head) + b"\n")
        finally:
            os.close(fd)
        os.replace(beside, path)  # noqa: PTH105 - strings are what is at hand


@contextmanager
def _opened(path: str) -> Generator[int]:
    """Open a file and hold its lock; it may be made."""
    fd = open_private(path)
    try:
        with locked(fd):
            yield fd
    finally:
        os.close(fd)


def _whole_end(fd: int) -> int:
    """Return where the last whole line ends; what was cut off behind it is taken away.

    It was never a line of the chain: one that a dying process did not write out.
    """
    end = os.lseek(fd, 0, os.SEEK_END)
    if not end or _read(fd, end - 1, 1) == b"\n":
        return end
    start = _start_of_line(fd, end)
    os.ftruncate(fd, start)
    return start


def _last_line(fd: int, end: int) -> bytes:
    """Return the line that ends right before ``end``, without its line end."""
    start = _start_of_line(fd, end - 1)
    return _read(fd, start, end - 1 - start)


def _start_of_line(fd: int, end: int) -> int:
    """Return the place behind the last line end before ``end``; 0 for none."""
    stop = end
    while stop > 0:
        start = max(0, stop - _TAIL)
        found = _read(fd, start, stop - start).rfind(b"\n") + 1
        if found:
            return start + found
        stop = start
    return 0


def _read(fd: int, start: int, size: int) -> bytes:
    os.lseek(fd, start, os.SEEK_SET)
    parts: list[bytes] = []
    while size > 0 and (part := os.read(fd, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _write_or_undo(fd: int, end: int, data: bytes) -> None:
    """Write at the end; where that fails half-way, as on a full disk, take it back."""
    os.lseek(fd, end, os.SEEK_SET)
    try:
        _write(fd, data)
    except OSError:
        os.ftruncate(fd, end)
        raise


def _write(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
