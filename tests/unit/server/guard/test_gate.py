"""Every rule through the guard as a whole, in memory."""

import asyncio
import json
import logging
from typing import NoReturn

import anyio
import pytest
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from satchel.errors import ConfigError
from satchel_server import Caller, GuardSettings, guard
from satchel_server._guard._messages import TrafficCounts
from satchel_server._guard._tokens import JoinedTokens, Token, digest_of
from satchel_server._library import ANYONE
from tests.unit.server.guard.asking import (
    LOCAL,
    Answered,
    Application,
    Clock,
    Request,
    ask,
    asked,
)

ALL = "a-token-that-only-ci-knows"
SOME = "a-token-for-some-skills"
TOKENS = JoinedTokens(
    [
        Token(Caller("ci"), digest_of(ALL)),
        Token(Caller("desk", ("pdf-*",)), digest_of(SOME)),
    ]
)
OPEN = GuardSettings()
CLOSED = GuardSettings(host="192.0.2.1", tokens=TOKENS)
START: Message = {"type": "http.response.start", "status": 200, "headers": []}
EMPTY: Message = {"type": "http.request", "body": b"", "more_body": False}


def test_at_loopback_anybody_comes_in() -> None:
    app = Application()
    scope = {**Request().scope, "state": {"kept": 1}}

    assert asyncio.run(asked(guard(app, OPEN), Request(), scope)).status == 200
    assert app.state == {"kept": 1, "caller": ANYONE}
    assert scope["state"] == {"kept": 1}
    assert "user" not in app.scopes[-1]
    with pytest.raises(ConfigError):
        guard(app, GuardSettings(host="192.0.2.1"))


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer "])
@pytest.mark.parametrize(
    ("secret", "caller"),
    [(ALL, Caller("ci")), (SOME, Caller("desk", ("pdf-*",)))],
    ids=["all", "some"],
)
def test_a_token_says_who_calls(scheme: str, secret: str, caller: Caller) -> None:
    app = Application()

    answer = ask(guard(app, CLOSED), headers={"authorization": f"{scheme} {secret}"})

    assert answer.status == 200
    assert app.state["caller"] == caller
    user = app.scopes[-1]["user"]
    assert isinstance(user, AuthenticatedUser)
    assert user.access_token.client_id == f"token:{caller.name}"
    assert user.access_token.token == ""
    assert answer.header("cache-control") == "private, max-age=60"
    assert answer.header("vary") == "Authorization"


