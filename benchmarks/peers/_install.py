"""Build the peers' environments, each with pinned versions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.peers._catalog import peers_folder

if TYPE_CHECKING:
    from benchmarks.peers._catalog import Peer

# Written last, with what was asked for: an environment without it is half built.
_STAMP = "satchel-peer.json"
TIMEOUT_S = 1800  # the largest took under a minute from a near index


class CannotInstall(Exception):
    """No environment could be built; ``reason`` is what the tool said."""

    def __init__(self, peer: str, reason: str) -> None:
        super().__init__(peer, reason)
        self.peer = peer
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.peer}: {self.reason}"


def install(peer: Peer) -> bool:
    """Build the environment of ``peer``; return whether there was anything to do.

    Raises:
        CannotInstall: No such Python here, or pip failed; its error lines are kept.
    """
    stamp = peer.folder / _STAMP
    wanted = {"python": peer.python_version, "requires": list(peer.requires)}
    if peer.is_ours or (stamp.exists() and json.loads(stamp.read_bytes()) == wanted):
        return False
    python = find_python(peer.python_version)
    if python is None:
        raise CannotInstall(peer.name, f"no python{peer.python_version} found")
    _ignore_in_git(peers_folder())
    stamp.unlink(missing_ok=True)
    _run(peer, [python, "-m", "venv", "--clear", str(peer.folder)])
    _run(
        peer,
        [
            *(str(peer.interpreter), "-m", "pip", "install", "--quiet"),
            *("--disable-pip-version-check", "--no-input", "--prefer-binary"),
            *peer.requires,
        ],
    )
    stamp.write_text(json.dumps(wanted), "utf-8")
    return True


def find_python(version: str) -> str | None:
    """Return a Python of that version: this one, one on the path, or one of pyenv's."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    on_path = shutil.which(f"python{version}")
    # A shim of pyenv is on the path for versions that are not switched on, and fails.
    if on_path is not None and _works(on_path):
        return on_path
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = sorted(pyenv.glob(f"versions/{version}.*/bin/python"))
    return str(found[-1]) if found else None


def _works(python: str) -> bool:
    return not subprocess.run(
        [python, "-c", ""], check=False, capture_output=True
    ).returncode


def _run(peer: Peer, command: list[str]) -> None:
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=TIMEOUT_S,
    )
    if done.returncode:
        lines = done.stderr.splitlines()
        errors = [line for line in lines if line.startswith("ERROR")] or lines[-3:]
        raise CannotInstall(peer.name, "\n".join(errors))


def _ignore_in_git(folder: Path) -> None:
    """Keep the environments out of git by themselves, wherever they are."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n", "utf-8")
