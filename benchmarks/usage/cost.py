"""What an event costs the thread that loads, as a share of a cold load.

Time is that of the caller's thread alone (`time.thread_time`), for what a writer does
in its own thread delays nobody who waits for a file. The wall clock is told beside it:
there the two threads share one interpreter, and one machine with whatever else runs.
A round is the best of several passes over the same skills; before each the writer has
written all it had.
"""

from __future__ import annotations

import contextlib
import logging
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.measure import Bar, Spread, in_turn, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.library import Library
    from satchel import Satchel
    from satchel.protocols import UsageSink

LOADS: Final = 200
TIMES: Final = 9
PROMISED: Final = 0.05
NONE: Final = "no sinks"
BARRED: Final = ("default: logging, not enabled", "SQLite", "JSON Lines")


def run(library: Library, rounds: int) -> list[Bar]:
    """Measure, print the table, return the bars."""
    from satchel import Satchel

    with tempfile.TemporaryDirectory() as home, contextlib.ExitStack() as stack:
        opened: dict[str, Satchel] = {}
        sinks = _sinks(Path(home))
        for name, given in sinks.items():
            skills = Satchel(library.folder, sinks=given)
            opened[name] = stack.enter_context(skills)
        entries = opened[NONE].catalog.entries
        chosen = entries[:: max(1, len(entries) // LOADS)][:LOADS]
        ids = [entry.id for entry in chosen]
        walls: dict[str, list[float]] = {name: [] for name in opened}
        figures = in_turn(
            {name: _timed(each, ids, walls[name]) for name, each in opened.items()},
            rounds,
        )
        for given in sinks.values():
            for sink in given:
                if close := getattr(sink, "close", None):
                    close()
    base, wall = figures[NONE], walls[NONE]
    print(f"## What an event costs, on {len(ids)} cold loads\n")
    print(
        table(
            ("sinks", "microseconds of the thread", "more, in % of it", "by the clock"),
            (
                (
                    name,
                    f"{Spread.of(1e6 * each for each in seconds):.1f}",
                    f"{_percent(seconds, base):.1f}",
                    f"{_percent(walls[name], wall):.1f}",
                )
                for name, seconds in figures.items()
            ),
        )
    )
    return [
        Bar(f"an event, over a cold load: {name}", PROMISED, _more(figures[name], base))
        for name in BARRED
    ]


def _sinks(home: Path) -> dict[str, tuple[UsageSink, ...]]:
    from satchel.usage import ListSink, LoggingSink, open_sink

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
        from satchel.usage.metrics import MetricsSink

        sinks["Prometheus"] = (MetricsSink(),)
    with contextlib.suppress(ImportError):
        from opentelemetry.sdk.trace import TracerProvider

        from satchel.usage.tracing import TracingSink

        sinks["spans that nobody exports"] = (TracingSink(TracerProvider()),)
    return sinks


def _timed(
    skills: Satchel, ids: Sequence[str], walls: list[float]
) -> Callable[[], float]:
    def best() -> float:
        threads, clocks = zip(*_passes(skills, ids), strict=True)
        walls.append(min(clocks))
        return min(threads)

    return best


def _passes(skills: Satchel, ids: Sequence[str]) -> Iterator[tuple[float, float]]:
    load = skills.load
    for _ in range(TIMES):
        skills._telling.sinks.flush()  # noqa: SLF001 - what nobody waits for otherwise
        thread, clock = time.thread_time(), time.perf_counter()
        for id in ids:
            load(id)
        thread, clock = time.thread_time() - thread, time.perf_counter() - clock
        yield thread / len(ids), clock / len(ids)


def _more(with_: Sequence[float], without: Sequence[float]) -> Spread:
    return Spread.of((a - b) / b for a, b in zip(with_, without, strict=True))


def _percent(with_: Sequence[float], without: Sequence[float]) -> Spread:
    pairs = zip(with_, without, strict=True)
    return Spread.of(100 * (a - b) / b for a, b in pairs)
