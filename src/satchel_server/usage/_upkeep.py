"""Upkeep of a database of events: merge files in, remove old rows, erase a caller's."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from satchel.errors import ConfigError, MissingPathError
from satchel.usage import DAY_S
from satchel_server.usage._calls import call_of_line
from satchel_server.usage._location import StoreLocation
from satchel_server.usage._reader import (
    LineReader,
    is_database,
    location_of,
    read_database,
)
from satchel_server.usage._records import WriterState, checked_day
from satchel_server.usage._sqlite_store import SqliteBase, SqliteStore, columns_of
from satchel_server.usage._store import ACTED, COPIED, IMPORTED
from satchel_server.usage._sums import Sums
from satchel_server.usage._table_store import Pending, TableStore
from satchel_server.usage._tables import (
    CHUNK,
    COLUMNS,
    Base,
    RowParser,
    add_offers,
    add_sums,
    add_writer,
    first_of_calls,
    fold_tails,
    storable,
    tail_sums,
    uses,
)

# Rows of one transaction.
_ROWS: Final = 20_000
_TABLE_OF: Final = {COPIED: "copies", IMPORTED: "imports", ACTED: "acts"}
_MAY_BE_NULL: Final = frozenset({"reference", "script", "error", "file", "code"})
_NUMBERS: Final = frozenset({"at", "duration_s", "size_bytes", "tokens"})
# Columns that earlier versions do not have, and texts without a value.
_LATER: Final = frozenset({"conversation", "caller"})
_OF_LINES: Final = frozenset({"writer", "seq", "schema_version", "line", "prev"})


@dataclass(slots=True)
class Merged:
    """How many events were new, how many were here before, and what is damaged."""

    events: int = 0
    repeats: int = 0
    unread: int = 0


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
    store: TableStore
    if location.kind == "postgresql":
        from satchel_server.usage._postgres_store import PostgresStore

        store = PostgresStore(location.path)
    elif location.kind == "sqlite" or _is_sqlite(location):
        if exists and not Path(location.path).exists():
            raise MissingPathError(location.path)
        store = SqliteStore(location.path)
    else:
        raise ConfigError(
            location.path,
            "it is a file of lines, which only grows: merge it into a database with "
            "satchel usage merge, and remove the file",
        )
    try:
        store.connect()
        with closing(store.connection):
            yield store
    except sqlite3.Error as error:
        raise ConfigError(location.path, str(error)) from error


def _is_sqlite(location: StoreLocation) -> bool:
    file = Path(location.path)
    if location.kind != "file":
        return False
    return is_database(file) if file.is_file() else file.suffix in (".db", ".sqlite")


@dataclass(slots=True)
class _Batch:
    """Rows of other stores; each begins with the id of its writer and its number."""

    rows: defaultdict[str, list[tuple[Any, ...]]] = field(
        default_factory=lambda: defaultdict[str, list[tuple[Any, ...]]](list)
    )
    offers: set[tuple[int, str, str, str, str, str]] = field(
        default_factory=set[tuple[int, str, str, str, str, str]]
    )
    calls: dict[tuple[Any, Any], tuple[str, int]] = field(
        default_factory=dict[tuple[Any, Any], tuple[str, int]]
    )
    count: int = 0


def merge_file(store: TableStore, path: str) -> Merged:
    """Bring the events of a file into the database; what is there changes nothing.

    Raises:
        MissingPathError: There is no such file.
        ConfigError: It is something else, or a later Satchel wrote it.
    """
    kind, place = location_of(path)
    if kind == "postgresql":
        raise ConfigError(f"{kind}:", "it is no file; events come into it with --db")
    file, merged = Path(place), Merged()
    if is_database(file):
        read_database(file, lambda base: _merge_tables(base, store, file, merged))
    else:
        _merge_lines(store, file, merged)
    return merged


def _merge_lines(store: TableStore, file: Path, merged: Merged) -> None:
    reader, batch = LineReader(str(file)), _Batch()
    with file.open("rb") as lines:
        for line in lines:
            value = reader.take(line)
            if value is not None:
                _add_line(batch, value)
            if batch.count >= _ROWS:
                _put(store, batch, reader.writers, file.name, merged)
                batch = _Batch()
    _put(store, batch, reader.writers, file.name, merged)
    merged.unread += reader.unread


def _add_line(batch: _Batch, value: Mapping[str, Any]) -> None:
    event, batch.count = value["event"], batch.count + 1
    if event == "catalog_synced":
        day = int(value["at"] // DAY_S)
        batch.offers.update(
            (
                day,
                *(skill[key] for key in ("name", "source", "digest", "owner")),
                json.dumps(skill["references"]),
            )
            for skill in value["skills"]
        )
        return
    table = _TABLE_OF.get(event, "loads")
    if event == ACTED:
        fields = {key: item for key, item in value.items() if key not in _OF_LINES}
        row: tuple[Any, ...] = (json.dumps(fields),)
    else:
        row = tuple(value.get(name, _default(name)) for name in COLUMNS[table])
    batch.rows[table].append((value["writer"], value["seq"], *row))
    if key := call_of_line(value):
        batch.calls[value["writer"], value["seq"]] = key, int(value["at"] // DAY_S)


def _default(column: str) -> object:
    return None if column in _MAY_BE_NULL else "" if column in _LATER else 0


def _merge_tables(
    base: SqliteBase, store: TableStore, file: Path, merged: Merged
) -> None:
    has = columns_of(base.connection, "writers")
    more = "replica, origin" if "replica" in has else "'', ''"
    writers = {
        row[0]: WriterState(*row)
        for row in base.rows(
            "SELECT id, process, host, pid, bound, started, seen, closed, dropped, "  # noqa: S608 - our own names
            f"{more} FROM writers"
        )
    }
    offers = base.rows(
        "SELECT o.day, s.name, s.source, s.digest, s.owner, s.refs FROM offers o "
        "JOIN skills s ON s.name = o.name"
    )
    _put(store, _Batch(offers={*offers}), writers, file.name, merged)
    for table, names in COLUMNS.items():
        columns = columns_of(base.connection, table)
        if not columns:
            continue
        chosen = ", ".join(f't."{it}"' if it in columns else "''" for it in names)
        # Row by row: there may be more than fit into memory.
        cursor = base.connection.execute(
            f"SELECT w.id, t.seq, {chosen} FROM {table} t "  # noqa: S608 - our own names
            "JOIN writers w ON w.number = t.writer ORDER BY t.writer, t.seq"
        )
        while rows := cursor.fetchmany(_ROWS):
            batch = _Batch()
            batch.rows[table] = rows
            _put(store, batch, writers, file.name, merged)


def _put(
    store: TableStore,
    batch: _Batch,
    writers: Mapping[str, WriterState],
    origin: str,
    merged: Merged,
) -> None:
    """Store a batch, and add what is new in it to the sums."""
    with store.transaction(alone=True) as base:
        if batch.offers:
            add_offers(base, batch.offers)
        numbers: dict[str, int] = {}
        for table, rows in batch.rows.items():
            good = [row for row in rows if _is_sound(table, row)]
            merged.unread += len(rows) - len(good)
            merged.repeats += len(good)
            good = first_of_calls(base, good, lambda row: batch.calls.get(row[:2]))
            for id in {row[0] for row in good} - numbers.keys():
                numbers[id] = _number_of(base, id, writers, good, origin)
            new = _insert(base, table, [(numbers[row[0]], *row[1:]) for row in good])
            merged.events += len(new)
            merged.repeats -= len(new)
        for id, state in writers.items():
            base.run(
                "UPDATE writers SET dropped = CASE WHEN dropped < ? THEN ? "
                "ELSE dropped END, closed = coalesce(closed, ?), seen = CASE "
                "WHEN seen < ? THEN ? ELSE seen END WHERE id = ? AND origin <> ''",
                (*(state.dropped,) * 2, state.closed, *(state.seen,) * 2, id),
            )


def _is_sound(table: str, row: Sequence[Any]) -> bool:
    """Return whether each value has the type of its column."""
    if type(row[0]) is not str or type(row[1]) is not int or row[1] < 0:
        return False
    for name, value in zip(COLUMNS[table], row[2:], strict=True):
        if value is None:
            sound = name in _MAY_BE_NULL
        elif name in _NUMBERS:
            sound = type(value) in (int, float)
        else:
            sound = type(value) is str
        if not sound:
            return False
    try:
        if table != "acts":
            checked_day(int(row[2] // DAY_S))
    except (ValueError, OverflowError):
        return False
    return True


def _number_of(
    base: Base,
    id: str,
    writers: Mapping[str, WriterState],
    rows: Sequence[Sequence[Any]],
    origin: str,
) -> int:
    """Return the number of a writer here; register it if it is new."""
    for number, start, last in base.rows(
        "SELECT number, summed, last_seq FROM writers WHERE id = ?", (id,)
    ):
        # What it stored itself, and did not add to the sums, comes first.
        while start < last:
            start = fold_tails(base, [(number, start)])  # noqa: PLW2901 - a cursor
        return int(number)
    state = writers.get(id)
    if state is None:
        # The log of its start may have moved away, or it is an import.
        times = [row[2] for row in rows if row[0] == id and type(row[2]) is not str]
        at = float(min(times, default=0.0))
        state = WriterState(id, "", "", 0, 0, at, at, at, 0)
    number = add_writer(base, state, state.replica, state.origin or origin)
    base.run("UPDATE writers SET closed = ? WHERE number = ?", (state.closed, number))
    return number


def _insert(
    base: Base, table: str, rows: Sequence[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """Insert rows that are not there, and add them to the sums; return them."""
    columns = ("writer", "seq", *COLUMNS[table])
    names = ", ".join(f'"{name}"' for name in columns)
    base.run(f"CREATE TEMP TABLE new_rows AS SELECT {names} FROM {table} WHERE 1 = 0")  # noqa: S608 - our own names
    base.fill("new_rows", columns, [tuple(map(storable, row)) for row in rows])
    inserted = {
        *base.rows(
            f"INSERT INTO {table} ({names}) SELECT {names} FROM new_rows WHERE true "  # noqa: S608 - our own names
            "ON CONFLICT (writer, seq) DO NOTHING RETURNING writer, seq"
        )
    }
    base.run("DROP TABLE new_rows")
    new = [row for row in rows if row[:2] in inserted]
    by_writer: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for row in new:
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
    return new


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
        of_loads = {"caller", "replica"}
        tail_sums(
            *(base, where, sums, RowParser()),
            values=(caller,),
            has=of_loads.__contains__,
        )
        talks = {
            conversation
            for (conversation,) in base.rows(
                "SELECT DISTINCT conversation FROM loads l "  # noqa: S608 - our own text
                f"WHERE conversation <> '' AND {where}",
                (caller,),
            )
        }
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
            _count_again(base, talks)
        _remove_empty(base)
    return removed


def _count_again(base: Base, talks: set[str]) -> None:
    """Count conversations again that others, too, had a part in."""
    sums = Sums()
    for conversation in talks:
        for name, day in base.rows(
            f"SELECT DISTINCT name, {base.day} FROM loads l WHERE conversation = ? "  # noqa: S608 - our own text
            f"AND {uses()}",
            (conversation,),
        ):
            sums.talk(name, conversation, day)
    add_sums(base, sums)


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
