"""Running one command of a template, where the caller has asked for that."""

import os
import shlex
import signal
import subprocess
import threading
import time
from contextlib import suppress
from typing import IO, Final

from satchel.text.decoding import decode

__all__ = ["run_command"]

TIMEOUT_S: Final = 10.0
"""Seconds that a command may take, as in the earlier system."""
MAX_OUTPUT_BYTES: Final = 1024 * 1024
"""A command that prints more has failed: as much as a SKILL.md may have."""


def run_command(command: str, *, timeout_s: float = TIMEOUT_S) -> str:
    """Return what a command prints, without white space around it; never raises.

    Lines end in a line feed, as those of the template do.

    The text is split as a shell would, and no shell is started: pipes, variables and
    wildcards are plain words. It runs in the working folder, reads nothing, and is
    ended with all that it started when it takes too long. What goes wrong becomes the
    text: ``[shell command failed: ...]`` for a status other than 0 or too much output,
    ``[shell command timed out: ...]``, and ``[shell command error: ...]`` where it does
    not start.
    """
    try:
        words = shlex.split(command)
        process = subprocess.Popen(  # the template's own words, by the caller's leave
            words or [""],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError):
        return f"[shell command error: {command}]"
    reader = _Reader(process.stdout)
    end = time.monotonic() + timeout_s
    try:
        reader.start()
        reader.join(timeout_s)
        with suppress(subprocess.TimeoutExpired):
            if not (reader.is_alive() or reader.over):
                process.wait(max(end - time.monotonic(), 0))
        late = process.returncode is None and not reader.over
    finally:
        _end(process)  # an interrupt does not reach it: it has a session of its own
    if late:
        return f"[shell command timed out: {command}]"
    if process.returncode or reader.over:
        return f"[shell command failed: {command}]"
    text = decode(reader.data).text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


class _Reader(threading.Thread):
    """Reads a pipe, in a thread: a grandchild may hold it open for ever."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        super().__init__(name="satchel template command", daemon=True)
        self._pipe = pipe
        self.data = b""

    @property
    def over(self) -> bool:
        """Whether there was more than is accepted."""
        return len(self.data) > MAX_OUTPUT_BYTES

    def run(self) -> None:
        """Read to the end, or to where it is too much."""
        if self._pipe is not None:
            with self._pipe as pipe:
                self.data = pipe.read(MAX_OUTPUT_BYTES + 1)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command, and all that it started, unless it has ended and was waited for.

    Until then its number stands for it and its group, and for nobody else's.
    """
    if process.returncode is None:
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()
