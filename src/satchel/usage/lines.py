"""Events as lines of JSON: one object a line, with the version of its form."""

import json
from collections.abc import Mapping
from typing import Final

from satchel.model import CatalogSynced, SkillSynced
from satchel.usage.recording import Event
from satchel.usage.stores import COPY_VERSION, SCHEMA_VERSION, Writer, plain_text

__all__ = [
    "CLOSED",
    "COPIED",
    "DROPPED",
    "STARTED",
    "canonical",
    "closed_line",
    "dropped_line",
    "event_line",
    "started_line",
]

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
