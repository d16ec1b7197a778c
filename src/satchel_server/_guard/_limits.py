"""Limits of one server: rates, bodies, concurrent requests, streams, MCP sessions."""

import json
import math
from asyncio import timeout
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Final, cast

import anyio

from satchel.files import LruCache
from satchel_server._errors import ErrorAnswer

if TYPE_CHECKING:
    from starlette.types import Message, Receive

    from satchel_server._guard._authentication import AuthenticatedCaller
    from satchel_server._guard._messages import GuardedRequest
    from satchel_server._guard._settings import GuardSettings

# Bounds the memory that callers with many addresses can take.
_MAX_BUCKETS: Final = 4096
_LISTEN: Final = "subscriptions/listen"
_LISTEN_SIGNS: Final = (_LISTEN.encode(), b"\\", b"\0")

# The rest of the body is not read, so the connection cannot carry another request.
_CLOSE: Final = ((b"connection", b"close"),)
_TOO_SLOW: Final = ErrorAnswer(
    408, "too-slow", "the body of the request did not arrive in time", _CLOSE
)
_TOO_MANY_BODIES: Final = ErrorAnswer(
    503,
    "too-busy",
    "too many requests are being received; try again",
    (*_CLOSE, (b"retry-after", b"1")),
)
_TOO_MANY_REQUESTS: Final = ErrorAnswer(
    503, "too-busy", "too many requests at a time; try again", ((b"retry-after", b"1"),)
)
_TOO_MANY_STREAMS: Final = ErrorAnswer(
    503,
    "too-many-streams",
    "too many streams are open; close one, or try again",
    ((b"retry-after", b"10"),),
)


class RateLimiter:
    """Token buckets by key: ``size`` at once, ``rate_per_s`` in the long run.

    A key with a rate of its own has as many times its rate at once.
    """

    def __init__(
        self, rate_per_s: float, size: int, clock: Callable[[], float]
    ) -> None:
        self._rate = rate_per_s
        self._seconds = size / rate_per_s
        self._clock = clock
        # Of too many, the least recently used goes: most likely full, as a new one is.
        self._levels: LruCache[str, tuple[float, float]] = LruCache(_MAX_BUCKETS)

    def take(self, key: str, rate_per_s: float | None = None) -> int:
        """Take one token; return 0, or the seconds until there is one."""
        now = self._clock()
        rate = rate_per_s or self._rate
        size = max(1.0, rate * self._seconds)
        level, at = self._levels.find(key) or (size, now)
        level = min(size, level + (now - at) * rate)
        # 0 means allowed, so a refusal waits at least 1 second.
        wait = 0 if level >= 1 else max(1, math.ceil((1 - level) / rate))
        # A refused request takes no token, so a client that insists keeps its rate.
        self._levels.put(key, ((level if wait else level - 1), now))
        return wait


class ClientGoneError(Exception):
    """The client disconnected before its request was complete."""


# A body is read before its request takes a place among the concurrent ones, so that a
# slow sender blocks no one. Requests of MCP and of `/v1` are a few kilobytes.
class BodyReader:
    """Reads whole bodies, within limits of number, size and time."""

    def __init__(self, settings: "GuardSettings") -> None:
        self._max_bytes = settings.max_body_bytes
        self._timeout_s = settings.body_timeout_s
        self._free = settings.max_bodies
        message = f"the body of a request may have {self._max_bytes:,} bytes"
        self._too_large = ErrorAnswer(413, "too-large", message, _CLOSE)

    async def read(
        self, request: "GuardedRequest", receive: "Receive"
    ) -> bytes | ErrorAnswer:
        """Return the whole body of a request, or the error where it is not read."""
        # Refused before a byte is read; a chunked body is counted below.
        for declared in request.all(b"content-length")[:1]:
            if declared.isdigit() and int(declared) > self._max_bytes:
                return self._too_large
        # No lock: one event loop runs this, and nothing is awaited before the count.
        if not self._free:
            return _TOO_MANY_BODIES
        self._free -= 1
        try:
            # For the whole body, so that a byte now and then does not keep a place.
            async with timeout(self._timeout_s):
                body = bytearray()
                more = True
                while more:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise ClientGoneError
                    body += cast("bytes", message.get("body", b""))
                    if len(body) > self._max_bytes:
                        return self._too_large
                    more = message.get("more_body", False)
                return bytes(body)
        except TimeoutError:
            return _TOO_SLOW
        finally:
            self._free += 1


def replay_body(body: bytes, receive: "Receive") -> "Receive":
    """Return a channel that gives ``body`` once, then what the client sends."""
    pending = [body]

    async def replay() -> "Message":
        if pending:
            return {"type": "http.request", "body": pending.pop(), "more_body": False}
        return await receive()

    return replay


async def discard(message: "Message") -> None:
    """Drop a response that no client waits for."""


