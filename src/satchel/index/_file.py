"""One SQLite file of rows that can all be made again.

Nothing here raises: what cannot be read is not there, and what cannot be written is not
written. docs/decisions/0024 says why the file is as it is.
"""

import logging
import os
import sqlite3
import sys
import threading
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Final, NamedTuple, TypeAlias, TypeVar
from weakref import finalize
from zlib import crc32

_T = TypeVar("_T")
_log = logging.getLogger("satchel")

SCHEMA_VERSION: Final = 1
# How long anybody waits for another process; then it goes on without the index.
BUSY_S: Final = 0.25
# Rows that were replaced stay for processes that opened before; then they go.
REPLACED_DAYS: Final = 7
# What nobody opened for so long goes, so that the file does not grow for ever.
UNUSED_DAYS: Final = 90
_DAY_S: Final = 86_400
_HEADER: Final = b"SQLite format 3\0"

# A pack has two rows of one number: what is compared at every opening is in a table of
# its own, which is a tenth of the whole. Rows never change; a number is never used for
# another pack. Its upper half is the number of the source.
_SCHEMA: Final = """
CREATE TABLE satchel_index (schema_version INTEGER NOT NULL);
CREATE TABLE blobs (
    name TEXT PRIMARY KEY, data BLOB NOT NULL, sum INTEGER NOT NULL,
    used INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE marks (
    number INTEGER PRIMARY KEY, key BLOB NOT NULL, paths BLOB NOT NULL,
    mark BLOB NOT NULL, sum INTEGER NOT NULL
);
CREATE TABLE packs (
    number INTEGER PRIMARY KEY, data BLOB NOT NULL, sum INTEGER NOT NULL
);
CREATE TABLE replaced (number INTEGER PRIMARY KEY, day INTEGER NOT NULL)
"""
_NUMBERS: Final = "/numbers"
_FOLDERS: Final = "/folders"
# Values that one query of any SQLite may have.
_AT_ONCE: Final = 500


class PackRow(NamedTuple):
    """The marks of a pack when it was read: of its folders, then of its files."""

    number: int
    key: bytes
    paths: bytes
    mark: bytes


class StoredRows(NamedTuple):
    """What is stored of one source; ``lost`` rows should be there and are not right.

    ``generation`` is another one whenever anything was written.
    """

    state: bytes
    folders: bytes
    numbers: Sequence[int]
    generation: str
    rows: Sequence[PackRow]
    lost: int


NewRow: TypeAlias = tuple[bytes, bytes, bytes, Callable[[], bytes]]
"""Key, paths, mark and data of a pack, as they are stored."""


