"""Put clients into folders of their own, from the package indexes.

What a package would run when it is installed is not run. What stands there is used
again; delete the folder to get the newest release.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchmarks.peers._install import find_python
from tools.clients.environments import (
    NODE,
    UnavailableError as NoNodeError,
    ensure_node,
)
from tools.loaders.driver import UnavailableError, uv_command
from tools.loaders.known import CACHE

if TYPE_CHECKING:
    from pathlib import Path

TIMEOUT_S: Final = 600
_RANGE: Final = re.compile(r"(?<=.)@.*")


@dataclass(frozen=True, slots=True)
class Npm:
    """A package of the npm registry.

    ``spec`` is what is asked for, such as ``skills`` or ``pi@<1``. ``program`` is a
    path below ``node_modules``; ``native`` says that Node need not run it.
    """

    spec: str
    program: str
    native: bool = False

    @property
    def name(self) -> str:
        """The package's name."""
        return _RANGE.sub("", self.spec)

    @property
    def folder(self) -> Path:
        """Where it stands."""
        return CACHE / "npm" / self.name.strip("@").replace("/", "-")

    @property
    def command(self) -> tuple[str, ...]:
        """How it is started."""
        path = str(self.folder / "node_modules" / self.program)
        return (path,) if self.native else (str(NODE / "node"), path)

    def ensure(self) -> str:
        """Install it where it is missing, and return its version.

        Raises:
            UnavailableError: It cannot be had here.
        """
        try:
            ensure_node()
        except NoNodeError as error:
            raise UnavailableError(str(error)) from error
        made = self.folder / "made-from"
        if not (made.exists() and made.read_text("utf-8") == self.spec):
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            (self.folder / "package.json").write_text('{"private": true}', "utf-8")
            npm = (str(NODE / "npm"), "install", "--ignore-scripts", "--no-audit")
            _run((*npm, "--no-fund", "--no-progress", self.spec), self.folder)
            made.write_text(self.spec, "utf-8")
        home = self.folder / "node_modules" / self.name
        version: str = json.loads((home / "package.json").read_text("utf-8"))["version"]
        return version


@dataclass(frozen=True, slots=True)
class Pip:
    """A distribution of the Python package index, under the Python it asks for."""

    name: str
    python: str

    @property
    def folder(self) -> Path:
        """Where it stands."""
        return CACHE / "clients" / self.name

    @property
    def command(self) -> tuple[str, ...]:
        """Its Python."""
        return (str(self.folder / "bin" / "python"),)

    def ensure(self) -> str:
        """Install it where it is missing, and return its version.

        Raises:
            UnavailableError: It cannot be had here.
        """
        made = self.folder / "made-from"
        if not made.exists():
            python = find_python(self.python)
            if python is None:
                raise UnavailableError(f"no Python {self.python} here")
            uv = uv_command()
            where = ("--python", *self.command)
            CACHE.mkdir(parents=True, exist_ok=True)
            new = (*uv, "venv", "--clear", "--python", python, str(self.folder))
            _run(new, CACHE)
            _run((*uv, "pip", "install", *where, self.name), CACHE)
            made.write_text(self.name, "utf-8")
        asks = f"from importlib.metadata import version; print(version({self.name!r}))"
        return _run((*self.command, "-c", asks), CACHE).strip()


def _run(command: tuple[str, ...], folder: Path) -> str:
    environ = {k: v for k, v in os.environ.items() if k != "VIRTUAL_ENV"}
    environ["PATH"] = os.pathsep.join([str(NODE), environ.get("PATH", os.defpath)])
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environ,
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(str(error)) from error
    if done.returncode:
        raise UnavailableError((done.stderr or done.stdout).strip()[-400:])
    return done.stdout
