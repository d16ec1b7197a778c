"""Events in a SQLite file that many processes write at once."""

import os
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Final

from satchel.errors import ConfigError
from satchel.usage import DAY_S
from satchel_server.usage._process import locked_file, open_private
from satchel_server.usage._store import SCHEMA_VERSION, Row, row_errors
from satchel_server.usage._table_store import TableStore
from satchel_server.usage._tables import SCHEMA, Base

# How long a writer waits for other programs before it tries the batch again.
BUSY_S: Final = 1.0

# What SQLite raises for a wrong value; which one depends on the version.
_VALUE_ERRORS: Final = (
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
)

# Files of earlier versions have no such columns, and these leave them out.
_ADDED: Final = (
    ("loads", "conversation", "TEXT NOT NULL DEFAULT ''"),
    ("loads", "caller", "TEXT NOT NULL DEFAULT ''"),
    ("writers", "last_seq", "INTEGER NOT NULL DEFAULT 0"),
    ("writers", "summed", "INTEGER NOT NULL DEFAULT 0"),
    ("writers", "replica", "TEXT NOT NULL DEFAULT ''"),
    ("writers", "origin", "TEXT NOT NULL DEFAULT ''"),
)
_TABLES: Final = SCHEMA.format(serial="INTEGER PRIMARY KEY", rowless=" WITHOUT ROWID")


class SqliteBase(Base):
    """A transaction of SQLite."""

    day = f"CAST(at / {DAY_S} AS INTEGER)"
    # Writers of earlier versions do not say which row is their last one.
    tails = """SELECT number, summed, closed, seen FROM writers WHERE
        EXISTS (SELECT 1 FROM loads WHERE writer = number AND seq > summed)
        OR EXISTS (SELECT 1 FROM copies WHERE writer = number AND seq > summed)
        OR EXISTS (SELECT 1 FROM imports WHERE writer = number AND seq > summed)"""


class SqliteStore(TableStore):
    """A SQLite file; see `satchel.usage.EventStore`.

    The file is in WAL mode: readers do not wait, and writers take turns. A batch is one
    transaction, so that a kill loses it completely or not at all. A power cut may lose
    the last batches, because nothing waits for the disk.
    """

    # Since `open`.
    connection: sqlite3.Connection

    def __init__(self, path: str) -> None:
        """Take the path; nothing is opened yet."""
        super().__init__()
        self._path = path

    def connect(self) -> None:
        """Open the file, or make it, and make the tables that are missing."""
        # Make the file first: SQLite would make it with the permissions of the umask.
        os.close(open_private(self._path))
        with self._turn():
            # No implicit transactions: `transaction` begins each one with the write
            # lock.
            base = sqlite3.connect(self._path, timeout=BUSY_S, isolation_level=None)
            try:
                if _has_tables(base):
                    # Before the first change: the file may be a database of another
                    # program.
                    check_version(base, self._path)
                base.execute("PRAGMA journal_mode = WAL")
                base.execute("PRAGMA synchronous = NORMAL")
                with _begun(base):
                    prepare(base)
            except BaseException:
                base.close()
                raise
        self.connection = base

    @contextmanager
    def transaction(self, *, alone: bool = False) -> Generator[SqliteBase]:
        """Hold the write lock, which keeps others away in any case."""
        del alone
        with self._turn(), _begun(self.connection):
            yield SqliteBase(self.connection)

    def write(self, rows: Sequence[Row], dropped: int, now: float) -> None:
        with row_errors(*_VALUE_ERRORS):
            self._store(rows, dropped, now)
        self._fold_if_due(now)

    def close(self, dropped: int, now: float) -> None:
        with closing(self.connection):
            self._close(dropped, now)

    def _turn(self) -> AbstractContextManager[int]:
        """Wait for this writer's turn, by a lock on a second file: first come first."""
        # SQLite itself only tries again and again; if many writers never pause, one of
        # them may wait for seconds.
        return locked_file(f"{self._path}-turn")


def prepare(base: sqlite3.Connection) -> None:
    """Make the tables and columns that are missing."""
    if not _has_tables(base):
        base.execute("CREATE TABLE satchel_usage (schema_version INTEGER NOT NULL)")
        base.execute("INSERT INTO satchel_usage VALUES (?)", (SCHEMA_VERSION,))
    for statement in _TABLES.split(";\n"):
        base.execute(statement)
    for table, name, kind in _ADDED:
        if name not in columns_of(base, table):
            base.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind}")


def columns_of(base: sqlite3.Connection, table: str) -> set[str]:
    """Return the columns of a table; there are none if it is not there."""
    rows = base.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return {name for (name,) in rows}


def _has_tables(base: sqlite3.Connection) -> bool:
    return base.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None


@contextmanager
def _begun(base: sqlite3.Connection) -> Generator[None]:
    # The write lock at once: a transaction that reads first may fail to get it later.
    base.execute("BEGIN IMMEDIATE")
    with base:
        yield


def check_version(base: sqlite3.Connection, path: str) -> None:
    """Raise `ConfigError` for another database, or one that a later Satchel wrote."""
    try:
        row = base.execute("SELECT schema_version FROM satchel_usage").fetchone()
    except sqlite3.OperationalError as error:
        # A busy or unreadable file says nothing about its version; the caller decides.
        if "no such table" not in str(error):
            raise
        row = None
    if row is None or not isinstance(row[0], int):
        raise ConfigError(path, "it is a database, but not one of usage events")
    if row[0] > SCHEMA_VERSION:
        schemas = f"schema {row[0]}, known is {SCHEMA_VERSION}"
        raise ConfigError(
            path, f"written by a later Satchel ({schemas}); update this one"
        )
