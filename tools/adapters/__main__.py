"""Run the adapters' tests under their real frameworks: ``python -m tools.adapters``.

list               the adapters, and what is installed for each
run [NAME...]      the whole suite, each adapter in its environment; --lowest: also at
                   the lower bounds. Status 1 if anything failed or could not be run.
run NAME -- ARGS   chosen tests of one adapter: ARGS go to pytest
lock [NAME...]     resolve requirements/adapters/*.txt again, newest and lowest
table              write tested.json and the two pages about them from the results
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Final

from tools.adapters.environments import CommandFailedError, ensure_uv, lock
from tools.adapters.frameworks import Adapter, chosen
from tools.adapters.runner import read_results, run, try_out

WORKERS: Final = 2


def main(arguments: list[str]) -> int:
    """Run one command."""
    arguments, passed_on = _split(arguments)
    parser = argparse.ArgumentParser(
        "python -m tools.adapters",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=["list", "run", "lock", "table"])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--lowest", action="store_true", help="also the lower bounds")
    options = parser.parse_args(arguments)
    try:
        adapters = chosen(options.names, driven=options.command == "run")
        match options.command:
            case "run" if passed_on:
                ensure_uv()
                return _try_out(adapters, passed_on, lowest=options.lowest)
            case "run":
                return _run(adapters, lowest=options.lowest)
            case "lock":
                return _lock(adapters)
            case "table":
                return _table()
            case _:
                return _list()
    except (LookupError, CommandFailedError) as error:
        print(error, file=sys.stderr)
        return 2


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def _both(adapters: list[Adapter]) -> list[Adapter]:
    return [each for a in adapters for each in (a, Adapter(a.name, lowest=True))]


def _run(adapters: list[Adapter], *, lowest: bool) -> int:
    ensure_uv()
    runs = _both(adapters) if lowest else adapters
    failed: list[str] = []
    with ThreadPoolExecutor(WORKERS) as pool:
        for done in as_completed([pool.submit(run, each) for each in runs]):
            outcome = done.result()
            print(outcome, flush=True)
            failed += [] if outcome.error is None else [outcome.adapter.label]
    print(f"{len(runs) - len(failed)} of {len(runs)} passed", end="")
    print(f"; failed: {', '.join(sorted(failed))}" if failed else "")
    return 1 if failed else 0


def _try_out(adapters: list[Adapter], arguments: list[str], *, lowest: bool) -> int:
    runs = [Adapter(each.name, lowest=lowest) for each in adapters]
    return max((try_out(each, arguments) for each in runs), default=0)


def _lock(adapters: list[Adapter]) -> int:
    ensure_uv()
    status = 0
    for each in _both(adapters):
        try:
            lock(each)
            print(f"ok     {each.label}")
        except (CommandFailedError, LookupError) as error:
            print(f"FAILED {each.label}\n{error}")
            status = 1
    return status


def _table() -> int:
    from tools.adapters.table import write

    for path in write():
        print(f"wrote {path}")
    return 0


def _list() -> int:
    for adapter in chosen([]):
        for each in _both([adapter]):
            results = read_results(each)
            last = f"{results['distribution']} {results['version']}" if results else "-"
            print(f"{each.label:<24} Python {each.python}  last whole run: {last}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
