"""Limits of one server: request rate, bodies, concurrent requests, streams.

Sessions.
"""

import json
import math
from asyncio import timeout
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Final, cast

import anyio

from satchel.server._errors import Refusal

if TYPE_CHECKING:
    from starlette.types import Message, Receive

    from satchel.server._guard._authentication import AuthenticatedCaller
    from satchel.server._guard._messages import GuardedRequest
    from satchel.server._guard._settings import GuardSettings


_MAX_BUCKETS: Final = 4096


class RateLimiter:
    """Token buckets by key: ``size`` at once, ``rate_per_s`` in the long run.

    The bucket that was longest not asked for goes first when there are too many: it is
    the one most likely to be full, which is what a new one is.
    """

    def __init__(
        self,
        rate_per_s: float,
        size: int,
        clock: Callable[[], float],
        max_buckets: int = _MAX_BUCKETS,
    ) -> None:
        self._rate = rate_per_s
        self._size = float(size)
        self._clock = clock
        self._max = max_buckets
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._levels)

    def take(self, key: str) -> int:
        """Take one from a bucket; return 0, else the seconds until there is one."""
        level = self._level(key)
        wait = self._wait(level)
        self._levels[key] = (level if wait else level - 1, self._clock())
        self._levels.move_to_end(key)
        while len(self._levels) > self._max:
            self._levels.popitem(last=False)
        return wait

    def wait(self, key: str) -> int:
        """Return what `take` would, and take nothing."""
        return self._wait(self._level(key))

    def _level(self, key: str) -> float:
        level, at = self._levels.get(key, (self._size, 0.0))
        return min(self._size, level + (self._clock() - at) * self._rate)

    def _wait(self, level: float) -> int:
        return 0 if level >= 1 else max(1, math.ceil((1 - level) / self._rate))


@lru_cache(maxsize=1024)  # asked for each request
def rate_key(address: str) -> str:
    """Return the key of an address: IPv6 by its network, since each host has many."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is None:
        return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"
    return address


_CLOSE: Final = ((b"connection", b"close"),)
_TOO_SLOW: Final = Refusal(
    408, "too-slow", "the body of the request did not arrive in time", _CLOSE
)
_TOO_MANY: Final = Refusal(
    503,
    "too-busy",
    "too many requests are being received; try again",
    (*_CLOSE, (b"retry-after", b"1")),
)


class ClientGoneError(Exception):
    """The client went away before its request was whole."""


class BodyReader:
    """Reads bodies; at most so many at a time."""

    def __init__(self, settings: "GuardSettings") -> None:
        self._max_bytes = settings.max_body_bytes
        self._timeout_s = settings.body_timeout_s
        self._free = settings.max_bodies
        self._too_large = Refusal(
            413,
            "too-large",
            f"the body of a request may have {self._max_bytes:,} bytes",
            _CLOSE,
        )

    async def read(self, seen: "GuardedRequest", receive: "Receive") -> bytes | Refusal:
        """Return the whole body of a request, or why it is not read.

        Raises:
            Gone: There is nobody any more to answer.
        """
        declared = seen.first(b"content-length")
        if declared.isdecimal() and int(declared) > self._max_bytes:
            return self._too_large
        if not self._free:
            return _TOO_MANY
        self._free -= 1
        try:
            async with timeout(self._timeout_s):
                return await self._whole(receive)
        except TimeoutError:
            return _TOO_SLOW
        finally:
            self._free += 1

    async def _whole(self, receive: "Receive") -> bytes | Refusal:
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise ClientGoneError
            part = cast("bytes", message.get("body", b""))
            size += len(part)
            if size > self._max_bytes:
                return self._too_large
            parts.append(part)
            if not message.get("more_body", False):
                return b"".join(parts)


def replay_body(body: bytes, receive: "Receive") -> "Receive":
    """Return a channel that gives ``body`` once, and then what the client does."""
    pending = [body]

    async def again() -> "Message":
        if pending:
            return {"type": "http.request", "body": pending.pop(), "more_body": False}
        return await receive()

    return again


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


class ConcurrencyLimits:
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


def is_stream(seen: "GuardedRequest", body: bytes) -> bool:
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


class McpSessionLimit:
    """The sessions that are open, as far as answers told of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[str, AuthenticatedCaller] = OrderedDict()
        self._busy: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._held)

    def began(self, session: str, admitted: "AuthenticatedCaller") -> None:
        """Note a session, and whose it is."""
        self._held.setdefault(session, admitted)

    def ended(self, session: str) -> None:
        """Forget a session."""
        self._held.pop(session, None)

    @contextmanager
    def using(self, session: str) -> Generator[None, None, None]:
        """Keep a session while a request of it is answered: a stream, perhaps."""
        if session not in self._held:
            yield
            return
        self._busy[session] += 1
        try:
            yield
        finally:
            self._busy[session] -= 1
            if not self._busy[session]:
                del self._busy[session]
            if session in self._held:
                self._held.move_to_end(session)

    def surplus(self) -> "tuple[str, AuthenticatedCaller] | None":
        """Take out what has to go: the idlest session of who has most of them."""
        if len(self._held) <= self._most:
            return None
        idle = {key: who for key, who in self._held.items() if key not in self._busy}
        if not idle:
            return None
        counts = Counter(who.principal for who in idle.values())
        ((greediest, _),) = counts.most_common(1)
        session = next(key for key, who in idle.items() if who.principal == greediest)
        return session, self._held.pop(session)
