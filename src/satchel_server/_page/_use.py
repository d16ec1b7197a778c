"""What the page shows of use: a report, cached for a while, its tables, and a chart."""

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any, Final, TypeVar, cast

from satchel.errors import MissingPathError
from satchel.files import LruCache
from satchel_server._library import Caller
from satchel_server._page._facts import LibraryFacts
from satchel_server._page._templates import day, share
from satchel_server.usage import (
    CORE_SHARE,
    QUERIES_VARIABLE,
    UsageReport,
    check_acts,
    parse_location,
    read_events,
    read_report,
)

DAYS: Final = (7, 30, 90)
_T = TypeVar("_T")

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


@dataclass(frozen=True, slots=True)
class ShownUse:
    """A report with what the page makes of it."""

    report: UsageReport
    tables: list[UseTable]
    chart: Chart
    queries: list[tuple[str, int]] | None


class UseReports:
    """Reads reports and acts, each once in a while at most. Thread-safe."""

    def __init__(self, place: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._place = place
        self._clock = clock
        self._lock = threading.Lock()
        self._cached: LruCache[object, tuple[float, Any]] = LruCache(_MAX_REPORTS)

    def read(self, days: int, caller: Caller, facts: LibraryFacts) -> ShownUse:
        """Return the report for one caller: of its skills, and of nothing else.

        Raises:
            SkillError: The place of events cannot be read.
        """

        def make() -> ShownUse:
            report = self._read(days, caller, facts)
            queries = weak_queries(report) if sees_all(caller, facts) else None
            return ShownUse(report, tables(report), chart(report), queries)

        return self._once((days, caller), make)

    def acts(self, caller: Caller, facts: LibraryFacts) -> list[tuple[str, ...]]:
        """Return the latest acts on record with one's own skills, the last one first.

        Raises:
            SkillError: The place cannot be read, or offers no single events.
        """
        return self._once(caller, lambda: _acts(self._place, facts))

    def _once(self, key: object, make: Callable[[], _T]) -> _T:
        # One at a time: many browsers that ask at once wait for one answer.
        with self._lock:
            start = self._clock()
            cached = self._cached.find(key)
            if cached is not None and start < cached[0]:
                return cast("_T", cached[1])
            value = make()
            end = self._clock()
            # What took long is shown for longer, so that reading takes 5 % of the time.
            self._cached.put(key, (end + max(CACHE_S, 20 * (end - start)), value))
            return value

    def _read(self, days: int, caller: Caller, facts: LibraryFacts) -> UsageReport:
        only: Mapping[str, Sequence[str]] | None = None
        # A policy may hide skills from callers whose token opens all.
        if not sees_all(caller, facts):
            only = {entry.id: entry.references for entry in facts.catalog}
        try:
            report = read_report(self._place, now=time.time(), days=days, only=only)
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


def weak_queries(report: UsageReport) -> list[tuple[str, int]] | None:
    """Return queries without a good hit, most frequent first; None: none is kept."""
    path = os.environ.get(QUERIES_VARIABLE, "").strip()
    if not path:
        return None
    since = time.time() - report.days * 86_400
    counts: Counter[str] = Counter()
    with suppress(OSError), open(path, "rb") as file:  # noqa: PTH123 - it is a string
        file.seek(max(0, os.fstat(file.fileno()).st_size - _QUERY_BYTES))
        for line in file:
            with suppress(ValueError, KeyError, TypeError, RecursionError):
                value: Any = json.loads(line)
                counts[str(value["query"])] += value["at"] >= since
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(query, times) for query, times in most[:_MAX_QUERIES] if times]


def _acts(place: str, facts: LibraryFacts) -> list[tuple[str, ...]]:
    kinds = ("sqlite:", "jsonl:", "chain:")
    path = parse_location(place).path if place.startswith(kinds) else place
    try:
        acts = [*check_acts.with_skills(read_events(path))]
    except MissingPathError:
        return []
    own = (
        act
        for act in reversed(acts)
        if all(skill["name"] in facts.catalog for skill in act[0]["skills"])
    )
    return [check_acts.row(*act) for act in islice(own, _MAX_ACTS)]
