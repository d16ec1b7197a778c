"""The protocol of a store of events, and the JSON form of an event."""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from satchel.model import ActEvent, CatalogSynced, SkillSynced
from satchel.usage import DAY_S, Event

# The version of every file of events. A later Satchel reads all earlier versions.
SCHEMA_VERSION: Final = 1
# The version of a line about a copy, which older readers would count as a load.
COPY_VERSION: Final = 2
# The same for an act.
ACT_VERSION: Final = 3

# The same for what was read in a session of a client, which is no load.
IMPORT_VERSION: Final = 4

# An event and its number, counted by its writer: nothing is stored twice.
Row: TypeAlias = tuple[int, Event]

# The day of a catalog, and what it offers.
Offer: TypeAlias = tuple[int, object]
NO_OFFER: Final[Offer] = -1, None


class InvalidRowError(Exception):
    """A row cannot be stored, now or later; the others can."""


@dataclass(frozen=True, slots=True)
class Writer:
    """A sink of one process, from its first event to its close.

    ``process`` is different for each process, even with the same ``pid``. ``bound`` is
    how many events may be lost if it is not closed.
    """

    id: str
    process: str
    host: str
    pid: int
    bound: int
    started: float


class EventStore(Protocol):
    """Stores events, in one thread; if it raises, the call is tried again later."""

    def open(self, writer: Writer) -> None:
        """Open the file, and register the writer."""
        ...

    def write(self, rows: Sequence[Row], dropped: int, now: float) -> None:
        """Store the rows, all or none; the same rows again change nothing.

        ``dropped`` is how many events the writer has dropped since it started.

        Raises:
            InvalidRowError: One of the rows is the reason.
            Exception: The same rows may be stored later.
        """
        ...

    def close(self, dropped: int, now: float) -> None:
        """Record that the writer was closed, and close the file."""
        ...


@contextmanager
def row_errors(*more: type[Exception]) -> Generator[None]:
    """Turn errors about the values of rows, and ``more``, into `InvalidRowError`."""
    value_errors = (AttributeError, TypeError, ValueError, OverflowError)
    blamed: tuple[type[Exception], ...] = (*value_errors, *more)
    try:
        yield
    except blamed as error:
        raise InvalidRowError from error


def plain_text(text: str) -> str:
    """Return a text that UTF-8 can encode; a file name on POSIX may be any bytes."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def without_repeats(rows: Sequence[Row], offer: Offer) -> tuple[list[Row], Offer]:
    """Leave out catalogs that offer what the one before offered on the same day.

    Returned with the rows is the last offer, to go on from once they are stored.
    """
    news: list[Row] = []
    for row in rows:
        event = row[1]
        if isinstance(event, CatalogSynced):
            day = int(event.at // DAY_S)
            before, offer = offer, (day, (event.entries, event.owners))
            if offer == before:
                continue
        news.append(row)
    return news, offer


_SKILL_KEYS: Final = ("name", "source", "digest", "owner", "references")


def offered_skills(event: CatalogSynced) -> list[tuple[str, str, str, str, list[str]]]:
    """Return name, source, digest, owner and references of the skills on offer."""
    return [
        (
            plain_text(entry.id),
            plain_text(entry.source),
            entry.digest,
            plain_text(event.owners.get(entry.id, "")),
            [*map(plain_text, entry.references)],
        )
        for entry in event.entries
    ]


# Makes a store that is not open yet; called again in every forked process.
StoreFactory: TypeAlias = Callable[[], EventStore]


STARTED: Final = "writer_started"
CLOSED: Final = "writer_closed"
COPIED: Final = "skill_synced"
DROPPED: Final = "events_dropped"
ACTED: Final = "act"
IMPORTED: Final = "skill_imported"
_VERSIONS: Final[Mapping[type[Event], int]] = {
    SkillSynced: COPY_VERSION,
    ActEvent: ACT_VERSION,
}


def event_line(event: Event, writer: str, seq: int) -> dict[str, object]:
    """Return an event as the object of its line."""
    if isinstance(event, CatalogSynced):
        flat: dict[str, object] = {
            "event": event.event,
            "at": event.at,
            "via": event.via,
            "release": event.release,
            "added": list(event.added),
            "skills": [
                dict(zip(_SKILL_KEYS, skill, strict=True))
                for skill in offered_skills(event)
            ],
        }
    else:
        flat = {
            key: plain_text(value) if isinstance(value, str) else value
            for key, value in event.as_dict().items()
        }
    version = _VERSIONS.get(type(event), SCHEMA_VERSION)
    return flat | {"writer": writer, "seq": seq, "schema_version": version}


WRITER_KEYS: Final = "process", "host", "pid", "bound"


def started_line(writer: Writer, replica: str) -> dict[str, object]:
    """Return the line that registers a writer."""
    about = {key: getattr(writer, key) for key in WRITER_KEYS}
    start: dict[str, object] = {"event": STARTED, "at": writer.started}
    more = {"replica": replica, "schema_version": SCHEMA_VERSION}
    return start | {"writer": writer.id} | about | more


def writer_line(event: str, writer: str, dropped: int, now: float) -> dict[str, object]:
    """Return the line that says that a writer dropped events, or was closed."""
    return {
        "event": event,
        "at": now,
        "writer": writer,
        "dropped": dropped,
        "schema_version": SCHEMA_VERSION,
    }


def canonical(value: Mapping[str, object]) -> bytes:
    """Return the one canonical JSON of a value: sorted, no spaces, ASCII."""
    # NaN is no JSON: other programs that check the chain could not read the line.
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")
