"""What a check works with: a folder, the clients, and the server under test."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from tools.clients.environments import CLIENTS, NODE
from tools.clients.known import CACHE, HOME, PYTHON, ROOT, SATCHEL
from tools.clients.outcome import Step

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence
    from pathlib import Path

START_TIMEOUT_S: Final = 60
STOP_TIMEOUT_S: Final = 10
COMMAND_TIMEOUT_S: Final = 120

_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:\d+")
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_COLOURS: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

# Nothing is reported to anybody, nothing updates itself, nothing colours what it says.
_QUIET: Final = {
    "CI": "true",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "NO_COLOR": "1",
    "NO_UPDATE_NOTIFIER": "1",
}


class NotServedError(Exception):
    """The server did not come up; the text is what it said."""


@dataclass(frozen=True, slots=True)
class Done:
    """A command that ended: its status, and what it said without colours."""

    status: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The last line that says something, best of an error, for a message."""
        lines = [line for line in (self.err or self.out).splitlines() if line.strip()]
        errors = [line for line in lines if "Error" in line]
        return (errors or lines or ["it said nothing"])[-1].strip()


@dataclass(frozen=True, slots=True)
class Bench:
    """The place of one check: ``folder`` is its own, empty at first, gone after."""

    folder: Path

    @property
    def environ(self) -> dict[str, str]:
        """A small environment: a home of its own, Node found first, no keys."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        path = os.pathsep.join([str(NODE), str(PYTHON.parent), os.defpath])
        return {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", **_QUIET}

    def run(
        self,
        command: Sequence[str | Path],
        *,
        inside: Path | None = None,
        timeout_s: float = COMMAND_TIMEOUT_S,
        environ: Mapping[str, str] = _NOTHING,
    ) -> Done:
        """Run a command in the folder, or one ``inside`` it.

        One that hangs is stopped, with all that it started, and has the status -9.
        """
        with subprocess.Popen(
            [str(part) for part in command],
            cwd=inside or self.folder,
            env={**self.environ, **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # what it starts is stopped with it
        ) as process:
            try:
                out, err = process.communicate(timeout=timeout_s)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
                err += f"\nstopped after {timeout_s:.0f} s"
        return Done(process.returncode, _COLOURS.sub("", out), _COLOURS.sub("", err))

    def npm(
        self,
        command: str,
        *arguments: str | Path,
        inside: Path | None = None,
        timeout_s: float = COMMAND_TIMEOUT_S,
    ) -> Done:
        """Run a command of the npm packages."""
        full = [npm_command(command), *arguments]
        return self.run(full, inside=inside, timeout_s=timeout_s)

    def program(self, name: str, *arguments: str | Path) -> Iterator[Step]:
        """Run ``tests/clients/programs/<name>.py`` with the Python clients.

        It prints a step a line, as JSON. One that ends otherwise is a step that failed.
        """
        program = HOME / "programs" / f"{name}.py"
        found = {"PYTHONPATH": str(ROOT)}
        done = self.run([CLIENTS, program, *arguments], environ=found)
        for line in done.out.splitlines():
            with suppress(json.JSONDecodeError, TypeError):
                said: dict[str, Any] = json.loads(line)
                yield Step(**said)
        if done.status:
            yield Step(f"{name}.py", "failed", done.last)

    @contextmanager
    def serve(self, library: Path, *options: str) -> Generator[str]:
        """Serve a folder of skills on a free port of this machine; yield the address.

        Raises:
            NotServedError: It ended, or said no address in time.
        """
        command = [str(SATCHEL), "serve", str(library), "--port", "0", *options]
        with serving(command, self.folder, self.environ) as address:
            yield address


@contextmanager
def serving(
    command: list[str],
    folder: Path,
    environ: dict[str, str],
    said: list[str] | None = None,
) -> Generator[str]:
    """Run a server until the block ends; yield the address that it says.

    ``said`` receives each line that it prints.

    Raises:
        NotServedError: It ended, or said no address in time.
    """
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        said = [] if said is None else said
        known = threading.Event()
        reader = threading.Thread(target=_listen, args=(process, said, known))
        reader.start()
        try:
            known.wait(START_TIMEOUT_S)
            found = _ADDRESS.search("".join(said))
            if found is None:
                raise NotServedError("".join(said[-20:]).strip() or "it said nothing")
            yield found[0]
        finally:
            process.terminate()
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
            reader.join()


def _listen(
    process: subprocess.Popen[str], said: list[str], known: threading.Event
) -> None:
    """Keep what the server says, so that its pipe never fills."""
    assert process.stdout is not None  # noqa: S101 - Popen was asked for it
    for line in process.stdout:
        said.append(line)
        if _ADDRESS.search(line):
            known.set()
    known.set()


def npm_command(command: str, *, folder: str = "npm") -> Path:
    """Return where a command of the npm packages is."""
    return CACHE / folder / "node_modules" / ".bin" / command
