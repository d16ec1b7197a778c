"""Events in a file that only grows, plain or chained by digests; checking a chain."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any, Final

from satchel.errors import ConfigError, MissingPathError
from satchel.files import write_file
from satchel_server.usage import check_acts
from satchel_server.usage._process import append, locked_file
from satchel_server.usage._records import replica_name
from satchel_server.usage._store import (
    CLOSED,
    DROPPED,
    NO_OFFER,
    SCHEMA_VERSION,
    STARTED,
    Row,
    Writer,
    canonical,
    event_line,
    plain_text,
    row_errors,
    started_line,
    without_repeats,
    writer_line,
)

HEAD_SUFFIX: Final = ".head"

_Line = Mapping[str, object]


class LineStore:
    """A file of JSON lines; see `satchel.usage.EventStore`.

    The file is opened for each batch, so that it can be moved away at any time. A batch
    is one write under a file lock; many processes may share the file.
    """

    def __init__(self, path: str) -> None:
        """Take the path; nothing is opened yet."""
        self._path = path
        self._writer = ""
        self._dropped = 0
        self._offered = NO_OFFER

    def open(self, writer: Writer) -> None:
        self._append([started_line(writer, plain_text(replica_name()))])
        self._writer = writer.id

    @row_errors()
    def write(self, rows: Sequence[Row], dropped: int, now: float) -> None:
        """Append a line for each row that says something new."""
        news, offered = without_repeats(rows, self._offered)
        lines = [event_line(event, self._writer, seq) for seq, event in news]
        if dropped > self._dropped:
            lines.append(writer_line(DROPPED, self._writer, dropped, now))
        if lines:
            self._append(lines)
        # Only after the write: a batch that failed is tried again, and must not count
        # as stored.
        self._offered, self._dropped = offered, dropped

    def close(self, dropped: int, now: float) -> None:
        self._append([writer_line(CLOSED, self._writer, dropped, now)])

    def _append(self, lines: Sequence[_Line]) -> None:
        data = b"".join(
            json.dumps(line, allow_nan=False).encode("ascii") + b"\n" for line in lines
        )
        with locked_file(self._path) as fd:
            end = os.lseek(fd, 0, os.SEEK_END)
            if end and _read_at(fd, end - 1, 1) != b"\n":
                data = b"\n" + data  # another writer was killed in its line
            append(fd, end, data)


class ChainStore(LineStore):
    """The same lines, numbered, each with the SHA-256 of the line before it.

    Number and digest of the last line are also in the file ``PATH.head``. A copy of it,
    stored elsewhere, shows that lines at the end were removed: anyone who can cut the
    log can write its head too.
    """

    _written: tuple[int, str] = 0, check_acts.GENESIS

    def _append(self, lines: Sequence[_Line]) -> None:
        with locked_file(self._path) as fd:
            end = _whole_end(fd)
            # An empty file starts a new chain: both files were moved away. A file that
            # is shorter than this process left it was cut, and the gap must stay.
            ends = [self._head(), self._last(fd, end), *([self._written] * (end > 0))]
            number, digest = max(ends, key=itemgetter(0))
            parts: list[bytes] = []
            for line in lines:
                number += 1
                data = canonical({**line, "line": number, "prev": digest})
                digest = sha256(data).hexdigest()
                parts.append(data + b"\n")
            append(fd, end, b"".join(parts))
            # The log reaches the disk before its head: a head that is ahead means a cut
            # log.
            os.fsync(fd)
            self._written = number, digest
            head = {"schema_version": SCHEMA_VERSION, "line": number, "digest": digest}
            write_file(f"{self._path}{HEAD_SUFFIX}", canonical(head) + b"\n", 0o600)

    def _last(self, fd: int, end: int) -> tuple[int, str]:
        """Return number and digest of the last line."""
        if not end:
            return 0, check_acts.GENESIS
        start = _start_of_line(fd, end - 1)
        data = _read_at(fd, start, end - 1 - start)
        try:
            value: Any = json.loads(data)
            number = value["line"]
        except (ValueError, KeyError, TypeError):
            number = None
        if not isinstance(number, int):
            raise ConfigError(self._path, "not a chained log of events")
        return number, sha256(data).hexdigest()

    def _head(self) -> tuple[int, str]:
        """Return number and digest in the head; without one, those of an empty log."""
        # A damaged head stops no writer: the last line of the log has number and digest
        # too.
        head = None
        with suppress(OSError):
            head = _read_head(Path(f"{self._path}{HEAD_SUFFIX}"))
        return head or (0, check_acts.GENESIS)


def _read_head(file: Path) -> tuple[int, str] | None:
    """Return number and digest in a head; None if it is damaged."""
    try:
        value: Any = json.loads(file.read_bytes())
        number, digest = value["line"], value["digest"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    is_valid = isinstance(number, int) and isinstance(digest, str)
    return (number, digest) if is_valid else None


def _whole_end(fd: int) -> int:
    """Return where the last complete line ends; remove an incomplete one after it."""
    end = os.lseek(fd, 0, os.SEEK_END)
    if not end or _read_at(fd, end - 1, 1) == b"\n":
        return end
    # A process that was killed did not finish it, so it is no line of the chain.
    start = _start_of_line(fd, end)
    os.ftruncate(fd, start)
    return start


def _start_of_line(fd: int, end: int) -> int:
    """Return the offset after the last line end before ``end``; 0 for none."""
    stop = end
    while stop > 0:
        start = max(0, stop - 64 * 1024)
        offset = _read_at(fd, start, stop - start).rfind(b"\n") + 1
        if offset:
            return start + offset
        stop = start
    return 0


def _read_at(fd: int, start: int, size: int) -> bytes:
    os.lseek(fd, start, os.SEEK_SET)
    parts: list[bytes] = []
    while size > 0 and (part := os.read(fd, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


_NO_HEAD: Final = (
    "there is no head, so lines that are missing at the end cannot be noticed: name a "
    "copy of it with --head"
)


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """The result: how many lines, the digest of the last, and what is wrong.

    ``broken`` is the number of the first wrong line, from 1; None if no line is wrong.
    ``anchored`` says whether there was a head: without one, lines that are missing at
    the end cannot be noticed, which counts as wrong too. ``open_writers`` were not
    closed: they still run, were killed, or their last lines were cut off.
    """

    lines: int
    digest: str
    broken: int | None = None
    detail: str = ""
    anchored: bool = False
    open_writers: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong, as far as this can show."""
        return self.broken is None


