"""``satchel check`` over a library: every rule on every pack, on one core.

Each round is a process of its own, held to one core where the system can, with a warm
cache of files: the first round is not counted. The whole of the check is timed, from
the folder to the report, as the command does it; only the printing is not.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from benchmarks.measure import Bar, Spread, table

if TYPE_CHECKING:
    from benchmarks.library import Library

PROMISED: Final = 500
"""Packs a second, with the default rules."""
_CHECK: Final = """
import json, os, sys, time
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from satchel_lab.checking._check import check
start, busy = time.perf_counter(), time.process_time()
report = check([sys.argv[1]])
seconds, cpu = time.perf_counter() - start, time.process_time() - busy
print(json.dumps([report.packs, seconds, cpu, report.summary]))
"""


def run(library: Library, rounds: int) -> list[Bar]:
    """Measure, print the table, return the bar."""
    figures: list[tuple[float, float]] = []
    summary = ""
    for number in range(rounds + 1):
        packs, seconds, cpu, summary = _once(library)
        if number:
            figures.append((packs / seconds, packs / cpu))
    by_clock = Spread.of(each for each, _ in figures)
    by_cpu = Spread.of(each for _, each in figures)
    print(f"## Checking {library.packs:,} packs ({library.about}), on one core\n")
    print(
        table(
            ("", "packs a second"),
            (("by the clock", f"{by_clock:.0f}"), ("of its own CPU", f"{by_cpu:.0f}")),
        )
    )
    print(f"{summary}\n")
    return [Bar("packs checked a second of CPU", PROMISED, by_cpu, at_least=True)]


def _once(library: Library) -> tuple[int, float, float, str]:
    done = subprocess.run(
        [sys.executable, "-c", _CHECK, str(library.folder)],
        capture_output=True,
        check=True,
    )
    packs, seconds, cpu, summary = json.loads(done.stdout)
    return packs, seconds, cpu, summary
