"""Read-only tools, and the catalog, for clients that know no skills."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
    ToolAnnotations,
)

from satchel.errors import ToolError
from satchel.load import offer_find, offer_reader
from satchel.model import Catalog, Style
from satchel.runtime.view import View
from satchel.serve.library import Library
from satchel.serve.mcp.answering import Asked, answer
from satchel.serve.mcp.asking import Context
from satchel.serve.mcp.checking import Check, bounded
from satchel.serve.mcp.memory import ByIdentity
from satchel.serve.mcp.paging import only_page
from satchel.serve.mcp.results import misuse, output_schema, tool_result
from satchel.tools import Tool as CoreTool

__all__ = ["Tools"]

_TITLES: Final = {
    "load_skill": "Load a skill",
    "load_skill_instructions": "Load a skill",
    "read_skill_file": "Read a file of a skill",
    "find_skills": "Find skills",
    "search_skills": "Search the skills",
    "list_skills": "List the skills",
}
_KEYS: Final = ("name", "skill_id", "skill_name")
_LOADERS: Final = frozenset({"load_skill", "load_skill_instructions"})
_REMEMBERED: Final = 64


@dataclass(frozen=True, slots=True)
class _Offer:
    """What one catalog comes to: its section, and the tools, each with its check."""

    section: str
    find: bool
    tools: tuple[Tool, ...]
    checks: Mapping[str, Check]


class Tools:
    """Answers ``tools/list`` and ``tools/call``, and says what there is to load.

    A catalog's section is rendered once, however often it is asked for.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._offers: ByIdentity[Catalog, _Offer] = ByIdentity(
            _REMEMBERED, lambda: library.catalog
        )

    def section(self, view: View) -> str:
        """Return the catalog, within its budget, for the server's instructions."""
        return self._offer(view).section

    async def list(
        self, ctx: Context, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Return the tools of the style, in a stable order."""
        only_page(params)

        def work(asked: Asked) -> ListToolsResult:
            return ListToolsResult(
                tools=[*self._offer(asked.view).tools],
                ttl_ms=asked.ttl_ms,
                cache_scope=asked.scope,
            )

        return await answer(self._library, ctx, work)

    async def call(self, ctx: Context, params: CallToolRequestParams) -> CallToolResult:
        """Carry out one call; whatever goes wrong with it is a result."""

        def work(asked: Asked) -> CallToolResult:
            view = asked.view
            offer = self._offer(view)
            check = offer.checks.get(params.name)
            if check is None:
                raise MCPError(INVALID_PARAMS, "there is no such tool")
            arguments: dict[str, Any] = params.arguments or {}
            problem = check.problem(arguments)
            box = view.tools(find=offer.find)
            if problem is not None:
                tool = box.get(params.name)
                if tool is not None and tool.refused is not None:
                    tool.refused(arguments, ToolError(params.name, problem))
                return misuse(view.settings.style, params.name, arguments, problem)
            return tool_result(box.call(params.name, arguments))

        near = _skill_of(params)
        return await answer(self._library, ctx, work, near=near)

    def _offer(self, view: View) -> _Offer:
        catalog = view.catalog
        return self._offers.get(catalog, lambda: _offer(view, catalog))


def _skill_of(params: CallToolRequestParams) -> object:
    """Return the skill that a call is about; None where it is about all of them."""
    arguments = params.arguments or {}
    return next((arguments[key] for key in _KEYS if key in arguments), None)


def _offer(view: View, catalog: Catalog) -> _Offer:
    style = view.settings.style
    rendered = view.prompt()
    find = offer_find(catalog, rendered)
    reader = offer_reader(style, catalog.entries)
    tools = [
        _described(tool, style, str(rendered))
        for tool in view.tools(find=find)
        if reader or tool.name != "read_skill_file"
    ]
    checks = {tool.name: Check(tool.input_schema) for tool in tools}
    return _Offer(str(rendered), find, tuple(tools), checks)


def _described(tool: CoreTool, style: Style, section: str) -> Tool:
    """Return a tool as clients list it; these see no other catalog than its own."""
    title = _TITLES[tool.name]
    loads = tool.name in _LOADERS and section
    return Tool(
        name=tool.name,
        title=title,
        description=f"{tool.description}\n\n{section}" if loads else tool.description,
        input_schema=bounded(tool.parameters),
        output_schema=output_schema(style, tool.name),
        annotations=ToolAnnotations(
            title=title,
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )
