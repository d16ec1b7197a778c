"""Measure, and print Markdown: ``python -m benchmarks [what ...]``."""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import yaml

from benchmarks import (
    adapters,
    busy,
    discovery,
    evals,
    good_packs,
    index,
    linting,
    loading,
    memory,
    rendering,
    role_packs,
    startup,
    tokens,
    usage,
    wording,
)
from benchmarks.library import PACKS, open_library
from benchmarks.measure import BAR_HEAD, table
from benchmarks.peers._catalog import choose

if TYPE_CHECKING:
    from benchmarks.library import Library
    from benchmarks.measure import Bar

WHAT: Final = (
    *("discovery", "rendering", "loading", "memory", "startup", "adapters"),
    *("usage", "index", "linting", "evals", "good_packs", "busy", "packs", "tokens"),
)
ON_THEIR_OWN: Final = {"good_packs", "busy", "packs", "tokens"}
"""These have tables of their own, and are run only where they are asked for."""
OWN_PACKS: Final = {"startup", "adapters"}
"""These make packs of their own, and take nothing of a corpus."""
ROUNDS: Final = 5


def main() -> None:
    """Run what was asked for, then print every bar."""
    if sys.argv[1:2] == ["wording"]:  # it has options of its own
        sys.exit(wording.main(sys.argv[2:]))
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("what", nargs="*", choices=("all", *WHAT), default="all")
    parser.add_argument(
        "--corpus",
        type=Path,
        help="gzipped JSON lines with id, dir and text; else synthetic packs",
    )
    parser.add_argument(
        "--libraries",
        type=Path,
        help="of good_packs and tokens: the folder of public libraries",
    )
    parser.add_argument("--show", default="", help="of good_packs: a code to read")
    parser.add_argument("--write", action="store_true", help="of good_packs: its page")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument(
        "--packs",
        type=int,
        help="so many: fewer of the corpus, or its texts again under other names",
    )
    parser.add_argument("--peers", help="a,b,c or none; else all that are installed")
    parser.add_argument("--frameworks", default="", help="a,b,c; else all")
    options = parser.parse_args()
    # Each table as soon as it is there, also into a file.
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    asked = {options.what} if isinstance(options.what, str) else set(options.what)
    if "good_packs" in asked:  # a table of its own, of other packs
        if options.libraries is None:
            parser.error("good_packs wants --libraries")
        good_packs.run(options.libraries, show=options.show, write=options.write)
        return
    if "tokens" in asked:
        names = [name for name in options.frameworks.split(",") if name]
        try:
            promised = tokens.run(options.libraries, names or [*tokens.FRAMEWORKS])
        except ValueError as error:
            parser.error(str(error))
        print(table(BAR_HEAD, (bar.row() for bar in promised)))
        return
    if "packs" in asked:
        sys.exit(not role_packs.run())
    if "busy" in asked:
        with open_library(options.corpus, options.packs) as library:
            sys.exit(not busy.run(library.folder, library.packs))
    wanted = [n for n in WHAT if n not in ON_THEIR_OWN and asked & {"all", n}]
    print(
        f"Python {platform.python_version()}, PyYAML {yaml.__version__}, "
        f"{platform.system()}. {options.rounds} rounds: median (least to greatest); "
        "ratios are taken round by round.\n"
    )
    if options.corpus is None and not OWN_PACKS.issuperset(wanted):
        print(f"No corpus was given: {PACKS:,} synthetic packs stand in for one.\n")
    bars: list[Bar] = []
    with open_library(options.corpus, options.packs) as library:
        for name in wanted:
            bars += _run(name, library, options)
    print("## Bars\n")
    print(table(BAR_HEAD, (bar.row() for bar in bars)))


def _run(  # noqa: PLR0911 - one for each thing to measure
    name: str, library: Library, options: argparse.Namespace
) -> list[Bar]:
    match name:
        case "discovery":
            names = (options.peers or "").split(",") if options.peers else []
            peers = [
                peer
                for peer in (choose(names) if names != ["none"] else ())
                if peer.is_installed and not peer.is_ours
            ]
            return discovery.run(library, options.rounds, peers)
        case "rendering":
            return rendering.run(library, options.rounds)
        case "loading":
            return loading.run(library, options.rounds)
        case "memory":
            return memory.run(library)
        case "linting":
            return linting.run(library, options.rounds)
        case "evals":
            return evals.run(library, options.rounds)
        case "index":
            return index.run(library, options.rounds)
        case "usage":
            return usage.run(library, options.rounds)
        case "adapters":
            return adapters.run(options.rounds, options.frameworks.split(","))
        case _:
            return startup.run(options.rounds)


if __name__ == "__main__":
    main()
