"""Make each adapter's environment from its lock file, and each lock file.

An environment is made again when its lock file or its Python has changed; Satchel is
put in again, editable, when ``pyproject.toml`` has.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Final

from tools.adapters.frameworks import LOWEST_PYTHON, OTHER_PYTHON, ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tools.adapters.frameworks import Adapter

_UV: Final = ROOT / ".venv" / "bin" / "uv"
_PROJECT: Final = ROOT / "pyproject.toml"


class CommandFailedError(Exception):
    """A command of the set-up failed; the text is its output."""


def ensure_uv() -> None:
    """Install uv next to the other tools, from its lock file, where it is missing."""
    if not _UV.exists():
        lock = ROOT / "requirements" / "lock.txt"
        python = str(_UV.with_name("python"))
        pip = [python, "-m", "pip", "--quiet", "--no-input", "install"]
        _run([*pip, "--disable-pip-version-check", "--require-hashes", "-r", str(lock)])


def ensure_environment(adapter: Adapter) -> Path:
    """Return the Python of an adapter's environment, after making what is missing.

    Raises:
        CommandFailedError: It cannot be made; says why.
        LookupError: There is no lock file.
    """
    if not adapter.lock.exists():
        command = f"python -m tools.adapters lock {adapter.name}"
        raise LookupError(f"no lock file: run `{command}`")
    home = adapter.environment
    python = home / "bin" / "python"
    made, filled = home / "made-from", home / "filled-from"
    wanted = f"{adapter.python} {_digest(adapter.lock)}"
    if not (python.exists() and made.exists() and made.read_text("utf-8") == wanted):
        shutil.rmtree(home, ignore_errors=True)
        _uv("venv", "--python", adapter.python, str(home))
        _uv(
            "pip",
            "sync",
            "--python",
            str(python),
            "--require-hashes",
            str(adapter.lock),
        )
        made.write_text(wanted, "utf-8")
    project = _digest(_PROJECT)
    if not (filled.exists() and filled.read_text("utf-8") == project):
        install = ("pip", "install", "--python", str(python), "--no-deps")
        _uv(*install, "--no-build-isolation", "-e", str(ROOT))
        filled.write_text(project, "utf-8")
    return python


def lock(adapter: Adapter) -> None:
    """Resolve an adapter's lock file again from its extra, with the newest releases.

    At the lower bounds the requirements of the extra are at exactly these, and all else
    is the newest that goes with them. `make lock` waits a week before it takes a
    release; here the newest is the point.

    Raises:
        CommandFailedError: No set of releases fits; says why.
        LookupError: There is no extra, or one of its requirements has no lower bound.
    """
    adapter.lock.parent.mkdir(parents=True, exist_ok=True)
    python = OTHER_PYTHON.get(adapter.name, LOWEST_PYTHON)
    with NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as pins:
        pins.write("\n".join(_lowest(adapter) if adapter.lowest else ()))
        pins.flush()
        _uv(
            *("pip", "compile", _PROJECT.name),
            *("--extra", adapter.extra),
            *("--group", "build", "--group", "adapters"),
            *("--python-version", python, "--universal", "--upgrade"),
            "--no-strip-extras",
            *("--generate-hashes", "--no-emit-index-url", "--no-emit-find-links"),
            *("--no-annotate", "--constraints", pins.name, "--custom-compile-command"),
            f"python -m tools.adapters lock {adapter.name}",
            *("-o", str(adapter.lock.relative_to(ROOT))),
        )


def _lowest(adapter: Adapter) -> list[str]:
    """Return the extra's requirements at their lower bounds."""
    if any(">=" not in bound for bound in adapter.bounds):
        raise LookupError(f"the extra {adapter.extra!r} has a requirement without >=")
    return [bound.replace(">=", "==") for bound in adapter.bounds]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _uv(*arguments: str) -> None:
    _run([str(_UV), "--quiet", "--no-progress", *arguments])


def _run(command: list[str]) -> None:
    # A Python environment that is active elsewhere is none of uv's business here.
    environ = {k: v for k, v in os.environ.items() if k != "VIRTUAL_ENV"}
    done = subprocess.run(
        command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    if done.returncode:
        output = (done.stderr or done.stdout).strip()
        raise CommandFailedError(f"{' '.join(command[:4])} ...: {output}")
