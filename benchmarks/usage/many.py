"""Many processes that write into one SQLite file at once, and come to their end.

Each loads skills as fast as it can and ends without a call of `close`. Then the file
has to hold every event once, and the report the exact figures.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from benchmarks.measure import Bar, Spread, table

PROCESSES: Final = 8
EVENTS: Final = 200_000
SKILLS: Final = 5
TIMEOUT_S: Final = 600.0

SCRIPT: Final = """
import sys
from satchel import Satchel, Skill
from satchel.usage import open_sink

url, count = sys.argv[1], int(sys.argv[2])
made = [Skill(f"skill-{n}", instructions="Do.", description="d") for n in range(5)]
skills = Satchel(*made, sinks=[open_sink(url)])
sys.stdin.readline()
for number in range(count):
    skills.load(f"skill-{number % 5}")
"""


def run() -> list[Bar]:
    """Run the processes, print what became of their events, return the bar."""
    from satchel_server.usage import read_report

    each = EVENTS // PROCESSES
    with tempfile.TemporaryDirectory() as home:
        file = Path(home, "usage.db")
        children = [
            subprocess.Popen(
                [sys.executable, "-c", SCRIPT, f"sqlite://{file}", str(each)],
                stdin=subprocess.PIPE,
            )
            for _ in range(PROCESSES)
        ]
        start = time.perf_counter()
        for child in children:
            assert child.stdin is not None  # noqa: S101 - it was asked for
            child.stdin.write(b"\n")
            child.stdin.flush()
        ends = [child.wait(TIMEOUT_S) for child in children]
        seconds = time.perf_counter() - start
        report = read_report(str(file), now=time.time())
        size = file.stat().st_size
    counts = {use.name: use.loads for use in report.skills}
    exact = counts == {f"skill-{n}": EVENTS // SKILLS for n in range(SKILLS)}
    closed = PROCESSES - len(report.unclosed) - len(report.at_work)
    print(f"## {PROCESSES} processes, {EVENTS:,} events, one SQLite file\n")
    print(
        table(
            ("", ""),
            (
                ("events on record", f"{report.loads:,}"),
                ("dropped", f"{report.dropped:,}"),
                ("exact by skill", "yes" if exact else "**no**"),
                ("writers that closed", f"{closed} of {PROCESSES}"),
                ("processes that failed", str(sum(map(bool, ends)))),
                ("seconds, all in all", f"{seconds:.1f}"),
                ("bytes an event", f"{size / EVENTS:.0f}"),
            ),
        )
    )
    wrong = abs(EVENTS - report.loads) + report.dropped + (not exact)
    what = f"events lost or stored twice, of {EVENTS:,}"
    return [Bar(what, 0, Spread.of([float(wrong)]))]
