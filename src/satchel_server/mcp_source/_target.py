"""Which MCP server is meant, and how mcp's client reaches it."""

import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urlsplit

import httpx2
from mcp.client import Client, Transport, advertise
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from satchel.published import VERSION
from satchel.text import clean_line
from satchel_store.http import checked_headers

if TYPE_CHECKING:
    from mcp.server import MCPServer, Server


EXTENSION: Final = "io.modelcontextprotocol/skills"

# A URL, a command with its arguments, or what mcp's client accepts itself.
McpServerAddress: TypeAlias = (
    "str | Sequence[str] | Server[Any] | MCPServer | Transport"
)

# Seconds without a byte on a stream that waits for changes: mcp's own value.
_STREAM_S: Final = 300.0


class McpTarget:
    """A server: its label, and how a new client of it is opened."""

    def __init__(
        self,
        server: McpServerAddress,
        *,
        label: str | None,
        headers: Mapping[str, str] | None,
        timeout_s: float,
        max_bytes: int,
    ) -> None:
        """Connect nothing yet, and raise ``ValueError`` for what cannot be a server."""
        self.timeout_s: Final = timeout_s
        self._server = server
        self._headers = checked_headers(headers or {})
        self._max_bytes = max_bytes
        name = "mcp"
        if isinstance(server, str):
            name = _host_of(server)
        elif headers:
            raise ValueError("headers are for a server that is reached over HTTP")
        elif isinstance(server, Sequence):
            if not server:
                problem = "expected a command with its arguments, got an empty list"
                raise ValueError(problem)
            name = PurePath(server[0]).name
        self.label: Final = clean_line(label or name) or "mcp"

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Client]:
        """Connect a client, until the end of the block."""
        async with AsyncExitStack() as owned:
            client = Client(
                await self._transport(owned),
                read_timeout_seconds=self.timeout_s,
                client_info=Implementation(name="satchel", version=VERSION),
                extensions=[advertise(EXTENSION)],
                cache=None,
            )
            yield await owned.enter_async_context(client)

    async def _transport(
        self, owned: AsyncExitStack
    ) -> "Server[Any] | MCPServer | Transport":
        server = self._server
        if isinstance(server, str):
            client = httpx2.AsyncClient(
                # No compression: a small answer could become a large one.
                headers={**self._headers, "Accept-Encoding": "identity"},
                timeout=httpx2.Timeout(
                    self.timeout_s, read=max(self.timeout_s, _STREAM_S)
                ),
                event_hooks={
                    "request": [self._restore_query],
                    "response": [self._limit_answer],
                },
            )
            await owned.enter_async_context(client)
            url, most = _shown_url(httpx2.URL(server)), self._max_bytes
            return streamable_http_client(
                url, http_client=client, max_sse_event_size=most
            )
        if isinstance(server, Sequence):
            # Its environment is PATH, HOME and the like: mcp passes on nothing else.
            command = StdioServerParameters(command=server[0], args=list(server[1:]))
            # Its error output could move the cursor of the user's terminal.
            nowhere = Path(os.devnull).open("w")  # noqa: ASYNC230, SIM115
            owned.enter_context(nowhere)
            return stdio_client(command, errlog=nowhere)
        return server

    async def _restore_query(self, request: httpx2.Request) -> None:
        """Send a request for the URL as it is shown to the whole URL."""
        url = httpx2.URL(str(self._server))
        # A request that was redirected elsewhere does not get the query.
        shown = request.url == httpx2.URL(_shown_url(url))
        request.url = _UrlShownWithoutQuery(url if shown else request.url)

    async def _limit_answer(self, response: httpx2.Response) -> None:
        """Limit the bytes of an answer, and refuse a compressed one."""
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise _ResponseRefusedError("the answer is compressed")
        # A stream that waits for changes (a GET) has no end; its events are limited.
        stream = response.stream
        if response.request.method != "GET" and isinstance(
            stream, httpx2.AsyncByteStream
        ):
            response.stream = _CountedStream(stream, self._max_bytes)


def _host_of(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("expected the URL of a server, http:// or https://")
    if "@" in parts.netloc:
        raise ValueError("the URL has a user name or a password; pass headers= instead")
    return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname


def _shown_url(url: httpx2.URL) -> str:
    """Return a URL without the parts that may have a key."""
    return str(httpx2.URL(url, query=None, fragment=None))


class _UrlShownWithoutQuery(httpx2.URL):
    """A URL that is sent whole, and shown without its query."""

    # httpx2 logs the URL of every request, at a level that applications use.
    def __str__(self) -> str:
        return _shown_url(self)


class _ResponseRefusedError(httpx2.StreamError):
    """An answer that is too long or compressed; mcp reports it as unreadable."""


class _CountedStream(httpx2.AsyncByteStream):
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
