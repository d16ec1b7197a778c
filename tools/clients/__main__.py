"""Run the real clients against the real server: ``python -m tools.clients``.

list            the checks
run [NAME...]   those, or the usual ones; --all: every one. Status 1 if one failed.
                What cannot be had here is said, and is no failure
corpus FILE     verify a whole library of skills: lines of JSON with id, dir and text
lock            resolve the lock files in tests/clients again
table           write docs/reference/clients.md and its data from the last runs
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Final

from tools.clients.environments import OtherBytesError, UnavailableError, lock
from tools.clients.registered import CHECKS, chosen
from tools.clients.running import prepare, run

WORKERS: Final = 2


def main(arguments: list[str]) -> int:
    """Carry out one command."""
    parser = argparse.ArgumentParser(
        "python -m tools.clients",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = ["list", "run", "corpus", "lock", "table"]
    parser.add_argument("command", choices=commands)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true", help="also the large clients")
    options = parser.parse_args(arguments)
    try:
        match options.command:
            case "run":
                return _run(options.names, every=options.all)
            case "corpus":
                return _corpus(options.names)
            case "lock":
                lock()
                return 0
            case "table":
                return _table()
            case _:
                return _list()
    except (LookupError, OtherBytesError, UnavailableError) as error:
        print(error, file=sys.stderr)
        return 2


def _run(names: list[str], *, every: bool) -> int:
    checks = chosen(names, every=every)
    skipped = prepare(checks)
    for report in skipped:
        print(report, flush=True)
    failed: list[str] = []
    left = [each for each in checks if each.name not in {s.check for s in skipped}]
    with ThreadPoolExecutor(WORKERS) as pool:
        for done in as_completed([pool.submit(run, each) for each in left]):
            report = done.result()
            print(report, flush=True)
            failed += [report.check] if report.failed else []
    print(f"{len(left) - len(failed)} of {len(checks)} passed", end="")
    print(f", {len(skipped)} NOT RUN" if skipped else "", end="")
    print(f"; failed: {', '.join(sorted(failed))}" if failed else "")
    return 1 if failed else 0


def _corpus(names: list[str]) -> int:
    from tools.clients.corpus import verify_corpus

    if len(names) != 1:
        raise LookupError("name one file")
    report = verify_corpus(Path(names[0]))
    print(report)
    return 1 if report.failed else 0


def _table() -> int:
    from tools.clients.table import write

    for path in write():
        print(f"wrote {path}")
    return 0


def _list() -> int:
    for check in CHECKS.values():
        versions = ", ".join(f"{name} {v}" for name, v in check.versions().items())
        note = "" if check.usual else "  (with --all)"
        print(f"{check.name:<20} {versions}{note}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
