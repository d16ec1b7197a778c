"""Which MCP server is meant, and how mcp's client reaches it."""

import os
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
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
from satchel.text import clean_line

if TYPE_CHECKING:
    from mcp.server import MCPServer, Server


class _ResponseRefusedError(httpx2.StreamError):
    """An answer that is too long or compressed; mcp reports it as unreadable."""


class _CountedStream(httpx2.AsyncByteStream):
    """The bytes of an answer, up to a limit."""

    def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int) -> None:
        self._stream = stream
        self._left = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise _ResponseRefusedError("the answer is too long")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def size_limit_hook(max_bytes: int) -> Callable[[httpx2.Response], Awaitable[None]]:
    """Return a hook that limits each answer to ``max_bytes`` and refuses compression.

    A stream that waits for changes (a GET) has no end; its events are limited instead.
    """

    async def hook(response: httpx2.Response) -> None:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise _ResponseRefusedError("the answer is compressed")
        stream = response.stream
        if response.request.method != "GET" and isinstance(
            stream, httpx2.AsyncByteStream
        ):
            response.stream = _CountedStream(stream, max_bytes)

    return hook


class _UrlShownWithoutQuery(httpx2.URL):
    """A URL that is sent whole, and shown without its query.

    httpx2 logs the URL of every request, at a level that applications use.
    """

    def __str__(self) -> str:
        return shown_url(self)


def shown_url(url: httpx2.URL) -> str:
    """Return a URL without the parts that may have a key."""
    return str(httpx2.URL(url, query=None, fragment=None))


def restore_query_hook(url: httpx2.URL) -> Callable[[httpx2.Request], Awaitable[None]]:
    """Return a hook that adds the query again to requests for the URL as shown."""
    shown = httpx2.URL(shown_url(url))

    async def hook(request: httpx2.Request) -> None:
        request.url = _UrlShownWithoutQuery(
            url if request.url == shown else request.url
        )

    return hook


EXTENSION: Final = "io.modelcontextprotocol/skills"

McpServerAddress: TypeAlias = (
    "str | Sequence[str] | Server[Any] | MCPServer | Transport"
)
"""A URL, a command with its arguments, or what mcp's client accepts itself."""

_OpenTransport: TypeAlias = Callable[
    [AsyncExitStack], Awaitable["Server[Any] | MCPServer | Transport"]
]

_STREAM_S: Final = 300.0
"""Seconds without a byte on a stream that waits for changes: mcp's own value."""


@dataclass(frozen=True, slots=True)
class McpTarget:
    """A server: its label, and how a new client of it is opened."""

    label: str
    open: Callable[[], AbstractAsyncContextManager[Client]]


def resolve_target(
    server: McpServerAddress,
    *,
    label: str | None,
    headers: Mapping[str, str] | None,
    timeout_s: float,
    max_bytes: int,
) -> McpTarget:
    """Return the server that is meant; connect nothing.

    Raises:
        ValueError: A URL that is not of http or https or has a password, an empty
            command, headers that cannot be sent, or headers for a server that is not
            reached over HTTP.
    """
    if isinstance(server, str):
        name, reach = _by_url(server, headers or {}, timeout_s, max_bytes)
    elif headers:
        raise ValueError("headers are for a server that is reached over HTTP")
    elif isinstance(server, Sequence):
        name, reach = _by_command(server)
    else:
        name, reach = "mcp", _by_object(server)

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

    return McpTarget(clean_line(label or name) or "mcp", connect)


def _by_url(
    url: str, headers: Mapping[str, str], timeout_s: float, max_bytes: int
) -> tuple[str, _OpenTransport]:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("expected the URL of a server, http:// or https://")
    if "@" in parts.netloc:
        raise ValueError("the URL has a user name or a password; pass headers= instead")
    sent = checked_headers(headers)
    full_url = httpx2.URL(url)

    async def reach(owned: AsyncExitStack) -> Transport:
        client = httpx2.AsyncClient(
            # No compression: a small answer could become a large one.
            headers={**sent, "Accept-Encoding": "identity"},
            timeout=httpx2.Timeout(timeout_s, read=max(timeout_s, _STREAM_S)),
            event_hooks={
                "request": [restore_query_hook(full_url)],
                "response": [size_limit_hook(max_bytes)],
            },
        )
        await owned.enter_async_context(client)
        return streamable_http_client(
            shown_url(full_url), http_client=client, max_sse_event_size=max_bytes
        )

    port = f":{parts.port}" if parts.port else ""
    return f"{parts.hostname}{port}", reach


def _by_command(command: Sequence[str]) -> tuple[str, _OpenTransport]:
    if not command:
        raise ValueError("expected a command with its arguments, got an empty list")
    # Its environment is PATH, HOME and the like: mcp passes on nothing else.
    started = StdioServerParameters(command=command[0], args=list(command[1:]))

    async def reach(owned: AsyncExitStack) -> Transport:
        # Its error output could move the cursor of the user's terminal.
        nowhere = Path(os.devnull).open("w")  # noqa: ASYNC230, SIM115
        owned.enter_context(nowhere)
        return stdio_client(started, errlog=nowhere)

    return PurePath(command[0]).name, reach


def _by_object(server: "Server[Any] | MCPServer | Transport") -> _OpenTransport:
    async def reach(_: AsyncExitStack) -> "Server[Any] | MCPServer | Transport":
        return server

    return reach
