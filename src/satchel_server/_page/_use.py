"""What the page shows of use: a report, cached for a while, its tables, and a chart."""

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar, cast

from satchel.errors import MissingPathError
from satchel.files import LruCache
from satchel_server._library import Caller
from satchel_server._page._facts import LibraryFacts
from satchel_server._page._templates import day
from satchel_server.usage import (
    CORE_SHARE,
    QUERIES_VARIABLE,
    SkillStatus,
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
_MAX_QUERIES: Final = 200
_QUERY_BYTES: Final = 1024 * 1024
_MAX_ACTS: Final = 200


class UseTable(NamedTuple):
    """A table of the page; each row has a name, a number and a text."""

    key: str
    title: str
    rows: Sequence[tuple[str, int, str]]
    about: str = ""
    is_of_skills: bool = False


@dataclass(frozen=True, slots=True)
class ShownUse:
    """A report with what the page makes of it."""

    report: UsageReport
    tables: list[UseTable]
    days: list[tuple[str, int]]
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
            queries = weak_queries(report) if facts.is_whole else None
            return ShownUse(report, tables(report), _days(report), queries)

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
        if not facts.is_whole:
            only = {entry.id: entry.references for entry in facts.catalog}
        try:
            report = read_report(self._place, now=time.time(), days=days, only=only)
        except MissingPathError:
            return UsageReport(int(time.time() // 86_400), days, (), (), (), {}, {}, {})
        return report if only is None else _for_some(report, caller, only)


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
    uses = {skill.name: skill.loads for skill in report.skills if skill.loads}
    core = f"core: the first {len(report.core)} make {CORE_SHARE:.0%} of the loads"
    dead = f"on offer for {report.days} days, and never loaded in them"
    ask = "names that somebody asked for, and that do not exist"
    skills = report.skills
    return [
        UseTable("skills", "Loads by skill", _most(uses), core if uses else "", True),  # noqa: FBT003 - the last field
        UseTable("dead", "Dead", _states(report.of("dead")), dead, True),  # noqa: FBT003
        UseTable("missing", "Asked for, not found", _most(report.missing), ask),
        UseTable("owners", "Loads by owner", _most(_sums(s.owners for s in skills))),
        UseTable("callers", "Loads by caller", _most(report.callers)),
        UseTable("teams", "Loads by team", _most(report.teams)),
        UseTable("clients", "Loads by client", _most(_sums(s.clients for s in skills))),
        UseTable("edges", "Loads by edge", _most(_sums(s.edges for s in skills))),
        UseTable("early", "Too early to say", _states(report.of("unknown")), "", True),  # noqa: FBT003
        UseTable("errors", "Loads that failed", _most(report.errors)),
    ]


def _sums(counts: Iterable[Counter[str]]) -> Counter[str]:
    return sum(counts, Counter[str]())


def _most(counts: Mapping[str, int]) -> list[tuple[str, int, str]]:
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    whole = sum(counts.values())
    return [(name, count, f"{count / whole:.0%}") for name, count in rows if count]


def _states(statuses: Iterable[SkillStatus]) -> list[tuple[str, int, str]]:
    return [
        (s.name, 0, f"{s}, owner {s.owner}" if s.owner else str(s)) for s in statuses
    ]


def _days(report: UsageReport) -> list[tuple[str, int]]:
    """Return each day with its loads, the last one last."""
    first = report.until - report.days + 1
    days = range(first, report.until + 1)
    return [(day(number), report.by_day.get(number, 0)) for number in days]


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
