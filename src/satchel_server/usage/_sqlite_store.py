"""Events in a SQLite file that many processes write at once."""

import json
import os
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from operator import attrgetter
from typing import Final

from satchel.errors import ConfigError
from satchel.model import ActEvent, CatalogSynced, SkillSynced
from satchel.usage import DAY_S
from satchel_server.usage._process import locked_file, open_private
from satchel_server.usage._store import (
    NO_OFFER,
    SCHEMA_VERSION,
    Row,
    Writer,
    offered_skills,
    plain_text,
    row_errors,
    without_repeats,
)

# How long a writer waits for other programs before it tries the batch again.
BUSY_S: Final = 1.0

LOAD_COLUMNS: Final = (
    *("at", "name", "reference", "script", "source", "duration_s", "error", "file"),
    *("via", "digest", "size_bytes", "code", "tokens", "release", "owner", "agent"),
    *("client", "conversation"),
)
_values = attrgetter(*LOAD_COLUMNS)
_writer_values = attrgetter("id", "process", "host", "pid", "bound", "started")
# What SQLite raises for a wrong value; which one depends on the version.
_VALUE_ERRORS: Final = (
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
)

# Days are whole days since 1970-01-01, UTC. The row of a skill says how it was last
# on offer, and when it first was.
_SCHEMA: Final = """
CREATE TABLE satchel_usage (schema_version INTEGER NOT NULL);
CREATE TABLE writers (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, process TEXT NOT NULL,
    host TEXT NOT NULL, pid INTEGER NOT NULL, bound INTEGER NOT NULL,
    started REAL NOT NULL, seen REAL NOT NULL, closed REAL,
    dropped INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE loads (
    writer INTEGER NOT NULL REFERENCES writers, seq INTEGER NOT NULL,
    at REAL NOT NULL, name TEXT NOT NULL, reference TEXT, script TEXT,
    source TEXT NOT NULL, duration_s REAL NOT NULL, error TEXT, file TEXT,
    via TEXT NOT NULL, digest TEXT NOT NULL, size_bytes INTEGER NOT NULL, code TEXT,
    tokens INTEGER NOT NULL, "release" TEXT NOT NULL, owner TEXT NOT NULL,
    agent TEXT NOT NULL, client TEXT NOT NULL,
    PRIMARY KEY (writer, seq)
) WITHOUT ROWID;
CREATE TABLE skills (
    name TEXT PRIMARY KEY, source TEXT NOT NULL, digest TEXT NOT NULL,
    owner TEXT NOT NULL, refs TEXT NOT NULL, first_day INTEGER NOT NULL,
    last_day INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE offers (
    day INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (day, name)
) WITHOUT ROWID;
"""
# Of its own, so that the version before, which reads the others, calls none a load.
_COPIES: Final = """
CREATE TABLE IF NOT EXISTS copies (
    writer INTEGER NOT NULL REFERENCES writers, seq INTEGER NOT NULL,
    at REAL NOT NULL, name TEXT NOT NULL, file TEXT, source TEXT NOT NULL,
    via TEXT NOT NULL, code TEXT, client TEXT NOT NULL,
    PRIMARY KEY (writer, seq)
) WITHOUT ROWID
"""
_INSERT_COPY: Final = (
    "INSERT INTO copies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (writer, seq) DO NOTHING"
)
_ACTS: Final = """
CREATE TABLE IF NOT EXISTS acts (
    writer INTEGER NOT NULL REFERENCES writers, seq INTEGER NOT NULL,
    act TEXT NOT NULL, PRIMARY KEY (writer, seq)
) WITHOUT ROWID
"""
_INSERT_ACT: Final = (
    "INSERT INTO acts VALUES (?, ?, ?) ON CONFLICT (writer, seq) DO NOTHING"
)
# Files of earlier versions have no such column, and these leave it out.
_ADD_CONVERSATION: Final = (
    "ALTER TABLE loads ADD COLUMN conversation TEXT NOT NULL DEFAULT ''"
)
_INSERT_OFFER: Final = "INSERT OR IGNORE INTO offers VALUES (?, ?)"
_copy_values = attrgetter("at", "name", "file", "source", "via", "code", "client")
_marks = ", ".join("?" * (len(LOAD_COLUMNS) + 2))
_columns = ", ".join(f'"{name}"' for name in LOAD_COLUMNS)
# A batch may be tried again after it was stored: rows that exist stay as they are.
_INSERT: Final = (
    f"INSERT INTO loads (writer, seq, {_columns}) VALUES ({_marks}) "  # noqa: S608 - our own names
    "ON CONFLICT (writer, seq) DO NOTHING"
)
# Several writers store late and in any order: an older day never replaces a newer row.
_UPSERT: Final = """
INSERT INTO skills VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
ON CONFLICT (name) DO UPDATE SET
    source = ?2, digest = ?3, owner = ?4, refs = ?5, last_day = ?6
    WHERE last_day <= ?6
"""


