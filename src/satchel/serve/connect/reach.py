"""How a client reaches a server: by a URL, or by a command that it starts."""

import re
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from satchel.errors import ConfigError

__all__ = ["Http", "Reach", "Stdio"]

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HARMLESS_URL: Final = re.compile(r"[!#$%&'()*+,./:;=?@\[\]_~A-Za-z0-9-]+")


@dataclass(frozen=True, slots=True)
class Http:
    """A server at a URL; ``token_env`` names the variable that holds its token.

    The token itself is in no file. A URL without a path means ``/mcp``.

    Raises:
        ConfigError: It is no HTTP URL, or has a name or a password in it; or
            ``token_env`` is no name of a variable.
    """

    url: str
    token_env: str = ""

    def __post_init__(self) -> None:
        """Refuse what would not work, or would put a secret into a file."""
        parts = urlsplit(self.url)
        if (
            parts.scheme not in ("http", "https")
            or not parts.hostname
            or not _HARMLESS_URL.fullmatch(self.url)
        ):
            raise ConfigError("--url", "want a URL such as http://127.0.0.1:8321/mcp")
        if parts.username is not None or parts.password is not None:
            detail = "no name or password belongs in it: use --token-env VARIABLE"
            raise ConfigError("--url", detail)
        if self.token_env and not _VARIABLE.fullmatch(self.token_env):
            detail = "want the name of a variable, and never the token itself"
            raise ConfigError("--token-env", detail)
        if parts.path in ("", "/"):
            whole = parts._replace(path="/mcp").geturl()
            object.__setattr__(self, "url", whole)


@dataclass(frozen=True, slots=True)
class Stdio:
    """A server that the client starts, and speaks to over its standard streams."""

    command: str
    args: tuple[str, ...] = ()


Reach: TypeAlias = Http | Stdio