def verify_chain(
    path: str | PathLike[str], head: str | PathLike[str] | None = None
) -> ChainCheck:
    """Check the chain from its first line to its last.

    It shows a line that was changed, inserted, removed or moved; with a head also lines
    that are missing at the end; and that there is no head. It cannot show lines that
    somebody appended as a writer would; an end that was cut together with its head,
    unless a writer went on after it; and a log that was rewritten as a whole. Against
    these, compare with a copy of the head from elsewhere.

    Args:
        path: The log.
        head: A head file, or a copy of an earlier one; None is ``PATH.head``, if it
            exists.

    Raises:
        MissingPathError: The log, or a head that was named, does not exist.
    """
    log = Path(path)
    if not log.is_file():
        raise MissingPathError(str(path))
    head_file = Path(f"{log}{HEAD_SUFFIX}" if head is None else head)
    anchored = head_file.is_file()
    if head is not None and not anchored:
        raise MissingPathError(str(head))
    anchor = _read_head(head_file) if anchored else None
    digest, number, at_anchor = check_acts.GENESIS, 0, None
    writers: set[str] = set()
    try:
        with log.open("rb") as lines:
            for value, digest in check_acts.chain_lines(lines):
                number += 1
                # A chain says nothing of what its lines are: anybody can make one.
                event, writer = value.get("event"), str(value.get("writer"))
                if event == STARTED:
                    writers.add(writer)
                elif event == CLOSED:
                    writers.discard(writer)
                if anchor is not None and anchor[0] == number:
                    at_anchor = digest
    except ValueError as error:
        return ChainCheck(number, digest, number + 1, str(error), anchored)
    check = ChainCheck(number, digest, anchored=anchored, open_writers=len(writers))
    return _compare_with_head(anchor, at_anchor, check)


def _compare_with_head(
    anchor: tuple[int, str] | None, at_anchor: str | None, check: ChainCheck
) -> ChainCheck:
    broken = check.lines + 1
    if not check.anchored:
        detail = _NO_HEAD if check.lines else ""
    elif anchor is None:
        detail = "the head cannot be read"
    elif anchor[0] > check.lines:
        detail = f"the head has {anchor[0]:,} lines: the end was cut off"
    elif at_anchor not in (None, anchor[1]):
        broken, detail = anchor[0], "it does not match the head"
    else:
        detail = ""
    return replace(check, broken=broken, detail=detail) if detail else check
