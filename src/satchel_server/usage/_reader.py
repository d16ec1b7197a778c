"""Read the rows of a store, from any kind of file."""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar, cast

from satchel.errors import ConfigError, MissingPathError
from satchel.usage import DAY_S
from satchel_server.usage import check_acts
from satchel_server.usage._records import (
    CopiedSkill,
    ListedSkill,
    Records,
    Tally,
    WriterState,
    checked,
    checked_day,
)
from satchel_server.usage._sqlite_store import check_version
from satchel_server.usage._store import (
    ACT_VERSION,
    ACTED,
    CLOSED,
    COPIED,
    DROPPED,
    STARTED,
)

_SQLITE: Final = b"SQLite format 3\x00"
_TALLIES: Final = f"""
SELECT CAST(at / {DAY_S} AS INTEGER), name, coalesce(reference, script, ''), via,
    coalesce(code, ''), source, digest, "release", owner, agent, client,
    count(*), sum(tokens)
FROM loads GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
"""  # noqa: S608 - our own number
_WRITERS: Final = (
    "SELECT id, process, host, pid, bound, started, seen, closed, dropped "
    "FROM writers ORDER BY number"
)
_COPIES: Final = f"""
SELECT CAST(at / {DAY_S} AS INTEGER), name, count(*)
FROM copies WHERE code IS NULL GROUP BY 1, 2
"""  # noqa: S608 - our own number
_HAS_COPIES: Final = "SELECT 1 FROM sqlite_master WHERE name = 'copies'"
_HAS_ACTS: Final = "SELECT 1 FROM sqlite_master WHERE name = 'acts'"
_LOADS_OF_ACTS: Final = (
    "SELECT 'skill_loaded' AS event, * FROM loads WHERE conversation <> ''"
)
_DAMAGES: Final = check_acts.DAMAGES
_T = TypeVar("_T")
_ORIGIN: Final = ("source", "digest", "release", "owner", "agent", "client")
_Key: TypeAlias = tuple[Any, ...]


def read_records(path: str | PathLike[str]) -> Records:
    """Return the rows of a file: SQLite, JSON Lines, or a chained log.

    Raises:
        MissingPathError: There is no such file.
        ConfigError: It is something else, or a later Satchel wrote it.
    """
    file = Path(path)
    if _is_database(file):
        return _read_database(file, _rows)
    reader = _LineReader(str(file))
    with file.open("rb") as lines:
        for line in lines:
            reader.take(line)
    return reader.records()


def read_events(path: str | PathLike[str]) -> Iterable[Mapping[str, Any]]:
    """Return the loads and the acts of a file, in order; damaged ones are left out.

    Raises:
        MissingPathError: There is no such file.
        ConfigError: It is something else.
    """
    file = Path(path)
    if _is_database(file):
        return _read_database(file, _acts_and_loads)
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


def _acts_and_loads(url: str, file: Path) -> list[Mapping[str, Any]]:
    with closing(sqlite3.connect(url, uri=True)) as base:
        check_version(base, str(file))
        if base.execute(_HAS_ACTS).fetchone() is None:
            return []
        loads = base.execute(_LOADS_OF_ACTS)
        keys = [column[0] for column in loads.description]
        events = [dict(zip(keys, row, strict=True)) | {"seq": None} for row in loads]
        acts = [_event(str(act)) for (act,) in base.execute("SELECT act FROM acts")]
    # Several writers share the file; of one moment the load comes first.
    return sorted([*events, *filter(None, acts)], key=itemgetter("at"))


def _is_database(file: Path) -> bool:
    if not file.is_file():
        raise MissingPathError(str(file))
    with file.open("rb") as start:
        return start.read(len(_SQLITE)) == _SQLITE


def _read_database(file: Path, rows: Callable[[str, Path], _T]) -> _T:
    # Read-only: a report changes nothing in the file of a writer that runs.
    url = f"{file.absolute().as_uri()}?mode=ro"
    try:
        try:
            return rows(url, file)
        except sqlite3.OperationalError:
            # In a folder that we may not write SQLite cannot make the files that go
            # with it. If its log is empty, the database can be read without them.
            log = Path(f"{file}-wal")
            if log.exists() and log.stat().st_size:
                raise
            return rows(f"{url}&immutable=1", file)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise ConfigError(str(file), f"cannot be read: {error}") from error


def _rows(url: str, file: Path) -> Records:
    with closing(sqlite3.connect(url, uri=True)) as base:
        check_version(base, str(file))
        rows = _RowParser()
        tallies = list(rows.of(_tally, base.execute(_TALLIES)))
        writers = list(
            rows.of(lambda *row: checked(WriterState(*row)), base.execute(_WRITERS))
        )
        # Files of the version before have no such table.
        has_copies = base.execute(_HAS_COPIES).fetchone() is not None
        copied = base.execute(_COPIES) if has_copies else ()
        copies = list(rows.of(_copied, copied))
        days: defaultdict[str, list[int]] = defaultdict(list)
        offers = base.execute("SELECT name, day FROM offers ORDER BY day")
        for name, day in rows.of(_offer, offers):
            days[name].append(day)
        skills = base.execute("SELECT name, source, digest, owner, refs FROM skills")
        listed = {
            name: replace(skill, days=tuple(days[name]))
            for name, skill in rows.of(_skill, skills)
        }
    return Records(tallies, listed, writers, rows.unread, copies)


