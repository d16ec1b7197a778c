"""What a client sends comes back short, over MCP and HTTP."""

import re
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, get_args

import pytest
from mcp.shared.exceptions import MCPError
from starlette.testclient import TestClient

from satchel import Satchel
from satchel.errors import MAX_ECHO
from satchel.model import Style
from satchel_server import ServedLibrary, create_app
from tests.unit.server.mcp.clients import ask, connected, library, write_skills

pytestmark = pytest.mark.row("F26")

JUNK = "x" * 20_000


def longest(text: str) -> int:
    return max(map(len, re.findall("x{20,}", text)), default=0)


async def told(waiting: Coroutine[Any, Any, Any]) -> str:
    """Return an answer or an error as text."""
    try:
        result = await waiting
    except MCPError as error:
        return f"{error} {error.error.data}"
    return str(result)


@pytest.mark.parametrize("style", get_args(Style))
async def test_mcp_repeats_a_hundred_characters(tmp_path: Path, style: Style) -> None:
    served = library(write_skills(tmp_path), style=style)
    async with connected(served) as client:
        tools = (await client.list_tools()).tools
        answers = [
            await told(client.call_tool(tool.name, arguments))
            for tool in tools
            for key in (*tool.input_schema["properties"], JUNK)
            for arguments in (
                {key: JUNK},
                {key: [JUNK]},
                {**dict.fromkeys(tool.input_schema["properties"], JUNK)},
                {**dict.fromkeys(tool.input_schema["properties"], "alpha"), key: JUNK},
            )
        ]
        for uri in (f"skill://{JUNK}", f"skill://alpha/{JUNK}", f"skill://{JUNK}/a"):
            answers.append(await told(client.read_resource(uri)))
            answers += [
                await told(ask(client, method, uri=uri))
                for method in ("skills/get", "resources/directory/read")
            ]
        answers.append(await told(client.get_prompt(JUNK, {})))
        answers.append(await told(client.get_prompt("beta", {JUNK: "1"})))
        answers.append(await told(client.call_tool(JUNK, {})))
        answers.append(await told(ask(client, "tools/list", cursor=JUNK)))
        answers.append(await told(ask(client, JUNK)))

    assert [answer[:400] for answer in answers if longest(answer) > MAX_ECHO] == []


def test_http_repeats_a_hundred_characters(tmp_path: Path) -> None:
    skills = Satchel(write_skills(tmp_path))
    app = create_app(ServedLibrary(skills))
    client = TestClient(app, raise_server_exceptions=False)
    junk = JUNK[:2_000]
    paths = [
        f"/{junk}",
        f"/v1/skills/{junk}",
        f"/v1/skills/{junk}/files/a",
        f"/v1/skills/alpha/files/{junk}",
        f"/v1/skills?{junk}=1",
        f"/v1/skills?limit={junk}",
        f"/v1/skills?cursor={junk}",
        f"/v1/find?q={junk}",
        f"/v1/find?q={junk}&k={junk}",
        f"/v1/search?q={junk}",
        f"/v1/usage?days={junk}",
        f"/.well-known/agent-skills/{junk}",
        f"/.well-known/skills/{junk}",
        f"/.well-known/skills/alpha/{junk}",
        f"/releases/{junk}",
        f"/{junk}/releases",
    ]

    for path in paths:
        answer = client.get(path)
        assert longest(answer.text) <= MAX_ECHO, path
