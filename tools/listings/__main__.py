"""Measure what clients show of whole libraries: ``python -m tools.listings``.

list             the clients, and what was last recorded of each
install [KEY..]  install the clients
measure [KEY..]  run them on made-up libraries; write what they showed
fit [KEY..]      read the version and the client's own skills off; write the rules
agree [KEY..]    compare the rules with what is shown of other libraries: made up, and
                 those in --public FOLDER; keep how many were right
changes [KEY..]  measure again, and print what changed as a table for a changelog
table            write docs/reference/listings.md
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tools.listings.registered import LISTERS
from tools.loaders.driver import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tools.listings.clients import Lister

_COMMANDS: Final = ("list", "install", "measure", "fit", "agree", "changes", "table")


def main(arguments: list[str]) -> int:
    """Run one command; status 1 where a client could not be run."""
    parser = argparse.ArgumentParser(
        "python -m tools.listings",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=_COMMANDS)
    parser.add_argument("keys", nargs="*", metavar="KEY")
    parser.add_argument("--public", type=Path)
    options = parser.parse_intermixed_args(arguments)
    unknown = [key for key in options.keys if key not in LISTERS]
    if unknown:
        print(f"no client {unknown[0]!r}; there are {', '.join(LISTERS)}")
        return 2
    clients = [LISTERS[key] for key in options.keys or LISTERS]
    acts: dict[str, Callable[[], int]] = {
        "list": _list,
        "install": lambda: _each(clients, lambda client: client.prepare()),
        "measure": lambda: _each(clients, _measure),
        "fit": lambda: _each(clients, _fit),
        "agree": lambda: _each(clients, lambda one: _agree(one, options.public)),
        "changes": lambda: _changes(clients),
        "table": _table,
    }
    return acts[options.command]()


def _each(clients: list[Lister], act: Callable[[Lister], str]) -> int:
    status = 0
    for client in clients:
        try:
            print(f"{client.key}: {act(client)}", flush=True)
        except UnavailableError as error:
            print(f"{client.key}: NOT RUN: {error}", flush=True)
            status = 1
    return status


def _measure(client: Lister) -> str:
    from tools.listings.fitting import measure

    entry = measure(client)
    counts = ", ".join(f"{w}: {len(rows)}" for w, rows in entry["windows"].items())
    return f"{entry['version']}: libraries by window: {counts}"


def _fit(client: Lister) -> str:
    from tools.listings.fitting import fit

    entry = fit(client)
    return f"{entry['version']}: {entry['numbers']}"


def _agree(client: Lister, root: Path | None) -> str:
    from tools.listings.fitting import agree_and_keep
    from tools.listings.recording import others

    return "\n".join(["", *agree_and_keep(client, others(client, root))])


def _changes(clients: list[Lister]) -> int:
    from tools.listings.changing import changes

    status = 0
    for client in clients:
        try:
            lines = changes(client)
        except UnavailableError as error:
            lines, status = [f"| {client.key} | not run | {error} |"], 1
        print("\n".join(lines), flush=True)
    return status


def _table() -> int:
    from tools.listings.table import write

    print(f"wrote {write()}")
    return 0


def _list() -> int:
    from satchel_lab.clients import listing_rules
    from tools.listings.recording import read_recorded

    rules, recorded = listing_rules(), read_recorded()
    for key in sorted({*rules, *LISTERS}):
        rule, entry = rules.get(key), recorded.get(key)
        last = f"{entry['version']}, {entry['checked']}" if entry else "not recorded"
        print(f"{key:<24} {rule.how if rule else 'no rule':<12} {last}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
