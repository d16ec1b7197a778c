"""What an event costs the thread that loads, as a share of a cold load.

Time is that of the caller's thread alone (`time.thread_time`), for what a writer does
in its own thread delays nobody who waits for a file. The wall clock is next to it:
there the two threads share one interpreter, and one machine with whatever else runs.

All sinks take turns on one Satchel, pass by pass, so that they find the same memory and
the same moments; a round is the best of each one's passes. Before a pass that counts
the writer has written all it had, and a pass that does not count has warmed the caches.
"""

from __future__ import annotations

import contextlib
import logging
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.measure import Bar, Spread, table
from satchel.runtime import SystemClock
from satchel.text import EstimateCounter
from satchel.usage import (
    ListSink,
    LoggingSink,
    OwnerLookup,
    Sinks,
    UsageEvents,
    open_sink,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.library import Library
    from satchel import Satchel
    from satchel.protocols import UsageSink

LOADS: Final = 100
TIMES: Final = 31
PROMISED: Final = 0.05
NONE: Final = "no sinks"
SERVE: Final = "SQLite and Prometheus, as in serve"
BARRED: Final = ("default: logging, not enabled", "SQLite", "JSON Lines", SERVE)


def run(library: Library, rounds: int) -> list[Bar]:
    """Measure, print the table, return the bars."""
    from satchel import Satchel

    with tempfile.TemporaryDirectory() as home:
        sinks = _sinks(Path(home))
        skills = Satchel(library.folder, sinks=())
        entries = skills.catalog.entries
        chosen = entries[:: max(1, len(entries) // LOADS)][:LOADS]
        ids = [entry.id for entry in chosen]
        passes = {name: _passes(skills, given, ids) for name, given in sinks.items()}
        threads: dict[str, list[float]] = {name: [] for name in sinks}
        clocks: dict[str, list[float]] = {name: [] for name in sinks}
        for _ in range(rounds):
            for name, best in _round(passes).items():
                threads[name].append(best[0])
                clocks[name].append(best[1])
        for given in sinks.values():
            Sinks(given).close()
    base = threads[NONE]
    print(f"## What an event costs, on {len(ids)} cold loads\n")
    print(
        table(
            ("sinks", "microseconds of the thread", "more, in % of it", "by the clock"),
            (
                (
                    name,
                    f"{Spread.of(1e6 * each for each in seconds):.1f}",
                    f"{_percent(seconds, base):.1f}",
                    f"{_percent(clocks[name], clocks[NONE]):.1f}",
                )
                for name, seconds in threads.items()
            ),
        )
    )
    return [
        Bar(f"an event, over a cold load: {name}", PROMISED, _more(threads[name], base))
        for name in BARRED
        if name in threads
    ]


def _round(
    passes: dict[str, Callable[[], tuple[float, float]]],
) -> dict[str, tuple[float, float]]:
    """Return the best of each one's passes, thread and clock each for itself."""
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in passes}
    for number in range(TIMES):
        names = list(passes)
        for name in reversed(names) if number % 2 else names:
            seen[name].append(passes[name]())
    return {
        name: (min(each[0] for each in pairs), min(each[1] for each in pairs))
        for name, pairs in seen.items()
    }


def _sinks(home: Path) -> dict[str, tuple[UsageSink, ...]]:
    enabled = logging.getLogger("benchmarks.usage")
    enabled.addHandler(logging.NullHandler())
    enabled.setLevel(logging.INFO)
    enabled.propagate = False
    sinks: dict[str, tuple[UsageSink, ...]] = {
        NONE: (),
        "default: logging, not enabled": (LoggingSink(),),
        "SQLite": (open_sink(f"sqlite://{home}/usage.db"),),
        "JSON Lines": (open_sink(f"jsonl://{home}/usage.jsonl"),),
        "chained log": (open_sink(f"chain://{home}/usage.chain"),),
        "a list in memory": (ListSink(),),
        "logging, to a handler that does nothing": (LoggingSink(enabled),),
    }
    with contextlib.suppress(ImportError):
        from satchel_server.usage import MetricsSink

        sinks["Prometheus"] = (MetricsSink(),)
        database = open_sink(f"sqlite://{home}/serve.db")
        sinks[SERVE] = (database, MetricsSink())
    with contextlib.suppress(ImportError):
        from opentelemetry.sdk.trace import TracerProvider

        from satchel_server.usage import TracingSink

        sinks["spans that nobody exports"] = (TracingSink(TracerProvider()),)
    return sinks


def _passes(
    skills: Satchel, given: tuple[UsageSink, ...], ids: Sequence[str]
) -> Callable[[], tuple[float, float]]:
    """Return what makes one pass with these sinks: thread and clock for each load."""
    sinks = Sinks(given)
    clock = SystemClock()
    owners = OwnerLookup(lambda: skills.registry.sources)
    events = UsageEvents(
        sinks, clock, EstimateCounter(), owners, lambda: skills.catalog
    )
    load, parts = skills.load, skills.__dict__["_parts"]

    def one_pass() -> tuple[float, float]:
        sinks.flush()
        parts.sinks, parts.usage_events = given, events
        for id in ids:
            load(id)
        thread, wall = time.thread_time(), time.perf_counter()
        for id in ids:
            load(id)
        thread, wall = time.thread_time() - thread, time.perf_counter() - wall
        return thread / len(ids), wall / len(ids)

    return one_pass


def _more(with_: Sequence[float], without: Sequence[float]) -> Spread:
    return Spread.of((a - b) / b for a, b in zip(with_, without, strict=True))


def _percent(with_: Sequence[float], without: Sequence[float]) -> Spread:
    pairs = zip(with_, without, strict=True)
    return Spread.of(100 * (a - b) / b for a, b in pairs)
