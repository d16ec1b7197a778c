"""A source that hangs has threads of its own, and leaves the others to everybody."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import pytest
from starlette.testclient import TestClient

from satchel import Satchel
from satchel.errors import SourceUnavailableError
from satchel.server import ServedLibrary, create_app
from satchel.server._library import (
    ALL_SOURCES,
    MAX_THREADS,
    MAX_WAITING,
    STUCK_S,
    SourceThreads,
)
from tests.fakes import FakeSource, pack
from tests.unit.server.mcp.clients import connected

if TYPE_CHECKING:
    from collections.abc import Iterator

LOADS = 41
"""One more than all the threads that requests share."""
PATIENCE_S = 20
"""After so many seconds what hangs is let go, so that a fault ends the test."""


class Hung(FakeSource):
    """A source elsewhere: it lists its skill, and its reads wait to be let go."""

    def __init__(self) -> None:
        super().__init__("hung", {"far": {"SKILL.md": pack("far")}})
        self.near = False
        self.let_go = threading.Event()
        self.full = threading.Event()
        self.hangs = False
        self.waiting = 0

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        if self.hangs:
            self.waiting += 1
            if self.waiting == MAX_THREADS:
                self.full.set()
            self.let_go.wait()
        return super().read(key, path, limit_bytes)


@pytest.fixture
def hung() -> Iterator[Hung]:
    source = Hung()
    watchdog = threading.Timer(PATIENCE_S, source.let_go.set)
    watchdog.start()
    yield source
    watchdog.cancel()
    source.let_go.set()


def library(hung: Hung) -> ServedLibrary:
    near = FakeSource("near", {"here": {"SKILL.md": pack("here")}})
    near.near = True  # type: ignore[attr-defined]
    made = ServedLibrary(Satchel(hung, near, sinks=()))
    hung.hangs = True
    return made


@pytest.mark.row("F41")
def test_loads_of_a_hung_source_leave_threads_to_others_over_http(hung: Hung) -> None:
    with (
        TestClient(create_app(library(hung))) as client,
        ThreadPoolExecutor(LOADS) as pool,
    ):
        far = [pool.submit(client.get, "/v1/skills/far") for _ in range(LOADS)]
        assert hung.full.wait(PATIENCE_S)
        for path in (
            "/healthz",
            "/v1/skills/here",
            "/v1/catalog",
            "/v1/find?q=here",
            "/v1/prompt",
        ):
            assert client.get(path).status_code == 200, path
        assert not hung.let_go.is_set()
        assert hung.waiting == MAX_THREADS
        hung.let_go.set()

        assert {each.result().status_code for each in far} <= {200, 503}


@pytest.mark.row("F41")
async def test_loads_of_a_hung_source_leave_threads_to_others_over_mcp(
    hung: Hung,
) -> None:
    served = library(hung)

    async with connected(served) as client, anyio.create_task_group() as tasks:
        for _ in range(LOADS):
            tasks.start_soon(client.call_tool, "load_skill", {"name": "far"})
        while not hung.full.is_set():
            await anyio.lowlevel.checkpoint()
        loaded = await client.call_tool("load_skill", {"name": "here"})
        assert not loaded.is_error
        assert (await client.list_tools()).tools
        assert not hung.let_go.is_set()
        hung.let_go.set()


@pytest.mark.row("F41")
async def test_a_lane_that_moves_takes_all_and_one_that_is_stuck_does_not() -> None:
    time = 0.0
    lanes = SourceThreads(lambda: time)
    let_go = threading.Event()
    refused: list[str] = []

    async def ask() -> None:
        try:
            await lanes.run("far", let_go.wait)
        except SourceUnavailableError as error:
            refused.append(error.name)

    async with anyio.create_task_group() as tasks:
        for _ in range(MAX_THREADS + MAX_WAITING + 5):
            tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        assert refused == []
        time += STUCK_S + 1
        for _ in range(5):
            tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        assert refused == ["far"] * 5
        assert await lanes.run("other", lambda: 1) == 1
        assert await lanes.run(None, lambda: 2) == 2
        let_go.set()


@pytest.mark.row("F41")
def test_whose_threads_a_skill_has(hung: Hung) -> None:
    served = library(hung)

    assert [served.slow_source(each) for each in ("far", "here", "nope", 7)] == [
        "hung",
        None,
        None,
        None,
    ]
    assert served.slow_sources == ALL_SOURCES
    assert ServedLibrary(Satchel(near_only(), sinks=())).slow_sources is None


def near_only() -> FakeSource:
    source = FakeSource("near", {"here": {"SKILL.md": pack("here")}})
    source.near = True  # type: ignore[attr-defined]
    return source
