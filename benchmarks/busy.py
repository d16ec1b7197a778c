"""Whether a busy machine costs a library its skills: the same packs, ten processes.

Three loops keep the processors busy; then fresh processes, one after another, open the
folder as a program does. Each has to have every pack, and no source may be given up.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.measure import table

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

__all__ = ["run"]

LOOPS: Final = 3
PROCESSES: Final = 10
HEAD: Final = ("process", "packs", "listed", "in conflict", "error", "seconds")

_LOOP: Final = "while True: pass"
_OPEN: Final = """\
import json, sys, time
from satchel import Satchel
start = time.monotonic()
skills = Satchel(sys.argv[1], sinks=())
state, = skills.catalog.sources
print(json.dumps([state.packs, len(skills.catalog), len(skills.conflicts), state.error,
                  time.monotonic() - start]))
"""


class Opened(NamedTuple):
    """What one process had once the library was open."""

    packs: int
    listed: int
    conflicts: int
    error: str
    seconds: float


def run(folder: Path, packs: int) -> bool:
    """Print a line for each process; return whether all of them had every pack."""
    print(f"{LOOPS} busy loops, {PROCESSES} processes, {packs:,} packs.\n")
    opened: list[Opened] = []
    with _busy():
        for _ in range(PROCESSES):
            opened.append(_open(folder))
            print(f"- {opened[-1]}", flush=True)
    full = [each for each in opened if each.packs == packs and not each.error]
    same = len({each.listed for each in opened}) == 1
    rows = (
        [
            str(number),
            f"{each.packs:,}",
            f"{each.listed:,}",
            f"{each.conflicts:,}",
            each.error or "-",
            f"{each.seconds:.1f}",
        ]
        for number, each in enumerate(opened, 1)
    )
    print(f"\n{table(HEAD, rows)}\n\n{len(full)} of {PROCESSES} are full libraries")
    return len(full) == PROCESSES and same


@contextmanager
def _busy() -> Generator[None]:
    loops = [subprocess.Popen([sys.executable, "-c", _LOOP]) for _ in range(LOOPS)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def _open(folder: Path) -> Opened:
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _OPEN, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        return Opened(0, 0, 0, f"status {done.returncode}", time.monotonic() - start)
    return Opened(*json.loads(done.stdout))
