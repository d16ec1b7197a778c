"""When a rule applied: what a pack can say of that, and what it cannot."""

from collections.abc import Sequence
from typing import Final

from satchel.model import Finding

__all__ = ["always_applied", "for_files"]

_MOST: Final = 6


def for_files(patterns: Sequence[str], description: str) -> str:
    """Return a sentence that says for which files; empty where it is said already."""
    told = [each for each in patterns if each not in description]
    if not told:
        return ""
    more = " and others" if len(told) > _MOST else ""
    return f"Use for files that match {', '.join(told[:_MOST])}{more}."


def always_applied(path: str, name: str) -> Finding:
    """Return the warning that a rule of every prompt is a pack on demand now."""
    return Finding(
        "now-on-demand",
        "warning",
        "the rule was in every prompt; a pack is loaded when its description fits",
        path,
        fix=f"make it always-on, skills.session(always=[{name!r}]); or leave it there",
    )
