"""What a report is made of: the same from a database and from JSON Lines."""

import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from types import NoneType
from typing import Any, Final

from satchel.usage import DAY_S
from satchel_server.usage._store import Writer
from satchel_server.usage._sums import Figures

REPLICA_VARIABLE: Final = "SATCHEL_REPLICA"
# The last day that has a date: 9999-12-31.
_LAST_DAY: Final = 2_932_896


@dataclass(frozen=True, slots=True)
class Period:
    """What is to be read: ``days`` days that end with ``until``.

    What the ``mirrors`` read over HTTP and MCP are copies. ``of_skills`` reads the
    period before and the days by skill, too, rather than over all of them; ``brief``
    leaves out what no page shows, where that takes time: see `read_report`.
    """

    until: int
    days: int
    mirrors: Collection[str] = ()
    of_skills: bool = False
    brief: bool = False

    @property
    def first(self) -> int:
        """The first day."""
        return self.until - self.days + 1


@dataclass(frozen=True, slots=True)
class ListedSkill:
    """A skill as it was last on offer."""

    source: str
    digest: str
    owner: str
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OfferedDays:
    """On how many days a skill was on offer, and the first and the last of them.

    ``since`` is the first of its last days on offer, as many as make it dead; None if
    there were fewer.
    """

    count: int
    first: int
    last: int
    since: int | None


@dataclass(frozen=True, slots=True)
class WriterState(Writer):
    """One writer on record; ``closed`` is None if it was not closed, or not yet.

    ``replica`` is the server or program that it is part of; ``origin`` the file that
    its events were merged from, empty if it wrote into this store.
    """

    seen: float
    closed: float | None
    dropped: int
    replica: str = ""
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Records:
    """What a store says of a period; ``unread`` lines could not be read.

    ``offers`` are the days on offer up to the end of the period, and ``on_offer`` how
    many skills were on offer on a day of it.
    """

    figures: Figures = field(default_factory=Figures)
    listed: Mapping[str, ListedSkill] = field(default_factory=dict[str, ListedSkill])
    offers: Mapping[str, OfferedDays] = field(default_factory=dict[str, OfferedDays])
    on_offer: Mapping[int, int] = field(default_factory=dict[int, int])
    writers: Sequence[WriterState] = ()
    unread: int = 0


def checked_day(day: object) -> int:
    """Return the day; raise `ValueError` if the file was damaged or changed."""
    if type(day) is not int or not 0 <= day <= _LAST_DAY:
        raise ValueError(day)
    return day


def typed(*types: type | tuple[type, ...]) -> Callable[..., tuple[Any, ...]]:
    """Return a function that takes a row of these types; True is no int.

    It raises `TypeError` for any other row: any program may have written the file.
    """
    allowed = [kind if isinstance(kind, tuple) else (kind,) for kind in types]

    def row(*values: object) -> tuple[Any, ...]:
        kinds = tuple(map(type, values))
        pairs = zip(kinds, allowed, strict=True)
        if kinds != types and not all(kind in those for kind, those in pairs):
            raise TypeError(values)
        return values

    return row


_REAL: Final = int, float
# The fields of a `WriterState`.
writer_row: Final = typed(
    *(str, str, str, int, int, _REAL, _REAL, (*_REAL, NoneType), int, str, str)
)


# A writer of another machine that wrote nothing for so long counts as ended.
_SILENCE_S: Final = 2 * DAY_S


def host_mark() -> str:
    """Return a mark of this machine that hides its name."""
    name = os.uname().nodename if hasattr(os, "uname") else os.environ["COMPUTERNAME"]
    return sha256(name.encode("utf-8", "replace")).hexdigest()[:16]


def replica_name() -> str:
    """Return the name of this replica: what the operator says, else a mark."""
    return os.environ.get(REPLICA_VARIABLE, "").strip()[:64] or host_mark()


def is_running(pid: int) -> bool | None:
    """Return whether a process of this machine runs; None if that is unknown."""
    if sys.platform == "win32":
        return None  # the call below would end the process there
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # it runs, for another user
    return True


def ended_unclosed(
    writers: Sequence[WriterState],
    *,
    now: float,
    host: str,
    running: Callable[[int], bool | None] = is_running,
) -> tuple[WriterState, ...]:
    """Return the writers that ended without being closed: they may have lost events."""
    latest: dict[tuple[str, int], WriterState] = {}
    for writer in sorted(writers, key=lambda writer: writer.started):
        latest[writer.host, writer.pid] = writer

    def has_ended(writer: WriterState) -> bool:
        # A later process wrote with the same number, as in containers.
        if latest[writer.host, writer.pid].process != writer.process:
            return True
        runs = running(writer.pid) if writer.host == host else None
        return now - writer.seen > _SILENCE_S if runs is None else not runs

    return tuple(w for w in writers if w.closed is None and has_ended(w))