class ConcurrencyLimits:
    """A place for each request while it is answered, and others for streams."""

    def __init__(self, settings: "GuardSettings") -> None:
        self._max_requests = settings.max_requests
        self._requests = anyio.Semaphore(settings.max_requests, fast_acquire=True)
        self.waiting = 0
        self._max_waiting = settings.max_waiting
        self._wait_s = settings.wait_s
        self._streams: Counter[str] = Counter()
        self._max_streams = settings.max_streams
        self._max_each = settings.max_streams_each

    @property
    def streams(self) -> int:
        return self._streams.total()

    @property
    def busy(self) -> int:
        """How many requests are being answered, without streams."""
        return self._max_requests - self._requests.value

    @asynccontextmanager
    async def place(
        self, principal: str, *, stream: bool
    ) -> AsyncGenerator[ErrorAnswer | None, None]:
        """Take a place while the request is answered, or yield the error if none is."""
        if stream:
            async with self._stream_place(principal) as error:
                yield error
            return
        if not self.take_free_place() and not await self._waited():
            yield _TOO_MANY_REQUESTS
            return
        try:
            yield None
        finally:
            self.free_place()

    def take_free_place(self) -> bool:
        """Take a place if one is free, without a switch to another task."""
        try:
            self._requests.acquire_nowait()
        except anyio.WouldBlock:
            return False
        return True

    def free_place(self) -> None:
        """Give back a place that was taken."""
        self._requests.release()

    async def _waited(self) -> bool:
        # Without this limit, a slow source would let waiting requests pile up.
        if self.waiting >= self._max_waiting:
            return False
        self.waiting += 1
        try:
            with anyio.move_on_after(self._wait_s):
                await self._requests.acquire()
                return True
        finally:
            self.waiting -= 1
        return False

    @asynccontextmanager
    async def _stream_place(
        self, principal: str
    ) -> AsyncGenerator[ErrorAnswer | None, None]:
        full = self._streams.total() >= self._max_streams
        # The second limit keeps one caller from taking the places of all.
        if full or self._streams[principal] >= self._max_each:
            yield _TOO_MANY_STREAMS
            return
        self._streams[principal] += 1
        try:
            yield None
        finally:
            self._streams[principal] -= 1
            # A count of 0 would stay for every caller there ever was.
            if not self._streams[principal]:
                del self._streams[principal]


def is_stream(request: "GuardedRequest", body: bytes) -> bool:
    """Return whether a request opens a stream, by its method and body."""
    # Not by a header: an ordinary request could take the place of a stream.
    if request.path.rstrip("/") != "/mcp":
        return False
    if request.method == "GET":
        return True
    # Few bodies hold the method's name, so few are parsed a second time. JSON may spell
    # it with escapes, or in UTF-16 with zero bytes.
    if request.method != "POST" or not any(sign in body for sign in _LISTEN_SIGNS):
        return False
    try:
        message: object = json.loads(body)
    # Not a stream then: the application refuses such a body itself.
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and (
        cast("dict[str, object]", message).get("method") == _LISTEN
    )


# Each run of a client begins a session, and few end it. `mcp` drops one after half an
# hour of idleness and starts no other while it has too many: a client that leaves
# enough of them would lock out all other clients of that era.
class McpSessionLimit:
    """Limits the sessions of MCP's earlier era; the idle ones go first."""

    def __init__(self, max_sessions: int) -> None:
        self._max = max_sessions
        self._open: OrderedDict[str, AuthenticatedCaller] = OrderedDict()
        self._busy: Counter[str] = Counter()

    def began(self, session: str, caller: "AuthenticatedCaller") -> None:
        # The caller that began a session owns it, no matter who names it later.
        self._open.setdefault(session, caller)

    def ended(self, session: str) -> None:
        self._open.pop(session, None)

    @contextmanager
    def using(self, session: str) -> Generator[None, None, None]:
        """Protect a session while a request of it, perhaps a stream, is answered."""
        if session not in self._open:
            yield
            return
        self._busy[session] += 1
        try:
            yield
        finally:
            self._busy[session] -= 1
            if not self._busy[session]:
                del self._busy[session]
            # Another request may have ended it meanwhile.
            if session in self._open:
                self._open.move_to_end(session)

    def pop_surplus(self) -> "tuple[str, AuthenticatedCaller] | None":
        """Remove one session if there are too many: the idlest of its busiest owner."""
        if len(self._open) <= self._max:
            return None
        idle = {key: who for key, who in self._open.items() if key not in self._busy}
        if not idle:
            return None
        # A client that begins many sessions loses its own, not those of others.
        ((most, _),) = Counter(who.principal for who in idle.values()).most_common(1)
        # `using` moves a session to the end, so the first one was idle longest.
        session = next(key for key, who in idle.items() if who.principal == most)
        return session, self._open.pop(session)
