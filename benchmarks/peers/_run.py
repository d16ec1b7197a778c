"""Run one peer over a folder, inside the peer's own interpreter.

``python -I _run.py PEER FOLDER [--rounds N] [--form whole|each|roots] [--enough-s S]``

Standard library only, because it runs in every peer's environment. Prints ``ready``
once the peer is imported, so that a deadline can leave start-up out, then one JSON
line. The forms:

- ``whole``: ``discover(FOLDER)``.
- ``each``: ``discover(FOLDER/x)`` for each ``x`` in it; names are ``x/name``, and an
  exception costs only that ``x``.
- ``roots``: one ``discover_roots`` over all ``FOLDER/x``.

Logging is off while a peer works: what it would write costs it nothing here.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.metadata
import importlib.util
import inspect
import json
import logging
import os
import re
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

    Found = dict[str, str]
    Failures = dict[str, BaseException]
    Form = Callable[[str, Found, Failures], None]

FORMS = ("whole", "each", "roots")
MAX_ERROR_CHARS = 400  # the start says which rule; the rest repeats the input


def main() -> None:
    """Read the arguments, run, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer")
    parser.add_argument("folder")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--enough-s", type=float, default=float("inf"))
    parser.add_argument("--form", choices=FORMS, default="whole")
    parser.add_argument("--memory-bytes", type=int, default=0, help="0 is no limit")
    options = parser.parse_args()
    report = _take_stdout()
    _limit_memory(options.memory_bytes)
    result = run(options, lambda: report.write("ready\n"))
    report.write(json.dumps(result) + "\n")
    report.flush()
    # Threads that a framework leaves behind must not keep the answer waiting.
    os._exit(0)


def run(options: argparse.Namespace, ready: Callable[[], object]) -> dict[str, object]:
    """Return what is reported; an exception of the peer becomes ``error``."""
    result: dict[str, object] = {
        "peer": options.peer,
        "version": None,
        "found": {},
        "failures": {},
        "error": None,
        "seconds": [],
    }
    try:
        module = _load(options.peer)
        result["version"] = _version(module)
        ready()
        result["base_kb"] = status_kb("VmRSS")
        with asyncio.Runner() as runner:
            _rounds(getattr(_Forms(module, runner), options.form), options, result)
    except BaseException as error:  # noqa: BLE001 - whatever a peer does is its result
        result["error"] = describe(error)
    result["peak_kb"] = status_kb("VmHWM")
    return result


def _rounds(form: Form, options: argparse.Namespace, result: dict[str, object]) -> None:
    """Discover until there are rounds enough, or they took ``enough_s`` together."""
    seconds: list[float] = []
    result["seconds"] = seconds
    while len(seconds) < options.rounds and sum(seconds) < options.enough_s:
        found: Found = {}
        failures: Failures = {}
        start = time.perf_counter()
        try:
            form(options.folder, found, failures)
        finally:
            seconds.append(time.perf_counter() - start)
            if len(seconds) == 1:
                result["found"] = {str(k): str(v or "") for k, v in found.items()}
                result["failures"] = {k: describe(e) for k, e in failures.items()}


class _Forms:
    """The three ways to call a peer; each fills ``found``, and ``failures`` too."""

    def __init__(self, module: ModuleType, runner: asyncio.Runner) -> None:
        self._module = module
        self._runner = runner

    def _pairs(self, function: str, argument: object) -> Iterable[tuple[str, str]]:
        answer = getattr(self._module, function)(argument)
        if inspect.iscoroutine(answer):
            answer = self._runner.run(answer)
        return answer.items() if isinstance(answer, Mapping) else answer

    def whole(self, folder: str, found: Found, _failures: Failures) -> None:
        for name, description in self._pairs("discover", folder):
            found[name] = description

    def each(self, folder: str, found: Found, failures: Failures) -> None:
        for child, path in _children(folder):
            try:
                for name, description in self._pairs("discover", path):
                    found[f"{child}/{name}"] = description
            except Exception as error:  # noqa: BLE001 - counted, by folder
                # Put into words after the round; what it holds on to goes now.
                error.__cause__ = error.__context__ = None
                failures[child] = error.with_traceback(None)

    def roots(self, folder: str, found: Found, _failures: Failures) -> None:
        paths = [path for _, path in _children(folder)]
        for name, description in self._pairs("discover_roots", paths):
            found[name] = description


def _children(folder: str) -> list[tuple[str, str]]:
    return sorted((entry.name, entry.path) for entry in os.scandir(folder))


def _load(peer: str) -> ModuleType:
    """Import the peer's file by path: its folder must not be importable from here.

    The file ``crewai.py`` would otherwise hide the library of that name.
    """
    path = Path(__file__).with_name(f"{peer}.py")
    spec = importlib.util.spec_from_file_location(f"peer_{peer}", path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    warnings.simplefilter("ignore")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    logging.disable(logging.CRITICAL)
    return module


def _version(module: ModuleType) -> str:
    """Return the installed version of the first requirement, or of ours."""
    first = re.split(r"[=<>\[]", next(iter(module.REQUIRES), "satchel"))[0]
    return importlib.metadata.version(first)


def _take_stdout() -> Any:  # noqa: ANN401 - a text file; its class has no public name
    """Keep the real standard output, and send what peers print to nowhere."""
    report = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    sys.stdin.close()
    return report


def _limit_memory(size_bytes: int) -> None:
    if size_bytes:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size_bytes, size_bytes))


def status_kb(field: str, process: int | str = "self") -> int | None:
    """Return a figure of a process as Linux has it; None elsewhere, or if it is gone.

    ``ru_maxrss`` would also count the parent's size at the fork.
    """
    try:
        status = Path(f"/proc/{process}/status").read_text("utf-8")
    except OSError:
        return None
    found = re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) if found else None


def describe(error: BaseException) -> str:
    """Return ``Type: message``, on one line, cut."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text[:MAX_ERROR_CHARS]


if __name__ == "__main__":
    main()
