"""Where the things of this command stand."""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
CACHE: Final = ROOT / ".cache" / "loaders"
"""Environments and what was last seen; nothing here is committed."""

LOCK: Final = CACHE / "measured.lock"
ENVIRONMENTS: Final = CACHE / "python"
UV: Final = ROOT / ".venv" / "bin" / "uv"
MEASURED: Final = ROOT / "src" / "satchel" / "clients" / "measured.json"
PAGE: Final = ROOT / "docs" / "reference" / "truth-table.md"
