"""Set loaders next to each other on 22 tricky packs: ``python -m benchmarks.tricky``.

FOLDER holds one folder for each case of `CASES`, as `benchmarks.tricky_packs`
writes them, with the case's pack inside. Each peer discovers every case by itself, then
all of them in one library; the table is Markdown. A case is

- OK: found under the right name with the right description;
- cut: the description is a beginning of the right one;
- e: found with an empty or wrong description;
- d: dropped, without an exception;
- R: the loader raised.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.peers._catalog import Peer, choose
from benchmarks.peers._process import Outcome, run_peer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TIMEOUT_S: Final = 60.0
# Descriptions that agree so far are the same one, cut.
LIKENESS_CHARS: Final = 100
# The pack whose survival in the common library is asked for.
GOOD: Final = "01-plain"


@dataclass(frozen=True, slots=True)
class Case:
    """What a case is about, and what is right.

    ``names`` are the names that are right, in no order. An empty description means
    that there is none to find: dropped or raised is what it should be.
    """

    about: str
    names: tuple[str, ...]
    description: str


CASES: Final[Mapping[str, Case]] = {
    "01-plain": Case("plain", ("ok-skill",), "A plain skill"),
    "02-colon": Case(
        "unquoted `Use when: x`", ("colon-skill",), "Use when: the user asks"
    ),
    "03-block": Case("block scalar", ("block-skill",), "Folded first second line"),
    "04-bom": Case("UTF-8 BOM", ("bom-skill",), "with bom"),
    "05-crlf": Case("CRLF", ("crlf-skill",), "crlf"),
    "06-noname": Case("no `name`", ("noname-skill",), "no name"),
    "07-mismatch": Case("name is not dir", ("other-name", "dir-name"), "mismatch"),
    "08-underscore": Case("snake_case", ("snake_skill", "snake-skill"), "snake"),
    "09-upper": Case("UpperCase", ("UpperSkill", "upperskill"), "upper"),
    "10-longdesc": Case("description of 1,500", ("long-skill",), "x" * 1500),
    "11-extra": Case("extra keys", ("extra-skill",), "extra"),
    "12-metaint": Case("metadata: 1.0, a list", ("meta-skill",), "meta"),
    "13-toolslist": Case("allowed-tools as list", ("tl-skill",), "tl"),
    "14-lower": Case("`skill.md`", ("lower-skill",), "lower"),
    "15-nonl": Case("no newline after `---`", ("nonl-skill",), "nonl"),
    "16-latin1": Case("Latin-1 bytes", ("latin-skill",), "caf\xe9"),
    "17-nested": Case("nested group/skill", ("nested-skill",), "nested"),
    "18-symlink": Case("symlinked directory", ("linked-skill",), "linked"),
    "19-unicode": Case("name not ASCII", ("r\xe9sum\xe9",), "unicode name"),
    "20-nodesc": Case("no description", ("nodesc-skill",), ""),
    "21-quotedcolon": Case("quoted colon", ("qc-skill",), "quoted: ok"),
    "22-tab": Case("tab in YAML", ("tab-skill",), "tab"),
}


@dataclass(frozen=True, slots=True)
class Column:
    """One peer's results: by case, and of the common library."""

    peer: str
    version: str
    marks: Mapping[str, str]
    survives: str
    together: str

    @property
    def right(self) -> int:
        """How many cases were loaded with the right values."""
        return sum(mark == "OK" for mark in self.marks.values())


def measure(peer: Peer, folder: Path, together: Path) -> Column:
    """Run one peer over the cases, and over the library of all of them."""
    single = run_peer(peer.name, folder, TIMEOUT_S, form="each")
    common = run_peer(peer.name, together, TIMEOUT_S)
    good = any(_is_right(CASES[GOOD], pair) for pair in common.found.items())
    loaded = sum(
        any(_is_right(case, pair) for pair in common.found.items())
        for case in CASES.values()
    )
    return Column(
        peer.name,
        single.version or "?",
        {name: _mark(name, single) for name in CASES},
        "yes" if good else "**NO**",
        f"{loaded}, {_raised(common)}" if common.error else str(loaded),
    )


def _mark(name: str, outcome: Outcome) -> str:
    if outcome.timed_out:
        return "hang"
    if outcome.error is not None:
        return "?"  # the whole run failed, not this case
    case = CASES[name]
    mine = [
        (found.partition("/")[2], description)
        for found, description in outcome.found.items()
        if found.startswith(f"{name}/")
    ]
    if any(_is_right(case, pair) for pair in mine):
        return "OK"
    if any(_is_cut(case.description, description) for _, description in mine):
        return "cut"
    if mine:
        return "e"
    return "R" if name in outcome.failures else "d"


def _is_right(case: Case, pair: tuple[str, str]) -> bool:
    name, description = pair
    right = case.description and description.strip() == case.description
    return bool(right) and name in case.names


def _is_cut(whole: str, description: str) -> bool:
    """Whether it begins as it should; some put a notice where they cut."""
    start = description[:LIKENESS_CHARS].rstrip().removesuffix("...")
    return bool(start) and whole.startswith(start)


def _raised(outcome: Outcome) -> str:
    return (outcome.error or "").partition(":")[0]


def write_together(folder: Path, library: Path) -> None:
    """Put the packs of all cases side by side into ``library``; links stay links."""
    for name in CASES:
        for pack in sorted((folder / name).iterdir()):
            if pack.is_symlink():
                (library / pack.name).symlink_to(pack.resolve())
            else:
                shutil.copytree(pack, library / pack.name)


def render(columns: Iterable[Column]) -> str:
    """Return the table, a row a case and a column a peer."""
    columns = list(columns)
    rows = [
        ["case", *(f"{column.peer} {column.version}" for column in columns)],
        ["---"] * (len(columns) + 1),
    ]
    rows += [
        [case.about, *(column.marks[name] for column in columns)]
        for name, case in CASES.items()
    ]
    rows += [
        ["right of 22", *(str(column.right) for column in columns)],
        ["all in one library: right", *(column.together for column in columns)],
        ["there, the plain one survives", *(column.survives for column in columns)],
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("peers", nargs="*", help="all that are installed, unless named")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="satchel-tricky-") as library:
        write_together(options.folder, Path(library))
        columns = [
            measure(peer, options.folder, Path(library))
            for peer in choose(options.peers)
            if peer.is_installed
        ]
    print(render(columns))


if __name__ == "__main__":
    main()
