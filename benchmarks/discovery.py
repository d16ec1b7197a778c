"""Cold discovery of a whole library: ours, the floor, and the peers.

Every round starts a process for each of them, which imports its library and then
discovers the folder `TIMES` times. The first time is the cold one: nothing of the
loader's own is kept from before, while the system's file cache is warm for all. The
best of the times is shown too: many libraries import a part of themselves at the first
call. Ours does with digests, findings and conflicts what `Satchel(folder)` does.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from benchmarks.measure import Bar, Spread, ratio, table
from benchmarks.peers._catalog import Peer, get_peer
from benchmarks.peers._process import run_peer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.library import Library

TIMES: Final = 3
# A peer that took this long is not asked again in the same process.
ENOUGH_S: Final = 8.0
DEADLINE_S: Final = 900.0
OURS: Final = "satchel"
FLOOR: Final = "floor"


@dataclass(slots=True)
class Contender:
    """One of those compared, with the seconds of each round."""

    name: str
    version: str = ""
    parses_yaml: bool = True
    packs: int = 0
    error: str | None = None
    first: list[float] = field(default_factory=list)
    best: list[float] = field(default_factory=list)

    def took(self, seconds: Sequence[float]) -> None:
        """Note one round."""
        self.first.append(seconds[0])
        self.best.append(min(seconds))


def run(library: Library, rounds: int, peers: Sequence[Peer]) -> list[Bar]:
    """Measure, print the table, return the bars."""
    ours, floor = Contender(OURS), Contender(FLOOR)
    others = [Contender(peer.name, parses_yaml=peer.parses_yaml) for peer in peers]
    print(f"## Discovery of {library.packs:,} {library.about}\n")
    for number in range(rounds):
        everybody = [floor, ours, *others]
        for each in reversed(everybody) if number % 2 else everybody:
            _take_round(each, str(library.folder))
    _print_ours(str(library.folder))
    done = [each for each in others if each.error is None]
    shown = [floor, ours, *sorted(done, key=lambda each: sorted(each.first))]
    print(table(_HEAD, (_row(each, ours) for each in shown)))
    for each in others:
        if each.error is not None:
            print(f"{each.name}: no result, {each.error}")
    return _bars(ours, floor, done)


def _take_round(each: Contender, folder: str) -> None:
    if each.name == FLOOR:
        command = [sys.executable, "-m", "benchmarks.floor", folder]
        done = subprocess.run(
            [*command, "--times", str(TIMES)], check=True, capture_output=True
        )
        said = json.loads(done.stdout)
        each.packs = said["packs"]
        each.took(said["seconds"])
    elif each.error is None:
        outcome = run_peer(
            each.name,
            folder,
            DEADLINE_S,
            rounds=TIMES,
            enough_s=ENOUGH_S,
            form=get_peer(each.name).large_form,
            memory_bytes=None,
        )
        each.version = outcome.version or ""
        each.packs = len(outcome.found)
        each.error = outcome.error
        if each.name == OURS and outcome.error is not None:
            raise SystemExit(f"ours failed: {outcome.error}")
        if outcome.error is None:
            each.took(outcome.rounds)


def _print_ours(folder: str) -> None:
    """Say what ours found, so that its row cannot be read as less work than it is."""
    from satchel import Satchel

    skills = Satchel(folder, budget_tokens=None)
    latest = skills.registry.latest
    claimed = sum(len(conflict.owners) for conflict in latest.conflicts)
    refused = sum(held.reason == "refused" for held in latest.excluded)
    print(
        f"Ours lists {len(latest.entries):,} ids, holds back {len(latest.excluded):,} "
        f"packs ({refused:,} of them refused), and reports {len(latest.conflicts):,} "
        f"ids that {claimed:,} packs claim, with {len(latest.findings):,} findings.\n"
    )


_HEAD: Final = (
    *("", "version", "parses YAML", "packs", "first time, s", "best time, s"),
    *("first, over ours", "best, over ours"),
)


def _row(each: Contender, ours: Contender) -> tuple[str, ...]:
    return (
        each.name,
        each.version,
        "yes" if each.parses_yaml else "**no**",
        f"{each.packs:,}",
        f"{Spread.of(each.first):.2f}",
        f"{Spread.of(each.best):.2f}",
        f"{ratio(each.first, ours.first):.2f}",
        f"{ratio(each.best, ours.best):.2f}",
    )


def _bars(ours: Contender, floor: Contender, others: list[Contender]) -> list[Bar]:
    bars = [
        Bar("discovery, over the floor, first", 2, ratio(ours.first, floor.first)),
        Bar("discovery, over the floor, best", 2, ratio(ours.best, floor.best)),
    ]
    parsing = [each for each in others if each.parses_yaml]
    for about, group in (("any peer", others), ("a peer that parses YAML", parsing)):
        for which in ("first", "best") if group else ():
            mine: list[float] = getattr(ours, which)
            ratios = [(ratio(getattr(each, which), mine), each.name) for each in group]
            fastest, name = min(ratios, key=lambda pair: pair[0].median)
            what = f"the fastest of {about} ({name}), over ours, {which}"
            bars.append(Bar(what, 2.5, fastest, at_least=True))
    return bars
