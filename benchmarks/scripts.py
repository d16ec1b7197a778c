"""What a start in a sandbox costs: ``python -m benchmarks.scripts``, on Linux.

Processor time of all processes that a run starts, and of this one: it makes itself the
parent of what loses its own, so that the kernel counts those, too.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.measure import BAR_HEAD, Bar, Spread, in_turn, table
from satchel.model import Job
from satchel_scripts import Sandbox, Subprocess

if TYPE_CHECKING:
    from collections.abc import Callable

    from satchel.protocols import Runner

ROUNDS: Final = 15
PACK_BYTES: Final = 1 << 20
MOST_MS: Final = 60.0
_PR_SET_CHILD_SUBREAPER: Final = 36


def run(rounds: int) -> list[Bar]:
    """Measure, print the table, return the bars."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(prefix="satchel-scripts-") as home:
        script = Path(home, "run.py")
        script.write_text("print(1)\n", "utf-8")
        Path(home, "data.bin").write_bytes(os.urandom(PACK_BYTES))
        runners: dict[str, Runner] = {"Subprocess": Subprocess()}
        for kind in ("bubblewrap", "landlock"):
            sandbox = Sandbox(kind=kind)
            if sandbox.reason:
                print(f"{kind}: {sandbox.reason}\n")
            else:
                runners[kind] = sandbox
        walls: dict[str, list[float]] = {}
        plain = _timed("python -I", walls, lambda: _plain(script))
        figures = in_turn(
            {
                "python -I": plain,
                **{
                    name: _timed(name, walls, lambda run=runner: _run(run, home))
                    for name, runner in runners.items()
                },
            },
            rounds,
        )
    print("## A start of a script, in a pack of 1 MB\n")
    rows = [
        (
            name,
            f"{Spread.of(seconds):.0f}",
            f"{_over(seconds, figures['python -I']):.0f}",
            f"{Spread.of(walls[name]):.0f}",
        )
        for name, seconds in figures.items()
    ]
    print(table(("", "ms of processor time", "over `python -I`", "ms"), rows))
    if "bubblewrap" not in figures:
        return []
    over = _over(figures["bubblewrap"], figures["python -I"])
    return [Bar("ms of bubblewrap over `python -I`", MOST_MS, over)]


def _over(some: list[float], base: list[float]) -> Spread:
    return Spread.of(one - other for one, other in zip(some, base, strict=True))


def _plain(script: Path) -> None:
    subprocess.run([sys.executable, "-I", script], check=True, capture_output=True)


def _run(runner: Runner, pack: str) -> None:
    outcome = runner.run(Job(skill="s", digest="", path="run.py", pack=pack))
    if not outcome.is_ok:
        raise SystemExit(f"{outcome}")


def _timed(
    name: str, walls: dict[str, list[float]], act: Callable[[], None]
) -> Callable[[], float]:
    act()

    def measure() -> float:
        before, began = _processor_ms(), time.perf_counter()
        act()
        walls.setdefault(name, []).append(1000 * (time.perf_counter() - began))
        with suppress(ChildProcessError):
            while True:
                os.wait()
        return _processor_ms() - before

    return measure


def _processor_ms() -> float:
    """Return the processor time of this process and of all that have ended below it."""
    return 1000 * sum(
        used.ru_utime + used.ru_stime
        for used in map(
            resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
    )


if __name__ == "__main__":
    print(table(BAR_HEAD, (bar.row() for bar in run(ROUNDS))))
