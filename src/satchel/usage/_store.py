"""The protocol of a store of events, and the JSON form of an event."""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from satchel.model import CatalogSynced, SkillSynced
from satchel.usage._sinks import Event

SCHEMA_VERSION: Final = 1
"""That of every file that holds events. A later one reads all earlier ones (R37)."""
COPY_VERSION: Final = 2
"""That of a line that tells of a copy, which the version before would call a load."""

Row: TypeAlias = tuple[int, Event]
"""An event with its number in the writer's own count: nothing is stored twice."""


class InvalidRowError(Exception):
    """A row holds what cannot be kept, now or later; the others can be without it."""


@dataclass(frozen=True, slots=True)
class Writer:
    """One that writes: a sink of one process, from its first event to its close.

    ``process`` tells writers of one process apart from those of another that has had
    the same ``pid``; ``host`` is a mark of the machine, not its name. ``bound`` is how
    many events may be lost where it does not come to its close.
    """

    id: str
    process: str
    host: str
    pid: int
    bound: int
    started: float


class EventStore(Protocol):
    """Keeps events. Used by one thread; whatever it raises is tried again later."""

    def open(self, writer: Writer) -> None:
        """Open the place, and put the writer on record."""
        ...

    def write(self, rows: Sequence[Row], dropped: int, now: float) -> None:
        """Keep the rows, all or none; a second time with the same rows changes nothing.

        ``dropped`` is how many events the writer has had to drop since it started.

        Raises:
            UnfitRowError: One of the rows is to blame.
            Exception: Whatever it is, the same rows may be kept later.
        """
        ...

    def close(self, dropped: int, now: float) -> None:
        """Put on record that the writer came to its close, and let go."""
        ...


@contextmanager
def row_errors(*more: type[Exception]) -> Generator[None]:
    """Blame the rows for errors that come of their values, and of those in ``more``.

    Raises:
        UnfitRowError: There was such an error.
    """
    of_values = (AttributeError, TypeError, ValueError, OverflowError)
    blamed: tuple[type[Exception], ...] = (*of_values, *more)
    try:
        yield
    except blamed as error:
        raise InvalidRowError from error


def plain_text(text: str) -> str:
    """Return a text as UTF-8 can hold it; on POSIX a file's name may be any bytes."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


StoreFactory: TypeAlias = Callable[[], EventStore]
"""Makes a store that is not open yet; again in every process that is forked off."""


STARTED: Final = "writer_started"
CLOSED: Final = "writer_closed"
COPIED: Final = "skill_synced"
DROPPED: Final = "events_dropped"


def event_line(event: Event, writer: str, seq: int) -> dict[str, object]:
    """Return an event as the object of its line: what it is and holds comes first."""
    if isinstance(event, CatalogSynced):
        flat: dict[str, object] = {
            "event": event.event,
            "at": event.at,
            "via": event.via,
            "release": event.release,
            "added": list(event.added),
            "skills": [
                {
                    "name": plain_text(entry.id),
                    "source": plain_text(entry.source),
                    "digest": entry.digest,
                    "owner": plain_text(event.owners.get(entry.id, "")),
                    "references": [*map(plain_text, entry.references)],
                }
                for entry in event.entries
            ],
        }
    else:
        flat = {
            key: plain_text(value) if isinstance(value, str) else value
            for key, value in event.as_dict().items()
        }
    version = COPY_VERSION if isinstance(event, SkillSynced) else SCHEMA_VERSION
    return flat | {"writer": writer, "seq": seq, "schema_version": version}


def started_line(writer: Writer) -> dict[str, object]:
    """Return what puts a writer on record."""
    return {
        "event": STARTED,
        "at": writer.started,
        "writer": writer.id,
        "process": writer.process,
        "host": writer.host,
        "pid": writer.pid,
        "bound": writer.bound,
        "schema_version": SCHEMA_VERSION,
    }


def dropped_line(writer: str, dropped: int, now: float) -> dict[str, object]:
    """Return how many events a writer has had to drop since it started."""
    return _about(DROPPED, writer, dropped, now)


def closed_line(writer: str, dropped: int, now: float) -> dict[str, object]:
    """Return what says that a writer came to its close."""
    return _about(CLOSED, writer, dropped, now)


def _about(event: str, writer: str, dropped: int, now: float) -> dict[str, object]:
    return {
        "event": event,
        "at": now,
        "writer": writer,
        "dropped": dropped,
        "schema_version": SCHEMA_VERSION,
    }


def canonical(value: Mapping[str, object]) -> bytes:
    """Return JSON of which there is one spelling: sorted, no blanks, ASCII."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")
