"""Skillz: its MCP server, with a tool for each skill.

The instructions of an MCP server are for its client to pass on; they are counted as the
prompt.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fastmcp import Client
from skillz import SkillRegistry, build_server

from benchmarks.sent._texts import sent

if TYPE_CHECKING:
    from benchmarks.sent._texts import Sent

PEER = "skillz"
NAME = "MCP server"


async def send(folder: str, skill: str) -> Sent:
    """List the tools as a client does, and call that of the skill."""
    registry = SkillRegistry(Path(folder))
    registry.load()
    server = build_server(registry)
    async with Client(server) as client:
        tools = [tool.model_dump() for tool in await client.list_tools()]
        loaded = await client.call_tool(skill, {"task": "It."})
    text = "\n".join(part.text for part in loaded.content)
    return sent(NAME, server.instructions or "", tools, text)
