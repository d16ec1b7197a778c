"""What a store has on record, as rows: the same from SQLite and from JSON Lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import NoneType
from typing import Any, Final, TypeVar, cast, get_args

__all__ = [
    "DAY_S",
    "Copied",
    "Listed",
    "Records",
    "Tally",
    "WriterState",
    "checked",
    "checked_day",
]

DAY_S: Final = 86_400
"""Days are whole days since 1970-01-01, UTC."""


_LAST_DAY: Final = 2_932_896
"""The last day that has a date: 9999-12-31."""
_FIT: Final[Mapping[Any, frozenset[type]]] = {
    str: frozenset({str}),
    int: frozenset({int}),
    float: frozenset({int, float}),
    float | None: frozenset({int, float, NoneType}),
    tuple[str, ...]: frozenset({tuple}),
    tuple[int, ...]: frozenset({tuple}),
}


@dataclass(frozen=True, slots=True)
class Tally:
    """So many loads of one day that are alike; ``file`` is one beside SKILL.md."""

    day: int
    name: str
    file: str
    via: str
    code: str
    source: str
    digest: str
    release: str
    owner: str
    agent: str
    client: str
    count: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Copied:
    """How often a skill was fetched on one day to be kept elsewhere."""

    day: int
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Listed:
    """A skill as it was last on offer, and the days on which it was."""

    source: str
    digest: str
    owner: str
    references: tuple[str, ...]
    days: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WriterState:
    """One writer; ``closed`` is None where it did not come to its close, or not yet."""

    id: str
    process: str
    host: str
    pid: int
    bound: int
    started: float
    seen: float
    closed: float | None
    dropped: int


@dataclass(frozen=True, slots=True)
class Records:
    """All that is on record; ``unread`` lines could not be read."""

    tallies: Sequence[Tally] = ()
    listed: Mapping[str, Listed] = field(default_factory=dict[str, Listed])
    writers: Sequence[WriterState] = ()
    unread: int = 0
    copies: Sequence[Copied] = ()


_Row = TypeVar("_Row", Tally, Listed, WriterState, Copied)


def checked_day(day: object) -> int:
    """Return a day of a file, if it is one.

    Raises:
        ValueError: It is none: the file was damaged, or changed.
    """
    if type(day) is not int or not 0 <= day <= _LAST_DAY:
        raise ValueError(day)
    return day


def checked(row: _Row) -> _Row:
    """Return a row of a file, if each field holds what it is declared to.

    Raises:
        TypeError: One does not: the file was damaged, or changed.
    """
    for each in fields(row):
        value: Any = getattr(row, each.name)
        fits = type(value) in _FIT[each.type]
        if fits and isinstance(value, tuple):
            inner = get_args(each.type)
            fits = all(
                type(part) in inner for part in cast("tuple[object, ...]", value)
            )
        if not fits:
            raise TypeError(each.name)
    return row
