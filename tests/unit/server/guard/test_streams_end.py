"""A stream ends with its token: withdrawn, narrowed, given to another, or expired."""

import asyncio
from dataclasses import dataclass, field
from typing import Final

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from satchel_server import Caller, GuardSettings, guard
from satchel_server._guard import _middleware
from satchel_server._guard._tokens import JoinedTokens, Token, digest_of
from tests.unit.server.guard.asking import LOCAL, Request

SECRET: Final = "a-token-that-only-ci-knows"  # noqa: S105 - made up
OTHER: Final = "a-token-of-somebody-else"
LISTEN: Final = b'{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}'
HEADERS: Final = {**LOCAL, "authorization": f"Bearer {SECRET}"}
STREAMS: Final = {
    "get": Request("/mcp", "GET", HEADERS),
    "listen": Request("/mcp", "POST", HEADERS, chunks=(LISTEN,)),
}


class Tokens(JoinedTokens):
    """Tokens that an operator edits."""

    def __init__(self, *tokens: Token) -> None:
        self.now = JoinedTokens(tokens)

    def find(self, digest: bytes) -> Caller | None:
        return self.now.find(digest)


def of(secret: str, name: str = "ci", only: tuple[str, ...] | None = None) -> Token:
    return Token(Caller(name, only), digest_of(secret))


@dataclass
class Streaming:
    """Sends a part whenever it is told to, and one by itself at the end."""

    told: asyncio.Queue[bytes] = field(default_factory=asyncio.Queue[bytes])
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        await receive()
        kind = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": kind})
        try:
            while part := await self.told.get():
                body = {"type": "http.response.body", "body": part, "more_body": True}
                await send(body)
        finally:
            self.ended.set()
        await send({"type": "http.response.body", "body": b"done"})


async def opened(
    app: ASGIApp, request: Request, sent: list[Message]
) -> asyncio.Task[None]:
    chunks = [*request.chunks] or [b""]

    async def receive() -> Message:
        if chunks:
            return {"type": "http.request", "body": chunks.pop(), "more_body": False}
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    async def run() -> None:
        await app(request.scope, receive, send)

    task = asyncio.create_task(run())
    await until(sent, 1)
    return task


async def until(sent: list[Message], count: int) -> None:
    while len(sent) < count:  # noqa: ASYNC110 - what is sent sets no event
        await asyncio.sleep(0)


CHANGES: Final[dict[str, tuple[Token, ...]]] = {
    "withdrawn": (),
    "replaced": (of(OTHER),),
    "narrowed": (of(SECRET, only=("pdf-*",)),),
    "of another": (of(SECRET, "desk"),),
    "to nothing": (of(SECRET, only=()),),
}


@pytest.mark.row("F91")
@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("idle", [True, False], ids=["idle", "busy"])
async def test_no_word_after_the_token_changed(
    change: str, stream: str, idle: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_middleware, "CHECK_S", 0.01 if idle else 600)
    tokens, app = Tokens(of(SECRET)), Streaming()
    settings = GuardSettings(host="192.0.2.1", tokens=tokens, max_streams_each=1)
    guarded, sent = guard(app, settings), list[Message]()
    task = await opened(guarded, STREAMS[stream], sent)
    await app.told.put(b"one")
    await until(sent, 2)

    tokens.now = JoinedTokens(CHANGES[change])
    if not idle:
        await app.told.put(b"the name of a hidden skill")
    await asyncio.wait_for(task, 10)

    assert app.ended.is_set()
    assert [m.get("body") for m in sent[1:]] == [b"one", b""]
    assert not sent[-1].get("more_body", False)
    # Its place is free.
    tokens.now = JoinedTokens([of(SECRET)])
    again = list[Message]()
    task = await opened(guarded, STREAMS[stream], again)
    assert again[0]["status"] == 200
    await app.told.put(b"")
    await asyncio.wait_for(task, 10)
    assert again[-1]["body"] == b"done"


@pytest.mark.parametrize(
    "token", [of(SECRET), of(SECRET, only=("pdf-*", "sql"))], ids=["all", "some"]
)
async def test_a_token_that_stays_keeps_its_stream(
    token: Token, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_middleware, "CHECK_S", 0)
    tokens, app = Tokens(token), Streaming()
    sent: list[Message] = []
    settings = GuardSettings(host="192.0.2.1", tokens=tokens)
    task = await opened(guard(app, settings), STREAMS["get"], sent)
    for part in (b"one", b"two"):
        # The file was read again, and says the same of this token.
        tokens.now = JoinedTokens([of(OTHER, "new"), token])
        await app.told.put(part)
        await asyncio.sleep(0.01)
    await app.told.put(b"")
    await asyncio.wait_for(task, 10)

    assert [m["body"] for m in sent[1:]] == [b"one", b"two", b"done"]
