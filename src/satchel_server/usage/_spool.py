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
from satchel_server.usage._process import append, open_private, try_lock
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
_NEW: Final = "-new"


class Spool:
    """The file of one process, and those that others left. The caller has a lock."""

    def __init__(self, folder: str, bring_in: Callable[[str], object]) -> None:
        """Take the folder, and what brings the events of a file into the database."""
        self._folder = Path(folder)
        self._bring_in = bring_in
        self._fd = -1
        self.reset()

    def reset(self) -> None:
        """Leave the file: to the parent process of a fork, or to the next one."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._size = -1, 0
        self._writer = self._path = ""
        self._head = b""

    def begin(self, writer: Writer) -> None:
        """Make the file of this writer, and lock it; once."""
        if self._fd >= 0:
            return
        self._writer = writer.id
        self._path = str(self._folder / f"{writer.id}{_SUFFIX}")
        self._head = canonical(started_line(writer, plain_text(replica_name()))) + b"\n"
        self._replace(self._head)

    def add(self, row: Row) -> None:
        """Write an event; the system has it when this returns, whatever happens to us.

        Raises:
            OSError: There is no room for it, say.
        """
        data = self._line(*row)
        append(self._fd, self._size, data)
        self._size += len(data)

    def stored(self, rest: Iterable[Row]) -> None:
        """Forget what the database has; ``rest`` is what it has not."""
        if self._fd < 0:
            return
        lines = [self._line(*row) for row in rest]
        if (lines and self._size < MAX_BYTES) or self._size == len(self._head):
            return
        self._replace(b"".join((self._head, *lines)))

    def close(self, *, is_empty: bool) -> None:
        """End; the file goes if nothing in it waits."""
        if is_empty and self._fd >= 0:
            with suppress(OSError):
                os.unlink(self._path)  # noqa: PTH108 - it is a text
        self.reset()

    def bring_in(self) -> None:
        """Store what processes that ended have left.

        Raises:
            Exception: A file could not be stored now, and stays; the others are.
        """
        problem: Exception | None = None
        for path in self._left():
            try:
                self._bring_in(path)
            except Exception as error:  # noqa: BLE001 - raised below
                problem = error
            else:
                for name in (path, f"{path}{_NEW}"):
                    Path(name).unlink(missing_ok=True)
        if problem is not None:
            raise problem

    def _left(self) -> Iterator[str]:
        for file in sorted(self._folder.glob(f"*{_SUFFIX}")):
            with suppress(FileNotFoundError):  # another process has brought it in
                fd = os.open(file, os.O_RDWR)
                try:
                    # Its process may have put another file in its place by now.
                    is_left = str(file) != self._path and try_lock(fd)
                    if is_left and os.path.samestat(os.fstat(fd), file.stat()):
                        yield str(file)
                finally:
                    os.close(fd)

    def _replace(self, data: bytes) -> None:
        """Put a file with a lock in the place of the last one; nobody sees it before.

        What waits is in one of the two at any time.
        """
        fd = open_private(f"{self._path}{_NEW}")
        try:
            try_lock(fd)
            os.ftruncate(fd, 0)
            append(fd, 0, data)
            os.replace(f"{self._path}{_NEW}", self._path)  # noqa: PTH105 - a text
        except BaseException:
            os.close(fd)
            raise
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._size = fd, len(data)

    def _line(self, seq: int, event: Event) -> bytes:
        return canonical(event_line(event, self._writer, seq)) + b"\n"
