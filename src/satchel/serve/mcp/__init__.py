"""MCP: the Skills extension, tools for every other client, and prompts for people.

What needs the `mcp` package is imported when it is first asked for, so that what is
said of a library without a server (`withheld_from_mcp`) costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

from satchel.serve.mcp.withholding import withheld_from_mcp

if TYPE_CHECKING:
    from satchel.serve.mcp.server import SkillServer, build_server
    from satchel.serve.mcp.transports import StreamableHttp, run_stdio, streamable_http

__all__ = [
    "SkillServer",
    "StreamableHttp",
    "build_server",
    "run_stdio",
    "streamable_http",
    "withheld_from_mcp",
]

_HOMES: Final = {
    "SkillServer": "satchel.serve.mcp.server",
    "StreamableHttp": "satchel.serve.mcp.transports",
    "build_server": "satchel.serve.mcp.server",
    "run_stdio": "satchel.serve.mcp.transports",
    "streamable_http": "satchel.serve.mcp.transports",
}


def __getattr__(name: str) -> object:
    """Import a name when it is first asked for.

    Raises:
        ExtraMissingError: The extra ``serve`` is not installed.
    """
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        home = import_module(_HOMES[name])
    except ImportError as error:
        from satchel.errors import ExtraMissingError

        raise ExtraMissingError("serving over MCP", "serve") from error
    value: object = getattr(home, name)
    globals()[name] = value
    return value
