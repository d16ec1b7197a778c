"""The transports of the MCP server, and the answers at their end."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from socket import socket
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    TextContent,
)
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

import satchel_server as server
from satchel.errors import ExtraMissingError
from satchel.testing import write_pack
from satchel_server import Caller, ServedLibrary, streamable_http
from satchel_server._mcp import _server as draining, _server as transports
from satchel_server._mcp._server import drained_streams
from tests.unit.server.mcp.clients import ERAS, ask, library, write_skills


def request(number: int, method: str = "ping") -> SessionMessage:
    return SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=number, method=method))


def response(number: int) -> SessionMessage:
    return SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=number, result={}))


def cancelled(number: int) -> SessionMessage:
    return SessionMessage(
        JSONRPCNotification(
            jsonrpc="2.0",
            method="notifications/cancelled",
            params={"requestId": number},
        )
    )


async def given(*items: Any) -> Any:  # noqa: ANN401
    for item in items:
        yield item


async def taken(stream: Any, number: int) -> None:  # noqa: ANN401
    for _ in range(number):
        await stream.receive()


async def test_the_stream_ends_with_the_last_answer() -> None:
    sent: list[SessionMessage] = []

    async def keep(message: SessionMessage) -> None:
        sent.append(message)

    items = given(request(1), ValueError("no JSON"), request(2))
    async with drained_streams(items, keep) as (requests, answers):
        await taken(requests, 3)
        await answers.send(response(2))
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(anyio.WouldBlock):
            requests.receive_nowait()
        await answers.send(response(1))
        with pytest.raises(anyio.EndOfStream):
            await requests.receive()

    assert sent == [response(2), response(1)]


async def drop(_: SessionMessage) -> None:
    """Take what is sent."""


@pytest.mark.parametrize(
    ("items", "wait_s"),
    [
        ([], 60.0),
        ([request(1, "subscriptions/listen")], 60.0),
        ([request(1), cancelled(1)], 60.0),
        ([request(1)], 0.01),
    ],
    ids=["nothing", "a stream", "cancelled", "not answered"],
)
async def test_what_gets_no_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, items: list[SessionMessage], wait_s: float
) -> None:
    """And nothing is waited for without end."""
    monkeypatch.setattr(draining, "WAIT_S", wait_s)

    async with drained_streams(given(*items), drop) as (requests, _):
        await taken(requests, len(items))
        with pytest.raises(anyio.EndOfStream):
            await requests.receive()


async def test_a_server_that_ends_first_waits_for_no_client() -> None:
    async def silent() -> Any:  # noqa: ANN401
        await anyio.sleep_forever()
        yield

    async with drained_streams(silent(), drop):
        await anyio.wait_all_tasks_blocked()


SERVE = """
import sys, anyio
from satchel import Satchel
from satchel_server import ServedLibrary, run_stdio
anyio.run(run_stdio, ServedLibrary(Satchel(sys.argv[1], sinks=())))
"""


class _Guard:
    """Lets in a caller with a token, as that caller."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope.setdefault("state", {})["caller"] = Caller("desk", ("b*",))
        await self.app(scope, receive, send)


class _Server(uvicorn.Server):
    """Tells when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Start, and tell."""
        await super().startup(sockets)
        self.ready.set()


@asynccontextmanager
async def listening(
    served: ServedLibrary, *, guarded: bool = False
) -> AsyncGenerator[tuple[str, transports.StreamableHttp], None]:
    """Serve on a free port; give the URL."""
    http = streamable_http(served, max_body_bytes=10_000)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None, None]:
        async with http.lifespan():
            yield

    app = Starlette(
        routes=[Route("/mcp", endpoint=http.app)],
        lifespan=lifespan,
        middleware=[Middleware(_Guard)] if guarded else [],
    )
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error")
    server = _Server(config)
    task = asyncio.create_task(server.serve())
    try:
        await server.ready.wait()
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/mcp", http
    finally:
        http.close_streams()
        server.should_exit = True
        await task


