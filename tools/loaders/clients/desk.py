"""A home and scratch projects for one client, and how it is run there.

The client knows no proxy but one that refuses, and of no model but the fake one:
nothing leaves the machine.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tools.clients.environments import NODE
from tools.loaders.clients.api import FakeApi

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

TIMEOUT_S: Final = 60.0
NOBODY: Final = "http://127.0.0.1:9"
"""Where nobody listens."""

_QUIET: Final = {
    "CI": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "LANG": "C.UTF-8",
    "NO_COLOR": "1",
    "NO_PROXY": "127.0.0.1,localhost",
}
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy")


@dataclass(frozen=True, slots=True)
class Done:
    """What a client printed, and how it ended; -1 where it took too long."""

    status: int
    out: str
    err: str


@dataclass(slots=True)
class Desk:
    """One client's place: ``home`` is kept between libraries, ``project`` is not."""

    command: tuple[str, ...]
    root: Path
    api: FakeApi
    project: Path
    count: int = 0

    @property
    def home(self) -> Path:
        """The client's home."""
        return self.root / "home"

    def write(self, path: str, text: str) -> None:
        """Write a file of the home, such as the client's settings."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    @contextmanager
    def laid(self, library: Path, place: str) -> Generator[None]:
        """Lay a library where the client looks, in a new project.

        ``place`` is relative to the project, or to the home where it begins with ~.
        """
        self.count += 1
        self.project = self.root / f"project-{self.count}"
        self.project.mkdir()
        inside = place.removeprefix("~/")
        spot = (self.project if inside == place else self.home) / inside
        spot.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(spot, ignore_errors=True)
        shutil.copytree(library, spot, symlinks=True)
        try:
            yield
        finally:
            shutil.rmtree(spot, ignore_errors=True)
            shutil.rmtree(self.project, ignore_errors=True)

    def environ(self, more: Mapping[str, str]) -> dict[str, str]:
        """Return the whole environment of the client."""
        home = str(self.home)
        return {
            "PATH": os.pathsep.join([str(NODE), "/usr/bin", "/bin"]),
            "HOME": home,
            "TMPDIR": str(self.root),
            "XDG_CACHE_HOME": f"{home}/.cache",
            "XDG_CONFIG_HOME": f"{home}/.config",
            "XDG_DATA_HOME": f"{home}/.local/share",
            "XDG_STATE_HOME": f"{home}/.local/state",
            **_QUIET,
            **dict.fromkeys(_PROXIES, NOBODY),
            **more,
        }

    def start(
        self, arguments: tuple[str, ...], environ: Mapping[str, str]
    ) -> subprocess.Popen[str]:
        """Start the client in the project, in a process group of its own."""
        return subprocess.Popen(
            [*self.command, *arguments],
            cwd=self.project,
            env=self.environ(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )

    def run(self, arguments: tuple[str, ...], environ: Mapping[str, str]) -> Done:
        """Run the client in the project until it ends, or its time is up."""
        self.api.asked.clear()
        process = self.start(arguments, environ)
        try:
            out, err = process.communicate(timeout=TIMEOUT_S)
            status = process.returncode
        except subprocess.TimeoutExpired:
            out, err, status = "", "it ran out of time", -1
        finally:
            end(process)
        return Done(status, out, err)


def end(process: subprocess.Popen[str]) -> None:
    """End a client and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@contextmanager
def open_desk(command: tuple[str, ...]) -> Generator[Desk]:
    """Yield a desk for a client that is started by a command."""
    with (
        tempfile.TemporaryDirectory(prefix="desk-", ignore_cleanup_errors=True) as root,
        FakeApi() as api,
    ):
        desk = Desk(command, Path(root), api, Path(root))
        desk.home.mkdir()
        yield desk
