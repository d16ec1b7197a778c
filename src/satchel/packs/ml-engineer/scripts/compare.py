#!/usr/bin/env python3
"""Say whether model B is better than model A on the same items, or whether it is noise.

    compare.py scores.csv                  columns: unit, a, b
    compare.py scores.csv --worthwhile 0.02
    compare.py - --lower-is-better         a loss or an error, from standard input

A row is an item with the score that each model got for it. `unit` is what was sampled
independently (a user, a document): rows of one unit are drawn together. Prints both
means, the mean difference and its 95 % interval by a paired bootstrap over units.
"""

from __future__ import annotations

import argparse
import csv
import math
import random
import sys
from collections import defaultdict
from typing import TextIO

EPILOG = """exit status: 0 B is better, 1 no difference was shown or B is worse,
2 not readable"""
LEAST_UNITS = 10


class BadInput(Exception):
    pass


def read_rows(file: TextIO) -> dict[str, list[tuple[float, float]]]:
    """Return the two scores of each row, by unit."""
    rows = csv.DictReader(file)
    if missing := {"unit", "a", "b"} - set(rows.fieldnames or ()):
        raise BadInput(f"no column {', '.join(sorted(missing))} in the first line")
    units: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        try:
            pair = float(row["a"]), float(row["b"])
        except (TypeError, ValueError):
            raise BadInput(
                f"line {rows.line_num}: a and b have to be numbers"
            ) from None
        if not all(map(math.isfinite, pair)):
            raise BadInput(f"line {rows.line_num}: a and b have to be finite")
        units[row["unit"]].append(pair)
    if len(units) < LEAST_UNITS:
        raise BadInput(f"units: {len(units)}; an interval needs {LEAST_UNITS} or more")
    return units


def bootstrap(
    units: dict[str, list[tuple[float, float]]], rounds: int, seed: int
) -> tuple[float, float]:
    """Return the 95 % interval of the mean difference, b - a."""
    # A unit counts by its items, so that the mean is the one that is reported.
    sums = [(sum(b - a for a, b in pairs), len(pairs)) for pairs in units.values()]
    chance = random.Random(seed)
    means = []
    for _ in range(rounds):
        drawn = chance.choices(sums, k=len(sums))
        means.append(sum(total for total, _ in drawn) / sum(n for _, n in drawn))
    means.sort()
    return means[int(0.025 * rounds)], means[min(int(0.975 * rounds), rounds - 1)]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", help="CSV with a first line; - is standard input")
    parser.add_argument("--lower-is-better", action="store_true")
    parser.add_argument(
        "--worthwhile", type=float, default=0.0, help="least gain worth shipping"
    )
    parser.add_argument("--rounds", type=int, default=2_000, help="default: 2000")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    options = parser.parse_args()
    if options.rounds < 100:
        parser.error("--rounds is at least 100")
    try:
        if options.file == "-":
            units = read_rows(sys.stdin)
        else:
            with open(options.file, encoding="utf-8", newline="") as file:
                units = read_rows(file)
    except (BadInput, OSError, UnicodeDecodeError, csv.Error) as error:
        print(f"compare.py: {options.file}: {error}", file=sys.stderr)
        return 2
    pairs = [pair for some in units.values() for pair in some]
    mean_a = sum(a for a, _ in pairs) / len(pairs)
    mean_b = sum(b for _, b in pairs) / len(pairs)
    low, high = bootstrap(units, options.rounds, options.seed)
    print(f"{len(pairs)} items, {len(units)} units")
    print(f"A {mean_a:.4f}, B {mean_b:.4f}")
    print(f"B - A {mean_b - mean_a:+.4f}, 95 % interval {low:+.4f} to {high:+.4f}")
    if options.lower_is_better:
        low, high = -high, -low
    if low <= 0 <= high:
        print("no difference was shown")
        return 1
    if high < 0:
        print("B is worse")
        return 1
    enough = low >= options.worthwhile
    print(
        "B is better"
        if enough
        else f"B is better, but maybe by less than {options.worthwhile:g}"
    )
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
