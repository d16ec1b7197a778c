"""Listening, answering, and stopping when told to."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import pytest

from satchel.errors import ConfigError
from satchel.server import (
    GuardSettings,
    _run as running,
    listen,
    serve_http,
    serve_stdio,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Receive, Scope, Send

WAIT_S = 20
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_port_0_is_any_that_is_free(host: str) -> None:
    with listen(host, 0) as one, listen(host, 0) as other:
        assert one.getsockname()[1] != other.getsockname()[1]


def test_an_answer_in_two_writes_does_not_wait_for_the_client() -> None:
    with listen("127.0.0.1", 0) as at:
        client = socket.create_connection(at.getsockname())
        accepted, _ = at.accept()
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
    at = listen("127.0.0.1", 0)

    def ask() -> None:
        answers.append(httpx2.get(f"http://127.0.0.1:{at_port}/", timeout=WAIT_S).text)
        os.kill(os.getpid(), number)

    at_port = at.getsockname()[1]
    serve_http(
        _app, at, GuardSettings(), started=lambda: threading.Thread(target=ask).start()
    )

    assert answers == ["hello"]
    assert signal.getsignal(number) is before


@posix
@pytest.mark.row("F45")
def test_a_client_that_keeps_its_connection_is_answered_and_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While it ends, which this test holds on to until it has seen enough."""
    monkeypatch.setattr(running, "DRAIN_S", WAIT_S)
    at = listen("127.0.0.1", 0)
    host, port = at.getsockname()[:2]
    seen: list[object] = []

    def ask() -> None:
        kept = http.client.HTTPConnection(host, port, timeout=WAIT_S)
        kept.request("GET", "/")
        first = kept.getresponse()
        first.read()
        seen.append((first.status, first.getheader("connection")))
        os.kill(os.getpid(), signal.SIGTERM)
        while httpx2.get(f"http://{host}:{port}/readyz").status_code != 503:
            continue
        kept.request("GET", "/")
        second = kept.getresponse()
        seen.append((second.status, second.getheader("connection"), second.read()))
        kept.close()

    serve_http(
        _app, at, GuardSettings(), started=lambda: threading.Thread(target=ask).start()
    )

    assert seen == [(200, None), (200, "close", b"hello")]


@posix
def test_streams_of_events_end_with_the_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lines: list[str] = []
    at = listen("127.0.0.1", 0)
    url = f"http://127.0.0.1:{at.getsockname()[1]}/"

    def listen_to() -> None:
        with httpx2.stream("GET", url, timeout=WAIT_S) as answer:
            for line in answer.iter_lines():
                lines.append(line)
                os.kill(os.getpid(), signal.SIGTERM)
        lines.append("the end")

    thread = threading.Thread(target=listen_to)
    serve_http(_stream, at, GuardSettings(), started=thread.start)
    thread.join(WAIT_S)

    assert lines == ["data: 1", "the end"]
    assert not caplog.text


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


def test_a_client_that_goes_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def server(library: object) -> None:
        await anyio.lowlevel.checkpoint()

    assert _with(monkeypatch, server)() is False


def test_what_ends_the_server_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    async def server(library: object) -> None:
        await anyio.lowlevel.checkpoint()
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


def test_signals_are_left_alone_in_another_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def server(library: object) -> None:
        await anyio.lowlevel.checkpoint()

    ended: list[bool] = []
    run = _with(monkeypatch, server)
    thread = threading.Thread(target=lambda: ended.append(run()))
    thread.start()
    thread.join(WAIT_S)

    assert ended == [False]
