"""Show which loaders serve the good pack: ``python -m satchel_lab.hostile``."""

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from satchel_lab.hostile import CannotMake, HostilePack, hostile_packs
from satchel_lab.hostile._loader import say
from satchel_lab.hostile._runner import (
    MEMORY_BYTES,
    TIMEOUT_S,
    LoaderOutcome,
    run_loader,
)

SATCHEL_LOADER: Final = (sys.executable, "-m", "satchel_lab.hostile._loader")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a loader over the packs; 0 all served, 1 not all, 2 it cannot be run."""
    options = _parser().parse_args(arguments)
    command = shlex.split(options.loader) if options.loader else SATCHEL_LOADER
    names = set(options.packs)
    chosen = [p for p in hostile_packs() if not names or names & {p.name, p.kind}]
    if not chosen:
        _complain(f"no such pack or kind: {' '.join(options.packs)}")
        return 2
    row = _markdown if options.markdown else _text
    if options.markdown:
        say("| pack | threat | what | served | s | notes |\n|---|---|---|---|--:|---|")
    served = run = 0
    try:
        for pack, outcome in _run(chosen, command, options):
            say(row(pack, outcome))
            run += isinstance(outcome, LoaderOutcome)
            served += isinstance(outcome, LoaderOutcome) and outcome.served
    except OSError as error:
        _complain(f"cannot run {command[0]}: {error.strerror or error}")
        return 2
    say(f"\n{served} of {run} served; {len(chosen) - run} could not be made here")
    return int(served < run)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m satchel_lab.hostile",
        description="Run a loader over hostile packs, each next to one good pack.",
    )
    parser.add_argument("packs", nargs="*", help="names or kinds; all, unless given")
    parser.add_argument("--loader", help="a command; it gets a folder; ours by default")
    parser.add_argument("--timeout", type=float, default=TIMEOUT_S, help="seconds each")
    parser.add_argument(
        "--memory", type=int, default=MEMORY_BYTES >> 20, help="MiB each, on Linux"
    )
    parser.add_argument("--markdown", action="store_true", help="print a table")
    return parser


def _run(
    packs: Sequence[HostilePack], command: Sequence[str], options: argparse.Namespace
) -> Iterator[tuple[HostilePack, LoaderOutcome | str]]:
    """Yield each pack with its outcome, or with why it could not be made."""
    for pack in packs:
        try:
            with pack.fresh() as library:
                outcome = run_loader(
                    command,
                    library,
                    timeout_s=options.timeout,
                    memory_bytes=options.memory << 20,
                )
        except CannotMake as error:
            yield pack, error.reason
        else:
            yield pack, outcome


def _notes(outcome: LoaderOutcome) -> str:
    notes: list[str] = [] if outcome.end == "answered" else [outcome.end]
    if outcome.detail:
        notes.append(ascii(outcome.detail)[1:-1])
    if outcome.leaks:
        notes.append(f"leaks {', '.join(outcome.leaks)}")
    return "; ".join(notes)


def _text(pack: HostilePack, outcome: LoaderOutcome | str) -> str:
    head = f"{pack.kind:9} {pack.name:22} {pack.threat:4}"
    if isinstance(outcome, str):
        return f"{head} -      not made: {outcome}"
    served = "served" if outcome.served else "LOST"
    return f"{head} {served:6} {outcome.seconds:5.2f} s  {_notes(outcome)}".rstrip()


def _markdown(pack: HostilePack, outcome: LoaderOutcome | str) -> str:
    cells = [pack.name, pack.threat, pack.what]
    if isinstance(outcome, str):
        cells += ["-", "", f"not made: {outcome}"]
    else:
        served = "yes" if outcome.served else "**no**"
        cells += [served, f"{outcome.seconds:.2f}", _notes(outcome)]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _complain(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
