"""What was asked before the client went is answered."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from satchel.server._mcp import _server as draining
from satchel.server._mcp._server import drained_streams


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


@pytest.mark.parametrize(
    "items",
    [[], [request(1, "subscriptions/listen")], [request(1), cancelled(1)]],
    ids=["nothing", "a stream", "cancelled"],
)
async def test_what_gets_no_answer_is_not_waited_for(
    items: list[SessionMessage],
) -> None:
    async def keep(_: SessionMessage) -> None:
        """Take what is sent."""

    async with drained_streams(given(*items), keep) as (requests, _):
        await taken(requests, len(items))
        with pytest.raises(anyio.EndOfStream):
            await requests.receive()


async def test_nothing_is_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(draining, "WAIT_S", 0.01)

    async def keep(_: SessionMessage) -> None:
        """Take what is sent."""

    async with drained_streams(given(request(1)), keep) as (requests, _):
        await taken(requests, 1)
        with pytest.raises(anyio.EndOfStream):
            await requests.receive()


async def test_a_server_that_ends_first_waits_for_no_client() -> None:
    async def keep(_: SessionMessage) -> None:
        """Take what is sent."""

    async def silent() -> Any:  # noqa: ANN401
        await anyio.sleep_forever()
        yield

    async with drained_streams(silent(), keep):
        await anyio.wait_all_tasks_blocked()
