"""Read what is on record, from a file of any kind or from a database."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from operator import itemgetter
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from satchel.errors import ConfigError, MissingPathError
from satchel.usage import DAY_S
from satchel_server.usage import check_acts
from satchel_server.usage._lines import LineReader
from satchel_server.usage._location import StoreLocation, parse_location
from satchel_server.usage._records import Period, Records, checked_day
from satchel_server.usage._sqlite_store import (
    SqliteBase,
    check_version,
    columns_of,
    prepare,
)
from satchel_server.usage._table_reader import read_tables
from satchel_server.usage._tables import (
    LOAD_COLUMNS,
    Base,
    add_offers,
    first_of_calls,
    numbered,
)

_SQLITE: Final = b"SQLite format 3\x00"
# Not the caller, whom files of earlier versions do not have.
_ACT_COLUMNS: Final = LOAD_COLUMNS[:-1]
_T = TypeVar("_T")


def location_of(place: str | PathLike[str], name: str = "place") -> StoreLocation:
    """Return the location of a path, or of a URL; the kind of a path is in its file.

    Raises:
        ConfigError: The URL names no location.
    """
    text = fspath(place)
    kinds = ("sqlite", "jsonl", "chain", "postgresql", "postgres")
    if "://" in text or text.partition(":")[0] in kinds:
        return parse_location(text, name)
    return StoreLocation("file", text)


def read_records(place: str | PathLike[str], period: Period) -> Records:
    """Return what a report needs of a path, or of a URL for `SATCHEL_USAGE`.

    Raises:
        MissingPathError: There is no such file, or nothing was ever stored there.
        ConfigError: It is something else, or a later Satchel wrote it.
        SourceUnavailableError: The database does not answer.
    """
    return _read(
        place,
        lambda base: read_tables(base, period),
        lambda file: _read_lines(file, period),
    )


def _read_lines(file: Path, period: Period) -> Records:
    """Put lines into tables, and read these."""
    lines = LineReader(file)
    with _temporary() as connection:
        prepare(connection)
        base = SqliteBase(connection)
        for batch in lines.batches():
            add_offers(base, batch.offers.values())
            for table, rows in batch.rows.items():
                first = first_of_calls(base, rows, batch.calls)
                base.fill(table, *numbered(base, table, first, lines.writers))
        made = read_tables(base, period)
    # Also writers without an event, but none whose start is not on record.
    writers = [*lines.writers.values()]
    return replace(made, writers=writers, unread=made.unread + lines.unread)


def _temporary() -> closing[sqlite3.Connection]:
    """Open a database of this process alone; what is too much goes into a file."""
    return closing(sqlite3.connect("", isolation_level=None))


def read_events(place: str | PathLike[str]) -> Iterable[Mapping[str, Any]]:
    """Return the loads and the acts of a place, in order; damaged ones are left out.

    Raises:
        MissingPathError: There is no such file.
        ConfigError: It is something else.
        SourceUnavailableError: The database does not answer.
    """
    return _read(
        place,
        _acts_and_loads,
        lambda file: [*filter(None, map(_event, file.read_bytes().splitlines()))],
    )


def _event(line: bytes | str) -> Mapping[str, Any]:
    try:
        value: Any = json.loads(line)
        checked_day(int(value["at"] // DAY_S))
        for act in check_acts.with_skills([value]):
            check_acts.row(*act)
    except check_acts.DAMAGES:
        return {}
    return cast("Mapping[str, Any]", value)


def _acts_and_loads(base: Base) -> list[Mapping[str, Any]]:
    columns = ", ".join(f'"{name}"' for name in _ACT_COLUMNS)
    loads = base.rows(f"SELECT {columns} FROM loads WHERE conversation <> ''")  # noqa: S608 - our own names
    more = {"event": "skill_loaded", "seq": None}
    events = [dict(zip(_ACT_COLUMNS, row, strict=True)) | more for row in loads]
    acts = [_event(str(act)) for (act,) in base.rows("SELECT act FROM acts")]
    # Several writers share the file; of one moment the load comes first.
    return sorted([*events, *filter(None, acts)], key=itemgetter("at"))


def _read(
    place: str | PathLike[str], rows: Callable[[Base], _T], lines: Callable[[Path], _T]
) -> _T:
    """Return what ``rows`` has of the tables of a place, or ``lines`` of its file."""
    location = location_of(place)
    if location.kind != "postgresql":
        file = Path(location.path)
        return read_database(file, rows) if is_database(file) else lines(file)
    from satchel_server.usage._postgres_store import PostgresStore

    store = PostgresStore(location.path)
    store.connect(read_only=True)
    with closing(store.connection), store.transaction() as base:
        return rows(base)


def is_database(file: Path) -> bool:
    """Return whether a file is of SQLite."""
    if not file.is_file():
        raise MissingPathError(str(file))
    with file.open("rb") as start:
        return start.read(len(_SQLITE)) == _SQLITE


def read_database(file: Path, rows: Callable[[SqliteBase], _T]) -> _T:
    """Call ``rows`` with a connection that only reads; return what it does."""
    # Read-only: a report changes nothing in the file of a writer that runs.
    url = f"{file.absolute().as_uri()}?mode=ro"
    try:
        try:
            return _read_at(url, file, rows)
        except sqlite3.OperationalError:
            # In a folder that we may not write SQLite cannot make the files that go
            # with it. If its log is empty, the database can be read without them.
            log = Path(f"{file}-wal")
            if log.exists() and log.stat().st_size:
                raise
            return _read_at(f"{url}&immutable=1", file, rows)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise ConfigError(str(file), f"cannot be read: {error}") from error


def _read_at(url: str, file: Path, rows: Callable[[SqliteBase], _T]) -> _T:
    with closing(sqlite3.connect(url, uri=True, isolation_level=None)) as base:
        check_version(base, str(file))
        # One moment for all statements: a writer may add to the sums between them.
        base.execute("BEGIN")
        if columns_of(base, "sums"):
            return rows(SqliteBase(base))
        # Of an earlier version: a copy gets the tables and columns that it lacks.
        with _temporary() as copy:
            base.backup(copy)
            prepare(copy)
            return rows(SqliteBase(copy))
