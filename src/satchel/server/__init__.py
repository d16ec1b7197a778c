"""Serving one library of skills: MCP and HTTP on one port, or MCP over stdio."""

from typing import TYPE_CHECKING, Final

from satchel._lazy import lazy_door

if TYPE_CHECKING:
    from satchel.server._app import Application as Application, create_app, guarded_app
    from satchel.server._errors import public_labels as public_labels
    from satchel.server._guard._middleware import guard
    from satchel.server._guard._settings import (
        GuardSettings,
        OAuthSettings,
        check_bind as check_bind,
    )
    from satchel.server._guard._tokens import open_tokens
    from satchel.server._http._endpoints import HttpSettings
    from satchel.server._http._health import (
        UsageMetrics as UsageMetrics,
        readiness as readiness,
    )
    from satchel.server._library import Caller, ServedLibrary, ServerSettings
    from satchel.server._mcp._server import build_server, run_stdio, streamable_http
    from satchel.server._mcp._skills import excluded_from_mcp
    from satchel.server._refresh import LibraryRefresher as LibraryRefresher
    from satchel.server._run import (
        listen as listen,
        serve_http as serve_http,
        serve_stdio as serve_stdio,
    )

__all__ = [
    "Caller",
    "GuardSettings",
    "HttpSettings",
    "OAuthSettings",
    "ServedLibrary",
    "ServerSettings",
    "build_server",
    "create_app",
    "excluded_from_mcp",
    "guard",
    "guarded_app",
    "open_tokens",
    "run_stdio",
    "streamable_http",
]

_LAZY: Final = {
    "Application": "satchel.server._app",
    "create_app": "satchel.server._app",
    "guarded_app": "satchel.server._app",
    "public_labels": "satchel.server._errors",
    "guard": "satchel.server._guard._middleware",
    "OAuthSettings": "satchel.server._guard._settings",
    "GuardSettings": "satchel.server._guard._settings",
    "check_bind": "satchel.server._guard._settings",
    "open_tokens": "satchel.server._guard._tokens",
    "HttpSettings": "satchel.server._http._endpoints",
    "UsageMetrics": "satchel.server._http._health",
    "readiness": "satchel.server._http._health",
    "Caller": "satchel.server._library",
    "ServedLibrary": "satchel.server._library",
    "ServerSettings": "satchel.server._library",
    "build_server": "satchel.server._mcp._server",
    "run_stdio": "satchel.server._mcp._server",
    "streamable_http": "satchel.server._mcp._server",
    "excluded_from_mcp": "satchel.server._mcp._skills",
    "LibraryRefresher": "satchel.server._refresh",
    "listen": "satchel.server._run",
    "serve_http": "satchel.server._run",
    "serve_stdio": "satchel.server._run",
}

__getattr__ = lazy_door(__name__, _LAZY, extra=("serving over MCP", "serve"))