class _RowParser:
    """Makes a value of each row, and counts the rows that are damaged."""

    def __init__(self) -> None:
        self.unread = 0

    def of(
        self, make: Callable[..., _T], rows: Iterable[tuple[Any, ...]]
    ) -> Iterator[_T]:
        for row in rows:
            try:
                made = make(*row)
            # Deeply nested JSON raises RecursionError, which is no ValueError.
            except (TypeError, ValueError, RecursionError):
                self.unread += 1
            else:
                yield made


def _tally(day: object, *rest: Any) -> Tally:  # noqa: ANN401 - any file
    return checked(Tally(checked_day(day), *rest))


def _copied(day: object, *rest: Any) -> CopiedSkill:  # noqa: ANN401
    return checked(CopiedSkill(checked_day(day), *rest))


def _offer(name: object, day: object) -> tuple[str, int]:
    return _text(name), checked_day(day)


def _skill(name: object, *row: Any) -> tuple[str, ListedSkill]:  # noqa: ANN401
    source, digest, owner, refs = row
    listed = ListedSkill(source, digest, owner, tuple(json.loads(refs)), ())
    return _text(name), checked(listed)


class _LineReader:
    """Sums up the lines of one file, and counts the lines that are damaged."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._counts: Counter[_Key] = Counter()
        self._tokens: Counter[_Key] = Counter()
        self._copies: Counter[tuple[int, str]] = Counter()
        self._listed: dict[str, ListedSkill] = {}
        self._days: defaultdict[str, set[int]] = defaultdict(set)
        self._writers: dict[str, WriterState] = {}
        self._seqs: dict[str, int] = {}
        self._unread = 0

    def take(self, line: bytes) -> None:
        try:
            value: Any = json.loads(line)
            version = value["schema_version"]
            if version <= ACT_VERSION:
                self._take(value)
                return
        except _DAMAGES:
            self._unread += 1
            return
        # Not counted as damaged: the report would leave out every event of a later
        # Satchel.
        raise ConfigError(
            self._path,
            f"written by a later Satchel (schema {version!r}, known is "
            f"{ACT_VERSION}); update this one",
        )

    def records(self) -> Records:
        counts = sorted(self._counts.items())
        rows: list[list[Any]] = [[*key, n, self._tokens[key]] for key, n in counts]
        listed = {
            name: replace(skill, days=tuple(sorted(self._days[name])))
            for name, skill in self._listed.items()
        }
        writers = list(self._writers.values())
        copies = [
            CopiedSkill(*key, count) for key, count in sorted(self._copies.items())
        ]
        tallies = [Tally(*row) for row in rows]
        return Records(tallies, listed, writers, self._unread, copies)

    def _take(self, value: Mapping[str, Any]) -> None:
        event, writer = value["event"], value["writer"]
        if event == STARTED:
            about = [value[key] for key in ("process", "host", "pid", "bound")]
            row: list[Any] = [writer, *about, value["at"], value["at"], None, 0]
            self._writers[writer] = checked(WriterState(*row))
            return
        self._seen(writer, value["at"])
        if event in (CLOSED, DROPPED):
            self._ended(writer, value)
        elif value["seq"] <= self._seqs.get(writer, 0):
            return  # a second try of an event that was written
        elif event == "catalog_synced":
            self._offered(value)
        elif event == COPIED:
            self._copied(value)
        elif event != ACTED:
            self._loaded(value)
        # Only after the line was read: a damaged line must not hide its second try.
        if "seq" in value:
            self._seqs[writer] = value["seq"]

    def _seen(self, writer: str, at: float) -> None:
        state = self._writers.get(writer)
        if state is not None and at > state.seen:
            self._writers[writer] = replace(state, seen=at)

    def _ended(self, writer: str, value: Mapping[str, Any]) -> None:
        state = self._writers.get(writer)
        if state is not None:
            closed = value["at"] if value["event"] == CLOSED else None
            ended = replace(state, closed=closed, dropped=value["dropped"])
            self._writers[writer] = checked(ended)

    def _offered(self, value: Mapping[str, Any]) -> None:
        day = checked_day(int(value["at"] // DAY_S))
        for skill in value["skills"]:
            name = _text(skill["name"])
            # Lines of several writers are in no order of time; the newest day describes
            # the skill.
            if day >= max(self._days[name], default=day):
                self._listed[name] = ListedSkill(
                    _text(skill["source"]),
                    _text(skill["digest"]),
                    _text(skill["owner"]),
                    tuple(map(_text, skill["references"])),
                    (),
                )
            self._days[name].add(day)

    def _copied(self, value: Mapping[str, Any]) -> None:
        key = checked_day(int(value["at"] // DAY_S)), _text(value["name"])
        if value["code"] is None:
            self._copies[key] += 1

    def _loaded(self, value: Mapping[str, Any]) -> None:
        file = value["reference"] or value["script"] or ""
        texts = (value["name"], file, value["via"], value["code"] or "")
        key: _Key = (
            checked_day(int(value["at"] // DAY_S)),
            *map(_text, texts),
            *(_text(value[column]) for column in _ORIGIN),
        )
        # Not isinstance: True and False are ints too.
        if type(value["tokens"]) is not int:
            raise TypeError(value["tokens"])
        self._tokens[key] += value["tokens"]
        self._counts[key] += 1


def _text(value: object) -> str:
    """Return a text; anything else means that Satchel did not write the line."""
    if not isinstance(value, str):
        raise TypeError(value)
    return value
