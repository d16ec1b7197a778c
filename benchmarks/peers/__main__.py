"""Install, list, try and time the peers: ``python -m benchmarks.peers --help``."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from benchmarks.peers._catalog import Peer, choose
from benchmarks.peers._install import CannotInstall, install
from benchmarks.peers._process import Outcome, run_peer

if TYPE_CHECKING:
    from collections.abc import Iterable

# Past this a loader has no figure, only "over".
DEADLINE_S = 900.0
# A second round of what takes a minute tells nothing new.
ENOUGH_S = 60.0
ROUNDS = 3


def main() -> int:
    """Return 0, or 1 where a peer could not be installed or gave no result."""
    parser = argparse.ArgumentParser(prog="benchmarks.peers", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, about in (
        ("install", "build the environments; what is there already stays"),
        ("list", "what there is, and whether it is installed"),
        ("try", "discover a folder of packs, and print what was found"),
        ("time", "discover a library of FOLDER/<id>/<pack>, and print a table"),
    ):
        command = commands.add_parser(name, help=about, description=about)
        if name in {"try", "time"}:
            command.add_argument("folder")
        if name == "time":
            command.add_argument("--rounds", type=int, default=ROUNDS)
            command.add_argument("--all-forms", action="store_true")
        command.add_argument("peers", nargs="*", help="all, unless named")
    options = parser.parse_args()
    peers = choose(options.peers)
    if options.command == "install":
        return _install(peers)
    if options.command == "list":
        return _list(peers)
    present = [peer for peer in peers if peer.is_installed]
    if options.command == "try":
        return _try(present, options.folder)
    return _time(present, options.folder, options.rounds, all_forms=options.all_forms)


def _install(peers: Iterable[Peer]) -> int:
    failed = False
    for peer in peers:
        try:
            done = "installed" if install(peer) else "there already"
        except CannotInstall as error:
            done = f"cannot install: {error.reason}"
            failed = True
        print(f"{peer.name}: {done}", flush=True)
    return int(failed)


def _list(peers: Iterable[Peer]) -> int:
    for peer in peers:
        state = "installed" if peer.is_installed else "not installed"
        print(f"{peer.name:20} {state:14} {' '.join(peer.requires) or 'this checkout'}")
    return 0


def _try(peers: Iterable[Peer], folder: str) -> int:
    failed = False
    for peer in peers:
        outcome = run_peer(peer.name, folder, ENOUGH_S)
        failed |= outcome.error is not None
        print(f"{peer.name} {outcome.version}: {outcome.seconds * 1000:.1f} ms")
        for name, description in outcome.found.items():
            print(f"  {name!a}: {description!a}")
        if outcome.error is not None:
            print(f"  error: {outcome.error!a}")
    return int(failed)


def _time(peers: Iterable[Peer], folder: str, rounds: int, *, all_forms: bool) -> int:
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    print("| peer | version | form | best, s | rounds, s | packs | raised | MiB |")
    print("|---|---|---|--:|---|--:|--:|--:|")
    failed = False
    for peer in peers:
        for form in peer.forms if all_forms else (peer.large_form,):
            outcome = run_peer(
                peer.name,
                folder,
                DEADLINE_S,
                rounds=rounds,
                enough_s=ENOUGH_S,
                form=form,
                memory_bytes=None,
            )
            failed |= outcome.error is not None
            print(_row(peer, form, outcome))
    return int(failed)


def _row(peer: Peer, form: str, outcome: Outcome) -> str:
    best = f"{outcome.seconds:.2f}"
    if outcome.error is not None:
        best = f"none: {outcome.error.partition(':')[0]} after {best}"
    each_round = " ".join(f"{seconds:.2f}" for seconds in outcome.rounds)
    grown_mib = ((outcome.peak_kb or 0) - (outcome.base_kb or 0)) / 1024
    cells = [peer.name, outcome.version or "?", form, best, each_round]
    cells += [str(len(outcome.found)), str(len(outcome.failures)), f"{grown_mib:.0f}"]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
