"""What skills add to each model call: Satchel's adapter, the framework's own feature.

A real agent of each framework with a model that answers at once holds the same two
conversations in each of its set-ups (`benchmarks.attached`), over the same 100 packs.
What a set-up adds is its time for each model call less that of the agent without
skills, each the least of many conversations held in turn in one process: what others do
on the machine can only add to a time. A round is one process of each framework.

The bars are on processor time, all threads together; wall times are shown next to it.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.library import write_plain
from benchmarks.measure import Bar, Spread, ratio, table
from benchmarks.peers._catalog import get_peer
from benchmarks.peers._process import _environment
from satchel.text import EstimateCounter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

PACKS: Final = 100
SECONDS: Final = 6.0
"""Of processor time, for each of the two conversations in each process."""
TIMEOUT_S: Final = 600.0
FRAMEWORKS: Final = {
    "agent_framework": "agent_framework",
    "deepagents": "deepagents",
    "google_adk": "google_adk",
    "agno": "agno",
    "pydantic_ai": "pydantic_ai_harness",
    "strands": "strands",
}
"""Each with the peer whose environment it takes."""
_OURS: Final = "satchel"
_FIRST: Final = ("made_s", "first_s")
_TALKS: Final = {"steps": "one turn of many steps", "turns": "many turns"}
_ROOT: Final = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Added:
    """What one set-up of a framework added in every round, over one without skills."""

    framework: str
    name: str
    lists: bool
    rounds: Sequence[dict[str, Any]]

    def seconds(self, talk: str, clock: str) -> list[float]:
        """Return seconds for each model call by round."""
        added: list[float] = []
        for found in self.rounds:
            mine = found[self.name]
            bare = found[mine["over"]]
            added.append(min(mine[talk][clock]) - min(bare[talk][clock]))
        return added

    def first(self, field: str) -> list[float]:
        """Return seconds of a time that is taken once in a process."""
        return [found[self.name][field] for found in self.rounds]

    def chars(self) -> tuple[int, int]:
        """Return characters that the prompt and the tools have more."""
        found = self.rounds[0]
        mine, bare = found[self.name], found[found[self.name]["over"]]
        system, tools = (len(mine[key]) - len(bare[key]) for key in ("system", "tools"))
        return system, tools

    def tokens(self) -> int:
        """Return the same in tokens, both together, as Satchel estimates them."""
        count = EstimateCounter().count
        found = self.rounds[0]
        mine, bare = found[self.name], found[found[self.name]["over"]]
        return sum(count(mine[key]) - count(bare[key]) for key in ("system", "tools"))


def run(rounds: int, names: Sequence[str]) -> list[Bar]:
    """Measure, print the tables, return the bars."""
    chosen = [name for name in FRAMEWORKS if name in names or not any(names)]
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in chosen}
    with tempfile.TemporaryDirectory(prefix="satchel-packs-") as home:
        folder = Path(home, "packs")
        write_plain(folder, PACKS)
        for _ in range(rounds):
            for name in chosen:
                found[name].append(_process(name, folder, home))
    added = [each for name in chosen for each in _added(name, found[name])]
    ours = {each.framework: each for each in added if each.name == _OURS}
    print(f"## What {PACKS} skills add to a model call\n")
    for clock, what in (("cpu", "Processor time"), ("wall", "Wall time")):
        print(f"{what}, microseconds for each model call:\n")
        print(_times(added, ours, clock))
    print("The time until an agent is made and its first model call has ended:\n")
    print(_firsts(added))
    print("What each model call is given more:\n")
    print(_sizes(added, ours))
    return [
        bar
        for each in added
        if each.name != _OURS and each.lists and each.framework in ours
        for bar in _bars(ours[each.framework], each)
    ]


def _bars(ours: Added, theirs: Added) -> Iterator[Bar]:
    about = f"{theirs.framework}: Satchel over {theirs.name}"
    for talk, said in _TALKS.items():
        yield Bar(f"{about}, time, {said}", 1, _over(ours, theirs, talk, "cpu"))
    tokens = ours.tokens() / theirs.tokens()
    yield Bar(f"{about}, tokens", 1, Spread.of([tokens]))


def _process(name: str, folder: Path, home: str) -> dict[str, Any]:
    """Return what one process of a framework measured; ``error`` where it did not."""
    peer = get_peer(FRAMEWORKS[name])
    if not peer.is_installed:
        command = f"python -m benchmarks.peers install {peer.name}"
        return {"error": f"not installed: {command}"}
    child = [str(peer.interpreter), "-m", "benchmarks.attached", name]
    done = subprocess.run(
        [*child, str(folder), str(SECONDS)],
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        cwd=home,
        env={**_environment(home), "PYTHONPATH": f"{_ROOT}:{_ROOT / 'src'}"},
    )
    if done.returncode:
        return {"error": done.stderr[-400:]}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _added(name: str, rounds: list[dict[str, Any]]) -> Iterator[Added]:
    for found in rounds:
        if isinstance(found.get("error"), str):
            print(f"{name}: {found['error']}\n")
            return
    for setup, said in rounds[0].items():
        if "error" in said:
            print(f"{name}, {setup}: {said['error']}\n")
        elif said["over"]:
            yield Added(name, setup, said["lists"], rounds)


def _over(ours: Added, theirs: Added, talk: str, clock: str) -> Spread:
    return ratio(ours.seconds(talk, clock), theirs.seconds(talk, clock))


def _times(added: Iterable[Added], ours: dict[str, Added], clock: str) -> str:
    head = ["framework", "skills by"]
    for about in _TALKS.values():
        head += [about, "Satchel over it"]
    rows: list[list[str]] = []
    for each in added:
        row = [each.framework, each.name]
        for talk in _TALKS:
            row.append(f"{Spread.of(1e6 * s for s in each.seconds(talk, clock)):.0f}")
            own = ours.get(each.framework, each)
            is_over = own is not each and each.lists
            row.append(f"{_over(own, each, talk, clock):.2f}" if is_over else "")
        rows.append(row)
    return table(head, rows)


def _firsts(added: Iterable[Added]) -> str:
    rows: list[list[str]] = []
    for each in added:
        spreads = (Spread.of(1e3 * s for s in each.first(f)) for f in _FIRST)
        times = [f"{spread:.0f}" for spread in spreads]
        rows.append([each.framework, each.name, *times])
    return table(("framework", "skills by", "made, ms", "first call, ms"), rows)


def _sizes(added: Iterable[Added], ours: dict[str, Added]) -> str:
    head = ["framework", "skills by", "prompt, characters", "tools, characters"]
    rows: list[list[str]] = []
    for each in added:
        prompt, tools = each.chars()
        own = ours.get(each.framework, each)
        is_over = own is not each and each.lists
        over = f"{own.tokens() / each.tokens():.2f}" if is_over else ""
        shown = [f"{prompt:,}", f"{tools:,}", f"{each.tokens():,}", over]
        rows.append([each.framework, each.name, *shown])
    return table([*head, "tokens, both", "Satchel over it"], rows)
