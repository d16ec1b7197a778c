"""Sessions of the earlier era behind a balancer that knows nothing of them."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from itertools import cycle
from typing import Any

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from satchel import Satchel
from satchel.sources import MemorySource
from satchel.usage import ListSink
from satchel_server import ServedLibrary, guard, streamable_http
from tests.unit.server.guard.asking import asked
from tests.unit.server.test_app import (
    ALL,
    INITIALIZED,
    SETTINGS,
    SOME,
    call,
    opened,
    posted,
)

TEXT = "---\nname: pdf-forms\ndescription: Use it for forms.\n---\nDo pdf-forms.\n"


def served(sink: ListSink | None = None) -> ServedLibrary:
    packs = MemorySource({"pdf-forms": {"SKILL.md": TEXT}})
    return ServedLibrary(Satchel(packs, sinks=[sink] if sink else ()))


class RoundRobin:
    """A balancer: each request goes to the next server."""

    def __init__(self, *apps: ASGIApp) -> None:
        self._next = cycle(apps)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await next(self._next)(scope, receive, send)


@asynccontextmanager
async def replicas(count: int, *sinks: ListSink) -> AsyncGenerator[list[ASGIApp]]:
    each = [streamable_http(served(*sinks)) for _ in range(count)]
    async with AsyncExitStack() as stack:
        for one in each:
            await stack.enter_async_context(one.lifespan())
        yield [guard(one.app, SETTINGS) for one in each]


async def test_any_server_answers_a_session_that_another_began() -> None:
    sink = ListSink()
    async with replicas(3, sink) as apps:
        balancer = RoundRobin(*apps)
        session = await opened(balancer, ALL)
        answers = [
            await asked(balancer, posted(ALL, call("pdf-forms"), session))
            for _ in range(20)
        ]

    assert all(b"Do pdf-forms" in answer.body for answer in answers)
    assert {answer.header("mcp-session-id") for answer in answers} == {session}
    loads = [event for event in sink.events if event.event == "skill_loaded"]
    assert len(loads) == 20
    # Each of them says which program asked, though it began at one server alone.
    assert {load.client for load in loads} == {"test"}


async def test_a_session_goes_on_after_a_restart() -> None:
    async with replicas(1) as (before,):
        session = await opened(before, ALL)
    async with replicas(1) as (after,):
        answer = await asked(after, posted(ALL, call("pdf-forms"), session))

    assert b"Do pdf-forms" in answer.body


async def test_a_session_is_of_its_token_at_every_server() -> None:
    async with replicas(2) as (one, two):
        session = await opened(one, SOME)
        other = await asked(two, posted(ALL, call("pdf-forms"), session))
        own = await asked(two, posted(SOME, call("pdf-forms"), session))

    assert (other.status, own.status) == (404, 200)


async def test_a_session_that_was_ended_stays_so() -> None:
    async with replicas(2) as (one, two):
        session = await opened(one, ALL)
        end = replace(posted(ALL, INITIALIZED, session), method="DELETE")
        # At the server that has it, and at one that had never heard of it.
        for app in (one, two):
            assert (await asked(app, end)).status == 200
            answer = await asked(app, posted(ALL, call("pdf-forms"), session))
            assert answer.status == 404


async def test_a_session_that_the_package_ended_begins_again() -> None:
    """A client that was idle for long does not notice."""
    mcp = streamable_http(served())
    app = guard(mcp.app, SETTINGS)
    async with mcp.lifespan():
        session = await opened(app, ALL)
        inner: Any = mcp.app
        manager = inner._app._app.session_manager
        (own,) = manager._server_instances
        await manager._discard_session(own, manager._server_instances[own])
        answer = await asked(app, posted(ALL, call("pdf-forms"), session))

    assert b"Do pdf-forms" in answer.body


def _id(value: object) -> str:
    return "s1." + urlsafe_b64encode(json.dumps(value).encode()).decode()


@pytest.mark.parametrize(
    "session",
    [
        "f" * 32,
        "s1.",
        "s1.!!!",
        "s1." + urlsafe_b64encode(b"\xff").decode(),
        _id({"a": 1}),
        _id([]),
        _id(["", "2025-11-25", "x", "1"]),
        _id(["", "2025-11-25", "x", 1, "n"]),
        _id(["", "2025-11-25", "x" * 2_000, "1", "n"]),
        _id(["of-another", "2025-11-25", "x", "1", "n"]),
        "s1." + urlsafe_b64encode(b"[" * 700).decode(),
    ],
)
async def test_an_id_that_no_server_made_is_of_no_session(session: str) -> None:
    async with replicas(1) as (app,):
        answer = await asked(app, posted(ALL, call("pdf-forms"), session))

    assert answer.status == 404


async def test_an_id_of_a_protocol_that_nobody_speaks_is_answered() -> None:
    """Anyone may write one; it opens what its token opens, and no more."""
    async with replicas(1) as (app,):
        first = await opened(app, ALL)
        owner = json.loads(_decoded(first))[0]
        session = _id([owner, "1999-01-01", "x", "1", "n"])
        answer = await asked(app, posted(ALL, call("pdf-forms"), session))

    assert answer.status in (200, 400)


def _decoded(session: str) -> bytes:
    return urlsafe_b64decode(session.removeprefix("s1."))


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT"])
@pytest.mark.parametrize(
    "message",
    [
        call("pdf-forms"),
        {"id": 1, "params": "../../etc/passwd"},
        {"id": 1, "method": "initialize", "params": []},
        {"id": 1, "method": "initialize", "params": {"clientInfo": 7}},
    ],
)
async def test_a_request_that_begins_no_session_names_none(
    message: dict[str, Any], method: str
) -> None:
    async with replicas(1) as (app,):
        answer = await asked(app, replace(posted(ALL, message), method=method))

    assert answer.status < 500
    assert answer.header("mcp-session-id") == ""


async def test_a_server_that_is_full_says_so() -> None:
    """Also to a client whose session another server began."""
    full = streamable_http(served(), max_sessions=1)
    async with replicas(1) as (one,), full.lifespan():
        two = guard(full.app, SETTINGS)
        await opened(two, SOME)
        session = await opened(one, ALL)
        answer = await asked(two, posted(ALL, call("pdf-forms"), session))

    assert answer.status == 503
