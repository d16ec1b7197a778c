"""Requests and responses as the guard sees them: headers, CORS, counts."""

from asyncio import timeout
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from satchel.text import clip
from satchel_server._errors import ErrorAnswer, send_error, send_json
from satchel_server._guard._page_sessions import PAGE_PATH

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator, Iterable

    from starlette.types import Message, Scope, Send

CRASH: Final = ErrorAnswer(
    500, "internal-error", "something went wrong here; it was logged"
)
_BODILESS: Final = frozenset({"GET", "HEAD"})
_SESSION: Final = b"mcp-session-id"
# With these two an MCP client says in which request it calls which tool.
_MCP_HEADERS: Final = (b"mcp-method", b"mcp-name")
MAX_LOGGED_CHARS: Final = 200

_METHODS: Final = b"GET, HEAD, POST, DELETE, OPTIONS"
# What clients of MCP and of HTTP send. "*" would not cover Authorization, in which a
# browser sends the token.
_HEADERS: Final = (
    b"authorization, accept, content-type, idempotency-key, if-none-match, "
    b"last-event-id, "
    b"mcp-method, mcp-name, mcp-protocol-version, mcp-session-id"
)
_EXPOSED: Final = b"etag, mcp-session-id, retry-after, www-authenticate, link"

_Headers: TypeAlias = list[tuple[bytes, bytes]]
# Sends the page of an error to a browser.
ErrorPage: TypeAlias = Callable[["Scope", ErrorAnswer, "Send"], Awaitable[None]]

# Upper bounds of answer times in seconds; slower answers are in a fourth bucket.
BUCKETS_S: Final = (0.01, 0.1, 1.0)
# What the first part of a path belongs to; no caller can invent another label.
_AREAS: Final = {
    "mcp": "mcp",
    "v1": "v1",
    ".well-known": "discovery",
    "release.json": "releases",
    "releases": "releases",
    "healthz": "health",
    "readyz": "health",
    "metrics": "health",
    "ui": "page",
    "": "home",
}


@dataclass(frozen=True, slots=True)
class GuardedRequest:
    """The parts of a request that decide; names of headers are in lower case."""

    scope: "Scope"
    method: str
    path: str
    headers: dict[bytes, list[bytes]]
    peer: str

    @classmethod
    def of(cls, scope: "Scope") -> "GuardedRequest":
        headers: dict[bytes, list[bytes]] = {}
        for name, value in cast("Iterable[tuple[bytes, bytes]]", scope["headers"]):
            # Every value is kept: a second Host header has to be seen to be refused.
            headers.setdefault(name.lower(), []).append(value)
        client = cast("tuple[str, int] | None", scope.get("client"))
        peer = client[0] if client else ""
        return cls(scope, str(scope["method"]), str(scope["path"]), headers, peer)

    @property
    def has_body(self) -> bool:
        """Whether a body may follow its head."""
        return (
            self.method not in _BODILESS
            or b"content-length" in self.headers
            or b"transfer-encoding" in self.headers
        )

    @property
    def wants_page(self) -> bool:
        """Whether a browser asks for the page: below `PAGE_PATH`, or for ``/``."""
        if self.path == "/":
            return any(b"text/html" in value for value in self.all(b"accept"))
        return f"{self.path}/".startswith(f"{PAGE_PATH}/")

    def all(self, name: bytes) -> list[bytes]:
        return self.headers.get(name, [])

    def logged(self) -> str:
        """Return it as the log has it; what follows ``?`` is what people search for."""
        sent = [self.headers[name] for name in _MCP_HEADERS if name in self.headers]
        named = [b"".join(values).decode("latin-1") for values in sent]
        asked = " ".join((self.method, self.path, *filter(None, named)))
        return clip(asked, MAX_LOGGED_CHARS)


