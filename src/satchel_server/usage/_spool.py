"""Events on this disk until a database has them, so that a killed process loses none.

A folder has a file for each process that writes, in the form of ``jsonl:`` stores, with
a lock that ends with its process. What a file of a process that was killed still has is
brought in by the next one, and counts once.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from satchel.usage import Event
from satchel_server.usage._process import open_private, try_lock
from satchel_server.usage._records import replica_name
from satchel_server.usage._store import (
    Row,
    Writer,
    canonical,
    event_line,
    plain_text,
    started_line,
)

VARIABLE: Final = "SATCHEL_USAGE_SPOOL"
# A file that has grown to this is written again, with what still waits.
MAX_BYTES: Final = 8 * 1024 * 1024
_SUFFIX: Final = ".spool"


class Spool:
    """The file of one process, and those that others left. The caller has a lock."""

    def __init__(self, folder: str, bring_in: Callable[[str], object]) -> None:
        """Take the folder, and what brings the events of a file into the database."""
        self._folder = Path(folder)
        self._bring_in = bring_in
        self.reset()

    def reset(self) -> None:
        """Leave the file to the parent process of a fork."""
        self._fd = -1
        self._writer = b""
        self._path = ""
        self._size = 0

    def begin(self, writer: Writer) -> None:
        """Make the file of this writer, and lock it; once."""
        if self._fd >= 0:
            return
        self._writer = writer.id.encode()
        self._path = str(self._folder / f"{writer.id}{_SUFFIX}")
        self._head = canonical(started_line(writer, plain_text(replica_name()))) + b"\n"
        self._fd = open_private(self._path)
        try_lock(self._fd)
        self._put(self._head)

    def add(self, row: Row) -> None:
        """Write an event; the system has it when this returns, whatever happens to us.

        Raises:
            OSError: There is no room for it, say.
        """
        self._put(self._line(*row))

    def stored(self, rest: Iterable[Row]) -> None:
        """Forget what the database has; ``rest`` is what it has not."""
        if self._fd < 0:
            return
        lines = [self._line(*row) for row in rest]
        if lines and self._size < MAX_BYTES:
            return
        if not lines and self._size == len(self._head):
            return
        # The rest comes first: one event twice is one, and none is not.
        fd = open_private(f"{self._path}-new")
        try:
            os.ftruncate(fd, 0)
            data = b"".join((self._head, *lines))
            _write(fd, data)
            try_lock(fd)
            os.replace(f"{self._path}-new", self._path)  # noqa: PTH105 - it is a text
        except BaseException:
            os.close(fd)
            raise
        os.close(self._fd)
        self._fd, self._size = fd, len(data)

    def close(self, *, is_empty: bool) -> None:
        """End; the file goes if nothing in it waits."""
        if self._fd < 0:
            return
        if is_empty:
            with suppress(OSError):
                os.unlink(self._path)  # noqa: PTH108 - it is a text
        os.close(self._fd)
        self.reset()

    def bring_in(self) -> None:
        """Store what processes that ended have left; where that fails, a file stays."""
        for path in self._left():
            self._bring_in(path)
            os.unlink(path)  # noqa: PTH108 - it is a text

    def _left(self) -> Iterator[str]:
        for file in sorted(self._folder.glob(f"*{_SUFFIX}")):
            if str(file) == self._path:
                continue
            with suppress(FileNotFoundError):  # another process has brought it in
                fd = os.open(file, os.O_RDWR)
                try:
                    if try_lock(fd):
                        yield str(file)
                finally:
                    os.close(fd)

    def _line(self, seq: int, event: Event) -> bytes:
        return canonical(event_line(event, self._writer.decode(), seq)) + b"\n"

    def _put(self, data: bytes) -> None:
        _write(self._fd, data)
        self._size += len(data)


def _write(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
