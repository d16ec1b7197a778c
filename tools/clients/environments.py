"""Node, the npm packages and the Python clients, each made from its lock file.

What stands there is used again while its lock file is the same. Node comes from the
package index, as a wheel: nothing has to be on the machine but Python.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Final

from tools.clients.known import CACHE, HOME, LOWEST_NODE, PYTHON, ROOT, UV

if TYPE_CHECKING:
    from pathlib import Path

NODE: Final = CACHE / "node" / "bin"
"""Where ``node`` and ``npm`` are."""

CLIENTS: Final = CACHE / "python" / "bin" / "python"
"""The Python that has the Python clients."""

INSTALL_TIMEOUT_S: Final = 600


_OTHER_BYTES: Final = ("EINTEGRITY", "Hash mismatch")
"""How npm and uv say that what came is not what the lock file has."""


class UnavailableError(Exception):
    """Something cannot be had here; the text says what, and what was tried."""


class OtherBytesError(Exception):
    """Something came that is not what the lock file names: no reason to go on."""


def ensure_python() -> None:
    """Make the environment of the Python clients.

    Raises:
        UnavailableError: It cannot be made.
    """
    _ensure_environment("python")


def ensure_npm(name: str) -> Path:
    """Return the folder with the commands of ``tests/clients/<name>/package.json``.

    Raises:
        UnavailableError: There is no Node that is new enough, or no such package.
    """
    ensure_node()
    folder, made = CACHE / name, CACHE / name / "made-from"
    sources = [HOME / name / file for file in ("package.json", "package-lock.json")]
    wanted = "".join(map(_digest, sources))
    if not (made.exists() and made.read_text("utf-8") == wanted):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for source in sources:
            shutil.copy(source, folder)
        # What a package would run when it is installed is not needed, and not run.
        npm = [str(NODE / "npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        _run([*npm, "--no-progress"], folder)
        made.write_text(wanted, "utf-8")
    return folder / "node_modules" / ".bin"


def ensure_node() -> None:
    """Put Node there, and look at its version.

    Raises:
        UnavailableError: It cannot be had, or is too old.
    """
    _ensure_environment("node")
    said = _run([str(NODE / "node"), "--version"], CACHE).strip()
    major, minor, *_ = (int(part) for part in said.removeprefix("v").split("."))
    if (major, minor) < LOWEST_NODE:
        lowest = ".".join(map(str, LOWEST_NODE))
        raise UnavailableError(f"Node {said} is older than {lowest}")


def _ensure_environment(name: str) -> None:
    """Make a Python environment from ``tests/clients/<name>.txt``."""
    lock, home = HOME / f"{name}.txt", CACHE / name
    python, made = home / "bin" / "python", home / "made-from"
    wanted = _digest(lock)
    if python.exists() and made.exists() and made.read_text("utf-8") == wanted:
        return
    ensure_uv()
    shutil.rmtree(home, ignore_errors=True)
    uv = [str(UV), "--quiet", "--no-progress"]
    _run([*uv, "venv", "--python", str(PYTHON), str(home)], ROOT)
    sync = ["pip", "sync", "--python", str(python), "--require-hashes", str(lock)]
    _run([*uv, *sync], ROOT)
    made.write_text(wanted, "utf-8")


def ensure_uv() -> None:
    """Install uv next to the other tools, from its lock file, where it is missing.

    Raises:
        UnavailableError: It cannot be installed.
    """
    if not UV.exists():
        lock = ROOT / "requirements" / "lock.txt"
        pip = [str(PYTHON), "-m", "pip", "--quiet", "--no-input", "install"]
        quiet = ["--disable-pip-version-check", "--require-hashes"]
        _run([*pip, *quiet, "-r", str(lock)], ROOT)


def lock() -> None:
    """Resolve the lock files again from what is asked for by name, with the newest.

    Raises:
        UnavailableError: No set of releases fits.
    """
    ensure_uv()
    for name in ("python", "node"):
        _run(
            [
                *(str(UV), "--quiet", "pip", "compile", f"{name}.in"),
                *("--python-version", "3.11", "--universal", "--upgrade"),
                "--no-strip-extras",
                *("--generate-hashes", "--no-emit-index-url", "--no-emit-find-links"),
                *("--no-annotate", "--custom-compile-command"),
                *("python -m tools.clients lock", "-o", f"{name}.txt"),
            ],
            HOME,
        )
    ensure_node()
    for folder in (HOME / "npm", HOME / "claude"):
        package = json.loads((folder / "package.json").read_text("utf-8"))
        pins: dict[str, str] = package["dependencies"]
        # A pre-release is newer than what npm calls the latest; types go with our Node.
        kept = [name for name, pin in pins.items() if "-" in pin or "@types/" in name]
        newest = [f"{name}@latest" for name in pins if name not in kept]
        npm = [str(NODE / "npm"), "install", "--package-lock-only", "--ignore-scripts"]
        npm += ["--save-exact", "--omit-lockfile-registry-resolved", "--no-audit"]
        _run([*npm, *newest], folder)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _run(command: list[str], folder: Path) -> str:
    environ = {k: v for k, v in os.environ.items() if k != "VIRTUAL_ENV"}
    environ["PATH"] = os.pathsep.join([str(NODE), environ.get("PATH", os.defpath)])
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environ,
            capture_output=True,
            encoding="utf-8",
            timeout=INSTALL_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{' '.join(command[:4])}: {error}") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        message = f"{' '.join(command[:4])} ...: {said}"
        if any(word in said for word in _OTHER_BYTES):
            raise OtherBytesError(message)
        raise UnavailableError(message)
    return done.stdout