@pytest.mark.parametrize("era", ERAS)
async def test_over_http(tmp_path: Path, era: str) -> None:
    served = library(write_skills(tmp_path))

    async with (
        listening(served) as (url, _),
        Client(url, mode=era, cache=None) as client,
    ):
        assert "load_skill" in (client.instructions or "")
        result = await client.call_tool("load_skill", {"name": "alpha"})
        assert not result.is_error
        entries = (await ask(client, "skills/list"))["skills"]
        uris = [entry["uri"] for entry in entries]
        assert uris == ["skill://alpha/SKILL.md", "skill://beta/SKILL.md"]
        assert (await client.get_prompt("handshake")).messages


async def test_changes_over_http_and_an_end_that_is_said(tmp_path: Path) -> None:
    served = library(write_skills(tmp_path))

    async with (
        listening(served) as (url, http),
        Client(url, cache=None) as client,
        client.listen(tools_list_changed=True) as sub,
    ):
        write_pack(tmp_path, "gamma")
        await asyncio.to_thread(served.refresh)
        await anext(aiter(sub))
        http.close_streams()
        assert [event async for event in sub] == []


@pytest.mark.parametrize("era", ERAS)
async def test_whom_the_guard_let_in_sees_what_is_its(tmp_path: Path, era: str) -> None:
    served = library(write_skills(tmp_path))

    async with (
        listening(served, guarded=True) as (url, _),
        Client(url, mode=era, cache=None) as client,
    ):
        assert "Use for alpha." not in str((await client.list_tools()).tools)
        answer = await ask(client, "skills/list")
        assert [item["uri"] for item in answer["skills"]] == ["skill://beta/SKILL.md"]
        assert answer["cacheScope"] == "private"
        result = await client.call_tool("load_skill", {"name": "alpha"})
        assert result.is_error


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"host": "evil.example"}, b"{}", 421),
        ({"origin": "http://evil.example"}, b"{}", 403),
        ({}, b"x" * 10_001, 413),
        ({}, b"{", 400),
    ],
)
async def test_what_is_turned_away(
    tmp_path: Path, headers: dict[str, str], body: bytes, status: int
) -> None:
    served = library(write_skills(tmp_path))
    given = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
    }

    async with listening(served) as (url, _), httpx2.AsyncClient() as client:
        answer = await client.post(url, content=body, headers=given | headers)
        assert answer.status_code == status
        assert str(tmp_path) not in answer.text


@pytest.mark.slow
async def test_over_stdio(tmp_path: Path) -> None:
    write_skills(tmp_path)
    command = StdioServerParameters(
        command=sys.executable, args=["-c", SERVE, str(tmp_path)]
    )

    async with Client(command, cache=None) as client:
        assert "load_skill" in (client.instructions or "")
        result = await client.call_tool("load_skill", {"name": "alpha"})
        assert result.structured_content is None
        (content,) = result.content
        assert isinstance(content, TextContent)
        assert content.text.endswith("\n\nDo alpha.")
        assert len((await ask(client, "skills/list"))["skills"]) == 2


async def test_streams_of_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = library(write_skills(tmp_path))

    async with create_client_server_memory_streams() as (client_side, server_side):

        @asynccontextmanager
        async def streams() -> AsyncGenerator[object, None]:
            yield server_side

        @asynccontextmanager
        async def other_end() -> AsyncGenerator[object, None]:
            yield client_side

        monkeypatch.setattr(transports, "stdio_server", streams)
        serving = asyncio.create_task(server.run_stdio(served))
        async with Client(other_end(), cache=None) as client:  # type: ignore[arg-type]
            assert [tool.name for tool in (await client.list_tools()).tools]
        await serving


def test_without_the_package_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "satchel_server._mcp._server", None)
    monkeypatch.delitem(vars(server), "build_server", raising=False)

    with pytest.raises(ExtraMissingError, match=r"\[serve\]"):
        _ = server.build_server

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = server.nothing
