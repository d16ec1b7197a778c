"""Run one peer over many folders, each in a fork of a process that has imported it.

``python -I _forked.py PEER TIMEOUT_S MEMORY_BYTES``; reads a folder a line, writes a
JSON object a line, the first one with the version. Standard library only, because it
runs in every peer's environment. POSIX only.

A fork starts where a fresh process would be after its imports, so that nothing of one
folder is left for the next, and heavy imports are paid once. Threads do not survive a
fork: where one hangs or dies, a fresh process must be asked, too.

A peer's file may have ``catalog(folder)``, next to ``discover``: what its library puts
into a prompt, by the library's public API. It is called after ``discover``.
"""

# ruff: noqa: SLF001 - the other half of `_run`, which cannot be imported by name here
from __future__ import annotations

import asyncio
import datetime as dt
import importlib.util
import json
import os
import resource
import selectors
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

_CHUNK_BYTES = 1 << 16
_NUMBER_BITS = 1000
# Enough for every description here; a loader that hands out more is cut off.
_OUTPUT_BYTES = 64 << 20


def main() -> None:
    """Import the peer, then answer until there is nothing more to read."""
    name, timeout_s, memory_bytes = sys.argv[1:]
    run = _sibling("_run")
    folders = os.fdopen(os.dup(0), encoding="utf-8")
    report = run._take_stdout()
    # /dev/stdin is one of the things that a hostile pack links to.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    peer = run._load(name)
    report.write(json.dumps({"version": run._version(peer)}) + "\n")
    for line in folders:
        answer = _in_fork(
            run, peer, json.loads(line), float(timeout_s), int(memory_bytes)
        )
        report.write(json.dumps(answer) + "\n")
    os._exit(0)


def _in_fork(
    run: ModuleType, peer: ModuleType, folder: str, timeout_s: float, memory: int
) -> dict[str, object]:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        os.close(reading)
        _answer(run, peer, folder, writing)
        os._exit(0)
    os.close(writing)
    start = time.monotonic()
    output, timed_out = _read(reading, timeout_s)
    seconds = time.monotonic() - start
    for stop in (os.killpg, os.kill):  # it may not lead its group yet
        try:
            stop(child, signal.SIGKILL)
        except ProcessLookupError:
            continue
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(reading)
    lines = output.split(b"\n")[:-1]
    answer: dict[str, object] = {"seconds": seconds, "timed_out": timed_out}
    for line in lines:
        answer |= json.loads(line)
    ended = f"ended with status {status}"
    if status < 0:
        ended = f"killed by {signal.Signals(-status).name}"
    return {**answer, "whole": len(lines) == _LINES, "ended": ended}


# One for what was discovered, one for the catalog.
_LINES = 2


def _answer(run: ModuleType, peer: ModuleType, folder: str, writing: int) -> None:
    """Write what is found, then the catalog that a model would be shown."""
    with asyncio.Runner() as runner:
        _write(writing, _discover(run, run._Forms(peer, runner), folder))
        shown: dict[str, object] = {}
        if hasattr(peer, "catalog"):
            try:
                text = peer.catalog(folder)
                text = runner.run(text) if asyncio.iscoroutine(text) else text
                shown = {"catalog": str(text)}
            except BaseException as error:  # noqa: BLE001 - its result
                shown = {"catalog_error": run.describe(error)}
        _write(writing, shown)


def _discover(run: ModuleType, forms: Any, folder: str) -> dict[str, object]:  # noqa: ANN401
    found: dict[str, object] = {}
    error = None
    start = time.perf_counter()
    try:
        forms.whole(folder, found, {})
    except BaseException as raised:  # noqa: BLE001 - whatever a peer does is its result
        error = run.describe(raised)
    seconds = time.perf_counter() - start
    texts = {_text(key): _text(value) for key, value in found.items()}
    return {"found": texts, "error": error, "seconds": seconds}


def _text(value: object) -> str:
    """Return a text or a scalar as text; what else could be a bomb is only named."""
    if isinstance(value, str):
        return value
    if isinstance(value, (float, dt.date)):
        return str(value)
    if isinstance(value, int) and value.bit_length() < _NUMBER_BITS:
        return str(value)
    return "" if value is None else f"({type(value).__name__})"


def _write(pipe: int, answer: dict[str, object]) -> None:
    data = json.dumps(answer).encode() + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


def _read(pipe: int, timeout_s: float) -> tuple[bytes, bool]:
    output = bytearray()
    deadline = time.monotonic() + timeout_s
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while selector.select(max(deadline - time.monotonic(), 0)):
            chunk = os.read(pipe, _CHUNK_BYTES)
            output += chunk
            if not chunk or len(output) > _OUTPUT_BYTES:
                return bytes(output), False
    return bytes(output), True


def _sibling(name: str) -> ModuleType:
    """Import a file next to this one by its path."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
