"""The texts, and how tools become one JSON object each, whatever a framework calls it.

This runs in the environment of each peer, so it imports nothing but the standard
library.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SCHEMAS: Final = ("parameters", "parameters_json_schema", "inputSchema")
"""What frameworks call the schema of a tool's arguments."""


class Sent(TypedDict):
    """What is sent.

    ``prompt`` is the part of the system prompt that is there for skills, or what stands
    in for it; ``bare`` is the same without skills, where a framework adds to a text.
    ``tools`` are those of the feature, each as JSON. ``loaded`` is the result of the
    tool that loads a skill, None where there is no such tool.
    """

    name: str
    prompt: str
    bare: str
    tools: list[str]
    loaded: str | None


def sent(
    name: str,
    prompt: str,
    tools: Iterable[Mapping[str, Any]] = (),
    loaded: object = None,
    bare: str = "",
) -> Sent:
    """Return the texts; a result that is no text is written as JSON."""
    return {
        "name": name,
        "prompt": prompt,
        "bare": bare,
        "tools": [tool_text(tool) for tool in tools],
        "loaded": loaded
        if loaded is None or isinstance(loaded, str)
        else _json(loaded),
    }


def tool_text(tool: Mapping[str, Any]) -> str:
    """Return a tool as JSON of its name, description and parameters, nothing else."""
    tool = tool.get("function", tool)
    schema: Any = next(filter(None, map(tool.get, _SCHEMAS)), {})
    return _json(
        {
            "name": tool["name"],
            "description": tool.get("description") or "",
            # Strands puts the schema one level deeper.
            "parameters": schema.get("json", schema),
        }
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
