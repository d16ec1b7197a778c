"""Where a skill's files are: ``skill://<skill-path>/<file-path>``, there and back.

The last part of a skill's path is the name in its frontmatter. Where its id is another,
as a prefix makes it, the id stands before it as one part. Ids are unique, so no two
skills share a first part, and a URI needs no table to be read.

Source: MCP's skills extension (SEP-2640), "Skill URIs".
"""

from typing import Final
from urllib.parse import quote, unquote

from satchel.model import SKILL_FILE, Descriptor

__all__ = ["MAX_URI_CHARS", "SCHEME", "parts_of", "skill_path", "uri_of"]

SCHEME: Final = "skill://"

MAX_URI_CHARS: Final = 8_192
"""Far above an id and a path of 1,024 bytes, each of their bytes escaped."""


def skill_path(entry: Descriptor) -> str:
    """Return a skill's path, escaped: its name, behind the id where that differs."""
    name = _escaped(entry.name)
    return name if entry.id == entry.name else f"{_escaped(entry.id)}/{name}"


def uri_of(entry: Descriptor, path: str = SKILL_FILE) -> str:
    """Return the URI of a file or folder of a skill; of its own folder if empty."""
    folder = SCHEME + skill_path(entry)
    return f"{folder}/{'/'.join(map(_escaped, path.split('/')))}" if path else folder


def parts_of(uri: str) -> tuple[str, ...] | None:
    """Return the parts of a skill URI, unescaped; None where it is none.

    No part is empty. What they name, and whether it is served, is not looked at.
    """
    if not uri.startswith(SCHEME) or len(uri) > MAX_URI_CHARS:
        return None
    try:
        parts = tuple(
            unquote(part, errors="strict")
            for part in uri.removeprefix(SCHEME).split("/")
        )
    except UnicodeDecodeError:
        return None
    return parts if all(parts) else None


def _escaped(part: str) -> str:
    return quote(part, safe="", errors="replace")