class GuardedResponse:
    """The response to one request; a client that takes no bytes is given up."""

    def __init__(
        self,
        request: GuardedRequest,
        send: "Send",
        timeout_s: float,
        page: ErrorPage | None = None,
    ) -> None:
        self.request, self._send, self._timeout_s = request, send, timeout_s
        self._page = page
        self._crashed = False
        self.status = 0
        """The HTTP status that was sent; 0 as long as none was."""
        # Whether it stays open until its client disconnects.
        self.is_stream = False
        # Send "ready" or "not ready" as the body: the details are for others.
        self.status_only = False
        # Forbid caches that serve several callers to keep it.
        self.private = False
        # Whether the client was given up.
        self.stalled = False
        # Called once it begins.
        self.begun: Callable[[], object] | None = None
        self.caller = ""
        """The name of who asks, once that is known."""
        self.session = ""
        """The session of MCP's earlier era that a successful response names."""

    async def send(self, message: "Message") -> None:
        """Pass on a message of the application."""
        if message["type"] == "http.response.start":
            status = cast("int", message["status"])
            # The guard answers in its place: the body of a 500 may quote an exception.
            self._crashed = status == CRASH.status
            if self._crashed:
                return
            if self.status_only:
                word = "ready" if status < HTTPStatus.BAD_REQUEST else "not ready"
                head = self.request.method == "HEAD"
                await send_json(status, {"status": word}, self.send_own, head=head)
            else:
                await self._send(self._start(status, message))
        elif not (self._crashed or self.status_only):
            await self._send_part(message)

    async def send_error(self, error: ErrorAnswer) -> None:
        """Send an error, unless a response has been started."""
        if self.status:
            return
        if self._page is not None and self.request.wants_page:
            await self._page(self.request.scope, error, self.send_own)
        else:
            head = self.request.method == "HEAD"
            await send_error(error, self.send_own, head=head)

    async def send_own(self, message: "Message") -> None:
        """Send a message of the guard itself, whatever its status is."""
        if message["type"] == "http.response.start":
            await self._send(self._start(cast("int", message["status"]), message))
        else:
            await self._send_part(message)

    def _start(self, status: int, message: "Message") -> "Message":
        """Return the message with the guard's headers, and note the status."""
        self.status = status
        if self.begun is not None:
            self.begun()
        headers: _Headers = [*message.get("headers", ())]
        if status < HTTPStatus.BAD_REQUEST:
            self.session = dict(headers).get(_SESSION, b"").decode("latin-1")
        if self.request.all(b"origin"):
            add_cors_headers(headers, self.request)
        if self.private:
            headers = [_private(name, value) for name, value in headers]
            # For a cache that ignores "private": it tells the tokens apart.
            if (b"vary", b"Authorization") not in headers:
                headers.append((b"vary", b"Authorization"))
        return {**message, "headers": headers}

    async def _send_part(self, message: "Message") -> None:
        # An application may go on sending after its first time-out.
        if self.stalled:
            raise TimeoutError
        sending = cast("Coroutine[Any, Any, None]", self._send(message))
        # Most messages are taken at once, and need no timer.
        try:
            waits = sending.send(None)
        except StopIteration:
            return
        try:
            async with timeout(self._timeout_s):
                await _Rest(sending, waits)
        except TimeoutError:
            self.stalled = True
            raise


class _Rest:
    """The rest of a coroutine that was begun, and waits for something."""

    def __init__(self, begun: "Coroutine[Any, Any, None]", waits: object) -> None:
        self._begun = begun
        self._waits = waits

    def __await__(self) -> "Generator[Any, Any, None]":
        waits = self._waits
        while True:
            try:
                value = yield waits
            except BaseException as error:  # noqa: BLE001 - it is for the coroutine
                step = partial(self._begun.throw, error)
            else:
                step = partial(self._begun.send, value)
            try:
                waits = step()
            except StopIteration:
                return


