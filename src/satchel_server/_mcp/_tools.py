"""Read-only tools for MCP clients: their schemas, their arguments, their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from satchel.errors import ToolError, echo, error_payload
from satchel.load import offer_find, offer_reader
from satchel.model import Catalog, Json, Rendered, Style
from satchel.runtime import View
from satchel.tools import ErrorText, Tool as CoreTool, result_text
from satchel_server._cache import IdentityCache
from satchel_server._library import ServedLibrary
from satchel_server._mcp._request import McpRequest, reject_cursor
from satchel_server._mcp._scripts import ScriptHandlers

# Characters of one argument: four times the longest path that a pack may hold.
MAX_TEXT_CHARS: Final = 4_096


def bounded_schema(schema: Mapping[str, Json]) -> dict[str, Any]:
    """Return a tool's schema with a maximum length for each text without one."""
    properties = cast("Mapping[str, Mapping[str, Json]]", schema["properties"])
    bounded = {
        name: {**value, "maxLength": MAX_TEXT_CHARS} if _is_text(value) else value
        for name, value in properties.items()
    }
    return {**schema, "properties": bounded}


def _is_text(schema: Mapping[str, Json]) -> bool:
    types = schema.get("type")
    return "string" in (types if isinstance(types, list) else [types])


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


_PACKS_RESULT: Final = {
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
        **_object(**_PACKS_RESULT, notes=_TEXTS),
        "required": [*_PACKS_RESULT],
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
    query=_TEXT,
    skills={
        "type": "array",
        "items": {
            **_object(id=_TEXT, description=_TEXT, weak={"type": "boolean"}),
            "required": ["id", "description"],
        },
    },
    note=_TEXT,
    error=_ERROR,
)


def output_schema(style: Style, tool: str) -> dict[str, Any] | None:
    """Return the schema of the results of a tool of a style, errors included.

    None for the style ``lean``, in which a result is text alone: some clients show a
    model both forms, or the text within JSON.
    """
    if style == "lean":
        return None
    return _FIND if tool == "find_skills" else _SCHEMAS[f"{style} {tool}"]


def tool_result(result: object, style: Style) -> CallToolResult:
    """Return the result of a tool of a style as text for a model, and as data.

    In the style ``lean`` as text alone.
    """
    text = result_text(result)
    if style == "lean":
        # Its only objects are the errors of calls that nothing expected.
        is_error = isinstance(result, (ErrorText, dict))
        return CallToolResult(content=[TextContent(text=text)], is_error=is_error)
    data = cast("dict[str, Any]", result) if isinstance(result, dict) else None
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content={"result": text} if data is None else data,
        is_error=_is_error(text) if data is None else bool(data.get("error")),
    )


def _bounds_problem(tool: CoreTool, arguments: Mapping[str, object]) -> str:
    """Return which argument is too long or too large; the heart checks the rest."""
    properties = cast("Mapping[str, Mapping[str, Any]]", tool.parameters["properties"])
    for name, value in arguments.items():
        if isinstance(value, str) and len(value) > MAX_TEXT_CHARS:
            return (
                f"argument {echo(name)!r} has more than {MAX_TEXT_CHARS:,} characters"
            )
        schema = properties.get(name, {})
        if isinstance(value, int) and "maximum" in schema:
            low, high = schema["minimum"], schema["maximum"]
            if not low <= value <= high:
                return f"argument {name!r} has to be from {low} to {high}"
    return ""


def _with_every_key(
    result: dict[str, Any], arguments: Mapping[str, object]
) -> dict[str, Any]:
    """Return a refusal as readers of the style ``packs`` look for the error."""
    if "body" in result:
        return result
    name, error = arguments.get("name"), result["error"]["message"]
    shown = echo(name) if isinstance(name, str) else ""
    lists = {"available_references": list[str](), "available_scripts": list[str]()}
    values: dict[str, Any] = {"name": shown, "body": "", "error": error, **lists}
    return {key: values.get(key) for key in _PACKS_RESULT}


def _is_error(text: str) -> bool:
    """Return whether a text of the style ``agent-skills`` is an error."""
    lines = text.split("\n", 2)
    return lines[0].startswith("<skill_context ") and lines[1:2] == ["  <error>"]


_TITLES: Final = {
    "load_skill": "Load a skill",
    "load_skill_instructions": "Load a skill",
    "read_skill_file": "Read a file of a skill",
    "find_skills": "Find skills",
    "search_skills": "Search the skills",
    "list_skills": "List the skills",
}
_ID_ARGUMENTS: Final = ("name", "skill_id", "skill_name")
_LOADERS: Final = frozenset({"load_skill", "load_skill_instructions"})


