"""How a client reaches the server: over HTTP, or over the streams of this process."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final

from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import (
    StreamableHTTPASGIApp,
    StreamableHTTPSessionManager,
)
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from satchel.serve.library import Library
from satchel.serve.mcp.draining import answered
from satchel.serve.mcp.server import SkillServer, build_server

__all__ = ["LOOPBACK", "StreamableHttp", "run_stdio", "streamable_http"]

_MIB: Final = 1024 * 1024

LOOPBACK: Final = TransportSecuritySettings(
    enable_dns_rebinding_protection=True,
    allowed_hosts=["127.0.0.1:*", "localhost:*", "[::1]:*"],
    allowed_origins=["http://127.0.0.1:*", "http://localhost:*", "http://[::1]:*"],
)
"""Who may ask a server that listens on loopback, by Host and Origin."""


@dataclass(frozen=True, slots=True)
class StreamableHttp:
    """What an application mounts at ``/mcp``, and what has to run while it serves.

    ``lifespan`` can be entered once. ``app`` takes the request at any path. A stream
    of changes lasts until its client goes: call ``close_streams`` before a server that
    waits for open connections is to end.
    """

    app: ASGIApp
    lifespan: Callable[[], AbstractAsyncContextManager[None]]
    server: SkillServer
    close_streams: Callable[[], None]


def streamable_http(
    library: Library,
    *,
    security: TransportSecuritySettings | None = LOOPBACK,
    max_body_bytes: int = _MIB,
    max_sessions: int = 1_000,
) -> StreamableHttp:
    """Return the server for Streamable HTTP, in both eras of the protocol.

    Args:
        library: What is served.
        security: Which hosts and origins are answered; None where a guard before it
            has looked at them.
        max_body_bytes: Bytes of one request: answered with 413 beyond.
        max_sessions: Clients of the earlier era at a time, who have sessions; each
            ends after half an hour in which nothing came.
    """
    server = build_server(library)
    manager = StreamableHTTPSessionManager(
        server,
        json_response=True,
        security_settings=security,
        max_request_body_size=max_body_bytes,
        max_sessions=max_sessions,
    )
    app = StreamableHTTPASGIApp(manager)
    return StreamableHttp(app, manager.run, server, server.streams.close)


async def run_stdio(library: Library) -> None:
    """Serve the one client at standard input and output, until it goes.

    What it has asked before it went is answered.
    """
    server = build_server(library)
    async with (
        stdio_server() as (read, write),
        read,
        write,
        answered(read, write.send) as streams,
    ):
        await server.run(*streams, server.create_initialization_options())
