"""Ask a loader, in a Python of its own, what it lists in a folder."""

import json
import os
import selectors
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Literal, Self, cast

MEMORY_BYTES: Final = 2 << 30  # two at once have to fit a small machine
_CHILD: Final = Path(__file__).with_name("_answering.py")
_IMPORT_S: Final = 120.0  # a framework with all that it imports, on a slow machine
_GRACE_S: Final = 10.0

End = Literal["answered", "hung", "died"]


class LoaderNotRunError(Exception):
    """The loader cannot be imported or asked; the text says why."""


@dataclass(frozen=True, slots=True)
class LoaderAnswer:
    """What a loader did with one folder.

    ``error`` is the exception that it raised, ``where`` its line in the loader.
    ``notes`` are its warnings and log records, and what it printed. ``prompt`` is None
    where there was nothing to ask for it, or it was not made, for ``prompt_error``.
    """

    listed: tuple[tuple[str, str | None], ...] = ()
    error: str = ""
    where: str = ""
    notes: tuple[str, ...] = ()
    prompt: str | None = None
    prompt_error: str = ""
    end: End = "answered"
    status: int = 0

    @property
    def names(self) -> frozenset[str]:
        """What is listed, by name."""
        return frozenset(name for name, _ in self.listed)


class LoaderProcess:
    """A loader, imported once and asked about many folders; see `_answering`."""

    def __init__(
        self, target: str, *, python: str | None = None, timeout_s: float
    ) -> None:
        """Import it.

        Raises:
            LoaderNotRunError: It cannot be imported.
        """
        self._command = [python or sys.executable, str(_CHILD), target]
        self._command += [str(timeout_s), str(MEMORY_BYTES)]
        self._timeout_s = 2 * timeout_s + _GRACE_S
        self._start()

    def ask(self, folder: Path) -> LoaderAnswer:
        """Return what it does with a folder; one that ends it does not end the rest."""
        with suppress(BrokenPipeError):
            self._pipe.write(json.dumps(str(folder)).encode() + b"\n")
            self._pipe.flush()
        line = self._line(self._timeout_s)
        if line is None:
            ended = self._child.poll()
            self.close()
            self._start()
            return LoaderAnswer(
                end="hung" if ended is None else "died", status=ended or 0
            )
        return _answer_of(line, str(folder))

    def close(self) -> None:
        """End the process."""
        self._child.kill()
        self._child.communicate()

    def __enter__(self) -> Self:
        """Return the process itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.close()

    def _start(self) -> None:
        try:
            self._child = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise LoaderNotRunError(f"{self._command[0]}: {error.strerror}") from error
        self._pipe = _there(self._child.stdin)
        answer = self._line(_IMPORT_S) or {"error": "the process ended or hung"}
        if "error" in answer:
            self.close()
            message = f"{self._command[2]} cannot be imported: {answer['error']}"
            raise LoaderNotRunError(message)
        self.version = str(answer["version"])

    def _line(self, timeout_s: float) -> dict[str, Any] | None:
        """Return the next line; None where it does not come."""
        pipe, data = _there(self._child.stdout).fileno(), bytearray()
        deadline = time.monotonic() + timeout_s
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while selector.select(max(deadline - time.monotonic(), 0)):
                chunk = os.read(pipe, 1 << 16)
                data += chunk
                if not chunk:
                    return None
                if chunk.endswith(b"\n"):
                    return cast("dict[str, Any]", json.loads(data))
        return None


def _there(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise TypeError(pipe)
    return pipe


def _answer_of(line: dict[str, Any], folder: str) -> LoaderAnswer:
    texts = [*line.get("notes", ()), *line["printed"].splitlines()]
    notes = tuple(text.replace(folder, "") for text in texts if text.strip())
    return LoaderAnswer(
        listed=tuple((name, about) for name, about in line.get("listed", ())),
        error=line.get("error", "").replace(folder, ""),
        where=line.get("where", "") or line.get("prompt_where", ""),
        notes=notes,
        prompt=line.get("prompt"),
        prompt_error=line.get("prompt_error", "").replace(folder, ""),
        end=line["end"],
        status=line["status"],
    )
