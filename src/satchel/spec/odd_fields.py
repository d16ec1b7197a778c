"""Fields of a frontmatter whose values the public specification does not allow.

They cost nothing here. Other readers refuse them, and some of these refuse a whole list
of skills for one of them.
"""

from collections.abc import Iterator, Mapping
from typing import Final, cast

from satchel.model import Json

__all__ = ["odd_fields"]

MAX_COMPATIBILITY_CHARS: Final = 500
"""Source: agentskills.io/specification, field ``compatibility``."""


def odd_fields(frontmatter: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the names of such fields, ``metadata.version`` for a value of a mapping.

    ``license`` and ``allowed-tools`` are to be text, ``compatibility`` text of 1 to 500
    characters, ``metadata`` a mapping of text to text.
    """
    return tuple(_odd(frontmatter))


def _odd(frontmatter: Mapping[str, Json]) -> Iterator[str]:
    for name in ("license", "allowed-tools", "compatibility"):
        if name in frontmatter and not isinstance(frontmatter[name], str):
            yield name
    text = frontmatter.get("compatibility")
    if isinstance(text, str) and not 1 <= len(text) <= MAX_COMPATIBILITY_CHARS:
        yield "compatibility"
    if "metadata" not in frontmatter:
        return
    metadata = frontmatter["metadata"]
    if not isinstance(metadata, dict):
        yield "metadata"
        return
    for key, value in cast("dict[str, object]", metadata).items():
        if not isinstance(value, str):
            yield f"metadata.{key}"
