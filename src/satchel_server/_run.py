"""Run a server until a signal ends it: over HTTP with uvicorn, or over stdio."""

import asyncio
import ctypes
import errno
import math
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
import h11
import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from uvicorn.protocols.http.h11_impl import H11Protocol

from satchel.errors import ConfigError
from satchel_server._errors import ErrorAnswer, send_error
from satchel_server._guard._settings import GuardSettings
from satchel_server._library import ServedLibrary
from satchel_server._mcp._server import run_stdio

if TYPE_CHECKING:
    from types import FrameType

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_STEP_S: Final = 0.02
# How long clients whose connection is being made are waited for.
_HANDSHAKE_S: Final = 0.1
_SO_ATTACH_FILTER: Final = 26  # of asm-generic/socket.h
# Instructions of linux/filter.h: code, jump if true, jump if false, operand.
_NO_NEW_CONNECTION: Final = (
    (0x30, 0, 0, 13),  # load the flags of a TCP head
    (0x54, 0, 0, 0x12),  # leave SYN and ACK of them
    (0x15, 0, 1, 0x02),  # skip an instruction unless it is SYN alone
    (0x06, 0, 0, 0),  # keep 0 bytes
    (0x06, 0, 0, 0xFFFF),
)
_STREAM: Final = "text/event-stream"
_MAX_HEAD_BYTES: Final = 64 * 1024
_PIECE_BYTES: Final = 16 * 1024

_CLOSE: Final = ((b"connection", b"close"),)
_NO_BODY: Final = (b"content-length", b"0")
_SHUTTING_DOWN: Final = ErrorAnswer(
    503, "shutting-down", "this server ends; ask another", _CLOSE
)
_LARGE_HEAD: Final = ErrorAnswer(
    431, "head-too-large", f"the head may have {_MAX_HEAD_BYTES:,} bytes", _CLOSE
)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 is any that is free."""
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        # The first one only: a name may have an IPv4 and an IPv6 address.
        family, _, _, _, address = infos[0]
        at = socket.create_server(address, family=family, backlog=2048)
    except OSError as error:
        advice = "choose another --port, 0 for any that is free, or --host"
        # The text of an address that is in use says so twice.
        in_use = error.errno == errno.EADDRINUSE
        reason = "the address is in use" if in_use else error.strerror
        raise ConfigError(f"{host}:{port}", f"{reason}; {advice}") from error
    # asyncio sets it for sockets of its own. Without it an answer in two writes waits
    # some 40 ms for the client to acknowledge the first.
    at.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return at


def serve_http(
    app: "ASGIApp",
    at: socket.socket,
    settings: GuardSettings,
    *,
    started: Callable[[], object],
) -> None:
    """Serve until SIGINT or SIGTERM, then finish the requests being answered."""
    shutdown = GracefulShutdown(app)
    config = uvicorn.Config(
        shutdown,
        **uvicorn_options(settings),
        log_config=None,
        log_level="error",  # a warning for each malformed request would fill a disk
        access_log=False,  # it would contain what people search for
        lifespan="on",
    )
    server = _Server(config, started, shutdown, settings.drain_s)
    try:
        server.run(sockets=[at])
    except SystemExit as error:  # how uvicorn reports it
        raise ConfigError("satchel serve", "the application did not start") from error


class GracefulShutdown:
    """Wraps an application, and ends its streams of events when the server ends."""

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app
        self._streams: set[asyncio.Task[object]] = set()
        self._is_draining = False

    def drain(self) -> None:
        """Let each answer close its connection from now on; ``/readyz`` says no."""
        self._is_draining = True

    def end_streams(self) -> None:
        while self._streams:
            self._streams.pop().cancel(_STREAM)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # The parser limits only a head that has not arrived as a whole.
        head = chain(*scope["headers"], (scope["raw_path"], scope["query_string"]))
        is_large = sum(map(len, head)) + 4 * len(scope["headers"]) > _MAX_HEAD_BYTES
        if is_large or (self._is_draining and scope["path"] == "/readyz"):
            error = _LARGE_HEAD if is_large else _SHUTTING_DOWN
            await send_error(error, send, head=scope["method"] == "HEAD")
            return
        # A scope of anyio around each request would cost as much as half the guard.
        task = cast("asyncio.Task[object]", asyncio.current_task())

        async def watch(message: "Message") -> None:
            if message["type"] == "http.response.start":
                kind = Headers(raw=message.get("headers", [])).get("content-type", "")
                if kind.startswith(_STREAM):
                    self._streams.add(task)
                if self._is_draining:
                    message = {**message, "headers": [*message.get("headers", ())]}
                    MutableHeaders(raw=message["headers"])["connection"] = "close"
            elif not message.get("more_body", False):
                self._streams.discard(task)  # the application has ended it
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except asyncio.CancelledError as error:
            if _STREAM not in error.args or task.uncancel():
                raise  # somebody else ends the request
            # It has begun; without an end its client sees a broken connection.
            await send({"type": "http.response.body", "body": b""})
        finally:
            self._streams.discard(task)


class _Server(uvicorn.Server):
    """Uvicorn's server that calls ``started``, and returns after a signal."""

    def __init__(
        self,
        config: uvicorn.Config,
        started: Callable[[], object],
        shutdown: GracefulShutdown,
        drain_s: float,
    ) -> None:
        super().__init__(config)
        self._drain_s = drain_s
        self._on_start = started
        self._shutdown = shutdown

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # A client would otherwise send its next request into a closed connection.
        self._shutdown.drain()
        # Their clients would not leave by themselves.
        self._shutdown.end_streams()
        # A client that asks again and again has none open in between, and is to read in
        # `/readyz` that it should go elsewhere. Another signal ends that.
        if self.server_state.connections:
            await self._wait(lambda: True)
        await self._stop_listening(sockets or [])
        await self._wait(lambda: self.server_state.connections)
        # Streams that were opened while the connections were drained.
        self._shutdown.end_streams()
        await super().shutdown(sockets)

    async def _wait(self, waits: Callable[[], object]) -> None:
        with anyio.move_on_after(self._drain_s):
            while waits() and not self.force_exit:  # noqa: ASYNC110 - uvicorn has no event
                await anyio.sleep(_STEP_S)

    async def _stop_listening(self, sockets: list[socket.socket]) -> None:
        """Close the servers once they have taken in who is connecting now.

        The system would reset those connections, with the requests sent over them.
        """
        for at in sockets:
            _let_nobody_connect(at)
        await anyio.sleep(_HANDSHAKE_S)
        for server in self.servers:
            server.close()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        # Uvicorn raises the signal again at the end, which would end the process before
        # events are written.
        with _signals_handled_by(self.handle_exit):
            yield


