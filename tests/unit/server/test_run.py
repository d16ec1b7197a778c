"""Listening, answering, connections, and stopping after a signal."""

import asyncio
import errno
import http.client
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from satchel.errors import ConfigError
from satchel_server import (
    GuardSettings,
    _run as running,
    guard,
    listen,
    serve_http,
    serve_stdio,
)
from satchel_server._run import (
    _PIECE_BYTES,
    GracefulShutdown,
    _JoiningTransport,
    uvicorn_options,
)
from tests.unit.server.guard.asking import Application

WAIT_S = 20
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_port_0_is_any_that_is_free_and_waits_for_no_client(host: str) -> None:
    with listen(host, 0) as one, listen(host, 0) as other:
        assert one.getsockname()[1] != other.getsockname()[1]
        client = socket.create_connection(one.getsockname())
        accepted, _ = one.accept()
        with client, accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host", "127.0.0.1"])
def test_an_address_that_cannot_be_had_is_told(host: str) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match="choose another --port"):
            listen(host, port)


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=str)
def test_a_signal_ends_it_and_not_the_process(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    answers: list[str] = []

    def ask(url: str) -> None:
        answers.append(httpx2.get(url, timeout=WAIT_S).text)
        os.kill(os.getpid(), number)

    _serve(_app, ask)

    assert answers == ["hello"]
    assert signal.getsignal(number) is before


@posix
@pytest.mark.row("F45")
def test_a_client_that_keeps_its_connection_is_answered_and_told() -> None:
    """While it ends, which this test holds on to until it has seen enough."""
    seen: list[object] = []

    def ask(url: str) -> None:
        host, port = httpx2.URL(url).host, httpx2.URL(url).port
        stored = http.client.HTTPConnection(host, port, timeout=WAIT_S)
        stored.request("GET", "/")
        first = stored.getresponse()
        first.read()
        seen.append((first.status, first.getheader("connection")))
        os.kill(os.getpid(), signal.SIGTERM)
        while httpx2.get(f"{url}readyz").status_code != 503:
            continue
        stored.request("GET", "/")
        second = stored.getresponse()
        seen.append((second.status, second.getheader("connection"), second.read()))
        stored.close()
        os.kill(os.getpid(), signal.SIGINT)  # the second signal ends it

    _serve(_app, ask, drain_s=WAIT_S)

    assert seen == [(200, None), (200, "close", b"hello")]


@posix
@pytest.mark.row("F45", "F93")
def test_clients_that_connect_again_each_time_are_told_as_well() -> None:
    """Between two of their requests no connection is open."""
    seen: list[int] = []

    def ask(url: str) -> None:
        host, port = httpx2.URL(url).host, httpx2.URL(url).port
        stored = http.client.HTTPConnection(host, port, timeout=WAIT_S)
        stored.request("GET", "/")
        stored.getresponse().read()
        os.kill(os.getpid(), signal.SIGTERM)
        while httpx2.get(f"{url}readyz").status_code != 503:
            continue
        stored.close()
        seen.extend(httpx2.get(f"{url}readyz").status_code for _ in range(5))
        os.kill(os.getpid(), signal.SIGINT)  # the second signal ends it

    _serve(_app, ask, drain_s=WAIT_S)

    assert seen == [503] * 5


@pytest.mark.row("F93")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="filters of Linux")
def test_a_client_that_is_connecting_as_it_ends_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The handshake ends after the last look at who connects began."""
    clients: list[socket.socket] = []
    seen: list[bytes] = []
    let_nobody_connect = running._let_nobody_connect

    def begin(url: str) -> None:
        # The system leaves the handshake open until data comes, as after a lost packet.
        clients.append(connect(at.getsockname()[1]))
        os.kill(os.getpid(), signal.SIGTERM)
        clients[0].settimeout(WAIT_S)
        sent.wait(WAIT_S)
        seen.append(clients[0].recv(4096))

    def finish(at: socket.socket) -> None:
        let_nobody_connect(at)
        clients[0].sendall(GOOD)
        sent.set()

    sent = threading.Event()
    monkeypatch.setattr(running, "_let_nobody_connect", finish)
    at = listen("127.0.0.1", 0)
    at.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, WAIT_S)
    _serve(_app, begin, at)
    clients[0].close()

    assert seen[0].startswith(b"HTTP/1.1 200 ")


@posix
def test_a_server_without_a_free_descriptor_ends_in_peace() -> None:
    """What it cannot take in is reset by the system, as without it."""

    class Full(socket.socket):
        is_full = False

        def accept(self) -> tuple[socket.socket, Any]:
            if self.is_full:
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            return super().accept()

    with listen("127.0.0.1", 0) as first:
        at = Full(fileno=os.dup(first.fileno()))

    def ask(url: str) -> None:
        assert httpx2.get(url, timeout=WAIT_S).text == "hello"
        at.is_full = True
        os.kill(os.getpid(), signal.SIGTERM)

    with at:
        _serve(_app, ask, at)


@pytest.mark.slow
@posix
@pytest.mark.parametrize("in_group", [False, True], ids=["alone", "in a task group"])
def test_streams_of_events_end_with_the_server(
    caplog: pytest.LogCaptureFixture, in_group: bool
) -> None:
    lines: list[str] = []

    def listen_to(url: str) -> None:
        with httpx2.stream("GET", url, timeout=WAIT_S) as answer:
            for line in answer.iter_lines():
                lines.append(line)
                os.kill(os.getpid(), signal.SIGTERM)
        lines.append("the end")

    _serve(_stream_in_group if in_group else _stream, listen_to)

    assert lines == ["data: 1", "the end"]
    assert not caplog.text


def test_a_stream_whose_task_somebody_else_ends_has_ended() -> None:
    sent: list[Message] = []
    begun = asyncio.Event()

    async def send(message: Message) -> None:
        sent.append(message)
        begun.set()

    async def receive() -> Message:
        raise AssertionError

    async def run() -> None:
        about = {"method": "GET", "path": "/", "raw_path": b"/", "query_string": b""}
        scope: Scope = {"type": "http", "headers": [], **about}
        app = GracefulShutdown(_stream)
        task = asyncio.create_task(app(scope, receive, send))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        app.end_streams()

    asyncio.run(run())

    # Nothing is sent into a connection that is gone.
    assert all(message.get("more_body", True) for message in sent)


async def _stream_in_group(scope: Scope, receive: Receive, send: Send) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(_stream, scope, receive, send)


async def _stream(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await _app(scope, receive, send)
        return
    headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"data: 1\n", "more_body": True})
    await anyio.sleep_forever()


def test_what_does_not_start_is_told() -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.failed", "message": ""})

    def started() -> None:
        pytest.fail("it did not")

    with closing(listen("127.0.0.1", 0)) as at, pytest.raises(ConfigError):
        serve_http(broken, at, GuardSettings(), started=started)


def _serve(
    app: ASGIApp,
    client: Callable[[str], None],
    at: socket.socket | None = None,
    drain_s: float = 1.0,
) -> None:
    """Serve until ``client``, which gets the URL, sends a signal and ends."""
    at = at or listen("127.0.0.1", 0)
    url = f"http://127.0.0.1:{at.getsockname()[1]}/"
    thread = threading.Thread(target=client, args=(url,))
    serve_http(app, at, GuardSettings(drain_s=drain_s), started=thread.start)
    thread.join(WAIT_S)


async def _app(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        for step in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{step}.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})


def _with(
    monkeypatch: pytest.MonkeyPatch, server: Callable[[Any], Any]
) -> Callable[[], bool]:
    monkeypatch.setattr(running, "run_stdio", server)
    library: Any = object()
    return lambda: serve_stdio(library)


async def _leaves(library: object) -> None:
    await anyio.lowlevel.checkpoint()


def test_what_ends_the_server_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    async def server(library: object) -> None:
        await _leaves(library)
        raise OSError(5, "Input/output error")

    with pytest.raises(OSError, match="Input/output"):
        _with(monkeypatch, server)()


@posix
def test_a_signal_does_not_wait_for_standard_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def server(library: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        await anyio.sleep_forever()

    assert _with(monkeypatch, server)() is True


def test_a_client_that_goes_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in another thread, which leaves signals alone."""
    ended: list[bool] = []
    run = _with(monkeypatch, _leaves)
    assert run() is False
    thread = threading.Thread(target=lambda: ended.append(run()))
    thread.start()
    thread.join(WAIT_S)

    assert ended == [False]


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


