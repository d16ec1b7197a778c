"""Set loaders next to each other on hostile packs: ``python -m benchmarks.hostile``.

Every pack of `satchel.testing.hostile_packs` is next to one good neighbour, in a
folder of its own; each loader discovers each folder in a process that is killed at the
deadline. Ours is run as anybody's is by ``python -m satchel_lab.hostile``; a peer
is imported once, and forked for each folder. What a fork could not answer is asked of
a fresh process before it counts. POSIX only.
"""

from __future__ import annotations

import argparse
import datetime as dt
import platform
import shutil
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.peers._catalog import Peer, choose
from benchmarks.peers._process import MEMORY_BYTES, run_peer
from benchmarks.peers._warm import WarmPeer
from satchel_lab.hostile import hostile_packs, run_loader
from satchel_lab.hostile.__main__ import SATCHEL_LOADER
from satchel_lab.hostile._pack import CannotMake, HostilePack
from satchel_lab.hostile._runner import LoaderOutcome, judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

TIMEOUT_S: Final = 10.0
# More than a second is a figure of its own: the bar that ours is held to.
SLOW_S: Final = 1.0

_MARKS: Final = {
    "crashed": "C",
    "hung": "H",
    "out-of-memory": "M",
    "answered": "L",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One loader's outcomes by pack; ``shows`` tells whether it gave a catalog."""

    name: str
    version: str
    outcomes: Mapping[str, LoaderOutcome]

    @property
    def shows(self) -> bool:
        """Whether its library's public API made a catalog anywhere."""
        return any(outcome.rendered for outcome in self.outcomes.values())

    def count(self, packs: Iterable[HostilePack], mark: str) -> int:
        """Return how many of these packs ended in that way."""
        return sum(_mark(self.outcomes[pack.name]) == mark for pack in packs)

    @property
    def leaky(self) -> int:
        """How many packs brought something into the catalog."""
        return sum(bool(outcome.leaks) for outcome in self.outcomes.values())

    @property
    def secrets(self) -> int:
        """How many packs brought in text from outside the library."""
        return sum("secret" in outcome.leaks for outcome in self.outcomes.values())

    @property
    def slow(self) -> int:
        """How many packs took more than a second and did not hang."""
        return sum(
            outcome.seconds > SLOW_S and outcome.end != "hung"
            for outcome in self.outcomes.values()
        )


def _mark(outcome: LoaderOutcome) -> str:
    """Return ``.`` where the good neighbour was served, else how it was not."""
    return "." if outcome.served else _MARKS[outcome.end]


def write_all(folder: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """Write every pack; return the library of each, and why some have none."""
    libraries: dict[str, Path] = {}
    unmade: dict[str, str] = {}
    for pack in hostile_packs():
        place = folder / pack.name
        place.mkdir()
        try:
            libraries[pack.name] = pack.make(place)
        except CannotMake as error:
            unmade[pack.name] = error.reason
    return libraries, unmade


def measure_ours(libraries: Mapping[str, Path]) -> Column:
    """Run Satchel as a loader, a fresh process for each library."""
    outcomes = {
        name: run_loader(SATCHEL_LOADER, path, timeout_s=TIMEOUT_S)
        for name, path in libraries.items()
    }
    return Column("satchel", version("satchel"), outcomes)


def measure(peer: Peer, libraries: Mapping[str, Path]) -> Column:
    """Run one peer over all libraries."""
    outcomes: dict[str, LoaderOutcome] = {}
    with WarmPeer(peer.name, TIMEOUT_S) as warm:
        for name, path in libraries.items():
            answer = warm.discover(path)
            if "found" not in answer:
                outcomes[name] = _ask_fresh(peer, path)
            else:
                outcomes[name] = _judge(answer)
        return Column(peer.name, warm.version, outcomes)


def _judge(answer: dict[str, Any]) -> LoaderOutcome:
    """Return a fork's outcome: what it found counts if a catalog came of it, too."""
    seconds = float(answer["seconds"])
    if not answer["whole"]:
        end = "hung" if answer["timed_out"] else "crashed"
        return LoaderOutcome(end, seconds=seconds, detail="while its catalog was made")  # type: ignore[arg-type]
    if answer.get("catalog_error") and not answer["error"]:
        answer = {**answer, "error": answer["catalog_error"], "found": {}}
    return judge(answer, seconds)


def _ask_fresh(peer: Peer, path: Path) -> LoaderOutcome:
    fresh = run_peer(peer.name, path, TIMEOUT_S)
    if fresh.timed_out:
        return LoaderOutcome("hung", seconds=fresh.seconds, detail=fresh.error or "")
    answer = {"found": dict(fresh.found), "error": fresh.error}
    return judge(answer, fresh.seconds)


def render(
    columns: Sequence[Column], packs: Sequence[HostilePack], unmade: Mapping[str, str]
) -> str:
    """Return the page."""
    made = [pack for pack in packs if pack.name not in unmade]
    ours = columns[0].outcomes.values()
    times = sorted(outcome.seconds for outcome in ours)
    parts = [
        _HEAD.format(
            packs=len(made),
            kinds=len({pack.kind for pack in made}),
            date=dt.datetime.now(tz=dt.UTC).date(),
            python=platform.python_version(),
            system=platform.system(),
            timeout=f"{TIMEOUT_S:g}",
            memory=MEMORY_BYTES >> 30,
            median=f"{times[len(times) // 2]:.2f}",
            worst=f"{times[-1]:.2f}",
            unmade="; ".join(f"`{name}` ({why})" for name, why in unmade.items()),
        ),
        _table(_summary(columns, made)),
        "## By kind\n\nHow often the good pack was still served.",
        _table(_by_kind(columns, made)),
        _LEGEND,
        _table(_by_pack(columns, made)),
    ]
    return "\n\n".join(parts) + "\n"


def _summary(
    columns: Sequence[Column], packs: Sequence[HostilePack]
) -> Iterator[Sequence[str]]:
    yield (
        *("loader", "version", f"served of {len(packs)}", "crashed", "hung"),
        *("out of memory", "lost it", "over 1 s", "leaky catalogs", "secrets"),
    )
    for column in columns:
        counts = [column.count(packs, mark) for mark in ".CHML"]
        leaky = str(column.leaky) if column.shows else "not asked"
        last = (str(column.slow), leaky, str(column.secrets))
        yield (column.name, column.version, *map(str, counts), *last)


def _by_kind(
    columns: Sequence[Column], packs: Sequence[HostilePack]
) -> Iterator[Sequence[str]]:
    yield "kind", "packs", *(column.name for column in columns)
    for kind in dict.fromkeys(pack.kind for pack in packs):
        mine = [pack for pack in packs if pack.kind == kind]
        served = (str(column.count(mine, ".")) for column in columns)
        yield kind, str(len(mine)), *served


def _by_pack(
    columns: Sequence[Column], packs: Sequence[HostilePack]
) -> Iterator[Sequence[str]]:
    yield "pack", "threat", "what it is", *(column.name for column in columns)
    for pack in packs:
        marks = (_mark(column.outcomes[pack.name]) for column in columns)
        yield f"`{pack.name}`", pack.threat, pack.what, *marks


def _table(rows: Iterable[Sequence[str]]) -> str:
    head, *rest = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [head, ["---"] * len(head), *rest]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


_HEAD: Final = """\
# Hostile packs

One bad pack must not cost you the good ones next to it. Here {packs} packs of {kinds}
kinds attack Satchel and other loaders. Each is in a folder of its own, next to one
good pack, `good-neighbour`. Each loader reads each folder in a process of its own,
with {timeout} s after its imports and {memory} GiB. It *serves* the good pack if it
finds it with its name and description, and can make its prompt, if it has a call for
that.

Satchel took {median} s for a folder in the median and {worst} s at most, for
discovery, the catalog in four formats and one load. [Try a loader on hostile
packs](../how-to/hostile-packs.md) runs the same packs on a loader of your own.
[Test a loader](../how-to/test-a-loader.md) adds the packs of the truth table, and
says what to fix.

Made by `python -m benchmarks.hostile` on {date}, on {system} with Python {python} (two
loaders want 3.12), not edited by hand. It needs the peers:
`python -m benchmarks.peers install`.

What this does not show:

- The packs do no harm: they have no exploit, no prompt injection, no script, no
  archive, and use no network.
- Each loader is called as its documentation loads a folder, with its defaults; another
  call or option may do better or worse. A program that gives each pack to its loader
  separately, and catches errors, loses less. `skills_ref` is called that way here,
  because it loads one pack at a time. `benchmarks/peers/` has the calls.
- The machine had two cores and other work to do. A loader that needed nearly
  {timeout} s here may be faster or slower elsewhere.
- `double-*` packs take the name of the good pack. Satchel runs with
  `Options(on_conflict="precedence")`. By default it lists neither, and an error names
  both folders: seven of these packs then cost it the good pack, and nothing else.
- Prompts are looked at only if the loader's public API makes one. "Leaky" counts packs
  that brought a control or hidden character, a line of their own, a tag or a secret
  into it; a program may clean the text afterwards.
- No pack is a SKILL.md in the library's own folder, which makes that folder one pack.
- Not made here: {unmade}.
- We wrote the packs, so we could prepare for them. For packs that nobody thought of,
  the parser is fuzzed."""

_LEGEND: Final = """\
## By pack

`.` found it · C crashed, or raised an error · H hung until it was killed · M out of
memory · L lost the good pack, or had another in its place. The threats are explained
in [hostile packs](../how-to/hostile-packs.md#threats)."""


def main() -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peers", nargs="*", help="all that are installed, unless named")
    parser.add_argument("--output", type=Path, help="a file; else standard output")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="satchel-hostile-"))
    try:
        libraries, unmade = write_all(folder)
        columns = [measure_ours(libraries)]
        for peer in choose(options.peers):
            if peer.is_installed and not peer.is_ours:
                columns.append(measure(peer, libraries))
                print(f"{peer.name} is through", file=sys.stderr)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    columns[1:] = sorted(columns[1:], key=_least_lost)
    page = render(columns, list(hostile_packs()), unmade)
    if options.output:
        options.output.write_text(page, "utf-8")
    else:
        print(page, end="")
    return 0


def _least_lost(column: Column) -> tuple[int, str]:
    lost = sum(not outcome.served for outcome in column.outcomes.values())
    return lost, column.name


if __name__ == "__main__":
    sys.exit(main())
