"""SkillPort: its MCP server, whose skills are found by a search.

The instructions of an MCP server are for its client to pass on; they are counted as the
prompt.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from fastmcp import Client
from skillport.interfaces.mcp.server import create_mcp_server
from skillport.modules.indexing import build_index
from skillport.shared.config import Config

from benchmarks.sent._texts import sent

if TYPE_CHECKING:
    from benchmarks.sent._texts import Sent

PEER = "skillport"
NAME = "MCP server"


async def send(folder: str, skill: str) -> Sent:
    """Build the index, list the tools as a client does, and load the skill."""
    with tempfile.TemporaryDirectory() as state:
        config = Config(
            skills_dir=Path(folder),
            db_path=Path(state, "db"),
            meta_dir=Path(state, "meta"),
        )
        built = build_index(config=config)
        if not built.success:
            raise RuntimeError(built.message)
        server = create_mcp_server(config=config, is_remote=True)
        async with Client(server) as client:
            tools = [tool.model_dump() for tool in await client.list_tools()]
            loaded = await client.call_tool("load_skill", {"skill_id": skill})
        text = "\n".join(part.text for part in loaded.content)
        return sent(NAME, server.instructions or "", tools, text)
