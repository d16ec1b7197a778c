"""Read what is on record, from a file of any kind or from a database."""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from operator import itemgetter
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar, cast

from satchel.errors import ConfigError, MissingPathError
from satchel.usage import DAY_S
from satchel_server.usage import check_acts
from satchel_server.usage._calls import call_of_line
from satchel_server.usage._location import StoreLocation, parse_location
from satchel_server.usage._records import (
    ListedSkill,
    OfferedDays,
    Period,
    Records,
    WriterState,
    checked,
    checked_day,
)
from satchel_server.usage._sqlite_store import SqliteBase, check_version, columns_of
from satchel_server.usage._store import (
    ACTED,
    CLOSED,
    COPIED,
    DROPPED,
    IMPORT_VERSION,
    IMPORTED,
    STARTED,
)
from satchel_server.usage._sums import EDGES, Figures, Sums, Tally, kind_of
from satchel_server.usage._table_reader import read_tables
from satchel_server.usage._tables import LOAD_COLUMNS, Base, text_of

_SQLITE: Final = b"SQLite format 3\x00"
# Not the caller, whom files of earlier versions do not have.
_ACT_COLUMNS: Final = LOAD_COLUMNS[:-1]
_DAMAGES: Final = check_acts.DAMAGES
_T = TypeVar("_T")
_Key: TypeAlias = tuple[Any, ...]
_ORIGIN: Final = ("source", "digest", "release", "owner", "agent", "client")


def location_of(place: str | PathLike[str]) -> StoreLocation:
    """Return the location of a path, or of a URL; the kind of a path is in its file.

    Raises:
        ConfigError: The URL names no location.
    """
    text = fspath(place)
    if text.partition(":")[0] in ("sqlite", "jsonl", "chain", "postgresql", "postgres"):
        return parse_location(text)
    return StoreLocation("file", text)


def read_records(place: str | PathLike[str], period: Period) -> Records:
    """Return what a report needs of a path, or of a URL for `SATCHEL_USAGE`.

    Raises:
        MissingPathError: There is no such file, or nothing was ever stored there.
        ConfigError: It is something else, or a later Satchel wrote it.
        SourceUnavailableError: The database does not answer.
    """
    location = location_of(place)
    if location.kind == "postgresql":
        return _read_postgres(location.path, lambda base: read_tables(base, period))
    file = Path(location.path)
    if is_database(file):
        return read_database(file, lambda base: _records_of(base, period))
    reader = LineReader(str(file))
    with file.open("rb") as lines:
        for line in lines:
            reader.take(line)
    return reader.records(period)


def read_events(place: str | PathLike[str]) -> Iterable[Mapping[str, Any]]:
    """Return the loads and the acts of a place, in order; damaged ones are left out.

    Raises:
        MissingPathError: There is no such file.
        ConfigError: It is something else.
        SourceUnavailableError: The database does not answer.
    """
    location = location_of(place)
    if location.kind == "postgresql":
        return _read_postgres(location.path, _acts_and_loads)
    file = Path(location.path)
    if is_database(file):
        return read_database(file, _acts_and_loads)
    return [*filter(None, map(_event, file.read_bytes().splitlines()))]


