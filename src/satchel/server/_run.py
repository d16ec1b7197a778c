"""Run a server until a signal ends it: over HTTP with uvicorn.

Or over standard streams.
"""

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
import h11
import uvicorn
from anyio import CancelScope
from starlette.datastructures import Headers
from uvicorn.protocols.http.h11_impl import H11Protocol

from satchel.errors import ConfigError
from satchel.server._errors import Refusal, send_refusal
from satchel.server._guard._settings import GuardSettings
from satchel.server._library import ServedLibrary
from satchel.server._mcp._server import run_stdio

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

    from starlette.types import ASGIApp, Message, Receive, Scope, Send


_STREAM: Final = "text/event-stream"


_SHUTTING_DOWN: Final = Refusal(
    503, "shutting-down", "this server ends; ask another", ((b"connection", b"close"),)
)


def _with_close(message: "Message") -> list[tuple[bytes, bytes]]:
    headers = cast("Iterable[tuple[bytes, bytes]]", message.get("headers", ()))
    kept = [pair for pair in headers if pair[0].lower() != b"connection"]
    return [*kept, (b"connection", b"close")]


class GracefulShutdown:
    """Goes around an application, and knows the streams of events that are open."""

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app
        self._open: set[CancelScope] = set()
        self._drains = False

    def drain(self) -> None:
        """Let every answer from now on close its connection; ``/readyz`` says no."""
        self._drains = True

    def end(self) -> None:
        """End the streams that are open, as if each had come to its end."""
        for scope in tuple(self._open):
            scope.cancel()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer; an answer that is a stream may be ended from outside."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._drains and scope["path"] == "/readyz":
            await send_refusal(_SHUTTING_DOWN, send, head=scope["method"] == "HEAD")
            return
        ours = CancelScope()

        async def watch(message: "Message") -> None:
            if message["type"] == "http.response.start":
                kind = Headers(raw=message.get("headers", [])).get("content-type", "")
                if kind.startswith(_STREAM):
                    self._open.add(ours)
                if self._drains:
                    message = {**message, "headers": _with_close(message)}
            elif not message.get("more_body", False):
                self._open.discard(ours)  # it has come to its end
            await send(message)

        try:
            with ours:
                await self._app(scope, receive, watch)
        finally:
            self._open.discard(ours)
        if ours.cancelled_caught:
            await send({"type": "http.response.body", "body": b""})


_MAX_HEAD_BYTES: Final = 64 * 1024
_PIECE_BYTES: Final = 16 * 1024


def uvicorn_options(settings: "GuardSettings") -> dict[str, Any]:
    """Return keyword arguments for `uvicorn.Config` that go with the guard.

    Nothing that a proxy says of the client is believed: set ``proxy_headers`` and
    ``forwarded_allow_ips`` where there is one.
    """
    return {
        "host": settings.host,
        "http": _protocol_class(settings),
        "ws": "none",
        "h11_max_incomplete_event_size": _MAX_HEAD_BYTES,
        "timeout_keep_alive": 15,
        "timeout_graceful_shutdown": 5,
        "server_header": False,
        "proxy_headers": False,
    }


def _protocol_class(settings: "GuardSettings") -> type[asyncio.Protocol]:
    class Timed(_TimedProtocol):
        header_timeout_s = settings.header_timeout_s
        max_connections = settings.max_connections

    return Timed


class _JoiningTransport:
    """A transport that sends what is written in one go as one piece.

    Uvicorn writes the head of an answer and its body one after the other, and each
    would be a system call, a packet, and a read of the client's. What is long goes at
    once, so that nothing piles up and the transport can say that it is too much.
    """

    def __init__(
        self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever transports have
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)
        if len(data) > _PIECE_BYTES:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts and not self._transport.is_closing():
            self._transport.write(b"".join(parts))