def _let_nobody_connect(at: socket.socket) -> None:
    """Have the system pass over who asks for a connection until the socket is closed.

    Then it refuses them as they ask again, a second later. Otherwise it would take them
    in between the last `accept` and the end, and reset them. Linux alone can do that.
    Source: socket(7), SO_ATTACH_FILTER.
    """
    if sys.platform == "linux":
        code = b"".join(struct.pack("HBBI", *line) for line in _NO_NEW_CONNECTION)
        buffer = ctypes.create_string_buffer(code)
        count = len(_NO_NEW_CONNECTION)
        with suppress(OSError):  # no filter is allowed here
            at.setsockopt(
                socket.SOL_SOCKET,
                _SO_ATTACH_FILTER,
                struct.pack("HP", count, ctypes.addressof(buffer)),
            )


def uvicorn_options(settings: GuardSettings) -> dict[str, Any]:
    """Return keyword arguments for `uvicorn.Config` that go with the guard."""

    class Protocol(_TimedProtocol):
        header_timeout_s = settings.header_timeout_s
        max_connections = settings.max_connections

    return {
        "host": settings.host,
        "http": Protocol,
        "ws": "none",
        "h11_max_incomplete_event_size": _MAX_HEAD_BYTES,
        "timeout_keep_alive": 15,
        "timeout_graceful_shutdown": math.ceil(settings.finish_s),
        "server_header": False,
        # What a proxy says of the client is not believed: anyone may send its headers.
        "proxy_headers": False,
    }


class _TimedProtocol(H11Protocol):
    """Uvicorn's protocol, which closes a connection without a next request."""

    header_timeout_s: float
    max_connections: int
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        joining = _JoiningTransport(cast("asyncio.Transport", transport), self.loop)
        super().connection_made(joining)  # type: ignore[arg-type]
        # Closed without an answer, which would be work for each of too many.
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

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP; say which of it is a head that is too large."""
        cycle = cast("Any", self.cycle)  # None before the first request
        if cycle and not cycle.response_complete:
            # The application answers no longer: h11 has no state for two answers.
            cycle.disconnected = True
            cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()
        elif len(self.conn.trailing_data[0]) > _MAX_HEAD_BYTES:
            answer = h11.Response(status_code=431, headers=[*_CLOSE, _NO_BODY])
            self.transport.write(self.conn.send(answer) or b"")
            self.transport.close()
        else:
            super().send_400_response(msg)

    def _wait_for_head(self) -> None:
        self._head_timer = self.loop.call_later(
            self.header_timeout_s, self.transport.abort
        )

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


# Uvicorn writes the head of an answer and its body one after the other, and each would
# be a system call, a packet, and a read at the client.
class _JoiningTransport:
    """A transport that sends what is written in one go as one piece."""

    def __init__(
        self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever transports have
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        # One write at the end of this turn of the event loop takes all the parts.
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)
        # At once, so that the transport can report that its buffer is full.
        if len(data) > _PIECE_BYTES:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts and not self._transport.is_closing():
            self._transport.write(b"".join(parts))


def serve_stdio(library: ServedLibrary) -> bool:
    """Serve the client at the standard streams; return whether a signal ended it.

    The thread that reads standard input then still waits for a line: end the process
    with `os._exit` once everything is written.
    """
    done = threading.Event()
    errors: list[BaseException] = []
    signals: list[int] = []

    def run() -> None:
        try:
            anyio.run(run_stdio, library)
        except BaseException as error:  # noqa: BLE001 - raised again, by the caller
            errors.append(error)
        done.set()

    def stop(number: int, frame: "FrameType | None") -> None:
        del frame
        signals.append(number)
        done.set()

    with _signals_handled_by(stop):
        threading.Thread(target=run, name="satchel-stdio", daemon=True).start()
        while not done.wait(1.0):  # Windows sees a Ctrl-C between two waits only
            continue
    if errors:
        raise errors[0]
    return bool(signals)


@contextmanager
def _signals_handled_by(
    handler: "Callable[[int, FrameType | None], object]",
) -> Generator[None]:
    """Let ``handler`` handle the signals, if this thread is the one that gets them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.signal(number, handler) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler_before in previous.items():
            signal.signal(number, handler_before)
