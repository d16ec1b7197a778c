"""What the page shows of use: a report, cached for a while, its tables, and acts."""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar, cast

from satchel.errors import MissingPathError
from satchel.files import LruCache
from satchel.usage import DAY_S
from satchel_server._library import Caller
from satchel_server._page._facts import LibraryFacts
from satchel_server.usage import (
    QUERIES_VARIABLE,
    SkillStatus,
    UsageReport,
    check_acts,
    read_events,
    read_report,
    weak_queries,
)

DAYS: Final = (7, 30, 90)
# Seconds for which a report is shown again, so that no browser keeps a server busy.
CACHE_S: Final = 10.0
_MAX_REPORTS: Final = 64
_MAX_QUERIES: Final = 12
_QUERY_BYTES: Final = 1024 * 1024
_MAX_ACTS: Final = 200
_T = TypeVar("_T")


class UseRow(NamedTuple):
    """A row of a table: a name, its loads now and in the period before, or a text."""

    name: str
    now: int = 0
    before: int = 0
    text: str = ""


class ShownUse(NamedTuple):
    """A report, the rows of each table by its key, and queries, None without any."""

    report: UsageReport | None = None
    rows: Mapping[str, Sequence[UseRow]] = {}
    queries: Sequence[tuple[str, int]] | None = None


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
            report = _read(self._place, days, caller, facts)
            queries = frequent_queries(report) if facts.is_whole else None
            return ShownUse(report, tables(report), queries)

        return self._once((days, caller), make)

    def acts(self, caller: Caller, facts: LibraryFacts) -> list[tuple[str, ...]]:
        """Return the latest acts on record with one's own skills, the last one first.

        Raises:
            SkillError: The place cannot be read.
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


def _read(place: str, days: int, caller: Caller, facts: LibraryFacts) -> UsageReport:
    now, only = time.time(), None
    if not facts.is_whole:
        only = {entry.id: entry.references for entry in facts.catalog}
    try:
        report = read_report(place, now=now, days=days, only=only, brief=only is None)
    except MissingPathError:
        return UsageReport(int(now // DAY_S), days, (), (), (), {}, {}, {})
    return report if only is None else _for_some(report, caller)


def _for_some(report: UsageReport, caller: Caller) -> UsageReport:
    """Return a report without what is about the skills of others."""
    patterns = caller.only or ()

    def is_ours(name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    return replace(
        report,
        missing={name: n for name, n in report.missing.items() if is_ours(name)},
        errors={},
        imported={},
        replicas={},
        unclosed=(),
        dropped=0,
        bad_lines=0,
    )


def tables(report: UsageReport) -> dict[str, list[UseRow]]:
    """Return the tables of the page, by their keys; `use.html` has their titles."""
    shares = {
        dimension: [UseRow(name, *loads) for name, loads in by.items() if loads[0]]
        for dimension, by in report.by.items()
    }
    return {
        **shares,
        "skills": [UseRow(s.name, s.loads, s.before) for s in report.skills if s.loads],
        "dead": _states(report.of("dead")),
        "early": _states(report.of("unknown")),
        "missing": _counts(report.missing),
        "replica": _counts(report.replicas),
        "imported": _counts(report.imported),
        "errors": _counts(report.errors),
    }


def _counts(counts: Mapping[str, int]) -> list[UseRow]:
    return [UseRow(name, count) for name, count in counts.items()]


def _states(statuses: Iterable[SkillStatus]) -> list[UseRow]:
    owners = ((status, f", owner {status.owner}") for status in statuses)
    return [
        UseRow(s.name, text=f"{s}{owner if s.owner else ''}") for s, owner in owners
    ]


def frequent_queries(report: UsageReport) -> list[tuple[str, int]] | None:
    """Return queries without a good hit, most frequent first; None: none is kept."""
    path = os.environ.get(QUERIES_VARIABLE, "").strip()
    if not path:
        return None
    since = time.time() - report.days * DAY_S
    counts: Counter[str] = Counter()
    with suppress(OSError):
        counts.update(query for query, _ in weak_queries(path, since, _QUERY_BYTES))
    return counts.most_common(_MAX_QUERIES)


def _acts(place: str, facts: LibraryFacts) -> list[tuple[str, ...]]:
    try:
        acts = [*check_acts.with_skills(read_events(place))]
    except MissingPathError:
        return []
    own = (
        act
        for act in reversed(acts)
        if all(skill["name"] in facts.catalog for skill in act[0]["skills"])
    )
    return [check_acts.row(*act) for act in islice(own, _MAX_ACTS)]
