"""`load()` of one SKILL.md, next to a confined open, read, SHA-256 and decode of it.

Cold is a load without a turn: every byte is read, checked and decoded. Warm is the
second load of a turn, which is answered from what the turn has read. The system's file
cache is warm for both.
"""

from __future__ import annotations

import hashlib
import os
import time
from typing import TYPE_CHECKING, Final, TypeVar

from benchmarks.floor import open_root, read_confined
from benchmarks.measure import Bar, Spread, in_turn, ratio, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.library import Library

_Argument = TypeVar("_Argument")

LOADS: Final = 200
TIMES: Final = 5
"""A round is the best of so many passes over all the skills."""


def run(library: Library, rounds: int) -> list[Bar]:
    """Measure, print the table, return the bars."""
    from satchel import Satchel
    from satchel.load import TurnCache

    skills = Satchel(library.folder)
    # The front door as it is used: the ids of a catalog without a conflict.
    entries = skills.catalog.entries
    chosen = entries[:: max(1, len(entries) // LOADS)][:LOADS]
    ids = [entry.id for entry in chosen]
    root = str(library.folder)
    parts = [[*entry.origin.key.split("/"), "SKILL.md"] for entry in chosen]
    turn = TurnCache()
    for id in ids:
        skills.load(id, turn=turn)

    def plain(path: list[str]) -> object:
        folder = open_root(root)
        try:
            data = read_confined(folder, path)
        finally:
            os.close(folder)
        return hashlib.sha256(data).hexdigest(), data.decode("utf-8", "replace")

    figures = in_turn(
        {
            "open, read, SHA-256, decode": _timed(plain, parts),
            "load, cold": _timed(skills.load, ids),
            "load, warm": _timed(lambda id: skills.load(id, turn=turn), ids),
        },
        rounds,
    )
    base, cold, warm = figures.values()
    size = sum(entry.size for entry in chosen) / len(chosen)
    print(f"## Loading {len(ids)} skills, {size:,.0f} bytes on average\n")
    print(
        table(
            ("", "microseconds each", "over open, read, SHA-256, decode"),
            (
                (
                    name,
                    f"{Spread.of(1e6 * each for each in seconds):.1f}",
                    f"{ratio(seconds, base):.2f}",
                )
                for name, seconds in figures.items()
            ),
        )
    )
    return [
        Bar("cold load, over open, read, SHA-256, decode", 2.5, ratio(cold, base)),
        Bar("warm load, over a cold one", 0.1, ratio(warm, cold)),
    ]


def _timed(
    call: Callable[[_Argument], object], arguments: Sequence[_Argument]
) -> Callable[[], float]:
    def best() -> float:
        seconds: list[float] = []
        for _ in range(TIMES):
            start = time.perf_counter()
            for argument in arguments:
                call(argument)
            seconds.append(time.perf_counter() - start)
        return min(seconds) / len(arguments)

    return best
