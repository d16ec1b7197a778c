"""How many requests are answered at a time, and how many streams stay open."""

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import anyio

from satchel.serve.guard.refusals import Refusal

if TYPE_CHECKING:
    from satchel.serve.guard.requests import Seen
    from satchel.serve.guard.settings import GuardSettings

__all__ = ["Places"]

_BUSY: Final = Refusal(
    503, "too-busy", "too many requests at a time; try again", ((b"retry-after", b"1"),)
)
_STREAMS: Final = Refusal(
    503,
    "too-many-streams",
    "too many streams are open; close one, or try again",
    ((b"retry-after", b"10"),),
)


class Places:
    """A place for each request while it is answered, and others for streams.

    A stream stays open until its client goes: MCP's ``subscriptions/listen``, and the
    GET of the protocol's earlier versions.
    """

    def __init__(self, settings: "GuardSettings") -> None:
        self._requests = anyio.Semaphore(settings.max_requests, fast_acquire=True)
        self._waiting = 0
        self._max_waiting = settings.max_waiting
        self._wait_s = settings.wait_s
        self._streams: Counter[str] = Counter()
        self._max_streams = settings.max_streams
        self._max_each = settings.max_streams_each

    @asynccontextmanager
    async def place(
        self, seen: "Seen", principal: str
    ) -> AsyncGenerator[Refusal | None, None]:
        """Hold a place while the request is answered, or say that there is none."""
        if is_stream(seen):
            async with self._for_stream(principal) as refusal:
                yield refusal
            return
        if not await self._taken():
            yield _BUSY
            return
        try:
            yield None
        finally:
            self._requests.release()

    async def _taken(self) -> bool:
        try:
            self._requests.acquire_nowait()
        except anyio.WouldBlock:
            if self._waiting >= self._max_waiting:
                return False
        else:
            return True
        self._waiting += 1
        try:
            with anyio.move_on_after(self._wait_s):
                await self._requests.acquire()
                return True
        finally:
            self._waiting -= 1
        return False

    @asynccontextmanager
    async def _for_stream(self, principal: str) -> AsyncGenerator[Refusal | None, None]:
        full = self._streams.total() >= self._max_streams
        if full or self._streams[principal] >= self._max_each:
            yield _STREAMS
            return
        self._streams[principal] += 1
        try:
            yield None
        finally:
            self._streams[principal] -= 1
            if not self._streams[principal]:
                del self._streams[principal]


def is_stream(seen: "Seen") -> bool:
    """Tell whether a request opens a stream that stays.

    ``mcp`` refuses a body that says something else than the header does.
    """
    if seen.method == "GET":
        return seen.path.rstrip("/") == "/mcp"
    return seen.first(b"mcp-method").strip() == "subscriptions/listen"
