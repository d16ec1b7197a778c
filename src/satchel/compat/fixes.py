"""What to change in a pack so that loaders take it, by property."""

from typing import Final

__all__ = ["fix_of"]

_FIXES: Final = {"lower-case-file": "call the file SKILL.md"}


def fix_of(key: str) -> str:
    """Return what to do about a property; empty where that is not known."""
    return _FIXES.get(key, "")
