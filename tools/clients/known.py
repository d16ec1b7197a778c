"""Where the things of this command stand, and which packages are asked of."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
HOME: Final = ROOT / "tests" / "clients"
"""The programs that clients run, and the lock files of what they need."""

CACHE: Final = ROOT / ".cache" / "clients"
RESULTS: Final = CACHE / "results"

SATCHEL: Final = ROOT / ".venv" / "bin" / "satchel"
PYTHON: Final = ROOT / ".venv" / "bin" / "python"
UV: Final = ROOT / ".venv" / "bin" / "uv"

LOWEST_NODE: Final = (22, 19)
"""What the newest of the npm packages, MCP Inspector, asks for."""

_PIN: Final = re.compile(r"([a-z0-9-]+)==([\w.]+)")


def npm_versions(folder: Path) -> dict[str, str]:
    """Return the npm packages of ``folder``'s package.json, each with its version."""
    declared = json.loads((folder / "package.json").read_text("utf-8"))
    return dict(declared["dependencies"])


def pip_version(lock: Path, distribution: str) -> str:
    """Return the version of one distribution in a lock file.

    Raises:
        LookupError: The lock file has no such distribution.
    """
    pins = dict(_PIN.findall(lock.read_text("utf-8")))
    if distribution not in pins:
        raise LookupError(f"{lock.name} has no {distribution}")
    version: str = pins[distribution]
    return version
