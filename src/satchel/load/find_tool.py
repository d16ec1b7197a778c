"""The tool that finds skills, for a catalog that is too long to read."""

from collections.abc import Callable, Sequence
from typing import Final

from satchel.errors import echo
from satchel.model import Catalog, Hit, Json, Rendered
from satchel.text import clean_line
from satchel.tools import Tool

__all__ = ["Find", "find_tool", "offer_find"]

FIND_FROM: Final = 30
"""Skills from which on a list is searched rather than read (R35)."""

_MAX_HITS: Final = 50
_DEFAULT_HITS: Final = 5
_SCHEMA: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "A few words of the task."},
        "k": {
            "type": "integer",
            "description": "How many skills at most.",
            "minimum": 1,
            "maximum": _MAX_HITS,
            "default": _DEFAULT_HITS,
        },
    },
    "required": ["query"],
    "additionalProperties": False,
}

Find = Callable[[str, int], Sequence[Hit]]


def offer_find(catalog: Catalog, rendered: Rendered) -> bool:
    """Tell whether the tool that finds skills is worth its place in a prompt."""
    return len(catalog) >= FIND_FROM or not rendered.complete


def find_tool(find: Find) -> Tool:
    """Return ``find_skills(query, k)``: ids and descriptions, best first."""

    def find_skills(query: str, k: int = _DEFAULT_HITS) -> dict[str, object]:
        hits = find(query, max(1, min(k, _MAX_HITS)))
        return {
            "query": echo(query),
            "skills": [
                {"id": hit.id, "description": clean_line(hit.description)}
                for hit in hits
            ],
        }

    return Tool(
        "find_skills",
        "Find skills by a few words of the task, also those that are not listed.",
        _SCHEMA,
        find_skills,
    )
