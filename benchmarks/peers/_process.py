"""Run a peer in a child process that can be killed, and say how it ended."""

from __future__ import annotations

import json
import math
import os
import selectors
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.peers._catalog import FOLDER_VARIABLE, get_peer
from benchmarks.peers._run import status_kb

if TYPE_CHECKING:
    from collections.abc import Mapping

_RUN: Final = Path(__file__).with_name("_run.py")
_READY: Final = b"ready\n"
MEMORY_BYTES: Final = 4 << 30
# Importing the heaviest of them takes about five seconds on one busy core.
START_S: Final = 120.0
# Nothing that a benchmark starts reports home.
_QUIET: Final = {
    "AGNO_TELEMETRY": "false",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "LANGSMITH_TRACING": "false",
    # Else litellm asks the network while it is imported, and where that fails, a
    # thread of its own races the import of OpenHands: two in five did not end well.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OTEL_SDK_DISABLED": "true",
}
# What an interpreter needs; the rest of the environment is none of a peer's business.
_KEPT: Final = ("PATH", "SYSTEMROOT", "LANG", "LC_ALL", "LD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one run ended.

    ``found`` is name to description in the order of the first round, and may be
    partial where there is an ``error``. ``failures`` is folder to error, for the form
    ``each``. ``seconds`` is the best round; where no round ended, the time until the
    child did or was killed, its start left out. ``peak_kb`` is the child's largest
    resident size, libraries included, and None where it died without a report.
    """

    found: Mapping[str, str]
    error: str | None
    timed_out: bool
    seconds: float
    peak_kb: int | None
    base_kb: int | None = None
    version: str | None = None
    failures: Mapping[str, str] = field(default_factory=dict)
    rounds: tuple[float, ...] = ()


def run_peer(  # noqa: PLR0913 - all but two have a default, and are named
    name: str,
    folder: str | os.PathLike[str],
    timeout_s: float,
    *,
    rounds: int = 1,
    enough_s: float = math.inf,
    form: str = "whole",
    memory_bytes: int | None = MEMORY_BYTES,
) -> Outcome:
    """Let a peer discover ``folder``; whatever it does, return within the deadlines.

    The child leads a session of its own, and the whole group is killed at the end.

    Args:
        name: The peer's file name, without suffix.
        folder: What it is given; see `_run` for the forms.
        timeout_s: Seconds for all rounds together; importing has `START_S` for itself.
        rounds: How often to discover, at most.
        enough_s: Seconds of discovery after which no other round begins.
        form: ``whole``, ``each`` or ``roots``.
        memory_bytes: Address space the child may have; None is no limit.

    Raises:
        KeyError: There is no such peer.
    """
    command = [
        *(str(get_peer(name).interpreter), "-I", str(_RUN), name, os.fspath(folder)),
        *("--rounds", str(rounds), "--enough-s", str(enough_s), "--form", form),
        *("--memory-bytes", str(memory_bytes or 0)),
    ]
    with tempfile.TemporaryDirectory(prefix="satchel-peer-") as home:
        return _watch(command, home, timeout_s)


def _watch(command: list[str], home: str, timeout_s: float) -> Outcome:
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=home,
            env=_environment(home),
            start_new_session=True,
        )
    except OSError as error:
        end = f"{type(error).__name__}: {error}"
        return Outcome({}, end, timed_out=False, seconds=0.0, peak_kb=None)
    try:
        output, timed_out, elapsed_s = _read(child, timeout_s)
        peak_kb = status_kb("VmHWM", child.pid) if timed_out else None
    finally:
        _kill(child)
    answer = output.removeprefix(_READY)
    if answer.endswith(b"\n"):
        # A report that came just before the deadline counts.
        return _reported(json.loads(answer), elapsed_s)
    end = "deadline passed" if timed_out else _end(child.returncode)
    return Outcome({}, end, timed_out, elapsed_s, peak_kb)


def _reported(said: dict[str, Any], elapsed_s: float) -> Outcome:
    rounds = tuple(said["seconds"])
    return Outcome(
        found=said["found"],
        error=said["error"],
        timed_out=False,
        seconds=min(rounds, default=elapsed_s),
        peak_kb=said["peak_kb"],
        base_kb=said.get("base_kb"),
        version=said["version"],
        failures=said["failures"],
        rounds=rounds,
    )


def _read(
    child: subprocess.Popen[bytes], timeout_s: float
) -> tuple[bytes, bool, float]:
    """Return what the child wrote, whether its time ran out, and the time it took."""
    if child.stdout is None:
        raise TypeError(child)
    output = bytearray()
    start = time.monotonic()
    deadline = start + START_S
    is_ready = False
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while True:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return bytes(output), True, time.monotonic() - start
            if not selector.select(left_s):
                continue
            chunk = os.read(child.stdout.fileno(), 1 << 16)
            if not chunk:
                return bytes(output), False, time.monotonic() - start
            output += chunk
            if not is_ready and output.startswith(_READY):
                is_ready = True
                start = time.monotonic()
                deadline = start + timeout_s


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kill the child's group, which it leads, and wait for the child."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has ended, and left nothing behind
    except PermissionError:
        child.kill()
    if child.stdout is not None:
        child.stdout.close()
    child.wait()


def _end(status: int | None) -> str:
    """Return how a child ended that reported nothing."""
    if status is not None and status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return f"ended with status {status} and no report"


def _environment(home: str) -> dict[str, str]:
    kept = {key: os.environ[key] for key in _KEPT if key in os.environ}
    return {**kept, **_QUIET, "HOME": home, FOLDER_VARIABLE: home}
