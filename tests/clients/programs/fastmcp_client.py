"""The client of FastMCP: ``fastmcp_client.py ADDRESS LIBRARY``.

Its skills extension, the tools, and its older reader of ``_manifest`` resources, which
needs a server with ``--compat``.
"""

import asyncio
import sys
from tempfile import TemporaryDirectory
from typing import Any

from fastmcp import Client  # type: ignore[import-not-found]
from fastmcp.skills.client import (  # type: ignore[import-not-found]
    SkillsClientExtension,
)
from fastmcp.utilities import skills as older  # type: ignore[import-not-found]

from tests.clients.programs.steps import digest, files_of, same, step


async def main(address: str, library: str) -> None:
    """Do what a client does, once."""
    files = files_of(library)
    extensions = [SkillsClientExtension()]
    async with Client(f"{address}/mcp", extensions=extensions) as client:
        with step("list_skills, get_skill") as said:
            listed = await client.list_skills()
            for each in listed:
                same(await client.get_skill(str(each.uri)), each)
            assert len(listed) > 1, "there are several skills"
            said.append(f"{len(listed)} skills")
        with step("read_resource") as said:
            text = (await client.read_resource("skill://a-nested/SKILL.md"))[0].text
            same(digest(text.encode()), digest(files["a-nested/SKILL.md"]))
        with step("call_tool") as said:
            tools = [tool.name for tool in await client.list_tools()]
            said.append(", ".join(tools))
            result = await client.call_tool("load_skill", {"name": "a-nested"})
            assert "# Nested" in str(result.content), "the text is in the result"
        with step("its older reader: list_skills"):
            found = {each.name for each in await older.list_skills(client)}
            assert {"a-nested", "c-values"} <= found, f"it found {found}"
        with step("its older reader: download_skill") as said:
            said.append(await download(client, files))


async def download(client: Any, files: dict[str, bytes]) -> str:  # noqa: ANN401 - no types here
    """Download a skill, and compare it."""
    with TemporaryDirectory() as folder:
        await older.download_skill(client, "a-nested", folder)
        there = files_of(folder)
    wanted = {
        path: data for path, data in files.items() if path.startswith("a-nested/")
    }
    same(there, wanted)
    return f"{len(there)} files, byte for byte"


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
