"""Upkeep of a database of events: merge files in, remove old rows, erase a caller's."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from satchel.errors import ConfigError, MissingPathError
from satchel.usage import DAY_S
from satchel_server.usage._lines import BATCH_ROWS, Batch, LineReader, is_sound
from satchel_server.usage._location import store_at
from satchel_server.usage._reader import is_database, location_of, read_database
from satchel_server.usage._records import WriterState
from satchel_server.usage._sqlite_store import SqliteBase
from satchel_server.usage._sums import Sums
from satchel_server.usage._table_reader import WRITERS
from satchel_server.usage._table_store import Pending, TableStore
from satchel_server.usage._tables import (
    CHUNK,
    COLUMNS,
    Base,
    RowParser,
    add_offers,
    add_sums,
    first_of_calls,
    fold_tails,
    load_sums,
    numbered,
    uses,
)


@dataclass(slots=True)
class Merged:
    """How many events were new, how many were here before, and what is damaged."""

    events: int = 0
    repeats: int = 0
    lines_not_read: int = 0


@contextmanager
def open_tables(place: str, *, exists: bool = False) -> Generator[TableStore]:
    """Open the database of a path or URL, made if it is not there.

    Raises:
        MissingPathError: ``exists`` says that its file is there, and it is not.
        ConfigError: It is a file of lines, which has no tables; or a file of SQLite
            cannot be read or written.
        SourceUnavailableError: The database does not answer.
    """
    location = location_of(place)
    if location.kind == "file" and _is_sqlite(Path(location.path)):
        location = location._replace(kind="sqlite")
    if location.kind not in ("postgresql", "sqlite"):
        raise ConfigError(
            location.path,
            "it is a file of lines, which only grows: merge it into a database with "
            "satchel usage merge, and remove the file",
        )
    if exists and location.kind == "sqlite" and not Path(location.path).exists():
        raise MissingPathError(location.path)
    store = cast("TableStore", store_at(location)())
    try:
        store.connect()
        with closing(store.connection):
            yield store
    except sqlite3.Error as error:
        raise ConfigError(location.path, str(error)) from error


def _is_sqlite(file: Path) -> bool:
    return is_database(file) if file.is_file() else file.suffix in (".db", ".sqlite")


def merge_file(store: TableStore, path: str) -> Merged:
    """Bring the events of a file into the database; what is there changes nothing.

    Raises:
        MissingPathError: There is no such file.
        ConfigError: It is something else, or a later Satchel wrote it.
    """
    kind, place = location_of(path, "FILE")
    if kind == "postgresql":
        detail = "it is no file; events come into it with --db"
        raise ConfigError("the postgresql: URL", detail)
    file, merged = Path(place), Merged()
    if is_database(file):
        read_database(file, lambda base: _merge_tables(base, store, file, merged))
    else:
        lines = LineReader(file)
        for batch in lines.batches():
            _put(store, batch, lines.writers, file.name, merged)
        merged.lines_not_read += lines.unread
    return merged


def _merge_tables(
    base: SqliteBase, store: TableStore, file: Path, merged: Merged
) -> None:
    writers = {row[0]: WriterState(*row) for row in base.rows(WRITERS)}
    offers = base.rows(
        "SELECT o.day, s.name, s.source, s.digest, s.owner, s.refs FROM offers o "
        "JOIN skills s ON s.name = o.name"
    )
    batch = Batch(offers={row[:2]: row for row in offers})
    _put(store, batch, writers, file.name, merged)
    for table, names in COLUMNS.items():
        chosen = ", ".join(f't."{name}"' for name in names)
        # Row by row: there may be more than fit into memory.
        cursor = base.connection.execute(
            f"SELECT w.id, t.seq, {chosen} FROM {table} t "  # noqa: S608 - our own names
            "JOIN writers w ON w.number = t.writer ORDER BY t.writer, t.seq"
        )
        while rows := cursor.fetchmany(BATCH_ROWS):
            sound = [row for row in rows if is_sound(table, row)]
            merged.lines_not_read += len(rows) - len(sound)
            batch = Batch()
            batch.rows[table] = sound
            _put(store, batch, writers, file.name, merged)


def _put(
    store: TableStore,
    batch: Batch,
    writers: Mapping[str, WriterState],
    origin: str,
    merged: Merged,
) -> None:
    """Store a batch, and add what is new in it to the sums."""
    with store.transaction(alone=True) as base:
        add_offers(base, batch.offers.values())
        for table, rows in batch.rows.items():
            first = first_of_calls(base, rows, batch.calls)
            new = _insert(base, table, *numbered(base, table, first, writers, origin))
            merged.events += new
            merged.repeats += len(rows) - new
        for id, state in writers.items():
            base.run(
                "UPDATE writers SET dropped = CASE WHEN dropped < ? THEN ? "
                "ELSE dropped END, closed = coalesce(closed, ?), seen = CASE "
                "WHEN seen < ? THEN ? ELSE seen END WHERE id = ? AND origin <> ''",
                (*(state.dropped,) * 2, state.closed, *(state.seen,) * 2, id),
            )


def _insert(
    base: Base, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> int:
    """Insert rows that are not there, and add them to the sums; return how many."""
    names = ", ".join(f'"{name}"' for name in columns)
    base.run(f"CREATE TEMP TABLE new_rows AS SELECT {names} FROM {table} WHERE 1 = 0")  # noqa: S608 - our own names
    base.fill("new_rows", columns, rows)
    inserted = {
        *base.rows(
            f"INSERT INTO {table} ({names}) SELECT {names} FROM new_rows WHERE true "  # noqa: S608 - our own names
            "ON CONFLICT (writer, seq) DO NOTHING RETURNING writer, seq"
        )
    }
    base.run("DROP TABLE new_rows")
    by_writer: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        if row[:2] in inserted:
            by_writer[row[0]].append(row)
    for number, its in by_writer.items():
        ((replica, summed),) = base.rows(
            "SELECT replica, summed FROM writers WHERE number = ?", (number,)
        )
        pending = Pending(replica)
        pending.add(table, its)
        add_sums(base, pending.sums())
        last = max(summed, *(row[1] for row in its))
        base.run(
            "UPDATE writers SET summed = ?, last_seq = CASE WHEN last_seq < ? "
            "THEN ? ELSE last_seq END WHERE number = ?",
            (last, last, last, number),
        )
    return len(inserted)


def prune_events(store: TableStore, before: int) -> int:
    """Remove what is of days before one, from rows and sums; return how many events."""
    with store.transaction(alone=True) as base:
        _fold_all(base)
        at = before * DAY_S
        removed = sum(
            base.run(f"DELETE FROM {table} WHERE at < ?", (at,))  # noqa: S608 - our own names
            for table in ("loads", "copies", "imports")
        )
        removed += _remove_acts(base, lambda act: act["at"] < at)
        # A conversation that goes on counts by its first day that stays.
        sums = Sums()
        for talk in base.rows(
            "SELECT name, conversation, day FROM again WHERE anchor < ? AND day >= ?",
            (before, before),
        ):
            sums.talk(*talk)
        base.run("DELETE FROM talks WHERE day < ?", (before,))
        base.run("DELETE FROM again WHERE anchor < ?", (before,))
        add_sums(base, sums)
        for table in ("again", "sums", "offers", "calls"):
            base.run(f"DELETE FROM {table} WHERE day < ?", (before,))  # noqa: S608
        base.run("DELETE FROM skills WHERE last_day < ?", (before,))
        _remove_empty(base)
        nothing = " AND ".join(
            f"NOT EXISTS (SELECT 1 FROM {table} t WHERE t.writer = writers.number)"  # noqa: S608 - our own names
            for table in COLUMNS
        )
        base.run(f"DELETE FROM writers WHERE seen < ? AND {nothing}", (at,))  # noqa: S608
    return removed


def erase_caller(store: TableStore, caller: str) -> int:
    """Remove a caller's events, from rows and sums; return how many.

    Its conversations go, too, with their acts. Events that a server has not written yet
    are not there: erase again once it has.
    """
    with store.transaction(alone=True) as base:
        _fold_all(base)
        where = (
            "l.caller = ? AND l.seq <= "
            "(SELECT summed FROM writers s WHERE s.number = l.writer)"
        )
        sums = Sums()
        load_sums(base, where, sums, RowParser(), values=(caller,))
        its = base.rows(
            "SELECT DISTINCT conversation FROM loads l "  # noqa: S608 - our own text
            f"WHERE conversation <> '' AND {where}",
            (caller,),
        )
        talks = {conversation for (conversation,) in its}
        negative = Sums({cell: [-n, -t] for cell, (n, t) in sums.cells.items()})
        for conversation in talks:
            gone = base.rows(
                "DELETE FROM talks WHERE conversation = ? RETURNING name, day",
                (conversation,),
            )
            base.run("DELETE FROM again WHERE conversation = ?", (conversation,))
            for name, day in gone:
                negative.put(day, name, "talk", "", -1)
        add_sums(base, negative)
        removed = base.run(f"DELETE FROM loads AS l WHERE {where}", (caller,))  # noqa: S608
        if talks:
            removed += _remove_acts(base, lambda act: act["conversation"] in talks)
        # Those that others, too, had a part in count again.
        sums = Sums()
        for conversation in talks:
            for name, day in base.rows(
                f"SELECT DISTINCT name, {base.day} FROM loads l "  # noqa: S608 - our own text
                f"WHERE conversation = ? AND {uses()}",
                (conversation,),
            ):
                sums.talk(name, conversation, day)
        add_sums(base, sums)
        _remove_empty(base)
    return removed


def _fold_all(base: Base) -> None:
    """Add everything to the sums; writers that run notice it."""
    for number, summed in [row[:2] for row in base.rows(base.tails)]:
        # Until a part is not full: a writer that runs may add more all the time.
        start, end = summed, fold_tails(base, [(number, summed)])
        while end - start >= CHUNK:
            start, end = end, fold_tails(base, [(number, end)])


def _remove_acts(base: Base, which: Callable[[Mapping[str, Any]], bool]) -> int:
    """Remove the acts that a condition holds for; return how many."""
    keys: list[tuple[int, int]] = []
    for writer, seq, act in base.rows("SELECT writer, seq, act FROM acts"):
        try:
            if which(json.loads(act)):
                keys.append((writer, seq))
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
    base.many("DELETE FROM acts WHERE writer = ? AND seq = ?", keys)
    return len(keys)


def _remove_empty(base: Base) -> None:
    base.run("DELETE FROM sums WHERE n = 0 AND tokens = 0")
    base.run(
        "DELETE FROM keys WHERE NOT EXISTS (SELECT 1 FROM sums s WHERE s.key = keys.id)"
    )
