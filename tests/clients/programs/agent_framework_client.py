"""Microsoft Agent Framework reads our server: ``agent_framework_client.py ADDRESS``.

It asks for the older ``skill://index.json``, which needs a server with ``--compat``.
"""

import asyncio
import sys

from agent_framework import (  # type: ignore[import-not-found]
    MCPSkillsSource,
    SkillsSourceContext,
)
from mcp.client import Client

from tests.clients.programs.steps import same, step


async def main(address: str, library: str) -> None:
    """Discover the skills, and read one."""
    del library
    async with Client(f"{address}/mcp") as client:
        source = MCPSkillsSource(client=client)
        found = {}
        with step("MCPSkillsSource: get_skills") as said:
            skills = await source.get_skills(SkillsSourceContext(agent=None))
            found = {each.frontmatter.name: each for each in skills}
            assert {"a-nested", "c-values"} <= set(found), f"it found {set(found)}"
            said.append(f"{len(found)} skills")
        with step("MCPSkillsSource: a skill's content"):
            content = await found["a-nested"].get_content()
            assert "# Nested" in content, "the instructions are there"
        with step("MCPSkillsSource: a file of a skill"):
            resource = await found["a-nested"].get_resource("references/guide.md")
            same((await resource.read()), "# Guide\n\nOne level down.\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
