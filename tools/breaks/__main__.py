"""Draw breaks, map the tests, try the breaks: see `tools.breaks`."""

from __future__ import annotations

import argparse

from tools.breaks import drawing
from tools.breaks.trying import is_noticed, map_tests

SEED = 10
COUNT = 60


def main() -> None:
    """Do one of the three."""
    parser = argparse.ArgumentParser(prog="tools.breaks", description=__doc__)
    parser.add_argument("what", choices=("draw", "map", "try"))
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of breaks to try")
    options = parser.parse_args()
    if options.what == "draw":
        drawing.write(drawing.draw(options.seed, options.count))
    elif options.what == "map":
        map_tests()
    else:
        _try(options.only)


def _try(only: list[int] | None) -> None:
    green = tried = 0
    for number, one in enumerate(drawing.read(), 1):
        if only and number not in only:
            continue
        try:
            noticed = is_noticed(one)
        except LookupError as error:
            print(f"{number:3} gone   {error}", flush=True)
            continue
        tried += 1
        green += not noticed
        state = "red   " if noticed else "GREEN "
        print(f"{number:3} {state} {one.file}:{one.line}", flush=True)
        if not noticed:
            print(f"      {one.before.strip()}\n   -> {one.after.strip()}", flush=True)
    print(f"{tried} tried, {tried - green} turned a test red, {green} did not")


if __name__ == "__main__":
    main()
