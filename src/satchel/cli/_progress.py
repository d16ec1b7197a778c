"""On a terminal: what takes longer than a second, and for how long."""

import os
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from satchel.cli._verbosity import is_quiet

# Seconds before the line appears, and between two of its states.
STEP_S: Final = 1.0


@contextmanager
def progress(doing: str) -> Generator[None]:
    """Show on a terminal's standard error what is done here, once it takes long.

    At the end the line is erased. Pipes, files and the shell's completion get nothing.
    """
    completes = "_SATCHEL_COMPLETE" in os.environ
    if completes or is_quiet() or not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(doing, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _show(doing: str, done: threading.Event) -> None:
    begun = time.monotonic()
    line = ""
    while not done.wait(STEP_S):
        line = f"{doing}: {time.monotonic() - begun:.0f} s"
        sys.stderr.write(f"\r{line}")
        sys.stderr.flush()
    if line:
        sys.stderr.write(f"\r{' ' * len(line)}\r")
        sys.stderr.flush()
