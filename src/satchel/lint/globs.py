"""Patterns of paths, as people write them in configuration files."""

import re
from typing import Final

__all__ = ["glob_pattern"]

_PARTS: Final = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_FOLDERS: Final = re.compile(r"(?:\*\*/)+")
_MEANING: Final = {
    "**/": "(?:[^/]+/)*",
    "**": ".*",
    "*": "[^/]*",
    "?": "[^/]",
}


def glob_pattern(glob: str) -> re.Pattern[str]:
    """Return a pattern for whole paths with ``/`` between the names.

    ``*`` and ``?`` stop at a ``/``, ``**`` does not; ``**/`` is any number of folders,
    none included. What matches a folder matches all in it.
    """
    glob = _FOLDERS.sub("**/", glob.removeprefix("./").rstrip("/"))
    parts = (
        _MEANING[part] if part in _MEANING else re.escape(part)
        for part in _PARTS.findall(glob)
    )
    return re.compile(f"(?:{''.join(parts)})(?:/.*)?", re.DOTALL)
