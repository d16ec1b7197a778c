"""Answering what was asked before the client went: `mcp` drops it at the end of input.

A script that pipes its requests in and closes its end waits for the answers.
"""

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

__all__ = ["answered"]

WAIT_S: Final = 5.0
"""How long answers are waited for when the client has gone."""
_ENDLESS: Final = "subscriptions/listen"
_CANCELLED: Final = "notifications/cancelled"

_Item: TypeAlias = SessionMessage | Exception
_Streams: TypeAlias = tuple[
    MemoryObjectReceiveStream[_Item], MemoryObjectSendStream[SessionMessage]
]


@asynccontextmanager
async def answered(
    read: AsyncIterable[_Item], send: Callable[[SessionMessage], Awaitable[None]]
) -> AsyncGenerator[_Streams]:
    """Give streams for a server, the first of which ends when all is answered.

    ``read`` gives what the client sends, and ``send`` takes what it is sent.
    """
    to_server, requests = anyio.create_memory_object_stream[_Item]()
    answers, from_server = anyio.create_memory_object_stream[SessionMessage]()
    unanswered = _Unanswered()
    asking = anyio.CancelScope()

    async def ask() -> None:
        with asking:
            async with to_server:
                async for item in read:
                    unanswered.asked(item)
                    await to_server.send(item)
                with anyio.move_on_after(WAIT_S):
                    await unanswered.none.wait()

    async def tell() -> None:
        async with from_server:
            async for message in from_server:
                await send(message)
                unanswered.told(message)

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        group.start_soon(tell)
        async with requests, answers:
            yield requests, answers
            asking.cancel()


class _Unanswered:
    """The requests that have no answer yet; those that never will are not counted."""

    def __init__(self) -> None:
        self._ids: set[object] = set()
        self.none = anyio.Event()
        self.none.set()

    def asked(self, item: _Item) -> None:
        message = item.message if isinstance(item, SessionMessage) else None
        if isinstance(message, JSONRPCRequest) and message.method != _ENDLESS:
            if not self._ids:
                self.none = anyio.Event()
            self._ids.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == _CANCELLED:
            self._forget((message.params or {}).get("requestId"))

    def told(self, message: SessionMessage) -> None:
        answer = message.message
        if isinstance(answer, JSONRPCResponse | JSONRPCError):
            self._forget(answer.id)

    def _forget(self, request_id: object) -> None:
        self._ids.discard(request_id)
        if not self._ids:
            self.none.set()
