"""Measure how other loaders see packs: ``python -m tools.loaders``.

list                 the loaders, and what was last measured of each
install [KEY...]     make their environments, with the newest releases; --again: again
measure [KEY...]     run them over the packs of all properties, and write measured.json;
                     --missing: only what was not measured of this version;
                     --property P: that one (again), and what is missing
show KEY [PROPERTY]  what one finds of each property's packs, alone and next to others
agree CORPUS [KEY..] compare what is predicted with what they do on --count packs of a
                     library of public ones, drawn with --seed, those left out that
                     --without SEED:COUNT draws; --keep writes the figures for the page
repair [KEY...]      fix the lines that check --for names first; count what comes back
report [KEY...]      try loaders as `pytest --satchel-loader` does, and with --libraries
                     FOLDER on each library in it; write loader-findings.md
table                write docs/reference/truth-table.md
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from satchel.text import nearest
from tools.loaders.driver import UnavailableError
from tools.loaders.registered import DRIVERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tools.loaders.agreeing import Agreement
    from tools.loaders.driver import Driver

COUNT = 300


def main(arguments: list[str]) -> int:
    """Carry out one command; status 1 where a loader could not be run."""
    parser = argparse.ArgumentParser(
        "python -m tools.loaders",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = ["list", "install", "measure", "show", "agree", "repair", "report"]
    commands += ["table"]
    parser.add_argument("command", choices=commands)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--property", action="append", default=[])
    parser.add_argument("--without", action="append", default=[], type=_draw)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--libraries", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=COUNT)
    options = parser.parse_intermixed_args(arguments)
    try:
        return _carry_out(options)
    except LookupError as error:
        print(error.args[0], file=sys.stderr)
        return 2


def _carry_out(  # noqa: PLR0911 - one for each command
    options: argparse.Namespace,
) -> int:
    names: list[str] = options.names
    match options.command:
        case "install":
            return _each(chosen(names), lambda driver: _install(driver, options.again))
        case "measure":
            return _each(chosen(names), lambda driver: _measure(driver, options))
        case "show" if names:
            (driver,) = chosen(names[:1])
            return _show(driver, names[1:])
        case "agree" if names:
            return _agree(Path(names[0]), chosen(names[1:]), options)
        case "repair":
            return _repair(chosen(names))
        case "report":
            return _report(names, options.libraries)
        case "table":
            return _table()
        case "list":
            return _list()
        case _:
            raise LookupError(f"{options.command} wants a name; see --help")


def _draw(text: str) -> tuple[int, int]:
    seed, _, count = text.partition(":")
    return int(seed), int(count)


def chosen(keys: list[str]) -> list[Driver]:
    """Return the loaders of these keys; of none, all.

    Raises:
        LookupError: A key is no loader's; the message has close ones.
    """
    for key in keys:
        if key not in DRIVERS:
            close = ", ".join(nearest(key, [*DRIVERS], 3)) or ", ".join(DRIVERS)
            raise LookupError(f"no loader {key!r}; did you mean {close}?")
    return [DRIVERS[key] for key in keys] or [*DRIVERS.values()]


def _each(drivers: list[Driver], act: Callable[[Driver], str]) -> int:
    status = 0
    for driver in drivers:
        try:
            print(f"{driver.key}: {act(driver)}", flush=True)
        except UnavailableError as error:
            print(f"{driver.key}: NOT RUN: {error}", flush=True)
            status = 1
    return status


def _install(driver: Driver, again: bool) -> str:  # noqa: FBT001 - an option, passed on
    if again:
        from tools.loaders.drivers.peers import PeerDriver

        if isinstance(driver, PeerDriver):
            driver.remove()
    return driver.prepare()


def _measure(driver: Driver, options: argparse.Namespace) -> str:
    from collections import Counter

    from tools.loaders.measuring import measure, write

    entry = measure(driver, only_missing=options.missing, only=options.property)
    write({driver.key: entry})
    counts = Counter(entry.verdicts.values())
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    return f"{entry.version}: {said}"


def _show(driver: Driver, keys: list[str]) -> int:
    from satchel_lab.conformance._packs import PACKS
    from tools.loaders.looking import look

    rows = [(key, pack) for key in keys or PACKS for pack in PACKS[key]]
    packs = [pack for _, pack in rows]
    driver.prepare()
    alone = look(driver, packs, with_neighbours=False)
    with_neighbours = list(look(driver, packs, with_neighbours=True))
    for (key, _), one, two in zip(rows, alone, with_neighbours, strict=True):
        print(f"{key}\n  alone:  {one}\n  with neighbours: {two}")
    return 0


def _agree(corpus: Path, drivers: list[Driver], options: argparse.Namespace) -> int:
    from tools.loaders.agreeing import agree
    from tools.loaders.corpus import draw
    from tools.loaders.figures import Agreed, keep, tell

    packs = draw(corpus, options.seed, options.count, options.without)
    done: list[Agreement] = []
    for driver in drivers:
        try:
            result = agree(driver, packs)
        except UnavailableError as error:
            print(f"{driver.key}: NOT RUN: {error}", flush=True)
            continue
        done.append(result)
        print(*tell(result), sep="\n", flush=True)
    agreed = Agreed.of(options.seed, options.without, len(packs), done)
    print(agreed)
    if options.keep:
        print(f"wrote {keep(agreed)}")
    return int(not done)


def _repair(drivers: list[Driver]) -> int:
    from tools.loaders.repairing import repair

    status = 0
    for repaired in repair(drivers):
        print(repaired)
        status |= not repaired.is_kept
    return status


def _report(keys: list[str], libraries: Path | None) -> int:
    from tools.loaders.drivers.peers import PeerDriver
    from tools.loaders.reporting import report, write

    def tried(driver: Driver) -> str:
        if not isinstance(driver, PeerDriver):
            raise UnavailableError("it is no loader in Python")
        return report(driver, libraries)

    status = _each(chosen(keys) if keys else [], tried)
    print(f"wrote {write()}")
    return status


def _table() -> int:
    from tools.loaders.measuring import tidy
    from tools.loaders.table import write

    tidy()
    for path in write():
        print(f"wrote {path}")
    return 0


def _list() -> int:
    for line in _lines():
        print(line)
    return 0


def _lines() -> Iterator[str]:
    from satchel_lab.clients import read_measured

    known = read_measured().loaders
    for key, driver in DRIVERS.items():
        entry = known.get(key)
        last = f"{entry.version}, {entry.checked}" if entry else "not measured"
        yield f"{key:<26} {driver.kind:<10} {last:<24} {driver.source}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
