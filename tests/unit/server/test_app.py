"""The whole application behind its guard: callers, caches, MCP, counts."""

import json
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from satchel import Satchel
from satchel.sources import MemorySource
from satchel_server import (
    Caller,
    GuardSettings,
    ServedLibrary,
    create_app,
    guard,
    guarded_app,
    streamable_http,
)
from satchel_server._guard._messages import TrafficCounts
from satchel_server._guard._tokens import JoinedTokens, Token, digest_of
from tests.unit.server.guard.asking import LOCAL, Request, ask, asked

ALL, SOME, NONE = "a-token-for-all-skills", "a-token-for-pdf-skills", "a-token-for-none"
SETTINGS = GuardSettings(
    tokens=JoinedTokens(
        [
            Token(Caller("all"), digest_of(ALL)),
            Token(Caller("some", ("pdf-*",)), digest_of(SOME)),
            Token(Caller("none", ()), digest_of(NONE)),
        ]
    )
)
INITIALIZE = {
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.fixture(scope="module")
def library() -> ServedLibrary:
    text = "---\nname: {0}\ndescription: Use it for {0}, always.\n---\nDo {0}.\n"
    names = ("pdf-forms", "pdf-merge", "payroll")
    packs = {name: {"SKILL.md": text.format(name)} for name in names}
    return ServedLibrary(Satchel(MemorySource(packs), sinks=()))


@pytest.mark.parametrize(
    ("bearer", "ids"),
    [
        (ALL, ["payroll", "pdf-forms", "pdf-merge"]),
        (SOME, ["pdf-forms", "pdf-merge"]),
        (NONE, []),
    ],
    ids=["all", "some", "none"],
)
def test_a_token_opens_its_skills_over_http(
    library: ServedLibrary, bearer: str, ids: list[str]
) -> None:
    app = guarded_app(library, SETTINGS)

    listed = ask(app, "/v1/catalog", bearer=bearer)

    assert [entry["id"] for entry in json.loads(listed.body)["skills"]] == ids
    assert listed.header("cache-control") == "private, max-age=60"
    assert "Authorization" in listed.header("vary")
    for name in ("payroll", "pdf-forms"):
        answer = ask(app, f"/v1/skills/{name}", bearer=bearer)
        assert (answer.status == 200) is (name in ids)
        assert (b"Do " in answer.body) is (name in ids)
        assert "public" not in answer.header("cache-control")
    for token in ("", "t0ken-of-nobody-at-all"):
        assert ask(app, "/v1/catalog", bearer=token).status == 401


def test_details_of_health_are_for_a_token_of_all_skills(
    library: ServedLibrary,
) -> None:
    """And the description says whether a token is needed."""
    app = guarded_app(library, SETTINGS)

    path = "/v1/openapi.json"
    public = ask(guarded_app(library, GuardSettings()), path)
    assert "security" in json.loads(ask(app, path, bearer=ALL).body)
    assert "security" not in json.loads(public.body)
    assert json.loads(ask(app, "/healthz").body) == {"status": "ok"}
    assert json.loads(ask(app, "/readyz").body) == {"status": "ready"}
    assert json.loads(ask(app, "/readyz", bearer=ALL).body)["skills"] == 3
    statuses = [ask(app, "/metrics", bearer=t).status for t in ("", SOME, ALL)]
    assert statuses == [401, 403, 200]


def test_mcp_is_on_the_same_port_for_the_same_callers(library: ServedLibrary) -> None:
    with TestClient(
        guarded_app(library, SETTINGS), base_url="http://127.0.0.1"
    ) as client:
        for path, token, status in (
            ("/mcp", "no-such-token", 401),
            ("/mcp", ALL, 200),
            ("/mcp/x", ALL, 404),
        ):
            sent = posted(token, INITIALIZE)
            answer = client.post(path, content=sent.chunks[0], headers=sent.headers)
            assert answer.status_code == status
    # Without a guard only loopback reaches it.
    accept = {"Accept": "application/json, text/event-stream"}
    with TestClient(create_app(library), base_url="http://evil.example") as client:
        assert client.post("/mcp", json=INITIALIZE, headers=accept).status_code == 421


@pytest.mark.parametrize("host", ["skills.test", "localhost:81", "evil.test"])
def test_the_guard_alone_decides_which_names_reach_mcp(
    host: str, library: ServedLibrary
) -> None:
    settings = replace(SETTINGS, allowed_hosts=("skills.test",))
    with TestClient(guarded_app(library, settings)) as client:
        sent = posted(ALL, INITIALIZE)
        origin = f"http://{host}"
        headers = {**sent.headers, "host": host, "origin": origin}
        answer = client.post("/mcp", content=sent.chunks[0], headers=headers)

    assert answer.status_code == (421 if host == "evil.test" else 200)


def posted(bearer: str, message: dict[str, Any], session: str = "") -> Request:
    headers = {
        **LOCAL,
        "authorization": f"Bearer {bearer}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        **({"mcp-session-id": session} if session else {}),
    }
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return Request("/mcp", "POST", headers, chunks=(body,))


INITIALIZED = {"method": "notifications/initialized"}


def call(name: str) -> dict[str, Any]:
    arguments = {"name": name}
    params = {"name": "load_skill", "arguments": arguments}
    return {"id": 1, "method": "tools/call", "params": params}


async def opened(app: ASGIApp, bearer: str) -> str:
    """Begin a session of MCP's earlier era; return its id."""
    session = (await asked(app, posted(bearer, INITIALIZE))).header("mcp-session-id")
    assert session
    await asked(app, posted(bearer, INITIALIZED, session))
    return session


async def test_sessions_that_nobody_ends_keep_nobody_out(
    library: ServedLibrary,
) -> None:
    """The idlest goes, of who has most; ``mcp`` alone would begin no other."""

    async def alive(app: ASGIApp, bearer: str, session: str) -> bool:
        answer = await asked(app, posted(bearer, call("pdf-forms"), session))
        return b"Do pdf-forms" in answer.body

    mcp = streamable_http(library, max_sessions=4)
    app = guard(mcp.app, replace(SETTINGS, max_sessions=3))
    async with mcp.lifespan():
        one = await opened(app, ALL)
        many = [await opened(app, SOME) for _ in range(2)]
        assert await alive(app, SOME, many[0])
        many += [await opened(app, SOME) for _ in range(8)]
        assert await alive(app, ALL, one)
        assert [await alive(app, SOME, item) for item in many[-2:]] == [True] * 2
        assert not await alive(app, SOME, many[0])


async def test_a_session_is_of_the_token_that_began_it(library: ServedLibrary) -> None:
    """No other token uses or ends it, and it goes on counting for its owner."""
    mcp = streamable_http(library)
    app = guard(mcp.app, replace(SETTINGS, max_sessions=1))
    async with mcp.lifespan():
        session = await opened(app, SOME)
        own = await asked(app, posted(SOME, call("pdf-forms"), session))
        other_skill = await asked(app, posted(SOME, call("payroll"), session))
        other_token = await asked(app, posted(ALL, call("pdf-forms"), session))
        end = replace(posted(ALL, INITIALIZED, session), method="DELETE")
        ended = await asked(app, end)
        other = await opened(app, SOME)
        surplus = await asked(app, posted(SOME, call("pdf-forms"), session))
        end = replace(posted(SOME, INITIALIZED, other), method="DELETE")
        assert (await asked(app, end)).status == 200
        assert (await asked(app, posted(SOME, INITIALIZED, other))).status == 404

    assert b"Do pdf-forms" in own.body
    assert b"Do payroll" not in other_skill.body
    assert [other_token.status, ended.status, surplus.status] == [404] * 3


def figures(traffic: TrafficCounts) -> list[str]:
    text = "".join(traffic.lines())
    return [line for line in text.splitlines() if not line.startswith("#")]


@pytest.mark.row("F45")
def test_requests_latency_refusals_and_streams_are_counted() -> None:
    traffic = TrafficCounts()
    traffic.streams = lambda: 3
    for path, status, duration_s in (
        ("/mcp", 200, 0.004),
        ("/mcp", 200, 0.5),
        ("/mcp", 200, None),  # a stream
        ("/mcp", 400, 0.02),
        ("/v1/skills/made-up-1", 404, 9.0),
        ("/.well-known/agent-skills/index.json", 200, 0.01),
        ("/no/such/path", 404, 0.001),
        ("/other", 0, 0.001),
    ):
        traffic.answered(path, status, duration_s)
    traffic.refused("token-required")

    shown = figures(traffic)

    assert {
        'satchel_http_requests_total{part="mcp",status="200"} 3',
        'satchel_http_requests_total{part="mcp",status="400"} 1',
        'satchel_http_requests_total{part="v1",status="404"} 1',
        'satchel_http_requests_total{part="discovery",status="200"} 1',
        'satchel_http_requests_total{part="other",status="404"} 1',
        'satchel_http_requests_total{part="other",status="0"} 1',
        'satchel_http_refusals_total{reason="token-required"} 1',
        "satchel_http_streams 3",
        "satchel_http_busy 0",
        "satchel_http_waiting 0",
        'satchel_http_request_duration_seconds_count{part="mcp"} 3',
        'satchel_http_request_duration_seconds_sum{part="mcp"} 0.524000',
    } <= {*shown}
    of_mcp = [line for line in shown if "_bucket" in line and 'part="mcp"' in line]
    assert [line.rpartition(" ")[2] for line in of_mcp] == ["1", "2", "3", "3"]


@pytest.mark.row("F45", "X03")
def test_nobody_makes_up_labels() -> None:
    traffic = TrafficCounts()
    for number in range(1000):
        traffic.answered(f"/made-up-{number}/x", 404, 0.0)

    assert len(figures(traffic)) == 1 + 6 + 3
