"""Serving one library of skills: MCP and HTTP on one port, or MCP over stdio."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel_server._app import Application as Application, create_app, guarded_app
    from satchel_server._errors import public_labels as public_labels
    from satchel_server._guard._middleware import guard
    from satchel_server._guard._settings import (
        GuardSettings,
        OAuthSettings,
        check_bind as check_bind,
    )
    from satchel_server._guard._tokens import open_tokens
    from satchel_server._http._endpoints import HttpSettings as HttpSettings
    from satchel_server._http._health import readiness as readiness
    from satchel_server._library import Caller as Caller, ServedLibrary, ServerSettings
    from satchel_server._mcp._server import (
        build_server,
        run_stdio as run_stdio,
        streamable_http as streamable_http,
    )
    from satchel_server._mcp._skills import excluded_from_mcp
    from satchel_server._refresh import LibraryRefresher as LibraryRefresher
    from satchel_server._run import (
        listen as listen,
        serve_http as serve_http,
        serve_stdio as serve_stdio,
    )

__all__ = [
    "GuardSettings",
    "OAuthSettings",
    "ServedLibrary",
    "ServerSettings",
    "build_server",
    "create_app",
    "excluded_from_mcp",
    "guard",
    "guarded_app",
    "open_tokens",
]

__getattr__ = lazy_door(
    __name__,
    {
        "_app": "Application create_app guarded_app",
        "_errors": "public_labels",
        "_guard._middleware": "guard",
        "_guard._settings": "OAuthSettings GuardSettings check_bind",
        "_guard._tokens": "open_tokens",
        "_http._endpoints": "HttpSettings",
        "_http._health": "readiness",
        "_library": "Caller ServedLibrary ServerSettings",
        "_mcp._server": "build_server run_stdio streamable_http",
        "_mcp._skills": "excluded_from_mcp",
        "_refresh": "LibraryRefresher",
        "_run": "listen serve_http serve_stdio",
    },
    extra=("serving over MCP", "serve"),
)
