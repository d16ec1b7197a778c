"""Call a loader, folder by folder: ``python _answering.py LOADER[,PROMPT] S BYTES``.

It runs in the loader's own Python, so it needs the standard library alone, and no
Python newer than 3.9. A target is ``module:function`` or ``file.py:function``; it gets
a folder. It reads a folder a line, and writes a JSON object a line, the first one about
the import. Each folder has a fork of its own, with S seconds and BYTES of memory: what
one leaves behind, or breaks, is gone for the next. POSIX alone.
"""

# ruff: noqa: BLE001 - whatever a loader raises is its answer
from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import json
import logging
import math
import os
import resource
import selectors
import signal
import sys
import tempfile
import time
import traceback
import warnings
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK_BYTES = 1 << 16
_OUTPUT_BYTES = 64 << 20
_TEXT_CHARS = 1 << 20
_WORDS_CHARS = 4000
_NUMBER_BITS = 64
_FRAMES = 60
_PARSERS = frozenset(["yaml", "frontmatter", "ruamel", "pydantic", "strictyaml"])
# A machine that is busy is no fault of the loader: its own seconds count, and only one
# that does nothing has this many times as long.
_WAITING = 2


def main() -> None:
    """Import the targets, then answer until there is nothing more to read."""
    targets, timeout_s, memory_bytes = sys.argv[1:]
    folders = os.fdopen(os.dup(0), encoding="utf-8")
    report = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):  # what a loader prints is no answer, and it reads nothing
        os.dup2(nothing, stream)
    sys.path[0] = str(Path.cwd())
    try:
        calls = _import_all(targets.split(","))
    except BaseException as error:
        report.write(json.dumps({"error": _describe(error)}) + "\n")
        return
    version = _version(targets.partition(":")[0].partition(".")[0])
    report.write(json.dumps({"version": version}) + "\n")
    for line in folders:
        answer = _in_fork(calls, json.loads(line), float(timeout_s), int(memory_bytes))
        report.write(json.dumps(answer) + "\n")
    os._exit(0)


def _import_all(targets: list[str]) -> list[Callable[..., Any]]:
    try:
        return [_import(target) for target in targets]
    except RuntimeError:  # a library that imports in threads of its own, at times
        time.sleep(1)
        return [_import(target) for target in targets]


def _import(target: str) -> Callable[..., Any]:
    module, _, name = target.partition(":")
    if module.endswith(".py"):
        spec = importlib.util.spec_from_file_location(f"_{Path(module).stem}", module)
        if spec is None or spec.loader is None:
            raise ImportError(module)
        value: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(value)
    else:
        value = importlib.import_module(module)
    for part in name.split("."):
        value = getattr(value, part)
    return value  # type: ignore[no-any-return]


def _version(package: str) -> str:
    with suppress(AttributeError, KeyError, metadata.PackageNotFoundError):
        name = metadata.packages_distributions()[package][0]
        return f"{name} {metadata.version(name)}"
    return ""


