"""The entry that each client expects, as its documentation has it."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from satchel.errors import ConfigError
from satchel_server.commands._connect._clients import (
    MCP_CLIENTS,
    HttpAddress,
    StdioCommand,
)
from satchel_server.commands._connect._write import config_block

URL = "http://127.0.0.1:8321/mcp"
STDIO = StdioCommand("satchel", ("serve", "--stdio", "--skills", "/srv/skills"))
ARGS = ["serve", "--stdio", "--skills", "/srv/skills"]


def bearer(reference: str) -> dict[str, object]:
    return {"headers": {"Authorization": f"Bearer {reference}"}}


@pytest.mark.parametrize(
    ("client", "servers", "entry", "with_token"),
    [
        ("claude-code", "mcpServers", {"type": "http", "url": URL}, bearer("${TOKEN}")),
        ("codex", "mcp_servers", {"url": URL}, {"bearer_token_env_var": "TOKEN"}),
        ("vscode", "servers", {"type": "http", "url": URL}, bearer("${env:TOKEN}")),
        ("cursor", "mcpServers", {"url": URL}, bearer("${env:TOKEN}")),
        ("gemini", "mcpServers", {"httpUrl": URL}, bearer("${TOKEN}")),
    ],
)
def test_a_server_at_a_url(
    client: str, servers: str, entry: dict[str, object], with_token: dict[str, object]
) -> None:
    """A token is a reference to a variable."""
    assert _parsed(client, HttpAddress(URL)) == {servers: {"satchel": entry}}
    assert _parsed(client, HttpAddress(URL, "TOKEN")) == {
        servers: {"satchel": entry | with_token}
    }


@pytest.mark.parametrize("client", MCP_CLIENTS)
def test_a_server_that_the_client_starts(client: str) -> None:
    (servers,) = _parsed(client, STDIO).values()
    entry = servers["satchel"]

    assert entry.pop("type", "stdio") == "stdio"
    assert entry == {"command": "satchel", "args": ARGS}


def _parsed(client: str, reach: HttpAddress | StdioCommand) -> dict[str, Any]:
    parameters = MCP_CLIENTS[client]
    text = config_block(parameters, "satchel", reach)
    parsed: dict[str, Any] = (
        json.loads(text) if parameters.kind == "json" else tomllib.loads(text)
    )
    return parsed


@pytest.mark.parametrize(
    ("url", "becomes"),
    [
        ("http://127.0.0.1:8321", URL),
        ("http://127.0.0.1:8321/", URL),
        ("https://skills.example.com/team/mcp", "https://skills.example.com/team/mcp"),
        ("http://[::1]:8321/mcp", "http://[::1]:8321/mcp"),
    ],
)
def test_a_url_without_a_path_means_mcp(url: str, becomes: str) -> None:
    assert HttpAddress(url).url == becomes


@pytest.mark.parametrize(
    ("url", "token_env"),
    [
        ("127.0.0.1:8321", ""),
        ("file:///etc/passwd", ""),
        ("http:///mcp", ""),
        ("http://user:secret@example.com/mcp", ""),
        ("http://example.com/\x1b[31m", ""),
        ("http://example.com/a b", ""),
        (URL, "s3cr3t-token"),
        (URL, "A B"),
    ],
)
def test_what_would_not_work_or_give_a_secret_away_is_refused(
    url: str, token_env: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        HttpAddress(url, token_env)

    assert "secret" not in str(caught.value)
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize(
    ("client", "environ", "path"),
    [
        ("claude-code", {}, ".mcp.json"),
        ("vscode", {}, ".vscode/mcp.json"),
        ("cursor", {}, ".cursor/mcp.json"),
        ("gemini", {}, "/home/ana/.gemini/settings.json"),
        ("codex", {}, "/home/ana/.codex/config.toml"),
        ("codex", {"CODEX_HOME": "/srv/codex"}, "/srv/codex/config.toml"),
    ],
)
def test_each_client_has_its_file(
    client: str, environ: dict[str, str], path: str
) -> None:
    assert MCP_CLIENTS[client].path(environ, Path("/home/ana")) == Path(path)