class SqliteStore:
    """A SQLite file; see `satchel.usage.EventStore`.

    The file is in WAL mode: readers do not wait, and writers take turns. A batch is one
    transaction, so that a kill loses it completely or not at all. A power cut may lose
    the last batches, because nothing waits for the disk.
    """

    # Both since `open`.
    _base: sqlite3.Connection
    _number: int

    def __init__(self, path: str) -> None:
        """Take the path; nothing is opened yet."""
        self._path = path
        self._offered = NO_OFFER

    def open(self, writer: Writer) -> None:
        """Open the file, or make it, and register the writer."""
        # Make the file first: SQLite would make it with the permissions of the umask.
        os.close(open_private(self._path))
        with self._turn():
            # No implicit transactions: `_transaction` begins each one with the write
            # lock.
            base = sqlite3.connect(self._path, timeout=BUSY_S, isolation_level=None)
            try:
                if _has_tables(base):
                    # Before the first change: the file may be a database of another
                    # program.
                    check_version(base, self._path)
                base.execute("PRAGMA journal_mode = WAL")
                base.execute("PRAGMA synchronous = NORMAL")
                with _transaction(base):
                    self._prepare(base, writer)
            except BaseException:
                base.close()
                raise
        self._base = base

    def _prepare(self, base: sqlite3.Connection, writer: Writer) -> None:
        if not _has_tables(base):
            for statement in _SCHEMA.split(";\n"):
                base.execute(statement)
            base.execute("INSERT INTO satchel_usage VALUES (?)", (SCHEMA_VERSION,))
        base.execute(_COPIES)
        base.execute(_ACTS)
        columns = base.execute("SELECT name FROM pragma_table_info('loads')")
        if ("conversation",) not in columns.fetchall():
            base.execute(_ADD_CONVERSATION)
        self._number = base.execute(
            "INSERT INTO writers (id, process, host, pid, bound, started, seen) "
            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6) RETURNING number",
            _writer_values(writer),
        ).fetchone()[0]

    @row_errors(*_VALUE_ERRORS)
    def write(self, rows: Sequence[Row], dropped: int, now: float) -> None:
        """Store the rows in one transaction."""
        base = self._base
        loads: list[Sequence[object]] = []
        copies: list[Sequence[object]] = []
        acts: list[Sequence[object]] = []
        syncs: list[CatalogSynced] = []
        news, offered = without_repeats(rows, self._offered)
        for seq, event in news:
            if isinstance(event, CatalogSynced):
                syncs.append(event)
            elif isinstance(event, SkillSynced):
                copies.append((self._number, seq, *map(_storable, _copy_values(event))))
            elif isinstance(event, ActEvent):
                acts.append((self._number, seq, json.dumps(event.as_dict())))
            else:
                loads.append((self._number, seq, *map(_storable, _values(event))))
        with self._turn(), _transaction(base):
            base.executemany(_INSERT, loads)
            base.executemany(_INSERT_COPY, copies)
            base.executemany(_INSERT_ACT, acts)
            for event in syncs:
                _write_offer(base, event)
            base.execute(
                "UPDATE writers SET seen = ?, dropped = ? WHERE number = ?",
                (now, dropped, self._number),
            )
        # Only after the commit: a transaction that failed stored no offer.
        self._offered = offered

    def close(self, dropped: int, now: float) -> None:
        with closing(self._base) as base, self._turn():
            base.execute(
                "UPDATE writers SET seen = ?1, closed = ?1, dropped = ?2 "
                "WHERE number = ?3",
                (now, dropped, self._number),
            )

    def _turn(self) -> AbstractContextManager[int]:
        """Wait for this writer's turn, by a lock on a second file: first come first."""
        # SQLite itself only tries again and again; if many writers never pause, one of
        # them may wait for seconds.
        return locked_file(f"{self._path}-turn")


def _write_offer(base: sqlite3.Connection, event: CatalogSynced) -> None:
    """Store the skills on offer on this day."""
    day = int(event.at // DAY_S)
    skills = [
        (*texts, json.dumps(references), day)
        for *texts, references in offered_skills(event)
    ]
    base.executemany(_UPSERT, skills)
    base.executemany(_INSERT_OFFER, [(day, skill[0]) for skill in skills])


def _storable(value: object) -> object:
    return plain_text(value) if isinstance(value, str) else value


def _has_tables(base: sqlite3.Connection) -> bool:
    row = base.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    return row is not None


@contextmanager
def _transaction(base: sqlite3.Connection) -> Generator[None]:
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
        raise ConfigError(
            path,
            f"written by a later Satchel (schema {row[0]}, known is "
            f"{SCHEMA_VERSION}); update this one",
        )