class IndexFile:
    """One index; threads may share it, and processes the file."""

    def __init__(self, path: str, *, is_ours: bool = True) -> None:
        """Take the path; ``is_ours`` is whether whatever is there may be replaced."""
        self.path: Final = os.path.abspath(path)  # noqa: PTH100 - a string is needed
        self._is_ours = is_ours
        self._lock = threading.RLock()
        self._base: sqlite3.Connection | None = None
        self._close_base: Callable[[], object] = lambda: None
        self._pid = 0
        self._is_off = False

    def time_ns(self) -> int:
        """Return the time by the clock that files are stamped with; 0 if unknown.

        A process may have a clock of its own that was set back or forward.
        """
        try:
            self._make_file()
            os.utime(self.path)
            return os.stat(self.path).st_mtime_ns  # noqa: PTH116
        except OSError as error:
            self._report(error)
            return 0

    def blobs(self, names: Sequence[str]) -> list[bytes | None]:
        """Return what was stored under some names at one moment."""

        def read(base: sqlite3.Connection) -> list[bytes | None]:
            base.execute("BEGIN")
            try:
                return [_blob(base, name) for name in names]
            finally:
                base.execute("ROLLBACK")

        return self._attempt(read) or [None] * len(names)

    def put(self, blobs: Mapping[str, bytes]) -> None:
        """Store some blobs, all or nothing."""

        def store(base: sqlite3.Connection, today: int) -> None:
            for name, data in blobs.items():
                _put(base, name, data, today)

        self._attempt(lambda base: _write(base, store), create=True)

    def rows(self, name: str, *, with_marks: bool = True) -> StoredRows | None:
        """Return what is stored of a source, in the order it was; None if nothing.

        Without marks there are no folders and no rows, and none of them is read.
        """

        def read(base: sqlite3.Connection) -> StoredRows | None:
            base.execute("BEGIN")  # all of it as it was at one moment
            try:
                state, numbers = _blob(base, name), _blob(base, name + _NUMBERS)
                if state is None or numbers is None:
                    return None
                numbers_now = _numbers(numbers, state)
                if numbers_now is None:
                    return None
                generation = _generation(numbers)
                if not with_marks:
                    return StoredRows(state, b"", numbers_now, generation, (), 0)
                folders = _blob(base, name + _FOLDERS)
                listed = base.execute(
                    "SELECT number, key, paths, mark, sum FROM marks "
                    "WHERE number BETWEEN ? AND ?",
                    _range(name),
                )
                rows = {
                    row[0]: PackRow._make(row[:4])
                    for row in listed
                    if row[4] == _sum(row[0], *row[1:4])
                }
            finally:
                base.execute("ROLLBACK")
            self._note_use(base, name)
            in_order = [rows[number] for number in numbers_now if number in rows]
            lost = len(numbers_now) - len(in_order) + (folders is None)
            return StoredRows(
                state, folders or b"", numbers_now, generation, in_order, lost
            )

        return self._attempt(read)

    def drop(self, number: int) -> None:
        """Forget a row that is damaged, so that the next process stores it again."""
        query = "DELETE FROM marks WHERE number = ?"
        self._attempt(lambda base: base.execute(query, (number,)))

    def some_packs(self, numbers: Sequence[int]) -> dict[int, bytes]:
        """Return the data of those rows that are as they were, by number."""

        def read(base: sqlite3.Connection) -> dict[int, bytes]:
            data: dict[int, bytes] = {}
            for start in range(0, len(numbers), _AT_ONCE):
                some = numbers[start : start + _AT_ONCE]
                data |= _packs(base, f"IN ({', '.join('?' * len(some))})", some)
            return data

        return self._attempt(read) or {}

    def packs(self, name: str) -> dict[int, bytes]:
        """Return the data of all rows of a source, by number."""
        ends = _range(name)
        return self._attempt(lambda b: _packs(b, "BETWEEN ? AND ?", ends)) or {}

    def write(
        self,
        name: str,
        state: bytes,
        folders: bytes | None,
        order: Sequence[int | NewRow],
    ) -> tuple[list[int], str] | None:
        """Replace what is stored of a source, all or nothing.

        ``folders`` None leaves those that are there. ``order`` has what the source
        holds now, sorted by key: the number of a row that is there already, or key,
        paths, mark and data of a new one; the data is made when it is written, so
        that not all of it is in memory at once.

        Returns:
            The numbers in that order, and the generation; None if nothing was written.
        """

        def replace(base: sqlite3.Connection, today: int) -> tuple[list[int], str]:
            if folders is not None:
                _put(base, name + _FOLDERS, folders, today)
            return _replace_rows(base, name, state, order, today)

        return self._attempt(lambda base: _write(base, replace), create=True)

    def close(self) -> None:
        """Close the file; it is opened again when something is asked."""
        with self._lock:
            self._base = None
            self._close_base()

    def _attempt(
        self, work: Callable[[sqlite3.Connection], _T], *, create: bool = False
    ) -> _T | None:
        with self._lock:
            try:
                base = self._opened(create)
                return None if base is None else work(base)
            # A damaged file may give values of any type.
            except (sqlite3.Error, OSError, ValueError, TypeError) as error:
                self._report(error)
                self.close()
                if _is_damaged(error):
                    self._set_aside(str(error))
                return None

    def _opened(self, create: bool) -> sqlite3.Connection | None:  # noqa: FBT001
        if self._base is not None and self._pid == os.getpid():
            return self._base
        if self._is_off or not (create or os.path.exists(self.path)):  # noqa: PTH110
            return None
        if create:
            self._make_file()
        self._check_owner()
        base = self._connect()
        self._base, self._pid = base, os.getpid()
        # Few programs close what they opened, and Python warns of it from 3.13 on.
        self._close_base = finalize(self, _close_own, base, self._pid)
        # Nothing waits for the disk: after a power cut the file may be damaged, which
        # sums of rows and marks show, and it is made again.
        base.execute("PRAGMA synchronous = OFF")
        tables = base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not tables and create:
            base.execute("PRAGMA page_size = 8192")
            base.execute("BEGIN IMMEDIATE")
            # Another process may have been first.
            if not base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in _SCHEMA.split(";\n"):
                    base.execute(statement)
                base.execute("INSERT INTO satchel_index VALUES (?)", (SCHEMA_VERSION,))
            base.execute("COMMIT")
        elif not tables:
            self.close()
            return None
        version = base.execute("SELECT schema_version FROM satchel_index").fetchone()
        if version != (SCHEMA_VERSION,):
            self.close()
            self._is_off = True  # a later Satchel wrote it
            return None
        return base

    def _connect(self) -> sqlite3.Connection:
        # On a system that is read-only nobody writes, and locks cannot be made.
        folder = os.path.dirname(self.path)  # noqa: PTH120
        how = "mode=rw" if os.access(folder, os.W_OK) else "mode=ro&immutable=1"
        return sqlite3.connect(
            f"file:{_as_uri(self.path)}?{how}",
            uri=True,
            timeout=BUSY_S,
            isolation_level=None,
            check_same_thread=False,
        )

    def _make_file(self) -> None:
        """Make the file, if it is not there, for this user alone."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        try:
            file = os.open(self.path, flags, 0o600)
        except FileNotFoundError:
            folder = os.path.dirname(self.path)  # noqa: PTH120
            os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
            file = os.open(self.path, flags, 0o600)
        os.close(file)

    def _check_owner(self) -> None:
        """Raise `OSError` where another user may have written the file."""
        status = os.stat(self.path)  # noqa: PTH116
        if sys.platform != "win32" and (
            status.st_uid != os.geteuid() or status.st_mode & 0o022
        ):
            self._is_off = True
            raise PermissionError(f"{self.path} can be written by another user")

    def _set_aside(self, reason: str) -> None:
        """Rename a damaged file, so that the next write makes a new one."""
        try:
            with open(self.path, "rb") as file:  # noqa: PTH123
                is_database = file.read(len(_HEADER)) == _HEADER
            # At a path that somebody named there may be a file of theirs.
            is_other = "no such table" in reason  # a database of another program
            if not self._is_ours and (is_other or not is_database):
                self._is_off = True
                return
            os.replace(self.path, f"{self.path}.damaged")  # noqa: PTH105
            with suppress(FileNotFoundError):
                os.unlink(f"{self.path}-journal")  # noqa: PTH108
        except OSError as error:  # open elsewhere, on Windows
            self._report(error)
            self._is_off = True

    def _note_use(self, base: sqlite3.Connection, name: str) -> None:
        """Note the day, rarely, so that opening seldom writes."""
        today = int(time.time() // _DAY_S)
        with suppress(sqlite3.Error):
            base.execute(
                "UPDATE blobs SET used = ?1 "
                "WHERE name IN (?2, ?3, ?4) AND used < ?1 - 7",
                (today, name, name + _NUMBERS, name + _FOLDERS),
            )

    def _report(self, error: Exception) -> None:
        _log.debug("the index %s: %s: %s", self.path, type(error).__name__, error)


def _close_own(base: sqlite3.Connection, pid: int) -> None:
    """Close a connection; one that a parent process opened is left to it."""
    if pid == os.getpid():
        with suppress(sqlite3.Error):
            base.close()


def _write(
    base: sqlite3.Connection, work: Callable[[sqlite3.Connection, int], _T]
) -> _T:
    """Do it all or nothing, and delete what is old."""
    today = int(time.time() // _DAY_S)
    base.execute("BEGIN IMMEDIATE")
    try:
        done = work(base, today)
        _prune(base, today)
        base.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            base.execute("ROLLBACK")
        raise
    return done


def _replace_rows(
    base: sqlite3.Connection,
    name: str,
    state: bytes,
    order: Sequence[int | NewRow],
    today: int,
) -> tuple[list[int], str]:
    first, last = _range(name)
    before: set[int] = set()
    now = _blob(base, name + _NUMBERS)
    if now is not None:
        before.update(_numbers(now, None) or ())
    (highest,) = base.execute(
        "SELECT max(number) FROM packs WHERE number BETWEEN ? AND ?", (first, last)
    ).fetchone()
    number = first if highest is None else highest

    def insert(
        key: bytes, paths: bytes, mark: bytes, encode: Callable[[], bytes]
    ) -> int:
        nonlocal number
        number += 1
        data = encode()
        marks = number, key, paths, mark
        base.execute("INSERT INTO marks VALUES (?, ?, ?, ?, ?)", (*marks, _sum(*marks)))
        stored = number, data, _sum(number, data)
        base.execute("INSERT INTO packs VALUES (?, ?, ?)", stored)
        return number

    for row in {row for row in order if isinstance(row, int)} - before:
        _revive(base, row)  # another process replaced it, or never had it
    numbers = [row if isinstance(row, int) else insert(*row) for row in order]
    gone = before.difference(numbers)
    base.executemany(
        "INSERT OR IGNORE INTO replaced VALUES (?, ?)", [(row, today) for row in gone]
    )
    _put(base, name, state, today)
    # A file that is made again counts from the beginning; its generations differ still.
    data = crc32(state).to_bytes(8, "little") + os.urandom(8)
    data += array("q", numbers).tobytes()
    _put(base, name + _NUMBERS, data, today)
    return numbers, _generation(data)


def _generation(numbers: bytes) -> str:
    return blake2b(numbers, digest_size=16).hexdigest()


def _revive(base: sqlite3.Connection, number: int) -> None:
    base.execute("DELETE FROM replaced WHERE number = ?", (number,))
    if not base.execute("SELECT 1 FROM packs WHERE number = ?", (number,)).fetchone():
        raise ValueError(f"row {number} is gone")


def _prune(base: sqlite3.Connection, today: int) -> None:
    """Delete what no process uses any more."""
    old = (today - REPLACED_DAYS,)
    gone = "SELECT number FROM replaced WHERE day < ?"
    if base.execute(gone, old).fetchone():
        for table in ("marks", "packs"):  # our own names
            base.execute(f"DELETE FROM {table} WHERE number IN ({gone})", old)  # noqa: S608
        base.execute("DELETE FROM replaced WHERE day < ?", old)
    unused = base.execute(
        "SELECT name FROM blobs WHERE used < ?", (today - UNUSED_DAYS,)
    ).fetchall()
    for (name,) in unused:
        base.execute("DELETE FROM blobs WHERE name = ?", (name,))
        if name.endswith(_NUMBERS):
            ends = _range(name.removesuffix(_NUMBERS))
            for table in ("marks", "packs"):
                query = f"DELETE FROM {table} WHERE number BETWEEN ? AND ?"  # noqa: S608
                base.execute(query, ends)


def _put(base: sqlite3.Connection, name: str, data: bytes, today: int) -> None:
    total = crc32(data, crc32(name.encode()))
    base.execute(
        "INSERT OR REPLACE INTO blobs VALUES (?, ?, ?, ?)", (name, data, total, today)
    )


def _blob(base: sqlite3.Connection, name: str) -> bytes | None:
    row = base.execute("SELECT data, sum FROM blobs WHERE name = ?", (name,)).fetchone()
    if row is None or crc32(row[0], crc32(name.encode())) != row[1]:
        return None
    data: bytes = row[0]
    return data


def _packs(
    base: sqlite3.Connection, which: str, numbers: Sequence[int]
) -> dict[int, bytes]:
    query = f"SELECT number, data, sum FROM packs WHERE number {which}"  # noqa: S608
    return {
        number: data
        for number, data, total in base.execute(query, numbers)
        if _sum(number, data) == total
    }


def _numbers(data: bytes, state: bytes | None) -> "array[int] | None":
    """Return numbers as they were stored; None where they are of another ``state``."""
    if state is not None and int.from_bytes(data[:8], "little") != crc32(state):
        return None
    return array("q", data[16:])


def _sum(number: int, *parts: bytes) -> int:
    total = number & 0xFFFFFFFF
    try:
        for part in parts:
            total = crc32(part, total)
    except TypeError:  # a damaged file may give values of any type
        return -1
    return total


def _range(name: str) -> tuple[int, int]:
    """Return the first and the last number that a row of a source may have."""
    # Two sources may share a range; each knows its own rows by their numbers.
    first = (crc32(name.encode()) & 0x7FFFFFFF) << 32
    return first, first + (1 << 32) - 1


def _as_uri(path: str) -> str:
    """Return a path as SQLite reads it; Windows has a drive, and other slashes."""
    path = path.replace(os.sep, "/")
    for char in "%?#":
        path = path.replace(char, f"%{ord(char):02x}")
    return path if path.startswith("/") else f"/{path}"


def _is_damaged(error: Exception) -> bool:
    return type(error) is sqlite3.DatabaseError or (
        isinstance(error, sqlite3.OperationalError) and "no such" in str(error)
    )
