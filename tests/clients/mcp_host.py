"""A host for the client scenarios of MCP's official conformance suite.

It takes the server's address as its last argument, lists the server's skills, and loads
each with all of its files, as an agent would; in the scenario that forbids to prefetch
it only lists. ``--naive`` does the same without looking at anything: the scenarios have
to fail it, else they would prove nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

import anyio
from mcp.client import Client, advertise
from mcp_types import PaginatedRequest
from pydantic import RootModel

from satchel import Satchel, sources
from satchel.errors import SkillError

LIST_ONLY = "sep-2640-client-no-prefetch"


def main() -> int:
    """Run as the suite asks; a file that is refused is status 1."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--naive", action="store_true")
    parser.add_argument("url")
    given = parser.parse_args()
    lists_only = os.environ.get("MCP_CONFORMANCE_SCENARIO") == LIST_ONLY
    if given.naive:
        anyio.run(take_all, given.url)
        return 0
    return use(given.url, lists_only=lists_only)


def use(url: str, *, lists_only: bool) -> int:
    """Use the skills of a server as an application does."""
    with Satchel(sources.mcp(url, label="conformance", timeout_s=10)) as skills:
        print(skills.prompt())  # noqa: T201 - told to whoever runs the suite
        for finding in skills.findings:
            print(finding)  # noqa: T201
        if lists_only:
            return 0
        return max(
            (
                load(skills, entry.id, path)
                for entry in skills.catalog
                for path in (None, *entry.resources)
            ),
            default=0,
        )


def load(skills: Satchel, skill_id: str, path: str | None) -> int:
    """Load one file, whatever became of the others; return 1 where it is refused."""
    try:
        skills.load(skill_id, path)
    except SkillError as error:
        print(f"refused: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


async def take_all(url: str) -> None:
    """Read every file that is listed, and check nothing."""
    skills = advertise("io.modelcontextprotocol/skills")
    async with Client(url, extensions=[skills]) as client:
        request = PaginatedRequest[str](method="skills/list")
        answer = await client.session.send_request(request, RootModel[dict[str, Any]])
        for entry in answer.root["skills"]:
            for resource in entry["resources"]:
                await client.read_resource(resource["uri"])


if __name__ == "__main__":
    sys.exit(main())