@pytest.mark.parametrize(
    "headers",
    [
        (),
        ("Bearer",),
        ("Bearer ",),
        ("Basic dXNlcjpwYXNz",),
        (f"Bearer {ALL}x",),
        (f"Bearer {ALL[:-1]}",),
        (f"Bearer {'x' * 9000}",),
        ("Bearer \xff\xfe",),
        (ALL,),
        (f"Bearer {ALL}",) * 2,
    ],
    ids=lambda headers: f"{len(headers)} {''.join(headers)[-12:]}",
)
def test_no_token_no_way_in(
    headers: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    app = Application()
    caplog.set_level(logging.DEBUG)
    raw = tuple((b"authorization", text.encode("latin-1")) for text in headers)

    answer = asyncio.run(asked(guard(app, CLOSED), Request(raw=raw)))

    code = "token-unknown" if headers else "token-required"
    assert (answer.status, answer.code) == (401, code)
    assert answer.header("www-authenticate").startswith("Bearer realm=")
    assert ("invalid_token" in answer.header("www-authenticate")) is bool(headers)
    assert not app.scopes
    assert ALL[:-1] not in caplog.text + answer.body.decode()


@pytest.mark.parametrize(
    ("path", "token", "status", "body"),
    [
        ("/healthz", "", 200, {}),
        ("/healthz", "wrong-wrong-wrong", 200, {}),
        ("/healthz", SOME, 200, {}),
        ("/healthz/", "", 401, None),
        ("//healthz", "", 401, None),
        ("/readyz", "", 200, {"status": "ready"}),
        ("/readyz", "wrong-wrong-wrong", 200, {"status": "ready"}),
        ("/readyz", SOME, 200, {"status": "ready"}),
        ("/readyz", ALL, 200, {}),
        ("/metrics", "", 401, None),
        ("/metrics", SOME, 403, None),
        ("/metrics/", SOME, 403, None),
        ("/metrics", ALL, 200, {}),
        ("/v1/openapi.json", "", 401, None),
        ("/.well-known/oauth-protected-resource", "", 401, None),
    ],
)
def test_what_is_open(path: str, token: str, status: int, body: object | None) -> None:
    app = Application()

    answer = ask(guard(app, CLOSED), path, bearer=token)

    assert answer.status == status
    if body is not None:
        assert json.loads(answer.body) == body
    if status == 200 and token not in (ALL, SOME):
        assert app.state["caller"].only == ()


def test_not_ready_is_told_without_reasons() -> None:
    app = guard(Application(503), CLOSED)

    answer = ask(app, "/readyz")

    assert answer.status == 503
    assert json.loads(answer.body) == {"status": "not ready"}
    assert answer.header("cache-control") == "no-store"
    assert ask(app, "/readyz", method="HEAD").body == b""


def test_who_guesses_keeps_nobody_else_out() -> None:
    clock = Clock()
    settings = GuardSettings(host="192.0.2.1", tokens=TOKENS, burst=3, rate_per_s=1)
    app = guard(Application(), settings, clock=clock)

    statuses = [ask(app, bearer="wrong-wrong-wrong").status for _ in range(5)]

    assert statuses == [401, 401, 401, 429, 429]
    assert ask(app).status == 429
    assert ask(app, bearer=ALL).status == 200
    assert ask(app, peer="10.0.0.9").status == 401
    clock.now += 1
    assert ask(app).status == 401


@pytest.mark.parametrize("path", ["/mcp", "/v1/catalog", "/healthz", "/metrics"])
def test_names_hold_for_every_path(path: str) -> None:
    app = guard(Application(), OPEN)

    rebound = ask(app, path, headers={"host": "evil.test:8000"})
    page = ask(app, path, headers={"origin": "https://evil.test"})

    assert (rebound.status, rebound.code) == (421, "host-not-allowed")
    assert (page.status, page.code) == (403, "origin-not-allowed")
    assert not page.header("access-control-allow-origin")


def test_a_page_that_is_let_in_may_read() -> None:
    settings = GuardSettings(
        host="192.0.2.1", tokens=TOKENS, allowed_origins=("https://app.test",)
    )
    app = Application()
    origin = {"origin": "https://app.test"}
    asks = {**origin, "access-control-request-method": "POST"}

    before = ask(guard(app, settings), "/mcp", method="OPTIONS", headers=asks)
    assert (before.status, before.body) == (204, b"")
    assert "authorization" in before.header("access-control-allow-headers")
    assert not app.scopes

    for token in (ALL, ""):
        answer = ask(guard(app, settings), bearer=token, headers=origin)
        assert answer.status == (200 if token else 401)
        assert answer.header("access-control-allow-origin") == "https://app.test"
    assert ask(guard(app, settings), method="OPTIONS", headers=origin).status == 401


def test_what_the_application_says_to_pages_goes_before() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({**START, "headers": [(b"access-control-allow-origin", b"*")]})
        await send({"type": "http.response.body", "body": b""})

    answer = ask(guard(app, OPEN), headers={"origin": "http://localhost:1"})

    assert answer.header("access-control-allow-origin") == "*"


@pytest.mark.parametrize(
    ("length", "chunks"),
    [
        ("11", ()),
        ("9" * 40, ()),
        ("", (b"x" * 11,)),
        ("", (b"x" * 6, b"x" * 5, None)),
        ("1", (b"x" * 11,)),
    ],
    ids=["declared", "huge", "sent", "in parts", "lied"],
)
def test_too_large(length: str, chunks: tuple[bytes | None, ...]) -> None:
    app = Application()
    small = GuardSettings(max_body_bytes=10)
    headers = {"content-length": length} if length else {}

    answer = ask(guard(app, small), method="POST", headers=headers, chunks=chunks)

    assert (answer.status, answer.code) == (413, "too-large")
    assert answer.header("connection") == "close"
    assert not app.scopes


def test_a_body_comes_whole_and_in_time() -> None:
    app = Application()
    hasty = guard(app, GuardSettings(body_timeout_s=0.01))

    slow = ask(hasty, method="POST", chunks=(b"{", None))
    gone = ask(hasty, method="POST", chunks=(b"{",), goes=True)
    ask(hasty, method="POST", chunks=(b"ab", b"", b"c"))

    assert (slow.status, slow.code, gone.status) == (408, "too-slow", 0)
    assert app.bodies == [b"abc"]


async def begin(app: ASGIApp, *requests: Request) -> list[asyncio.Task[Answered]]:
    """Send requests, and return once all of them wait for something."""
    tasks = [asyncio.create_task(asked(app, request)) for request in requests]
    await anyio.wait_all_tasks_blocked()
    return tasks


async def test_only_so_many_slow_senders() -> None:
    app = guard(Application(), GuardSettings(max_bodies=1, body_timeout_s=60))
    (slow,) = await begin(app, Request(method="POST", chunks=(b"{", None)))

    refused = await asked(app, Request(method="POST", chunks=(b"{}",)))
    assert (await asked(app, Request())).status == 200  # it has no body to send
    slow.cancel()
    await asyncio.wait([slow])

    assert (refused.status, refused.code) == (503, "too-busy")
    assert (await asked(app, Request())).status == 200


def test_too_often() -> None:
    clock = Clock()
    settings = GuardSettings(host="192.0.2.1", tokens=TOKENS, burst=2, rate_per_s=0.5)
    app = guard(Application(), settings, clock=clock)

    first = [ask(app, bearer=ALL) for _ in range(3)]

    assert [item.status for item in first] == [200, 200, 429]
    assert first[-1].code == "too-many-requests"
    assert first[-1].header("retry-after") == "2"
    assert ask(app, bearer=SOME).status == 200
    assert ask(app, bearer=ALL, peer="10.0.0.9").status == 429
    clock.now += 2
    assert ask(app, bearer=ALL).status == 200


def test_this_machine_is_not_counted_where_nobody_is_asked() -> None:
    """Over a Unix socket there is no address."""
    app = guard(Application(), GuardSettings(burst=1), clock=Clock())

    assert [ask(app).status for _ in range(3)] == [200] * 3
    others = [ask(app, peer="10.0.0.9").status for _ in range(2)]
    assert others == [200, 429]
    assert asyncio.run(asked(app, Request(client=None))).status == 200


class Held:
    """Answers once ``go`` is set; ``inside`` are the requests being answered."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self.go = asyncio.Event()

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            await self.go.wait()
        finally:
            self.inside -= 1
        await send(START)
        await send({"type": "http.response.body", "body": b"done"})


async def test_so_many_are_answered_so_many_wait() -> None:
    blocked = Held()
    app = guard(blocked, GuardSettings(max_requests=2, max_waiting=3))
    tasks = await begin(app, *[Request()] * 7)

    refused = [task.result() for task in tasks if task.done()]
    blocked.go.set()

    assert [answer.code for answer in refused] == ["too-busy"] * 2
    assert refused[0].header("retry-after") == "1"
    assert sorted([(await task).status for task in tasks]) == [200] * 5 + [503] * 2
    assert blocked.most == 2


async def test_a_request_waits_for_a_limited_time() -> None:
    blocked = Held()
    app = guard(blocked, GuardSettings(max_requests=1, wait_s=0.01))
    (first,) = await begin(app, Request())

    second = await asked(app, Request())
    blocked.go.set()

    assert [(await first).status, second.status] == [200, 503]


async def test_a_client_that_leaves_while_it_waits_takes_no_place() -> None:
    blocked = Held()
    app = guard(blocked, GuardSettings(max_requests=1))
    first, second = await begin(app, Request(), Request())
    second.cancel()
    await asyncio.wait([second])
    blocked.go.set()

    assert [(await first).status, (await asked(app, Request())).status] == [200, 200]


def marked(body: bytes, path: str = "/mcp") -> Request:
    """Return a request that says in a header that it is a stream."""
    headers = {**LOCAL, "mcp-method": "subscriptions/listen"}
    return Request(path, "POST" if body else "GET", headers, chunks=(body,))


STREAM = Request("/mcp", "GET", {**LOCAL, "accept": "text/event-stream"})
ASKS = b'{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {}}'
LISTEN = marked(ASKS)
ESCAPED = marked(ASKS.replace(b"/", b"\\/"))
WIDE = marked(ASKS.decode().encode("utf-16-le"))


@pytest.mark.parametrize(
    "stream",
    [STREAM, LISTEN, ESCAPED, WIDE],
    ids=["get", "listen", "escaped", "utf-16"],
)
async def test_streams_have_places_of_their_own(stream: Request) -> None:
    blocked = Held()
    settings = GuardSettings(max_requests=1, max_streams=2, body_timeout_s=0.01)
    app = guard(blocked, settings)
    tasks = await begin(app, stream, stream, Request())

    assert blocked.inside == 3
    refused = await asked(app, stream)
    assert (refused.status, refused.code) == (503, "too-many-streams")
    await asyncio.sleep(0.02)  # past the time limit of a body, which is not theirs
    blocked.go.set()
    assert [(await task).status for task in tasks] == [200] * 3
    assert (await asked(app, stream)).status == 200


@pytest.mark.row("F45")
@pytest.mark.parametrize(
    "request_",
    [
        marked(b"", "/v1/catalog"),
        marked(ASKS, "/v1/loads"),
        marked(b'{"method": "tools/list"}'),
        marked(b'["subscriptions/listen"]'),
        marked(b'"subscriptions/listen'),
        marked(b'{"method": "tools/call", "params": "subscriptions/listen"}'),
    ],
    ids=["get", "elsewhere", "another", "list", "no-json", "inside"],
)
async def test_a_header_alone_takes_no_place_of_a_stream(request_: Request) -> None:
    blocked = Held()
    app = guard(blocked, GuardSettings(max_streams=1))
    tasks = await begin(app, LISTEN, request_)

    assert blocked.inside == 2
    blocked.go.set()
    assert [(await task).status for task in tasks] == [200, 200]


async def test_one_caller_does_not_have_all_streams() -> None:
    blocked = Held()
    app = guard(blocked, GuardSettings(max_streams_each=1))
    (first,) = await begin(app, STREAM)

    assert (await asked(app, STREAM)).code == "too-many-streams"
    (second,) = await begin(app, Request("/mcp", client=("10.0.0.9", 1)))
    blocked.go.set()
    assert [(await task).status for task in (first, second)] == [200, 200]


@pytest.mark.row("F45")
async def test_what_came_in_and_what_did_not_is_counted() -> None:
    blocked, traffic = Held(), TrafficCounts()
    app = guard(blocked, GuardSettings(max_streams=1), traffic=traffic)
    tasks = await begin(app, LISTEN, Request())
    await asked(app, LISTEN)
    await asked(app, Request(headers={"host": "elsewhere.example"}))
    before = "".join(traffic.lines()).splitlines()
    blocked.go.set()
    await asyncio.wait(tasks)
    after = "".join(traffic.lines()).splitlines()

    assert {
        "satchel_http_streams 1",
        "satchel_http_busy 1",
        'satchel_http_refusals_total{reason="too-many-streams"} 1',
        'satchel_http_refusals_total{reason="host-not-allowed"} 1',
        'satchel_http_requests_total{part="v1",status="421"} 1',
    } <= {*before}
    assert {
        "satchel_http_streams 0",
        "satchel_http_busy 0",
        'satchel_http_requests_total{part="mcp",status="200"} 1',
        'satchel_http_requests_total{part="v1",status="200"} 1',
    } <= {*after}
    assert not any("duration" in line and 'part="mcp"' in line for line in after)


async def test_a_stream_passes_as_it_comes() -> None:
    parts: list[bytes] = []
    arrived = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({**START, "headers": [(b"content-type", b"text/event-stream")]})
        for part in (b"one", b"two"):
            arrived.clear()
            await send({"type": "http.response.body", "body": part, "more_body": True})
            assert arrived.is_set(), "it was kept back"
        assert (await receive())["type"] == "http.disconnect"

    async def receive() -> Message:
        return {"type": "http.disconnect"} if parts else EMPTY

    async def send(message: Message) -> None:
        if "body" in message:
            parts.append(message["body"])
        arrived.set()

    await guard(app, OPEN)(STREAM.scope, receive, send)

    assert parts == [b"one", b"two"]


@pytest.mark.parametrize("early", [True, False], ids=["before", "after"])
async def test_who_takes_nothing_is_given_up(
    early: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send(START)
        for _ in range(2):
            try:
                await send({"type": "http.response.body", "body": b"x" * 9})
            except OSError:
                if early:
                    raise

    async def receive() -> Message:
        return EMPTY

    async def send(message: Message) -> None:
        if "body" in message:
            await asyncio.Event().wait()

    settings = GuardSettings(send_timeout_s=0.01)
    await guard(app, settings)(Request().scope, receive, send)

    assert not caplog.records


def failing(_: object) -> NoReturn:
    raise RuntimeError("/home/ana/skills/private: secret words of a user")


async def failing_late(scope: Scope, receive: Receive, send: Send) -> None:
    await send(START)
    failing(scope)


async def failing_raw(scope: Scope, receive: Receive, send: Send) -> None:
    failing(scope)


async def failing_group(scope: Scope, receive: Receive, send: Send) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(failing_raw, scope, receive, send)


async def telling(scope: Scope, receive: Receive, send: Send) -> None:
    await send({**START, "status": 500})
    await send({"type": "http.response.body", "body": b"Traceback /home/ana"})


async def silent(scope: Scope, receive: Receive, send: Send) -> None:
    pass


@pytest.mark.parametrize(
    ("app", "logged"),
    [
        (failing_raw, 1),
        (failing_group, 1),
        (Starlette(routes=[Route("/v1/catalog", failing)]), 1),
        (telling, 0),
        (silent, 0),
    ],
    ids=["raises", "group", "starlette", "tells", "silent"],
)
def test_a_fault_of_ours_is_told_in_one_sentence(
    app: ASGIApp, logged: int, caplog: pytest.LogCaptureFixture
) -> None:
    answer = ask(guard(app, OPEN))

    assert (answer.status, answer.code) == (500, "internal-error")
    assert len(caplog.records) == logged
    for text in (caplog.text, answer.body.decode()):
        assert "/home/" not in text
        assert "secret" not in text
    if logged:
        assert "RuntimeError at tests.unit.server.guard.test_gate.failing:" in (
            caplog.text
        )


def test_an_answer_may_have_no_body(caplog: pytest.LogCaptureFixture) -> None:
    """A fault in the midst of it, and a refusal of HEAD."""
    ended = ask(guard(failing_late, OPEN))
    head = ask(guard(Application(), CLOSED), method="HEAD")

    assert (ended.status, ended.body) == (200, b"")
    assert len(caplog.records) == 1
    assert (head.status, head.body) == (401, b"")
    assert int(head.header("content-length")) > 0


async def test_only_http_and_lifespan_reach_the_application() -> None:
    seen: list[str] = []
    sent: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    async def receive() -> NoReturn:
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    for kind in ("lifespan", "websocket"):
        await guard(app, OPEN)({"type": kind}, receive, send)

    assert seen == ["lifespan"]
    assert sent == [{"type": "websocket.close", "code": 1008}]