def _in_fork(
    calls: list[Callable[..., Any]], folder: str, timeout_s: float, memory_bytes: int
) -> dict[str, Any]:
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as printed:
        child = os.fork()
        if not child:
            os.setsid()
            _limit_memory(memory_bytes)
            cpu_s = math.ceil(timeout_s) * len(calls)
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
            for stream in (1, 2):
                os.dup2(printed.fileno(), stream)
            _answer(calls, folder, writing)
            os._exit(0)
        os.close(writing)
        start = time.monotonic()
        data, in_time = _read(reading, start + _WAITING * timeout_s)
        seconds = time.monotonic() - start
        for stop in (os.killpg, os.kill):  # it may not lead its group yet
            with suppress(ProcessLookupError, PermissionError):
                stop(child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.close(reading)
        answer: dict[str, Any] = {"seconds": seconds, "end": "died", "status": status}
        lines = data.split(b"\n")[:-1]
        for line in lines:
            answer.update(json.loads(line))
        if len(lines) == len(calls):
            answer["end"] = "answered"
        elif not in_time or status == -signal.SIGXCPU:
            answer["end"] = "hung"
        answer["printed"] = _words(printed)
    return answer


def _limit_memory(more_bytes: int) -> None:
    """Allow this much more than what the imports have taken, on Linux."""
    with suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        size = pages * resource.getpagesize() + more_bytes
        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _words(printed: IO[bytes]) -> str:
    size = printed.seek(0, os.SEEK_END)
    printed.seek(max(size - _WORDS_CHARS, 0))
    return printed.read().decode("utf-8", "replace")


def _read(pipe: int, deadline: float) -> tuple[bytes, bool]:
    data = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while selector.select(max(deadline - time.monotonic(), 0)):
            chunk = os.read(pipe, _CHUNK_BYTES)
            data += chunk
            if not chunk or len(data) > _OUTPUT_BYTES:
                return bytes(data), True
    return bytes(data), False


def _answer(calls: list[Callable[..., Any]], folder: str, writing: int) -> None:
    """Write what is listed and what was said about it, then what a model is shown."""
    notes = _listen()
    listed: dict[str, Any] = {"listed": [], "notes": notes}
    try:
        listed["listed"] = _pairs(_call(calls[0], folder))
    except BaseException as error:
        listed.update(error=_describe(error), where=_where(error))
    _write(writing, listed)
    for call in calls[1:]:
        shown: dict[str, Any] = {}
        try:
            shown["prompt"] = str(_call(call, folder))
        except BaseException as error:
            shown.update(prompt_error=_describe(error), prompt_where=_where(error))
        _write(writing, shown)


def _listen() -> list[str]:
    """Return a list that gets each warning, and each record that Python would show."""
    notes: list[str] = []
    handle = logging.Logger.handle

    def listen(self: logging.Logger, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            with suppress(Exception):
                notes.append(record.getMessage()[:_WORDS_CHARS])
        handle(self, record)

    def warn(message: Any, *_: Any, **__: Any) -> None:  # noqa: ANN401
        notes.append(str(message)[:_WORDS_CHARS])

    logging.Logger.handle = listen  # type: ignore[method-assign]
    warnings.showwarning = warn
    warnings.simplefilter("always")
    return notes


def _call(call: Callable[..., Any], folder: str) -> Any:  # noqa: ANN401 - its own
    argument: Any = folder
    with suppress(TypeError, ValueError, StopIteration):
        first = next(iter(inspect.signature(call).parameters.values())).annotation
        if "Path" in str(first) and "str" not in str(first):
            argument = Path(folder)
    value = call(argument)
    if inspect.isasyncgen(value):
        value = _all_of(value)
    return asyncio.run(value) if inspect.iscoroutine(value) else value


async def _all_of(values: Any) -> list[Any]:  # noqa: ANN401
    return [value async for value in values]


def _pairs(value: Any) -> list[tuple[str, str | None]]:  # noqa: ANN401
    """Return names and descriptions, in whatever form they come."""
    if _is_mapping(value) and not {"name", "description"} <= {*value}:
        return [(_text(name), _about(value[name])) for name in value]
    return [_pair(entry) for entry in ([value] if _is_mapping(value) else value)]


def _is_mapping(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, dict)


def _about(entry: Any) -> str | None:  # noqa: ANN401
    if entry is None:
        return None
    if _is_mapping(entry):
        return _text(entry.get("description"))
    return _text(getattr(entry, "description", entry))


def _pair(entry: Any) -> tuple[str, str | None]:  # noqa: ANN401
    if isinstance(entry, str):
        return _text(entry), None
    if _is_mapping(entry):
        return _text(entry.get("name")), _about(entry)
    if hasattr(entry, "name"):
        return _text(entry.name), _about(entry)
    return _text(entry[0]), _about(entry[1])


def _text(value: Any) -> str:  # noqa: ANN401
    """Return a text as it is; what is none could be a bomb, and is only named."""
    if isinstance(value, str):
        return str(value)[:_TEXT_CHARS]
    if isinstance(value, int) and value.bit_length() < _NUMBER_BITS:
        return str(value)
    return "" if value is None else f"({type(value).__name__})"


def _describe(error: BaseException) -> str:
    with suppress(Exception):
        return f"{type(error).__name__}: {error}"[:_WORDS_CHARS]
    return type(error).__name__


def _where(error: BaseException) -> str:
    """Return the last line of the loader itself, not of what it parses with."""
    library = os.path.dirname(os.__file__) + os.sep  # noqa: PTH120 - as frames name it
    for frame in reversed(traceback.extract_tb(error.__traceback__, _FRAMES)):
        place = frame.filename.replace("\\", "/")
        inside = place.rpartition("site-packages/")[2].split("/")[0]
        is_standard = place.startswith(library) and "site-packages" not in place
        if not (is_standard or inside in _PARSERS or place == __file__ or "<" in place):
            short = place.rpartition("site-packages/")[2]
            return (
                f"{short.replace(f'{Path.cwd()}/', '')}:{frame.lineno} in {frame.name}"
            )
    return ""


def _write(pipe: int, answer: dict[str, Any]) -> None:
    data = json.dumps(answer).encode() + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


if __name__ == "__main__":
    main()
