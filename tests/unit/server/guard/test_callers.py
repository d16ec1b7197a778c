"""What a token opens, and what it does not, in the application as it is served."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from satchel import Satchel
from satchel.server import (
    Caller,
    GuardSettings,
    ServedLibrary,
    guard,
    guarded_app,
    streamable_http,
)
from satchel.server._guard._tokens import FixedTokens, Token, digest_of
from satchel.sources import MemorySource
from tests.unit.server.guard.asking import LOCAL, Answered, Request, ask, asked

if TYPE_CHECKING:
    from starlette.types import ASGIApp

ALL, SOME, NONE = "a-token-for-all-skills", "a-token-for-pdf-skills", "a-token-for-none"
SETTINGS = GuardSettings(
    tokens=FixedTokens(
        [
            Token(Caller("all"), digest_of(ALL)),
            Token(Caller("some", ("pdf-*",)), digest_of(SOME)),
            Token(Caller("none", ()), digest_of(NONE)),
        ]
    )
)


def text(name: str) -> str:
    return (
        f"---\nname: {name}\ndescription: Use it for {name}, always.\n---\nDo {name}.\n"
    )


@pytest.fixture(scope="module")
def library() -> ServedLibrary:
    names = ("pdf-forms", "pdf-merge", "payroll")
    packs = {name: {"SKILL.md": text(name)} for name in names}
    return ServedLibrary(Satchel(MemorySource(packs)))


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

    listed = json.loads(ask(app, "/v1/catalog", bearer=bearer).body)

    assert [each["id"] for each in listed["skills"]] == ids
    for each in ("payroll", "pdf-forms"):
        answer = ask(app, f"/v1/skills/{each}", bearer=bearer)
        assert (answer.status == 200) is (each in ids)
        assert (b"Do " in answer.body) is (each in ids)
        assert "public" not in answer.header("cache-control")


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


INITIALIZE = {
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
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
        assert [await alive(app, SOME, each) for each in many[-2:]] == [True] * 2
        assert not await alive(app, SOME, many[0])


async def test_a_session_that_is_ended_is_ended(library: ServedLibrary) -> None:
    mcp = streamable_http(library)
    app = guard(mcp.app, SETTINGS)
    async with mcp.lifespan():
        session = await opened(app, ALL)
        end = posted(ALL, INITIALIZED, session)
        end.method = "DELETE"
        assert (await asked(app, end)).status == 200
        again = posted(ALL, call("pdf-forms"), session)
        assert (await asked(app, again)).status == 404


def test_a_session_is_of_the_token_that_began_it(library: ServedLibrary) -> None:
    async def run() -> tuple[Answered, ...]:
        mcp = streamable_http(library)
        app = guard(mcp.app, SETTINGS)
        async with mcp.lifespan():
            session = await opened(app, SOME)
            return (
                await asked(app, posted(SOME, call("pdf-forms"), session)),
                await asked(app, posted(SOME, call("payroll"), session)),
                await asked(app, posted(ALL, call("pdf-forms"), session)),
            )

    its, not_its, anothers = asyncio.run(run())

    assert b"Do pdf-forms" in its.body
    assert b"Do payroll" not in not_its.body
    assert anothers.status == 404
