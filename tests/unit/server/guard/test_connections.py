"""A real server on loopback: what uvicorn is told, and the time limit for heads."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

import pytest
import uvicorn

from satchel.server import GuardSettings, guard
from satchel.server._run import _PIECE_BYTES, _JoiningTransport, uvicorn_options
from tests.unit.server.guard.asking import Application

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp, Receive, Scope, Send

GOOD = b"GET /v1/catalog HTTP/1.1\r\nhost: localhost\r\n\r\n"


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@contextmanager
def served(
    settings: GuardSettings, application: ASGIApp | None = None
) -> Iterator[int]:
    """Serve on a free port of loopback, in a thread; yield the port."""
    inner = application or Application()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await inner(scope, receive, send)

    config = uvicorn.Config(
        guard(app, settings),
        **uvicorn_options(settings),
        lifespan="off",
        log_config=None,
        access_log=False,
    )
    server = _Server(config)
    with socket.create_server(("127.0.0.1", 0)) as at:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [at]})
        thread.start()
        try:
            assert server.ready.wait(10)
            yield at.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(10)


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=5)


def answer(client: socket.socket) -> bytes:
    """Return the status line, once the whole answer has come."""
    data = b""
    while not data.endswith(b"\r\n0\r\n\r\n"):
        part = client.recv(4096)
        if not part:
            break
        data += part
    return data.partition(b"\r\n")[0]


def is_closed(client: socket.socket) -> bool:
    """Wait until the server closes; False where it says something first."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


HASTY = GuardSettings(header_timeout_s=0.05)


@pytest.mark.parametrize(
    "first",
    [b"", b"GET / HTTP/1.1\r\nhost: loc"],
    ids=["nothing", "half"],
)
def test_a_head_has_to_arrive(first: bytes) -> None:
    with served(HASTY) as port, closing(connect(port)) as client:
        client.sendall(first)

        assert is_closed(client)


def test_so_has_the_next_one() -> None:
    with served(HASTY) as port, closing(connect(port)) as client:
        client.sendall(GOOD)
        assert answer(client) == b"HTTP/1.1 200 OK"
        client.sendall(GOOD[:-4])

        assert is_closed(client)


def test_a_connection_serves_several_requests() -> None:
    with served(GuardSettings()) as port, closing(connect(port)) as client:
        for _ in range(3):
            client.sendall(GOOD)
            assert answer(client) == b"HTTP/1.1 200 OK"


@pytest.mark.row("F45")
@pytest.mark.parametrize("path", [b"/v1/catalog", b"/mcp", b"/healthz"])
def test_two_lengths_are_refused_and_the_connection_closed(path: bytes) -> None:
    """What comes behind is no request of this client's, and is not answered."""
    with served(GuardSettings()) as port, closing(connect(port)) as client:
        client.sendall(
            b"POST %s HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\n"
            b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n" % path + GOOD
        )
        data = b""
        while part := client.recv(4096):
            data += part

    assert data.startswith(b"HTTP/1.1 400 ")
    assert data.count(b"HTTP/1.1 ") == 1
    assert b'"two-lengths"' in data
    assert b"connection: close" in data.lower()


def test_so_many_connections() -> None:
    with served(GuardSettings(max_connections=2)) as port, ExitStack() as stack:
        held = [stack.enter_context(closing(connect(port))) for _ in range(2)]
        for client in held:
            client.sendall(GOOD)
            assert answer(client) == b"HTTP/1.1 200 OK"
        with closing(connect(port)) as client:
            assert is_closed(client)
        held[0].sendall(GOOD)
        assert answer(held[0]) == b"HTTP/1.1 200 OK"


def test_what_follows_a_broken_request_is_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with served(GuardSettings()) as port, closing(connect(port)) as client:
        client.sendall(b"NOT HTTP\r\n\r\n" + GOOD)
        said = b""
        while part := client.recv(4096):
            said += part

    assert said.startswith(b"HTTP/1.1 400 ")
    assert said.count(b"HTTP/1.1") == 1

    assert not [each for each in caplog.records if each.levelname == "ERROR"]


class Lavish:
    """Answers with more than any buffer between it and the client holds."""

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        large = scope["path"] == "/large"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(64 if large else 1):
            part = b"x" * 1024 * 1024 if large else b"done"
            await send({"type": "http.response.body", "body": part, "more_body": large})


def test_who_reads_nothing_takes_nobodys_place() -> None:
    settings = GuardSettings(max_requests=1, send_timeout_s=0.05)
    with served(settings, Lavish()) as port, ExitStack() as stack:
        deaf = stack.enter_context(closing(connect(port)))
        deaf.sendall(GOOD.replace(b"/v1/catalog", b"/large"))
        other = stack.enter_context(closing(connect(port)))
        other.sendall(GOOD)

        assert answer(other) == b"HTTP/1.1 200 OK"


class _Transport(asyncio.Transport):
    """Keeps what reaches it, piece by piece."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent.append(bytes(data))

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


def gathered(write: Callable[[_JoiningTransport], None]) -> _Transport:
    """Return what a transport was given when a loop has gone around once."""
    transport = _Transport()

    async def go() -> None:
        write(_JoiningTransport(transport, asyncio.get_running_loop()))
        await asyncio.sleep(0)

    asyncio.run(go())
    return transport


def test_an_answer_goes_out_in_one_piece() -> None:
    def write(to: _JoiningTransport) -> None:
        to.write(b"head")
        to.write(b"body")

    assert gathered(write).sent == [b"headbody"]


def test_what_is_long_goes_at_once() -> None:
    long = b"x" * (_PIECE_BYTES + 1)

    def write(to: _JoiningTransport) -> None:
        to.write(b"head")
        to.write(long)
        to.write(b"tail")

    assert gathered(write).sent == [b"head" + long, b"tail"]


def test_nothing_is_lost_where_the_connection_is_closed() -> None:
    def write(to: _JoiningTransport) -> None:
        to.write(b"last")
        to.close()

    transport = gathered(write)

    assert (transport.sent, transport.closed) == ([b"last"], True)


def test_nothing_is_sent_to_whoever_has_gone() -> None:
    def write(to: _JoiningTransport) -> None:
        to.write(b"late")
        to._transport.close()

    assert gathered(write).sent == []
