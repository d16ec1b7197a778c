"""Quoted text that runs on at the margin: PyYAML takes it, YAML 1.2 does not.

Every line of a text has to be indented below its field (YAML 1.2, section 7.3).
"""

from collections.abc import Mapping
from typing import Final

from satchel.model import Json

__all__ = ["runs_on_at_margin"]

_CLOSERS: Final = ("]", "}")


def runs_on_at_margin(head: str, root: Mapping[str, Json]) -> bool:
    """Tell whether some line at the margin belongs to the text of a field above it.

    ``head`` is what stands between the fences and ``root`` what was read of it. At the
    margin there may be a field, a comment, an item of a list, or the end of one.
    """
    keys = iter(root)
    key = next(keys, None)
    above: Json = None
    for line in head.splitlines():
        if not line.strip() or line[0] in " \t":
            continue
        if key is not None and _begins(line, key):
            above = root[key]
            key = next(keys, None)
        elif line[0] == "#":
            if isinstance(above, str) and line.strip(" \t\"'") in above:
                return True
        elif isinstance(above, str) or not line.startswith(("-", *_CLOSERS)):
            return True
    return False


def _begins(line: str, key: str) -> bool:
    """Tell whether this line begins the field of this name."""
    name, colon, _ = line.partition(":")
    return bool(colon) and name.strip().strip("\"'") == key