def _event(line: bytes | str) -> Mapping[str, Any]:
    try:
        value: Any = json.loads(line)
        checked_day(int(value["at"] // DAY_S))
        for act in check_acts.with_skills([value]):
            check_acts.row(*act)
    except _DAMAGES:
        return {}
    return cast("Mapping[str, Any]", value)


def _acts_and_loads(base: Base) -> list[Mapping[str, Any]]:
    if isinstance(base, SqliteBase) and not columns_of(base.connection, "acts"):
        return []
    columns = ", ".join(f'"{name}"' for name in _ACT_COLUMNS)
    loads = base.rows(f"SELECT {columns} FROM loads WHERE conversation <> ''")  # noqa: S608 - our own names
    more = {"event": "skill_loaded", "seq": None}
    events = [dict(zip(_ACT_COLUMNS, row, strict=True)) | more for row in loads]
    acts = [_event(str(act)) for (act,) in base.rows("SELECT act FROM acts")]
    # Several writers share the file; of one moment the load comes first.
    return sorted([*events, *filter(None, acts)], key=itemgetter("at"))


def _read_postgres(url: str, rows: Callable[[Base], _T]) -> _T:
    from satchel_server.usage._postgres_store import PostgresStore

    store = PostgresStore(url)
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
        return rows(SqliteBase(base))


def _records_of(base: SqliteBase, period: Period) -> Records:
    # Earlier versions made fewer tables and columns.
    names = {name for (name,) in base.rows("SELECT name FROM sqlite_master")}
    for table in ("loads", "writers"):
        names |= columns_of(base.connection, table)
    return read_tables(base, period, has=names.__contains__)


class LineReader:
    """Sums up the lines of one file, and counts the lines that are damaged."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._counts: dict[_Key, list[int]] = {}
        self._sums = Sums()
        # With the client that is a copier if an option says so.
        self._talks: set[tuple[str, str, int, str]] = set()
        self._seqs: dict[str, int] = {}
        self._calls: set[str] = set()
        self.listed: dict[str, ListedSkill] = {}
        self.days: defaultdict[str, set[int]] = defaultdict(set)
        self.writers: dict[str, WriterState] = {}
        self.unread = 0

    def take(self, line: bytes) -> Mapping[str, Any] | None:
        """Add a line; return it if it says something that no line before said."""
        try:
            value: Any = json.loads(line)
            version = value["schema_version"]
            if version <= IMPORT_VERSION:
                return cast("Mapping[str, Any]", value) if self._take(value) else None
        except _DAMAGES:
            self.unread += 1
            return None
        # Not counted as damaged: the report would leave out every event of a later
        # Satchel.
        raise ConfigError(
            self._path,
            f"written by a later Satchel (schema {version!r}, known is "
            f"{IMPORT_VERSION}); update this one",
        )

    def records(self, period: Period) -> Records:
        """Return what a report needs, as `read_records` does."""
        mirrors, until, days = period.mirrors, period.until, period.days
        for key, counts in self._counts.items():
            self._sums.add(Tally(*key, *counts), mirrors)
        for name, conversation, day, reader in self._talks:
            if reader not in mirrors:
                self._sums.talk(name, conversation, day)
        figures = Figures()
        figures.include(self._sums, period.first, until)
        dated = {
            name: [day for day in offered if day <= until]
            for name, offered in self.days.items()
        }
        offers = {name: OfferedDays.of(on, days) for name, on in dated.items() if on}
        on_offer = Counter(day for offered in dated.values() for day in offered)
        writers = list(self.writers.values())
        return Records(figures, self.listed, offers, on_offer, writers, self.unread)

    def _take(self, value: Mapping[str, Any]) -> bool:
        event, writer = value["event"], value["writer"]
        if event == STARTED:
            about = [value[key] for key in ("process", "host", "pid", "bound")]
            row: list[Any] = [writer, *about, value["at"], value["at"], None, 0]
            row.append(value.get("replica", ""))
            self.writers[writer] = checked(WriterState(*row))
            return False
        self._seen(writer, value["at"])
        if event in (CLOSED, DROPPED):
            self._ended(writer, value)
            return False
        if value["seq"] <= self._seqs.get(writer, 0):
            return False  # a second try of an event that was written
        if event == "catalog_synced":
            self._offered(value)
        elif event == COPIED:
            self._copied(value)
        elif event == IMPORTED:
            texts = text_of(value["name"]), "imported", text_of(value["client"])
            text_of(value["conversation"])
            self._sums.put(_day(value), *texts, 1)
        elif event != ACTED:
            self._loaded(value)
        # Only after the line was read: a damaged line must not hide its second try.
        self._seqs[writer] = value["seq"]
        return True

    def _seen(self, writer: str, at: float) -> None:
        state = self.writers.get(writer)
        if state is not None and at > state.seen:
            self.writers[writer] = replace(state, seen=at)

    def _ended(self, writer: str, value: Mapping[str, Any]) -> None:
        state = self.writers.get(writer)
        if state is not None:
            closed = value["at"] if value["event"] == CLOSED else None
            ended = replace(state, closed=closed, dropped=value["dropped"])
            self.writers[writer] = checked(ended)

    def _offered(self, value: Mapping[str, Any]) -> None:
        day = _day(value)
        for skill in value["skills"]:
            name = text_of(skill["name"])
            # Lines of several writers are in no order of time; the newest day describes
            # the skill.
            if day >= max(self.days[name], default=day):
                self.listed[name] = ListedSkill(
                    text_of(skill["source"]),
                    text_of(skill["digest"]),
                    text_of(skill["owner"]),
                    tuple(map(text_of, skill["references"])),
                )
            self.days[name].add(day)

    def _copied(self, value: Mapping[str, Any]) -> None:
        day, name = _day(value), text_of(value["name"])
        if value["code"] is None:
            self._sums.put(day, name, "copy", "", 1)

    def _loaded(self, value: Mapping[str, Any]) -> None:
        call = call_of_line(value)
        if call in self._calls:
            return
        file = value["reference"] or value["script"] or ""
        texts = (value["name"], file, value["via"], value["code"] or "")
        more = (value.get(column, "") for column in ("caller", "conversation"))
        state = self.writers.get(value["writer"])
        *origin, caller, conversation = map(
            text_of, (*(value[column] for column in _ORIGIN), *more)
        )
        key: _Key = (
            _day(value),
            *map(text_of, texts),
            *(*origin, caller, state.replica if state else ""),
        )
        # Not isinstance: True and False are ints too.
        if type(value["tokens"]) is not int:
            raise TypeError(value["tokens"])
        if call:
            self._calls.add(call)
        counts = self._counts.setdefault(key, [0, 0])
        counts[0] += 1
        counts[1] += value["tokens"]
        kind, _ = kind_of(value["via"], value["code"], value["client"])
        if conversation and kind == "load":
            reader = value["client"] if value["via"] in EDGES else ""
            self._talks.add((value["name"], conversation, key[0], reader))


def _day(value: Mapping[str, Any]) -> int:
    return checked_day(int(value["at"] // DAY_S))
