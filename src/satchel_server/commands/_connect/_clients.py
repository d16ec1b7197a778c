"""MCP clients: which file each reads, and the entry for a server in it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from satchel.errors import ConfigError

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HARMLESS_URL: Final = re.compile(r"[!#$%&'()*+,./:;=?@\[\]_~A-Za-z0-9-]+")


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """A server at a URL; ``token_env`` names the variable that holds its token.

    The token itself is in no file. A URL without a path means ``/mcp``.
    """

    url: str
    token_env: str = ""

    def __post_init__(self) -> None:
        """Refuse what would not work, or would put a secret into a file."""
        parts = urlsplit(self.url)
        is_web = parts.scheme in ("http", "https") and parts.hostname
        if not (is_web and _HARMLESS_URL.fullmatch(self.url)):
            detail = "expected a URL such as http://127.0.0.1:8321/mcp"
            raise ConfigError("--url", detail)
        if parts.username is not None or parts.password is not None:
            detail = "a URL may have no name or password: use --token-env VARIABLE"
            raise ConfigError("--url", detail)
        if self.token_env and not _VARIABLE.fullmatch(self.token_env):
            detail = "expected the name of a variable, never the token itself"
            raise ConfigError("--token-env", detail)
        if parts.path in ("", "/"):
            whole = parts._replace(path="/mcp").geturl()
            # The only way to set a field of a frozen dataclass.
            object.__setattr__(self, "url", whole)


@dataclass(frozen=True, slots=True)
class StdioCommand:
    """A server that the client starts, and speaks to over its standard streams."""

    command: str
    args: tuple[str, ...] = ()


ServerAddress: TypeAlias = HttpAddress | StdioCommand


FileKind: TypeAlias = Literal["json", "toml"]


@dataclass(frozen=True, slots=True, kw_only=True)
class McpClient:
    """One client, by its documentation of November 2026; ``page`` is that page.

    ``file`` is relative to the project, or to the home if ``personal``; then
    ``home_variable`` may name another folder. ``servers`` is the key of all servers,
    ``url`` that of a server's URL. ``variable`` is how an environment variable is
    written, empty if its name has a key of its own. ``typed`` means that an entry names
    its transport. ``command`` is the command that adds a server at a URL, with
    ``{name}`` and ``{url}``; empty if there is none.
    """

    id: str
    name: str
    page: str
    file: str
    kind: FileKind = "json"
    personal: bool = False
    home_variable: str = ""
    servers: str = "mcpServers"
    url: str = "url"
    variable: str = ""
    typed: bool = False
    command: str = ""

    def entry(self, address: ServerAddress) -> dict[str, Any]:
        """Return the entry of one server in the file."""
        if not isinstance(address, HttpAddress):
            kind = {"type": "stdio"} if self.typed else {}
            return {**kind, "command": address.command, "args": [*address.args]}
        kind = {"type": "http"} if self.typed else {}
        entry: dict[str, Any] = {**kind, self.url: address.url}
        if address.token_env and self.variable:
            value = f"Bearer {self.variable.format(address.token_env)}"
            entry["headers"] = {"Authorization": value}
        elif address.token_env:
            entry["bearer_token_env_var"] = address.token_env
        return entry

    def path(self, environ: Mapping[str, str], home: Path) -> Path:
        """Return its file, relative to the project unless it is personal."""
        if not self.personal:
            return Path(self.file)
        folder, _, name = self.file.partition("/")
        own = environ.get(self.home_variable, "") if self.home_variable else ""
        return Path(own) / name if own else home / folder / name


# By the name that ``satchel connect`` takes, in the order in which they are listed.
MCP_CLIENTS: Final = {
    client.id: client
    for client in (
        McpClient(
            id="claude-code",
            name="Claude Code",
            page="https://code.claude.com/docs/en/mcp",
            file=".mcp.json",
            variable="${{{}}}",
            typed=True,
            command="claude mcp add --transport http {name} {url}",
        ),
        McpClient(
            id="codex",
            name="Codex",
            page="https://developers.openai.com/codex/mcp",
            file=".codex/config.toml",
            kind="toml",
            personal=True,
            home_variable="CODEX_HOME",
            servers="mcp_servers",
            command="codex mcp add {name} --url {url}",
        ),
        McpClient(
            id="vscode",
            name="VS Code",
            page="https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
            file=".vscode/mcp.json",
            servers="servers",
            # https://code.visualstudio.com/docs/reference/variables-reference
            variable="${{env:{}}}",
            typed=True,
        ),
        McpClient(
            id="cursor",
            name="Cursor",
            page="https://cursor.com/docs/mcp",
            file=".cursor/mcp.json",
            variable="${{env:{}}}",
        ),
        McpClient(
            id="gemini",
            name="Gemini CLI",
            page="https://geminicli.com/docs/tools/mcp-server",
            file=".gemini/settings.json",
            personal=True,
            url="httpUrl",
            variable="${{{}}}",
            command="gemini mcp add --scope user --transport http {name} {url}",
        ),
    )
}

# Keys that say how a server is reached; they are replaced, other keys stay.
TRANSPORT_KEYS: Final = frozenset(
    {
        *("type", "url", "httpUrl", "headers", "http_headers", "env_http_headers"),
        *("bearer_token_env_var", "command", "args"),
    }
)
