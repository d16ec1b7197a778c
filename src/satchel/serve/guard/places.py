"""How many requests are answered at a time, and how many streams stay open."""

import json
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, cast

import anyio

from satchel.serve.guard.refusals import Refusal

if TYPE_CHECKING:
    from satchel.serve.guard.requests import Seen
    from satchel.serve.guard.settings import GuardSettings

__all__ = ["Places", "is_stream"]

_LISTEN: Final = "subscriptions/listen"
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
        self._max_requests = settings.max_requests
        self._requests = anyio.Semaphore(settings.max_requests, fast_acquire=True)
        self._waiting = 0
        self._max_waiting = settings.max_waiting
        self._wait_s = settings.wait_s
        self._streams: Counter[str] = Counter()
        self._max_streams = settings.max_streams
        self._max_each = settings.max_streams_each

    @property
    def streams(self) -> int:
        """How many streams are open."""
        return self._streams.total()

    @property
    def busy(self) -> int:
        """How many requests are being answered, streams left out."""
        return self._max_requests - self._requests.value

    @property
    def waiting(self) -> int:
        """How many requests wait for a place."""
        return self._waiting

    @asynccontextmanager
    async def place(
        self, principal: str, *, stream: bool
    ) -> AsyncGenerator[Refusal | None, None]:
        """Hold a place while the request is answered, or say that there is none."""
        if stream:
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


def is_stream(seen: "Seen", body: bytes) -> bool:
    """Tell whether a request opens a stream that stays, by what it is.

    A header alone may say anything, and would give an ordinary request the place of a
    stream.
    """
    if seen.path.rstrip("/") != "/mcp":
        return False
    if seen.method == "GET":
        return True
    if seen.method != "POST" or _LISTEN.encode() not in body:
        return False
    try:
        said: object = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and (
        cast("dict[str, object]", said).get("method") == _LISTEN
    )
