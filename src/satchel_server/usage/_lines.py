"""Lines of events as rows of tables, to be read there or merged into a database."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from satchel.errors import ConfigError
from satchel.usage import DAY_S
from satchel_server.usage import check_acts
from satchel_server.usage._calls import call_of_line
from satchel_server.usage._records import WriterState, checked_day, writer_row
from satchel_server.usage._store import (
    ACTED,
    CLOSED,
    COPIED,
    DROPPED,
    IMPORT_VERSION,
    IMPORTED,
    STARTED,
    WRITER_KEYS,
    plain_text,
)
from satchel_server.usage._tables import COLUMNS, text_of

BATCH_ROWS: Final = 20_000
# What every engine can hold, and JSON says exactly; no number of an event is as large.
_MOST: Final = 2**53
_TABLE_OF: Final = {COPIED: "copies", IMPORTED: "imports", ACTED: "acts"}
_MAY_BE_NULL: Final = frozenset({"reference", "script", "error", "file", "code"})
_NUMBERS: Final = frozenset({"at", "duration_s", "size_bytes", "tokens"})
# Of what lines of earlier versions do not have, and of what no report needs.
_DEFAULTS: Final[Mapping[str, object]] = {
    "conversation": "",
    "caller": "",
    "duration_s": 0,
    "size_bytes": 0,
    "error": None,
    "file": None,
}
_OF_LINES: Final = frozenset({"writer", "seq", "schema_version", "line", "prev"})


@dataclass(slots=True)
class Batch:
    """Rows of other stores; each begins with the id of its writer and its number.

    ``offers`` has what was on offer, by day and name, and ``calls`` the key and the day
    of the call of a row.
    """

    rows: defaultdict[str, list[tuple[Any, ...]]] = field(
        default_factory=lambda: defaultdict[str, list[tuple[Any, ...]]](list)
    )
    offers: dict[tuple[int, str], tuple[Any, ...]] = field(
        default_factory=dict[tuple[int, str], tuple[Any, ...]]
    )
    calls: dict[tuple[Any, Any], tuple[str, int]] = field(
        default_factory=dict[tuple[Any, Any], tuple[str, int]]
    )
    count: int = 0


class LineReader:
    """Makes rows of the lines of one file, and counts the lines that are damaged.

    ``writers`` are those whose start is in the lines that were read.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seqs: dict[str, int] = {}
        self.writers: dict[str, WriterState] = {}
        self.unread = 0

    def batches(self) -> Iterator[Batch]:
        """Yield what the lines say, each event once.

        Raises:
            ConfigError: A later Satchel wrote the file.
        """
        batch = Batch()
        with self._file.open("rb") as lines:
            for line in lines:
                self._take(line, batch)
                if batch.count >= BATCH_ROWS:
                    yield batch
                    batch = Batch()
        yield batch

    def _take(self, line: bytes, batch: Batch) -> None:
        try:
            value: Any = json.loads(line, parse_int=_whole, parse_constant=_whole)
            version = value["schema_version"]
            if version <= IMPORT_VERSION:
                self._add(value, batch)
                return
        except check_acts.DAMAGES:
            self.unread += 1
            return
        # Not counted as damaged: the report would leave out every event of a later
        # Satchel.
        later = f"a later Satchel (schema {version!r}, known is {IMPORT_VERSION})"
        raise ConfigError(str(self._file), f"written by {later}; update this one")

    def _add(self, value: Mapping[str, Any], batch: Batch) -> None:
        event, at, writer = value["event"], value["at"], plain_text(value["writer"])
        day = checked_day(int(at // DAY_S))
        if event == STARTED:
            about = [value[key] for key in WRITER_KEYS]
            row: list[Any] = [writer, *about, at, at, None, 0, value.get("replica", "")]
            self.writers[writer] = WriterState(*writer_row(*row, ""))
            return
        state = self.writers.get(writer)
        if state is not None and at > state.seen:
            state = self.writers[writer] = replace(state, seen=at)
        if event in (CLOSED, DROPPED):
            if state is not None:
                closed = at if event == CLOSED else None
                ended = replace(state, closed=closed, dropped=value["dropped"])
                writer_row(*astuple(ended))
                self.writers[writer] = ended
            return
        seq = value["seq"]
        if seq <= self._seqs.get(writer, 0):
            return  # a second try of an event that was written
        if event == "catalog_synced":
            offers = [_offer(skill) for skill in value["skills"]]
            batch.offers.update(((day, skill[0]), (day, *skill)) for skill in offers)
        else:
            table = _TABLE_OF.get(event, "loads")
            values = writer, seq, *_values(table, value)
            if not is_sound(table, values):
                raise ValueError(table)
            batch.rows[table].append(values)
            if key := call_of_line(value):
                batch.calls[writer, seq] = key, day
        # Only after the line was read: a damaged line must not hide its second try.
        self._seqs[writer] = seq
        batch.count += 1


def _whole(text: str) -> int:
    """Return a whole number; raise `ValueError` for ``NaN``, and for one too large."""
    number = int(text)
    if abs(number) > _MOST:
        raise ValueError(text)
    return number


def _offer(skill: Mapping[str, Any]) -> tuple[str, ...]:
    keys = "name", "source", "digest", "owner"
    name, source, digest, owner = (text_of(skill[key]) for key in keys)
    references = json.dumps([*map(text_of, skill["references"])])
    return name, source, digest, owner, references


def _values(table: str, value: Mapping[str, Any]) -> Iterator[object]:
    if table == "acts":
        fields = {key: item for key, item in value.items() if key not in _OF_LINES}
        yield json.dumps(fields)
        return
    for name in COLUMNS[table]:
        yield value.get(name, _DEFAULTS[name]) if name in _DEFAULTS else value[name]


def is_sound(table: str, row: Sequence[Any]) -> bool:
    """Return whether each value has the type of its column, and no number too much."""
    if type(row[0]) is not str or type(row[1]) is not int or row[1] < 0:
        return False
    for name, value in zip(COLUMNS[table], row[2:], strict=True):
        if value is None:
            sound = name in _MAY_BE_NULL
        elif name in _NUMBERS:
            sound = type(value) in (int, float) and -_MOST < value < _MOST
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
