"""``satchel serve``: real processes, real clients, and what is refused."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from satchel.cli import serving as cli_serving
from satchel.testing import write_pack
from tests.functional.library import run
from tests.functional.serving import serving

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "t0ken-of-a-test-that-is-long-enough"  # noqa: S105
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "skills"
    write_pack(home, "alpha", files={"references/guide.md": "# Guide\n"})
    write_pack(home, "Beta_2", "Use for beta.")  # a name that no index may list
    return home


@posix
@pytest.mark.row("C25")
def test_one_port_serves_every_kind_of_client(shelf: Path, tmp_path: Path) -> None:
    """MCP, the API, discovery; and what was used is kept when it is ended."""
    events = tmp_path / "usage.db"
    usage = {"SATCHEL_USAGE": f"sqlite://{events}"}
    with serving("--skills", "skills", "--v1-index", cwd=tmp_path, env=usage) as served:
        url = served.url
        with httpx2.Client(base_url=url, timeout=30) as http:
            index = http.get("/.well-known/agent-skills/index.json").json()
            file = http.get("/v1/skills/alpha/files/guide.md")
            ready = http.get("/readyz")
            metrics = http.get("/metrics").text
            old = http.get("/.well-known/skills/index.json")
            evil = http.get("/v1/catalog", headers={"Host": "evil.example"})
        tools = anyio.run(_load_over_http, f"{url}/mcp")
        status = served.stop()

    assert [each["name"] for each in index["skills"]] == ["alpha"]
    assert file.content == b"# Guide\n"
    assert ready.json()["skills"] == 2
    assert 'skill_load_total{name="alpha",source="skills"} 1.0' in metrics
    assert "satchel_ready 1" in metrics
    assert old.status_code == 200
    assert evil.status_code == 421
    assert "load_skill" in tools
    assert status == 0
    assert served.process.stdout is not None
    said = "\n".join(served.said)
    assert "serving 2 skills from skills" in said
    assert "1 skill not in the discovery index:" in said
    assert f"claude mcp add --transport http satchel {url}/mcp" in said
    assert said.endswith("stopped")
    assert _loads(events) == [
        ("alpha", "references/guide.md", "http"),
        ("alpha", None, "mcp"),
    ]


async def _load_over_http(url: str) -> list[str]:
    async with Client(url) as client:
        tools = await client.list_tools()
        await client.call_tool("load_skill", {"name": "alpha"})
        return [tool.name for tool in tools.tools]


def _loads(file: Path) -> list[tuple[str, str | None, str]]:
    with closing(sqlite3.connect(file)) as base:
        rows = base.execute("SELECT name, reference, via FROM loads ORDER BY at")
        return [*rows]


def test_over_stdio_nothing_but_the_protocol_reaches_standard_output(
    shelf: Path,
) -> None:
    """A stray line there would end the client's session."""
    names, text = anyio.run(_load_over_stdio, shelf)

    assert "load_skill" in names
    assert "alpha" in text


async def _load_over_stdio(shelf: Path) -> tuple[list[str], str]:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "satchel", "serve", "--stdio", "--skills", str(shelf)],
        env={**os.environ, "SATCHEL_USAGE": "off"},
    )
    async with Client(parameters) as client:
        tools = await client.list_tools()
        result: Any = await client.call_tool("load_skill", {"name": "alpha"})
        return [tool.name for tool in tools.tools], str(result.content[0].text)


def test_strict_does_not_start_what_is_not_ready(shelf: Path) -> None:
    write_pack(shelf.parent / "more", "alpha", "Use for something else.")

    result = run("serve", "--skills", "skills", "--skills", "more", "--strict")

    assert result.exit_code == 1
    assert "not ready, and /readyz says so:" in result.stderr
    assert "skill 'alpha' is claimed by skills/alpha and more/alpha" in result.stderr
    assert result.stderr.endswith("not started, because of --strict\n")
    assert not result.stdout


def test_reasons_are_told_in_short(shelf: Path) -> None:
    for number in range(7):
        broken = shelf / f"broken-{number}"
        broken.mkdir()
        (broken / "SKILL.md").write_text("no frontmatter")

    result = run("serve", "--skills", "skills", "--strict")

    assert result.exit_code == 1
    assert "  and 2 more\n" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--host", "0.0.0.0"), "--token-file FILE"),  # noqa: S104
        (("--token-file", "nowhere"), "nowhere: no such file"),
        (
            ("--oauth-issuer", "https://id.example.com"),
            "--oauth-resource, --oauth-jwks",
        ),
        (("--skills", "nowhere"), "nowhere: no such file"),
        (("--port", "65536"), "65535"),
        (("--budget", "some"), "neither a count"),
    ],
    ids=["open to all", "no token file", "half of OAuth", "path", "port", "budget"],
)
def test_what_cannot_be_served_is_told(
    shelf: Path, arguments: tuple[str, ...], says: str
) -> None:
    result = run("serve", "--skills", "skills", *arguments)

    assert result.exit_code == 2
    assert says in result.stderr


def test_without_the_extra_the_command_that_mends_it_is_told(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_serving, "_NEEDED", ("mcp", "no_such_module_here"))

    result = run("serve", "--skills", "skills")

    assert result.exit_code == 2
    assert "pip install 'satchel[serve]'" in result.stderr
