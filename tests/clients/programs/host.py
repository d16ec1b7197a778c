"""What a host does with the skills of an MCP server: ``host.py [--naive] ADDRESS``.

The conformance suite runs it against servers that say one thing and send another. With
``--naive`` it does without our source, and checks nothing: the suite has to notice.
"""

import asyncio
import os
import sys

from mcp.client import Client, advertise

from satchel import Satchel, SkillError, sources
from tests.clients.programs.mcp_client import EXTENSION, ask

LISTS_ONLY = "sep-2640-client-no-prefetch"


def careful(address: str, *, load: bool) -> None:
    """List the skills; ``load`` each with all its files, until something is wrong."""
    with Satchel(sources.mcp(address)) as skills:
        sys.stdout.write(f"{[entry.id for entry in skills.catalog]}\n")
        if not load:
            return
        for entry in skills.catalog:
            try:
                skills.load(entry.id)
                for path in entry.resources:
                    skills.load(entry.id, path)
                sys.stdout.write(f"{entry.id}: loaded\n")
            except SkillError as error:
                sys.stdout.write(f"{entry.id}: {error}\n")


async def naive(address: str) -> None:
    """Read every file of every skill, as soon as it is known."""
    async with Client(address, extensions=[advertise(EXTENSION)]) as client:
        for skill in (await ask(client, "skills/list"))["skills"]:
            for resource in skill["resources"]:
                await client.read_resource(resource["uri"])


if __name__ == "__main__":
    if "--naive" in sys.argv:
        asyncio.run(naive(sys.argv[-1]))
    else:
        wanted = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
        careful(sys.argv[-1], load=wanted != LISTS_ONLY)
