"""Which server is meant, and how mcp's client reaches it."""

import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
)
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urlsplit

import httpx2
from mcp.client import Client, Transport, advertise
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from satchel.sources._headers import checked_headers
from satchel.sources.over_mcp.bounded import bounded
from satchel.sources.over_mcp.unlogged import shown_url, with_query
from satchel.text import clean_line

if TYPE_CHECKING:
    from mcp.server import MCPServer, Server

__all__ = ["EXTENSION", "Reachable", "Target", "target_of"]

EXTENSION: Final = "io.modelcontextprotocol/skills"

Reachable: TypeAlias = "str | Sequence[str] | Server[Any] | MCPServer | Transport"
"""A URL, a command with its arguments, or what mcp's client takes itself."""

_Reach: TypeAlias = Callable[
    [AsyncExitStack], Awaitable["Server[Any] | MCPServer | Transport"]
]

_STREAM_S: Final = 300.0
"""Seconds without a byte on a stream that waits for changes: mcp's own value."""


@dataclass(frozen=True, slots=True)
class Target:
    """A server: what the host calls it, and how a client of it is made, each time."""

    label: str
    open: Callable[[], AbstractAsyncContextManager[Client]]


def target_of(
    server: Reachable,
    *,
    label: str | None,
    headers: Mapping[str, str] | None,
    timeout_s: float,
    max_bytes: int,
) -> Target:
    """Return the server that is meant; nothing is connected.

    Raises:
        ValueError: A URL that is not of http or https or holds a password, an empty
            command, or headers that cannot be sent or are for what is not reached over
            HTTP.
    """
    if isinstance(server, str):
        name, reach = _by_url(server, headers or {}, timeout_s, max_bytes)
    elif headers:
        raise ValueError("headers are for a server that is reached over HTTP")
    elif isinstance(server, Sequence):
        name, reach = _by_command(server)
    else:
        name, reach = "mcp", _as_it_is(server)

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Client]:
        async with AsyncExitStack() as owned:
            client = Client(
                await reach(owned),
                read_timeout_seconds=timeout_s,
                client_info=Implementation(name="satchel", version=version("satchel")),
                extensions=[advertise(EXTENSION)],
                cache=None,
            )
            yield await owned.enter_async_context(client)

    return Target(clean_line(label or name) or "mcp", connect)


def _by_url(
    url: str, headers: Mapping[str, str], timeout_s: float, max_bytes: int
) -> tuple[str, _Reach]:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("want the URL of a server, of http or https")
    if "@" in parts.netloc:
        raise ValueError(
            "the URL holds a user name or a password; hand over headers= instead"
        )
    sent = checked_headers(headers)
    whole = httpx2.URL(url)

    async def reach(owned: AsyncExitStack) -> Transport:
        client = httpx2.AsyncClient(
            # Nothing packed: a small answer could become a large one.
            headers={**sent, "Accept-Encoding": "identity"},
            timeout=httpx2.Timeout(timeout_s, read=max(timeout_s, _STREAM_S)),
            event_hooks={
                "request": [with_query(whole)],
                "response": [bounded(max_bytes)],
            },
        )
        await owned.enter_async_context(client)
        return streamable_http_client(
            shown_url(whole), http_client=client, max_sse_event_size=max_bytes
        )

    port = f":{parts.port}" if parts.port else ""
    return f"{parts.hostname}{port}", reach


def _by_command(command: Sequence[str]) -> tuple[str, _Reach]:
    if not command:
        raise ValueError("want a command with its arguments, got an empty list")
    # Its environment is PATH, HOME and the like: mcp passes on no more.
    started = StdioServerParameters(command=command[0], args=list(command[1:]))

    async def reach(owned: AsyncExitStack) -> Transport:
        # What it writes there could move the cursor of whoever looks.
        nowhere = Path(os.devnull).open("w")  # noqa: ASYNC230, SIM115
        owned.enter_context(nowhere)
        return stdio_client(started, errlog=nowhere)

    return PurePath(command[0]).name, reach


def _as_it_is(server: "Server[Any] | MCPServer | Transport") -> _Reach:
    async def reach(_: AsyncExitStack) -> "Server[Any] | MCPServer | Transport":
        return server

    return reach
