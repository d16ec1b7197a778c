"""A client of an ASGI application in memory, and an application that remembers."""

import asyncio
import json
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL = {"host": "127.0.0.1:8000"}


@dataclass
class Answered:
    """What came back; status 0 is no answer at all."""

    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""

    def header(self, name: str) -> str:
        actual = [v.decode() for n, v in self.headers if n == name.encode()]
        assert len(actual) <= 1, f"{name} is there twice"
        return actual[0] if actual else ""

    @property
    def code(self) -> str:
        return str(json.loads(self.body)["error"]["code"])

    @property
    def message(self) -> str:
        return str(json.loads(self.body)["error"]["message"])


@dataclass
class Request:
    """One request; ``chunks`` are sent one by one, and then the client stays, or goes.

    A chunk None is a client that sends no more and does not go.
    """

    path: str = "/v1/catalog"
    method: str = "GET"
    headers: dict[str, str] = field(default_factory=lambda: dict(LOCAL))
    raw: tuple[tuple[bytes, bytes], ...] = ()
    chunks: tuple[bytes | None, ...] = ()
    client: tuple[str, int] | None = ("127.0.0.1", 5000)
    goes: bool = False

    @property
    def scope(self) -> dict[str, Any]:
        pairs = [(n.encode(), v.encode("latin-1")) for n, v in self.headers.items()]
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": self.method,
            "scheme": "http",
            "path": self.path,
            "raw_path": self.path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [*pairs, *self.raw],
            "client": self.client,
            "server": ("127.0.0.1", 8000),
            "state": {},
        }

    def messages(self) -> deque[Message | None]:
        parts: Iterable[bytes | None] = self.chunks or (b"",)
        queue: deque[Message | None] = deque()
        for part in parts:
            if part is None:
                queue.append(None)
            else:
                queue.append({"type": "http.request", "body": part, "more_body": True})
        last = queue[-1]
        if last is not None and not self.goes:
            last["more_body"] = False
        if self.goes:
            queue.append({"type": "http.disconnect"})
        return queue


async def asked(app: ASGIApp, request: Request, scope: Scope | None = None) -> Answered:
    """Send one request, and return the answer."""
    answer = Answered()
    queue = request.messages()

    async def receive() -> Message:
        message = queue.popleft() if queue else None
        if message is None:
            await asyncio.Event().wait()
        assert message is not None
        return message

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            assert not answer.status, "started twice"
            answer.status = message["status"]
            answer.headers = [*message["headers"]]
        else:
            assert answer.status, "a body before the start"
            answer.body += message.get("body", b"")

    await app(scope or request.scope, receive, send)
    return answer


def ask(  # noqa: PLR0913 - what a request has
    app: ASGIApp,
    path: str = "/v1/catalog",
    *,
    method: str = "GET",
    bearer: str = "",
    headers: dict[str, str] | None = None,
    chunks: tuple[bytes | None, ...] = (),
    peer: str = "127.0.0.1",
    goes: bool = False,
) -> Answered:
    """Send one request in a loop of its own, and return the answer."""
    every = {**LOCAL, **(headers or {})}
    if bearer:
        every["authorization"] = f"Bearer {bearer}"
    request = Request(path, method, every, (), chunks, (peer, 5000), goes)
    return asyncio.run(asked(app, request))


class Application:
    """Answers 200 with what it received, and remembers every scope."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.scopes: list[Scope] = []
        self.bodies: list[bytes] = []

    @property
    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = self.scopes[-1]["state"]
        return state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        message = await receive()
        assert not message["more_body"]
        self.bodies.append(message["body"])
        headers = [
            (b"content-type", b"application/json"),
            (b"cache-control", b"public, max-age=60"),
        ]
        start = {"type": "http.response.start", "status": self.status}
        await send({**start, "headers": headers})
        await send({"type": "http.response.body", "body": b"{}"})


class Clock:
    """Time that a test lets pass."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now