def rest(client: socket.socket) -> bytes:
    """Return all that comes until the server closes."""
    data = b""
    while part := client.recv(4096):
        data += part
    return data


HASTY = GuardSettings(header_timeout_s=0.05)


@pytest.mark.parametrize(
    "first", [b"", b"GET / HTTP/1.1\r\nhost: loc"], ids=["nothing", "half"]
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
        data = rest(client)

    assert data.startswith(b"HTTP/1.1 400 ")
    assert data.count(b"HTTP/1.1 ") == 1
    assert b'"two-lengths"' in data
    assert b"connection: close" in data.lower()


def test_so_many_connections() -> None:
    with served(GuardSettings(max_connections=2)) as port, ExitStack() as stack:
        blocked = [stack.enter_context(closing(connect(port))) for _ in range(2)]
        for client in blocked:
            client.sendall(GOOD)
            assert answer(client) == b"HTTP/1.1 200 OK"
        with closing(connect(port)) as client:
            assert is_closed(client)
        blocked[0].sendall(GOOD)
        assert answer(blocked[0]) == b"HTTP/1.1 200 OK"


def test_what_follows_a_broken_request_is_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with served(GuardSettings()) as port, closing(connect(port)) as client:
        client.sendall(b"NOT HTTP\r\n\r\n" + GOOD)
        output = rest(client)

    assert output.startswith(b"HTTP/1.1 400 ")
    assert output.count(b"HTTP/1.1") == 1
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


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


LONG = b"x" * (_PIECE_BYTES + 1)


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


@pytest.mark.parametrize(
    ("writes", "sent"),
    [
        ([b"head", b"body"], [b"headbody"]),
        ([b"head", LONG, b"tail"], [b"head" + LONG, b"tail"]),
        ([b"last", "close"], [b"last"]),
        ([b"late", "lost"], []),
    ],
    ids=["one piece", "long goes at once", "closing loses nothing", "client gone"],
)
async def test_what_is_written_in_one_go_is_sent_as_one_piece(
    writes: list[bytes | str], sent: list[bytes]
) -> None:
    transport = _Transport()
    joining = _JoiningTransport(transport, asyncio.get_running_loop())
    for write in writes:
        if isinstance(write, bytes):
            joining.write(write)
        else:
            (joining if write == "close" else transport).close()
    await asyncio.sleep(0)

    assert transport.sent == sent
