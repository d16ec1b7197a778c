"""On a terminal: what takes longer than a second, and for how long."""

import os
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from satchel.cli._verbosity import is_quiet
from satchel.text import plural

# Seconds before the line appears, and between two of its states.
STEP_S: Final = 1.0


@contextmanager
def progress(doing: str) -> Generator[Callable[[int], object] | None]:
    """Show on a terminal's standard error what is done here, once it takes long.

    What it gives takes the number of packs so far, to be shown; None where nothing is.
    At the end the line is erased. Pipes, files and the shell's completion get nothing.
    """
    completes = "_SATCHEL_COMPLETE" in os.environ
    if completes or is_quiet() or not sys.stderr.isatty():
        yield None
        return
    done = threading.Event()
    packs: list[int] = []
    thread = threading.Thread(target=_show, args=(doing, packs, done), daemon=True)
    thread.start()
    try:
        yield packs.append
    finally:
        done.set()
        thread.join()


def _show(doing: str, packs: list[int], done: threading.Event) -> None:
    begun = time.monotonic()
    line = ""
    while not done.wait(STEP_S):
        count = f"{plural(packs[-1], 'pack')}, " if packs else ""
        line = f"{doing}: {count}{time.monotonic() - begun:.0f} s"
        sys.stderr.write(f"\r{line}")
        sys.stderr.flush()
    if line:
        sys.stderr.write(f"\r{' ' * len(line)}\r")
        sys.stderr.flush()
