"""What the page shows of use: a report, cached for a while, its tables, and a chart."""

import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Final

from satchel.errors import MissingPathError, SkillError
from satchel.files import LruCache
from satchel_server._library import Caller
from satchel_server._page._facts import LibraryFacts
from satchel_server._page._templates import day, share
from satchel_server.usage import (
    CORE_SHARE,
    QUERIES_VARIABLE,
    UsageReport,
    check_acts,
    read_events,
    read_report,
)

DAYS: Final = (7, 30, 90)
# Seconds for which a report is shown again, so that no browser keeps a server busy.
CACHE_S: Final = 10.0
_MAX_REPORTS: Final = 64
# Rows of each table on the page; each has a page of its own with all.
SOME: Final = 8
_MAX_QUERIES: Final = 200
_QUERY_BYTES: Final = 1024 * 1024
_MAX_ACTS: Final = 200


@dataclass(frozen=True, slots=True)
class Bar:
    """A line of a chart: a name, a number, and its share of the largest in percent."""

    name: str
    count: int
    percent: int
    detail: str = ""
    is_skill: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A day of the chart, in its units; ``label`` is read out."""

    x: int
    y: int
    height: int
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    columns: tuple[Column, ...]
    width: int
    height: int
    step: int
    most: int
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class UseTable:
    """A table of the page: at first some of its bars."""

    key: str
    title: str
    about: str
    bars: tuple[Bar, ...]
    empty: str

    @property
    def some(self) -> tuple[Bar, ...]:
        return self.bars[:SOME]


class UseReports:
    """Reads reports, each at most once in `CACHE_S` seconds. Thread-safe."""

    def __init__(self, place: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.place = place
        self._clock = clock
        self._lock = threading.Lock()
        self._reports: LruCache[object, tuple[float, UsageReport]]
        self._reports = LruCache(_MAX_REPORTS)

    def read(self, days: int, caller: Caller, facts: LibraryFacts) -> UsageReport:
        """Return the report for one caller: of its skills, and of nothing else.

        Raises:
            SkillError: The place of events cannot be read.
        """
        key = days, caller
        # One at a time: many browsers that ask at once wait for one report.
        with self._lock:
            cached = self._reports.find(key)
            if cached is not None and self._clock() - cached[0] < CACHE_S:
                return cached[1]
            report = self._read(days, caller, facts)
            self._reports.put(key, (self._clock(), report))
            return report

    def _read(self, days: int, caller: Caller, facts: LibraryFacts) -> UsageReport:
        only: Mapping[str, Sequence[str]] | None = None
        # A policy may hide skills from callers whose token opens all.
        if not sees_all(caller, facts):
            only = {entry.id: entry.references for entry in facts.catalog}
        try:
            report = read_report(self.place, now=time.time(), days=days, only=only)
        except MissingPathError:
            return UsageReport(int(time.time() // 86_400), days, (), (), (), {}, {}, {})
        return report if only is None else _for_some(report, caller, only)


def sees_all(caller: Caller, facts: LibraryFacts) -> bool:
    return caller.only is None and not facts.has_rules


def _for_some(
    report: UsageReport, caller: Caller, only: Mapping[str, object]
) -> UsageReport:
    """Return a report without what is about the skills of others."""
    patterns = caller.only or ()

    def is_ours(name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    return replace(
        report,
        missing={name: n for name, n in report.missing.items() if is_ours(name)},
        synced={name: n for name, n in report.synced.items() if name in only},
        errors={},
        may_mirror={},
        unclosed=(),
        at_work=(),
        dropped=0,
        bad_lines=0,
        imported={},
    )


def tables(report: UsageReport) -> list[UseTable]:
    """Return the tables of the page, in order."""
    by: dict[str, dict[str, int]] = {"owners": {}, "clients": {}, "edges": {}}
    for skill in report.skills:
        for name, counts in by.items():
            for key, count in getattr(skill, name).items():
                counts[key] = counts.get(key, 0) + count
    dead = {s.name: f"{s}; {s.owner}" if s.owner else str(s) for s in report.of("dead")}
    early = {status.name: str(status) for status in report.of("unknown")}
    uses = {skill.name: skill.loads for skill in report.skills if skill.loads}
    core = f"core: the first {len(report.core)} make {CORE_SHARE:.0%} of the loads"
    ask = "names that somebody asked for, and that do not exist"
    days = f"{report.days} days"
    none = f"No load in {days}."
    return [
        _counts(
            "skills", "Loads by skill", core if uses else "", uses, none, skill=True
        ),
        _names("dead", "Dead", f"on offer for {days}, and never loaded in them", dead),
        _counts("missing", "Asked for, not found", ask, report.missing, "Nothing."),
        _counts("owners", "Loads by owner", "", by["owners"], "No owner is on record."),
        _counts(
            "callers", "Loads by caller", "", report.callers, "No caller is named."
        ),
        _counts("teams", "Loads by team", "", report.teams, "No team is named."),
        _counts("clients", "Loads by client", "", by["clients"], "No client is named."),
        _counts("edges", "Loads by edge", "how it was asked for", by["edges"], "None."),
        _names("early", "Too early to say", "on offer for fewer days", early),
        _counts("errors", "Loads that failed", "", report.errors, "None."),
    ]


def _counts(  # noqa: PLR0913 - the parts of a table
    key: str,
    title: str,
    about: str,
    counts: Mapping[str, int],
    empty: str,
    *,
    skill: bool = False,
) -> UseTable:
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    top, whole = most[0][1] if most else 0, sum(counts.values())
    bars = tuple(
        Bar(name, count, round(100 * count / top), share(count, whole), skill)
        for name, count in most
    )
    return UseTable(key, title, about, bars, empty)


def _names(key: str, title: str, about: str, texts: Mapping[str, str]) -> UseTable:
    bars = tuple(Bar(name, 0, 0, text, is_skill=True) for name, text in texts.items())
    return UseTable(key, title, about, bars, "None.")


# Units of the chart: its columns are drawn by a style sheet alone.
_STEP, _HEIGHT = 10, 100


def chart(report: UsageReport) -> Chart:
    """Return the loads of each day as columns, the last day on the right."""
    first = report.until - report.days + 1
    counts = [report.by_day.get(number, 0) for number in range(first, report.until + 1)]
    most = max(counts, default=0)
    columns: list[Column] = []
    for at, count in enumerate(counts):
        height = -(-_HEIGHT * count // most) if most else 0
        label = f"{day(first + at)}: {count:,}"
        columns.append(Column(at * _STEP, _HEIGHT - height, height, label))
    of = tuple(columns), len(counts) * _STEP, _HEIGHT, _STEP - 2
    return Chart(*of, most, day(first), day(report.until))


def weak_queries(report: UsageReport) -> list[tuple[str, int, list[str]]] | None:
    """Return queries without a good hit, most frequent first; None: none is kept."""
    path = os.environ.get(QUERIES_VARIABLE, "").strip()
    if not path:
        return None
    since = time.time() - report.days * 86_400
    counts: dict[str, tuple[int, list[str]]] = {}
    with suppress(OSError), open(path, "rb") as file:  # noqa: PTH123 - it is a string
        file.seek(max(0, os.fstat(file.fileno()).st_size - _QUERY_BYTES))
        for line in file:
            with suppress(ValueError, KeyError, TypeError, RecursionError):
                value: Any = json.loads(line)
                if value["at"] >= since:
                    query, weak = str(value["query"]), [*map(str, value["weak"])]
                    counts[query] = counts.get(query, (0, weak))[0] + 1, weak
    most = sorted(counts.items(), key=lambda item: (-item[1][0], item[0]))
    return [(query, n, weak) for query, (n, weak) in most[:_MAX_QUERIES]]


def acts(place: str, facts: LibraryFacts) -> tuple[list[tuple[str, ...]], str]:
    """Return the latest acts on record, the last one first, or why there are none."""
    try:
        # A file is read whole, and a store elsewhere may not offer it.
        events = check_acts.with_skills(read_events(_file(place)))
        rows = [
            check_acts.row(*act)
            for act in events
            if all(skill["name"] in facts.catalog for skill in act[0]["skills"])
        ]
    except MissingPathError:
        return [], ""
    except SkillError as error:
        return [], facts.public(str(error))
    return rows[::-1][:_MAX_ACTS], ""


def _file(place: str) -> str:
    from satchel_server.usage import parse_location

    kinds = ("sqlite:", "jsonl:", "chain:")
    return parse_location(place).path if place.startswith(kinds) else place
