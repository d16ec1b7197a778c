"""Run validators over faults and public packs: ``python -m benchmarks.faults --help``.

CORPUS is a gzipped file of JSON lines, as `benchmarks.corpus` reads it; without one
only the faults are tried. What is missing of the validators is installed first.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.faults import public
from benchmarks.faults.not_found import all_faults
from benchmarks.faults.outcomes import find
from benchmarks.faults.page import Measured, render
from benchmarks.faults.running import ALONE_TIMEOUT_S, library, run
from benchmarks.faults.subjects import SUBJECTS, unknown
from benchmarks.faults.tricky import GROUP, tricky_faults
from benchmarks.faults.validators import OURS, VALIDATORS, Validator
from benchmarks.measure import Spread, in_turn
from benchmarks.peers._install import CannotInstall
from tools.clients.environments import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.faults.fault import Fault, Pack
    from benchmarks.faults.page import Outcomes
    from benchmarks.faults.reports import Said

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "faults.md"


def main() -> None:
    """Measure, and print the page or write it."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("corpus", type=Path, nargs="?")
    parser.add_argument("--tricky", type=Path, help="the tricky packs, unless ours")
    parser.add_argument("--packs", type=int, default=500, help="how many are drawn")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--rounds", type=int, default=0, help="time it as often")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    measured = measure(options, prepare(VALIDATORS))
    text = render(measured, ALONE_TIMEOUT_S)
    if options.write:
        PAGE.write_text(text, "utf-8")
    else:
        print(text)


def prepare(validators: Sequence[Validator]) -> dict[Validator, str]:
    """Return those that can be had, with their versions; tell of the others."""
    versions: dict[Validator, str] = {}
    for validator in validators:
        try:
            versions[validator] = validator.prepare()
        except (CannotInstall, UnavailableError) as error:
            tell(f"{validator.name} is left out: {error}")
    return versions


def measure(options: argparse.Namespace, versions: Mapping[Validator, str]) -> Measured:
    """Return all that the page is made of."""
    faults = all_faults()
    if options.tricky:
        others = [fault for fault in faults if fault.group != GROUP]
        faults = (*tricky_faults(options.tricky), *others)
    names = {validator.name: version for validator, version in versions.items()}
    found = {each.name: find_all(each, faults) for each in versions}
    if options.corpus is None:
        return Measured(names, faults, found)
    packs = public.draw(options.corpus, options.seed, options.packs)
    said = {each.name: say(each, packs) for each in versions}
    kinds = public.kinds(
        {name: answers for name, answers in said.items() if name != OURS},
        said[OURS],
        SUBJECTS,
    )
    for peer, kind in unknown((kind.peer, kind.kind) for kind in kinds):
        tell(f"nobody has read this kind of {peer}: {kind}")
    return Measured(
        names,
        faults,
        found,
        len(packs),
        options.seed,
        kinds,
        speed(list(versions), packs, options.rounds) if options.rounds else None,
        options.rounds,
    )


def find_all(validator: Validator, faults: Sequence[Fault]) -> Outcomes:
    """Try one validator, and tell that it was."""
    tell(f"{validator.name}: {len(faults)} faults")
    return find(validator, faults)


def say(validator: Validator, packs: Sequence[Pack]) -> list[Said]:
    """Run one validator over public packs, and tell that it was."""
    tell(f"{validator.name}: {len(packs)} public packs")
    return public.say(validator, packs)


def speed(
    validators: Sequence[Validator], packs: Sequence[Pack], rounds: int
) -> dict[str, tuple[Spread, Spread]]:
    """Return seconds, and the ratio to ours, over the packs of one library."""
    group = [packs[index] for index in public.group_packs(packs)[0]]
    with library(group) as root:
        competitors = {each.name: partial(_seconds, each, root) for each in validators}
        for each in competitors.values():  # the first run of each fills caches
            each()
        figures = in_turn(competitors, rounds)
    return {
        name: (
            Spread.of(seconds),
            Spread.of(a / b for a, b in zip(seconds, figures[OURS], strict=True)),
        )
        for name, seconds in figures.items()
    }


def _seconds(validator: Validator, root: Path) -> float:
    start = time.perf_counter()
    run(validator, root, [root / "skills"], alone=False)
    return time.perf_counter() - start


def tell(text: str) -> None:
    """Say what is being done, next to the page."""
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    main()