class _TimedProtocol(H11Protocol):
    """Uvicorn's own, that closes a connection whose next request does not arrive."""

    header_timeout_s: float
    max_connections: int
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        whole = _JoiningTransport(cast("asyncio.Transport", transport), self.loop)
        super().connection_made(whole)  # type: ignore[arg-type]
        if len(self.connections) > self.max_connections:
            self.transport.abort()
            return
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer()
        elif self._head_timer is None:
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self._head_timer = self.loop.call_later(
            self.header_timeout_s, self.transport.abort
        )

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_BACKLOG: Final = 2048
DRAIN_S: Final = 1.0
"""How long connections that clients keep are answered before they are closed."""
_POLL_S: Final = 0.02


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 is any that is free.

    Raises:
        ConfigError: The address is not of this machine, or the port is taken.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, _, _, _, address = found[0]
        at = socket.create_server(address, family=family, backlog=_BACKLOG)
    except OSError as error:
        advice = "choose another --port, 0 for any that is free, or --host"
        detail = f"{error.strerror}; {advice}"
        raise ConfigError(f"{host}:{port}", detail) from error
    # asyncio says so for sockets of its own making. Without it an answer in two writes
    # waits some 40 ms for the client to acknowledge the first.
    at.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return at


def serve_http(
    app: "ASGIApp",
    at: socket.socket,
    settings: GuardSettings,
    *,
    started: Callable[[], object],
) -> None:
    """Serve until SIGINT or SIGTERM, then answer what is under way and return.

    Streams of events are ended: their clients would not go by themselves. For a second
    more, or until no connection is open, requests are answered, each answer closing its
    connection, so that a client that keeps one learns of it.

    ``started`` is called once requests are answered.

    Raises:
        ConfigError: The application did not start; the log says why.
    """
    ending = GracefulShutdown(app)
    config = uvicorn.Config(
        ending,
        **uvicorn_options(settings),
        log_config=None,
        log_level="error",  # a warning for each malformed request would fill a disk
        access_log=False,  # it would hold what people search for
        lifespan="on",
    )
    server = _Server(config, started, ending)
    try:
        server.run(sockets=[at])
    except SystemExit as error:  # uvicorn's word for it
        raise ConfigError("satchel serve", "the application did not start") from error


class _Server(uvicorn.Server):
    """Uvicorn's, that says when it answers, and returns when it was told to stop."""

    def __init__(
        self,
        config: uvicorn.Config,
        started: Callable[[], object],
        ending: GracefulShutdown,
    ) -> None:
        super().__init__(config)
        self._tell = started
        self._ending = ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._tell()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._ending.drain()
        self._ending.end()
        await self._let_clients_go()
        self._ending.end()
        await super().shutdown(sockets)

    async def _let_clients_go(self) -> None:
        """Wait until no connection is open, for a second; a second signal ends that."""
        with anyio.move_on_after(DRAIN_S):
            while self.server_state.connections and not self.force_exit:  # noqa: ASYNC110 - uvicorn tells of no end
                await anyio.sleep(_POLL_S)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        # Uvicorn raises the signal again at the end, which would end the process before
        # events are written.
        with _signals_handled_by(self.handle_exit):
            yield


def serve_stdio(library: ServedLibrary) -> bool:
    """Serve the client at the standard streams until it goes, or a signal comes.

    Returns:
        Whether a signal came. The thread that reads standard input then still waits
        for a line: end the process with `os._exit` once all is written.

    Raises:
        Exception: Whatever ended the server.
    """
    done = threading.Event()
    failed: list[BaseException] = []

    def run() -> None:
        try:
            anyio.run(run_stdio, library)
        except BaseException as error:  # noqa: BLE001 - raised again, by the caller
            failed.append(error)
        done.set()

    told: list[int] = []

    def stop(number: int, frame: "FrameType | None") -> None:
        del frame
        told.append(number)
        done.set()

    with _signals_handled_by(stop):
        threading.Thread(target=run, name="satchel-stdio", daemon=True).start()
        while not done.wait(1.0):  # Windows sees a Ctrl-C between two waits only
            continue
    if failed:
        raise failed[0]
    return bool(told)


@contextmanager
def _signals_handled_by(
    handler: "Callable[[int, FrameType | None], object]",
) -> Generator[None]:
    """Let ``handler`` have the signals, where this is the thread that gets them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.signal(each, handler) for each in _SIGNALS}
    try:
        yield
    finally:
        for each, known in before.items():
            signal.signal(each, known)
