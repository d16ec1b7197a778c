"""What each tool gives, as schemas; and a tool's result as the protocol has it."""

from collections.abc import Mapping
from typing import Any, Final, cast

from mcp_types import CallToolResult, TextContent

from satchel.errors import ToolError, echo, error_payload
from satchel.model import Style
from satchel.tools import result_text

__all__ = ["misuse", "output_schema", "tool_result"]

_TEXT: Final = {"type": "string"}
_TEXTS: Final = {"type": "array", "items": _TEXT}
_TEXT_OR_NULL: Final = {"type": ["string", "null"]}
_ERROR: Final = {
    "type": "object",
    "properties": {"code": _TEXT, "message": _TEXT},
    "required": ["code", "message"],
}


def _object(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _list_of(**properties: object) -> dict[str, Any]:
    item = {**_object(**properties), "required": [*properties]}
    return {"type": "array", "items": item}


_SEVEN: Final = {
    "name": _TEXT,
    "body": _TEXT,
    "available_references": _TEXTS,
    "available_scripts": _TEXTS,
    "reference_content": _TEXT_OR_NULL,
    "script_content": _TEXT_OR_NULL,
    "error": _TEXT_OR_NULL,
}
_FILE: Final = {
    "path": _TEXT,
    "media_type": _TEXT,
    "content": _TEXT_OR_NULL,
    "size_bytes": {"type": "integer"},
    "notes": _TEXTS,
    "error": _ERROR,
}
_ENTRIES: Final = _list_of(
    name=_TEXT, description=_TEXT, category=_TEXT, references=_TEXTS
)
_SCHEMAS: Final[Mapping[str, dict[str, Any]]] = {
    "packs load_skill": {
        **_object(**_SEVEN, notes=_TEXTS),
        "required": [*_SEVEN],
    },
    "packs read_skill_file": _object(name=_TEXT, **_FILE),
    "agent-skills load_skill": _object(result=_TEXT, error=_ERROR),
    "agent-skills read_skill_file": _object(skill_id=_TEXT, **_FILE),
    "references list_skills": _object(skills=_ENTRIES, error=_ERROR),
    "references search_skills": _object(query=_TEXT, matches=_ENTRIES, error=_ERROR),
    "references load_skill_instructions": _object(
        name=_TEXT,
        instructions=_TEXT,
        tools=_TEXTS,
        references=_TEXTS,
        result=_TEXT,
        path=_TEXT,
        media_type=_TEXT,
        content=_TEXT_OR_NULL,
        size_bytes={"type": "integer"},
        notes=_TEXTS,
        skill_name=_TEXT,
        error={"anyOf": [_ERROR, _TEXT]},
    ),
}
_FIND: Final = _object(
    query=_TEXT, skills=_list_of(id=_TEXT, description=_TEXT), error=_ERROR
)


def output_schema(style: Style, tool: str) -> dict[str, Any]:
    """Return the schema of what a tool of a style gives, its errors included."""
    return _FIND if tool == "find_skills" else _SCHEMAS[f"{style} {tool}"]


def tool_result(result: object) -> CallToolResult:
    """Return what a tool gave as text for a model, and as data beside it.

    Text alone is the value of ``result`` in the data.
    """
    text = result_text(result)
    data = cast("dict[str, Any]", result) if isinstance(result, dict) else None
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content={"result": text} if data is None else data,
        is_error=_says_error(text) if data is None else bool(data.get("error")),
    )


def misuse(
    style: Style, tool: str, arguments: Mapping[str, Any], problem: str
) -> CallToolResult:
    """Return the result of a call whose arguments break the schema: nothing was done.

    It has the tool's own shape, so that a reader finds the error where it looks.
    """
    error = ToolError(tool, problem)
    if (style, tool) != ("packs", "load_skill"):
        return tool_result(error_payload(error))
    name = arguments.get("name")
    given: dict[str, object] = {
        "name": echo(name) if isinstance(name, str) else "",
        "body": "",
        "available_references": [],
        "available_scripts": [],
        "error": str(error),
    }
    return tool_result({key: given.get(key) for key in _SEVEN})


def _says_error(text: str) -> bool:
    """Tell whether an envelope of the style ``agent-skills`` holds an error."""
    lines = text.split("\n", 2)
    return lines[0].startswith("<skill_context ") and lines[1:2] == ["  <error>"]