def _private(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    if name.lower() != b"cache-control":
        return name, value
    parts = [part.strip() for part in value.split(b",")]
    # A "public" next to "private" would contradict it.
    others = [part for part in parts if part.lower() not in (b"public", b"private")]
    return name, b", ".join([b"private", *others])


def is_preflight(request: GuardedRequest) -> bool:
    """Return whether this is a browser's question before a page's own request."""
    asks = request.all(b"access-control-request-method")
    return bool(asks) and bool(request.all(b"origin"))


async def send_preflight(request: GuardedRequest, send: "Send") -> None:
    headers: _Headers = [
        (b"access-control-allow-methods", _METHODS),
        (b"access-control-allow-headers", _HEADERS),
        (b"access-control-max-age", b"600"),
        (b"content-length", b"0"),
    ]
    add_cors_headers(headers, request)
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def add_cors_headers(headers: _Headers, request: GuardedRequest) -> None:
    """Let the page read a response, unless the application has decided about it."""
    origins = request.all(b"origin")
    if not origins or any(n == b"access-control-allow-origin" for n, _ in headers):
        return
    # The one origin that was checked, not "*", so caches have to tell origins apart.
    headers += [
        (b"access-control-allow-origin", origins[0]),
        (b"access-control-expose-headers", _EXPOSED),
        (b"vary", b"Origin"),
    ]


class TrafficCounts:
    """Counts requests. Written by one event loop, read by any thread."""

    def __init__(self) -> None:
        # `int()` gives 0 until a guard sets the three.
        self.streams: Callable[[], int] = int
        self.busy: Callable[[], int] = int
        self.waiting: Callable[[], int] = int
        self._answers: dict[tuple[str, int], int] = {}
        self._refusals: dict[str, int] = {}
        self._times: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}

    def answered(self, path: str, status: int, duration_s: float | None) -> None:
        """Count one answer; ``duration_s`` is None for a stream: its client decides."""
        area = _AREAS.get(path.lstrip("/").partition("/")[0], "other")
        self._answers[area, status] = self._answers.get((area, status), 0) + 1
        if duration_s is not None:
            times = self._times.setdefault(area, [0] * (len(BUCKETS_S) + 1))
            times[bisect_left(BUCKETS_S, duration_s)] += 1
            self._seconds[area] = self._seconds.get(area, 0.0) + duration_s

    def refused(self, code: str) -> None:
        self._refusals[code] = self._refusals.get(code, 0) + 1

    def lines(self) -> Iterator[str]:
        name = "satchel_http_requests_total"
        yield metric_head(name, "counter", "Requests by area and HTTP status.")
        # A copy, since the event loop may add a key while this thread iterates.
        for (area, status), count in sorted(self._answers.copy().items()):
            yield f'{name}{{part="{area}",status="{status}"}} {count}\n'
        name = "satchel_http_refusals_total"
        yield metric_head(name, "counter", "Requests that were refused, by reason.")
        for code, count in sorted(self._refusals.copy().items()):
            yield f'{name}{{reason="{code}"}} {count}\n'
        yield from self._durations("satchel_http_request_duration_seconds")
        for name, meaning, value in (
            ("satchel_http_streams", "Open streams.", self.streams()),
            ("satchel_http_busy", "Requests being answered.", self.busy()),
            ("satchel_http_waiting", "Requests that wait for it.", self.waiting()),
        ):
            yield f"{metric_head(name, 'gauge', meaning)}{name} {value}\n"

    def _durations(self, name: str) -> Iterator[str]:
        yield metric_head(name, "histogram", "How long answers took, without streams.")
        for area, times in sorted(self._times.copy().items()):
            total = 0
            for bound, count in zip((*BUCKETS_S, "+Inf"), tuple(times), strict=True):
                total += count
                yield f'{name}_bucket{{part="{area}",le="{bound}"}} {total}\n'
            yield f'{name}_count{{part="{area}"}} {total}\n'
            yield f'{name}_sum{{part="{area}"}} {self._seconds[area]:.6f}\n'


def metric_head(name: str, kind: str, meaning: str) -> str:
    return f"# HELP {name} {meaning}\n# TYPE {name} {kind}\n"