@dataclass(frozen=True, slots=True)
class _CatalogTools:
    pointer: str
    find: bool
    tools: tuple[Tool, ...]
    names: frozenset[str]


class ToolHandlers:
    """Answers ``tools/list`` and ``tools/call``; renders each catalog once.

    What runs scripts is in ``scripts``.
    """

    def __init__(self, library: ServedLibrary, scripts: ScriptHandlers) -> None:
        self._scripts = scripts
        self._cached: IdentityCache[Catalog, _CatalogTools] = IdentityCache(
            64, lambda: library.catalog
        )

    def pointer(self, view: View) -> str:
        """Return the server's instructions: where the skills are; empty without any.

        The catalog itself is in the description of the tool that loads, and only there:
        many clients show a model no instructions, and the others would show it twice
        (docs/decisions/0026-catalog-once.md).
        """
        return self._for_catalog(view).pointer

    def list(
        self, mcp: McpRequest, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Return the tools of the style, in a stable order."""
        reject_cursor(params)
        tools = [*self._for_catalog(mcp.view).tools, *self._scripts.offered(mcp)]
        return ListToolsResult(tools=tools, **mcp.caching)

    def call(self, mcp: McpRequest, params: CallToolRequestParams) -> CallToolResult:
        view = mcp.view
        tools, style = self._for_catalog(view), view.settings.style
        tool = view.tools(find=tools.find, even_empty=True).get(params.name)
        if tool is None or tool.name not in tools.names:
            raise MCPError(INVALID_PARAMS, "there is no such tool")
        given = tool.renamed(params.arguments or {})
        # Before anything is loaded; the refusal is recorded as a bad call.
        if problem := _bounds_problem(tool, given):
            error = ToolError(tool.name, problem)
            refused = tool.refused and tool.refused(given, error)
            answer = refused or error_payload(error)
        else:
            answer = tool.call(given)
        if (style, tool.name) == ("packs", "load_skill"):
            answer = _with_every_key(cast("dict[str, Any]", answer), given)
        result = tool_result(answer, style)
        if not result.is_error:
            self._scripts.note_load(mcp, params.name, given)
        return result

    def _for_catalog(self, view: View) -> _CatalogTools:
        catalog = view.catalog
        return self._cached.get(catalog, lambda: _catalog_tools(view, catalog))


def skill_in_call(params: CallToolRequestParams) -> object:
    """Return the skill that a call names; of any type, since nothing is checked yet."""
    arguments = params.arguments or {}
    return next((arguments[k] for k in _ID_ARGUMENTS if k in arguments), None)


def _catalog_tools(view: View, catalog: Catalog) -> _CatalogTools:
    style = view.settings.style
    rendered = view.prompt()
    find = offer_find(catalog, rendered)
    reader = offer_reader(style, catalog.entries)
    tools = [
        _described(tool, style, str(rendered))
        # A library without files needs no tool that reads them.
        for tool in view.tools(find=find, even_empty=True)
        if reader or tool.name != "read_skill_file"
    ]
    names = frozenset(tool.name for tool in tools)
    # Nothing is offered where nothing is listed; a call of it is answered all the same.
    offered = tuple(tools) if catalog.entries else ()
    return _CatalogTools(_pointer(offered, rendered), find, offered, names)


def _pointer(tools: Sequence[Tool], rendered: Rendered) -> str:
    loader = next((tool.name for tool in tools if tool.name in _LOADERS), None)
    if not rendered.text or loader is None:
        return ""
    first = f"The description of its tool {loader} lists them"
    if rendered.left_out and any(tool.name == "find_skills" for tool in tools):
        first = "Call find_skills with a few words of the task"
    return (
        f"This server has skills: instructions for tasks. {first}. "
        f"If one fits the task, load it with {loader} before you begin."
    )


def _described(tool: CoreTool, style: Style, section: str) -> Tool:
    """Return a tool as clients list it, with the only catalog that they see."""
    title = _TITLES[tool.name]
    loads = tool.name in _LOADERS and section
    return Tool(
        name=tool.name,
        title=title,
        description=f"{tool.description}\n\n{section}" if loads else tool.description,
        # In the style `lean` no model has to read of bounds that no call comes near.
        input_schema=(dict if style == "lean" else bounded_schema)(tool.parameters),
        output_schema=output_schema(style, tool.name),
        annotations=ToolAnnotations(
            title=title,
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )
