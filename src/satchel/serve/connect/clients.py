"""The clients that are known: which file they read, and what they want in it.

Source: the documentation of each client, as it was in November 2026; the page stands
beside each.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from satchel.serve.connect.reach import Http, Reach

__all__ = ["CLIENTS", "TRANSPORT_KEYS", "Client", "FileKind"]

FileKind: TypeAlias = Literal["json", "toml"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One client.

    ``file`` is relative to the project, or to the home where ``personal``; for a
    personal one ``home_variable`` may name another folder. ``servers`` is the key below
    which servers stand, ``url`` that of a server's URL, ``variable`` how the value of
    an environment variable is written, empty where the name of the variable has a key
    of its own. ``typed`` is whether an entry names its transport. ``command`` adds a
    server at a URL, ``{name}`` and ``{url}`` filled in; empty where there is none.
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

    def entry(self, reach: Reach) -> dict[str, Any]:
        """Return what stands in the file for one server."""
        if not isinstance(reach, Http):
            kind = {"type": "stdio"} if self.typed else {}
            return {**kind, "command": reach.command, "args": [*reach.args]}
        kind = {"type": "http"} if self.typed else {}
        entry: dict[str, Any] = {**kind, self.url: reach.url}
        if reach.token_env and self.variable:
            value = f"Bearer {self.variable.format(reach.token_env)}"
            entry["headers"] = {"Authorization": value}
        elif reach.token_env:
            entry["bearer_token_env_var"] = reach.token_env
        return entry

    def path(self, environ: Mapping[str, str], home: Path) -> Path:
        """Return its file, relative to the project unless it is personal."""
        if not self.personal:
            return Path(self.file)
        folder, _, name = self.file.partition("/")
        own = environ.get(self.home_variable, "") if self.home_variable else ""
        return Path(own) / name if own else home / folder / name


CLIENTS: Final = {
    each.id: each
    for each in (
        Client(
            id="claude-code",
            name="Claude Code",
            page="https://code.claude.com/docs/en/mcp",
            file=".mcp.json",
            variable="${{{}}}",
            typed=True,
            command="claude mcp add --transport http {name} {url}",
        ),
        Client(
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
        Client(
            id="vscode",
            name="VS Code",
            page="https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
            file=".vscode/mcp.json",
            servers="servers",
            # https://code.visualstudio.com/docs/reference/variables-reference
            variable="${{env:{}}}",
            typed=True,
        ),
        Client(
            id="cursor",
            name="Cursor",
            page="https://cursor.com/docs/mcp",
            file=".cursor/mcp.json",
            variable="${{env:{}}}",
        ),
        Client(
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
"""By the name that ``satchel connect`` takes, in the order in which they are listed."""

TRANSPORT_KEYS: Final = frozenset(
    {
        "type",
        "url",
        "httpUrl",
        "headers",
        "http_headers",
        "env_http_headers",
        "bearer_token_env_var",
        "command",
        "args",
    }
)
"""What says how a server is reached: replaced as a whole, while other keys stay."""
