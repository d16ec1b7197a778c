"""What a store has on record, as rows: the same from SQLite and from JSON Lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

__all__ = ["DAY_S", "Listed", "Records", "Tally", "WriterState"]

DAY_S: Final = 86_400
"""Days are whole days since 1970-01-01, UTC."""


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
