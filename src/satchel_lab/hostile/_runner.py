"""Run any loader over a folder in a child process, and report how it ended."""

import json
import os
import signal
import subprocess
import threading
import time
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any, Final, Literal, cast

from satchel_lab.hostile._pack import (
    FORGED,
    GOOD_DESCRIPTION,
    GOOD_NAME,
    HEADING,
    SECRET,
)

_BIDI: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e") | {
    chr(point) for point in range(0x2066, 0x206A)
}
# Invisible although Unicode calls them letters or marks.
_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u3164\uffa0")
_TAGS: Final = range(0xE0000, 0xE0080)
_SELECTORS: Final = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
_UNSEEN: Final = frozenset({"Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


def find_leaks(text: str) -> tuple[str, ...]:
    """Return what of hostile packs reached ``text``, by name, sorted.

    - ``bidi``, ``tag``, ``control``, ``hidden``: characters that reorder, hide,
      steer a terminal or cannot be seen; only the line feed is allowed.
    - ``line``: a line that the pack wrote begins as a line of the catalog.
    - ``markup``: a tag that the pack wrote is a tag.
    - ``secret``: text from a file outside the library.
    """
    leaks = {_kind(character) for character in set(text)} - {""}
    if any(line.lstrip().startswith(HEADING) for line in text.split("\n")):
        leaks.add("line")
    if FORGED in text:
        leaks.add("markup")
    if SECRET in text:
        leaks.add("secret")
    return tuple(sorted(leaks))


def _kind(character: str) -> str:
    point = ord(character)
    if point in _TAGS:
        return "tag"
    if character in _BIDI:
        return "bidi"
    category = unicodedata.category(character)
    if category == "Cc":
        return "" if character == "\n" else "control"
    unseen = category in _UNSEEN or character in _INVISIBLE
    unseen |= any(point in selectors for selectors in _SELECTORS)
    return "hidden" if unseen else ""


TIMEOUT_S: Final = 5.0
MEMORY_BYTES: Final = 4 << 30

# Room for a catalog of every name and description that any pack here could have.
_OUTPUT_BYTES: Final = 64 << 20
_CHUNK_BYTES: Final = 1 << 16
_LAST_WORDS_CHARS: Final = 200
_READY: Final = b"ready\n"
# A killed child closes its pipes at once; one that left its group need not.
_LINGER_S: Final = 1.0

LoaderEnd = Literal["answered", "crashed", "hung", "out-of-memory"]


@dataclass(frozen=True, slots=True)
class LoaderOutcome:
    """How a loader came through one folder.

    ``served`` tells whether the good neighbour was found under its name with its own
    description. ``seconds`` counts from the line ``ready``, or from the start where
    there is none. ``leaks`` are those of `find_leaks`, in the catalog where the loader
    printed one (``rendered``), else only ``secret``, in names and descriptions.
    ``answer`` is all that it printed, empty where it printed no answer.
    """

    end: LoaderEnd
    served: bool = False
    seconds: float = 0.0
    detail: str = ""
    leaks: tuple[str, ...] = ()
    rendered: bool = False
    found: Mapping[str, str] = field(default_factory=dict[str, str])
    answer: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)


def run_loader(
    command: Sequence[str],
    folder: str | os.PathLike[str],
    *,
    timeout_s: float = TIMEOUT_S,
    memory_bytes: int | None = MEMORY_BYTES,
    env: Mapping[str, str] | None = None,
) -> LoaderOutcome:
    """Let a loader discover ``folder``; whatever it does, return after the deadline.

    The child gets the folder as its last argument. It may print the line ``ready``
    when its imports are done; it prints one JSON object on a line of its own, with
    ``found`` (name to description), and where it has them ``catalog`` (what a model
    would be shown: a text, or texts by format) and ``error`` (an exception that ended
    the discovery). Other keys are passed on unread.

    It leads a session of its own, and the whole group is killed at the end. What it
    writes is bounded.

    Args:
        command: The program and its arguments.
        folder: The library to discover.
        timeout_s: Seconds from the start, and once more from ``ready``.
        memory_bytes: Address space it may have, on Linux; elsewhere, and for None,
            there is no limit.
        env: Its environment; None is that of this process.

    Raises:
        OSError: The program cannot be started.
    """
    child = subprocess.Popen(
        [*command, os.fspath(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        # A group of its own: `_kill` then reaches everything that the loader starts.
        start_new_session=True,
    )
    start = time.monotonic()
    try:
        _limit_memory(child.pid, memory_bytes)
        output = _PipeReader(child.stdout, _OUTPUT_BYTES)
        errors = _PipeReader(child.stderr, _CHUNK_BYTES)
        in_time = _wait(child, output, timeout_s)
        end = time.monotonic()
    finally:
        _kill(child)
    # A process that left the group may keep the pipes open, so the wait is short.
    output.join(_LINGER_S)
    errors.join(_LINGER_S)
    seconds = end - (output.ready_at or start)
    answer = _parse(bytes(output.data))
    # An answer counts even if the process did not end after it.
    if answer is not None:
        return judge(answer, seconds)
    if not in_time:
        detail = f"killed after {timeout_s:g} s"
        return LoaderOutcome("hung", seconds=seconds, detail=detail)
    return _died(child.returncode, bytes(errors.data), seconds)


def judge(answer: Mapping[str, Any], seconds: float) -> LoaderOutcome:
    """Return the outcome for what a loader printed."""
    names = answer.get("found")
    if not isinstance(names, dict):
        detail = "its answer has no `found`"
        return LoaderOutcome("crashed", seconds=seconds, detail=detail)
    pairs = cast("dict[str, object]", names)
    listed = {name: str(about or "") for name, about in pairs.items()}
    catalog = answer.get("catalog")
    if isinstance(catalog, dict):
        catalog = "\n".join(cast("dict[str, str]", catalog).values())
    error = str(answer.get("error") or "")
    end: LoaderEnd = "answered"
    if error:
        end = "out-of-memory" if error.startswith("MemoryError") else "crashed"
    if isinstance(catalog, str):
        leaks = find_leaks(catalog)
    else:
        # Not yet rendered for a model: hidden characters are no leak here.
        values = "\n".join([*listed, *listed.values()])
        leaks = tuple({"secret"} & set(find_leaks(values)))
    return LoaderOutcome(
        end,
        served=listed.get(GOOD_NAME, "").strip() == GOOD_DESCRIPTION,
        seconds=seconds,
        detail=error,
        leaks=leaks,
        rendered=isinstance(catalog, str),
        found=listed,
        answer=answer,
    )


class _PipeReader(threading.Thread):
    """Reads a pipe to its end, and keeps the first ``limit`` bytes."""

    def __init__(self, pipe: IO[bytes] | None, limit: int) -> None:
        super().__init__(daemon=True)
        if pipe is None:
            raise TypeError(pipe)
        self._pipe = pipe
        self._limit = limit
        self.data = bytearray()
        self.ready_at: float | None = None
        self.start()

    def run(self) -> None:
        with self._pipe:
            while chunk := os.read(self._pipe.fileno(), _CHUNK_BYTES):
                # Read on past the limit, or the child blocks on a full pipe.
                self.data += chunk[: self._limit - len(self.data)]
                if self.ready_at is None and self.data.startswith(_READY):
                    self.ready_at = time.monotonic()


def _wait(
    child: subprocess.Popen[bytes], output: _PipeReader, timeout_s: float
) -> bool:
    """Return whether the child ended within its time, which ``ready`` renews."""
    with suppress(subprocess.TimeoutExpired):
        child.wait(timeout_s)
        return True
    # Until `ready` a loader imports, which takes as long as the machine is slow.
    if output.ready_at is not None:
        left_s = output.ready_at + timeout_s - time.monotonic()
        with suppress(subprocess.TimeoutExpired):
            child.wait(max(left_s, 0))
            return True
    return False


def _limit_memory(pid: int, size_bytes: int | None) -> None:
    import importlib

    with suppress(ImportError, ProcessLookupError):
        resource = importlib.import_module("resource")
        if size_bytes is not None and hasattr(resource, "prlimit"):
            resource.prlimit(pid, resource.RLIMIT_AS, (size_bytes, size_bytes))


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kill the child's group, which it leads, and wait for the child."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.wait()


def _parse(output: bytes) -> dict[str, Any] | None:
    """Return the last line's JSON object; None where there is none."""
    # The last line only: a loader may print messages above its answer.
    lines = output.rstrip().rpartition(b"\n")
    try:
        answer = json.loads(lines[2])
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", answer) if isinstance(answer, dict) else None


def _died(status: int, errors: bytes, seconds: float) -> LoaderOutcome:
    """Return the outcome for a child that ended without an answer."""
    lines = errors.decode("utf-8", "replace").split("\n")
    last = next((line for line in reversed(lines) if line.strip()), "")
    end: LoaderEnd = "out-of-memory" if "MemoryError" in last else "crashed"
    how = f"ended with status {status}"
    if status < 0:
        how = f"killed by {signal.Signals(-status).name}"
    detail = f"{how}: {last}" if last else how
    return LoaderOutcome(end, seconds=seconds, detail=detail[:_LAST_WORDS_CHARS])
