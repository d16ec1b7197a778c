"""Events to keep, stores to keep them in, and days to keep them on."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from satchel.model import CatalogSynced, Descriptor, Origin, SkillSynced, UsageEvent
from satchel.usage._sinks import Event
from satchel_server.usage import EventStore, Records, UsageReport, read_report
from satchel_server.usage._location import StoreLocation, store_at
from satchel_server.usage._reader import read_records
from satchel_server.usage._records import Period
from satchel_server.usage._store import Writer
from satchel_server.usage._table_store import TableStore
from tests.unit.usage.postgres import database, needs_postgres

__all__ = [
    "DAY",
    "EVERY_KIND",
    "KINDS",
    "NOON",
    "TABLES",
    "copied",
    "counts",
    "day",
    "keep",
    "load",
    "place",
    "read",
    "report",
    "skill",
    "store",
    "sync",
]

DAY: Final = 86_400.0
NOON: Final = 20_000 * DAY + DAY / 2
"""Noon of 2024-10-04, UTC: day 0 of these tests."""
KINDS: Final = ("sqlite", "jsonl", "chain")
TABLES: Final = ("sqlite", pytest.param("postgresql", marks=needs_postgres))
EVERY_KIND: Final = (*TABLES, "jsonl", "chain")


def day(number: int) -> float:
    """Return noon so many days later."""
    return NOON + number * DAY


def load(name: str = "a", at: float = NOON, **more: Any) -> UsageEvent:  # noqa: ANN401
    """Return a load that succeeded, unless ``more`` says otherwise."""
    file = more.get("reference") or more.get("script") or "SKILL.md"
    values: dict[str, Any] = {
        "reference": None,
        "script": None,
        "source": "team",
        "duration_s": 0.001,
        "error": None,
        "file": file,
        "via": "tool",
        "digest": f"sha256:{name}",
        "size_bytes": 40,
        "tokens": 10,
        **more,
    }
    return UsageEvent(name, at=at, **values)


def miss(name: str, at: float = NOON, **more: Any) -> UsageEvent:  # noqa: ANN401
    """Return a load of a skill that is not there."""
    error = f"skill {name!r} not found"
    values = {"error": error, "code": "skill-not-found", "source": "", "digest": ""}
    return load(name, at, **{**values, "tokens": 0, **more})


def copied(name: str = "a", at: float = NOON, code: str | None = None) -> SkillSynced:
    """Return that a skill was fetched to be kept elsewhere."""
    return SkillSynced(name, "SKILL.md", "team", "http", code, "copier", at)


def skill(name: str, *references: str) -> Descriptor:
    """Return a skill on offer."""
    return Descriptor(
        name,
        "Use when testing.",
        references=references,
        origins=(Origin("team", name, name),),
        digest=f"sha256:{name}",
    )


def sync(
    at: float, *skills: Descriptor | str, owners: dict[str, str] | None = None
) -> CatalogSynced:
    """Return that these skills were on offer."""
    entries = tuple(skill(s) if isinstance(s, str) else s for s in skills)
    return CatalogSynced(at, entries, owners=owners or {})


def writer(name: str = "w1", **more: Any) -> Writer:  # noqa: ANN401
    """Return a writer of this test."""
    return replace(Writer(name, "p1", "h1", 4_000_001, 10_000, NOON), **more)


def place(kind: str, folder: Path) -> str:
    """Return where the store of a kind is, for this folder."""
    if kind == "postgresql":
        return database(str(folder))
    return str(folder / f"usage.{kind}")


def store(kind: str, folder: Path) -> EventStore:
    """Return a store that is not open yet; its file is ``usage.KIND``."""
    return store_at(StoreLocation(kind, place(kind, folder)))()


def read(where: str | Path, at: float = day(2), days: int = 30) -> Records:
    """Return what is on record, by skill."""
    return read_records(where, Period(int(at // DAY), days, of_skills=True))


def counts(records: Records, kind: str = "load") -> dict[str, int]:
    """Return the sums of one kind by skill, in the period."""
    sums = records.figures.now
    return {name: n for (name, of, _), n in sorted(sums.items()) if of == kind and n}


def keep(
    kind: str, folder: Path, events: Iterable[Event], *, closed: bool = True
) -> Records:
    """Write the events as one writer; return what is on record then."""
    stored = store(kind, folder)
    stored.open(writer())
    rows: Sequence[tuple[int, Event]] = list(enumerate(events, 1))
    stored.write(rows, 0, NOON)
    if closed:
        stored.close(0, NOON)
    elif isinstance(stored, TableStore):
        stored.connection.close()  # as a process that ends does
    return read(place(kind, folder))


def report(kind: str, folder: Path, at: float = day(0), **more: Any) -> UsageReport:  # noqa: ANN401
    """Return the report, which ends on the day of ``at``."""
    return read_report(place(kind, folder), now=at, **more)
