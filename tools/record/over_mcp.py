"""What the MCP server answers, to the client of the official library."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from mcp.client import Client
from mcp.shared.exceptions import MCPError

from satchel import Options, Satchel
from satchel_server import ServedLibrary, ServerSettings, build_server
from tools.record.answers import Answer, answer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator, Mapping
    from pathlib import Path

    from satchel.model import Style

# The styles that there were when the record was made.
STYLES: Final[tuple[Style, ...]] = ("agent-skills", "packs", "references")
MOST: Final = 60
"""Skills of a library that are loaded in each style."""
PARAMETER: Final = {
    "agent-skills": "skill_id",
    "packs": "name",
    "references": "skill_name",
}
TOOL: Final = {"references": "load_skill_instructions"}
WRONG: Final = ("no-such-skill", "", "x" * 300)


def ask(home: Path, libraries: Mapping[str, Path]) -> Iterator[Answer]:
    """Ask a server in this process, for every library and style."""
    for name, folder in libraries.items():
        for style in STYLES:
            with Satchel(
                folder, sinks=(), options=Options(on_conflict="precedence")
            ) as skills:
                found = asyncio.run(_asked(skills, style))
            for case, result in found:
                yield answer(f"{name}/{style}/{case}", result, home)


async def _asked(skills: Satchel, style: Style) -> list[tuple[str, object]]:
    """Return the answers to everything that a client can ask."""
    found: list[tuple[str, object]] = []
    server = build_server(ServedLibrary(skills, ServerSettings(style=style)))
    async with Client(server, cache=None) as client:
        found.append(("tools", await _result(client.list_tools())))
        tool, parameter = TOOL.get(style, "load_skill"), PARAMETER[style]
        ids = [entry.id for entry in skills.catalog.entries[:MOST]]
        for skill_id in (*ids, *WRONG):
            called = client.call_tool(tool, {parameter: skill_id})
            found.append((f"load/{skill_id[:40]}", await _result(called)))
        if style != STYLES[0]:
            return found  # what follows is the same in every style
        resources = await client.list_resources()
        found.append(("resources", await _result(client.list_resources())))
        found.append(("templates", await _result(client.list_resource_templates())))
        found.append(("prompts", await _result(client.list_prompts())))
        for resource in resources.resources[:MOST]:
            read = client.read_resource(resource.uri)
            found.append((f"read/{resource.uri}", await _result(read)))
    return found


async def _result(waiting: Awaitable[Any]) -> object:
    try:
        result = await waiting
    except MCPError as error:
        return {"error": error.error.code, "message": error.error.message}
    dumped: object = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped
