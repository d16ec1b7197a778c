"""Make the record, or replay it: ``python -m tools.record make|replay|reach``."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tools.adapters.frameworks import ROOT
from tools.record import commands, over_http, over_mcp, reach, sessions, transcripts
from tools.record.packs import write_libraries
from tools.record.replaying import FOLDER, differences, forget_renames, write

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tools.record.answers import Answer

PARTS: Final = {
    "sessions": sessions.ask,
    "commands": commands.ask,
    "http": over_http.ask,
    "mcp": over_mcp.ask,
    **transcripts.parts(),
}
SHOWN: Final = 10
"""Differences that are printed; the rest is counted."""


def main() -> None:
    """Make or replay; status 1 where an answer differs, or too little is reached."""
    parser = argparse.ArgumentParser(prog="tools.record", description=__doc__)
    parser.add_argument("what", choices=("make", "replay", "reach"))
    what = parser.parse_args().what
    if what == "reach":
        sys.exit(reach.replay_measured())
    answers = {part: list(found) for part, found in _asked()}
    total = sum(map(len, answers.values()))
    if what == "make":
        for part, found in answers.items():
            write(part, found)
        forget_renames()
        print(f"{total:,} results recorded in {FOLDER.relative_to(ROOT)}")
        return
    differing = [
        text for part, found in answers.items() for text in differences(part, found)
    ]
    for text in differing[:SHOWN]:
        print(text.encode("utf-8", "backslashreplace").decode())
    print(f"{total:,} results replayed, {len(differing):,} differ")
    sys.exit(bool(differing))


def _asked() -> Iterable[tuple[str, list[Answer]]]:
    """Ask everything, of libraries in a folder of their own."""
    for name in [name for name in os.environ if name.startswith("SATCHEL_")]:
        del os.environ[name]
    logging.getLogger("satchel").addHandler(logging.NullHandler())
    logging.getLogger("satchel").propagate = False  # the findings are on record
    os.environ |= {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        state = {f"XDG_{kind}_HOME": str(home / kind) for kind in ("STATE", "CACHE")}
        os.environ |= {**state, "HOME": str(home / "user")}
        libraries = write_libraries(home)
        os.chdir(home)
        for part, ask in PARTS.items():
            yield part, list(ask(home, libraries))
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
