"""One open Satchel, views of it, and threads for slow sources."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from starlette.testclient import TestClient

from satchel import Options, Satchel
from satchel.errors import DuplicateSkillError, SourceUnavailableError
from satchel.model import SyncReport
from satchel.runtime import _view
from satchel.testing import write_pack
from satchel_server import Caller, ServedLibrary, create_app
from satchel_server._library import (
    ALL_SOURCES,
    MAX_THREADS,
    MAX_VIEWS,
    MAX_WAITING,
    STUCK_S,
    SourceThreads,
)
from tests.fakes import FakeSource, pack
from tests.unit.server.mcp.clients import connected


def open_library(folder: Path) -> ServedLibrary:
    write_pack(folder, "alpha")
    return ServedLibrary(Satchel(folder, options=Options(environ={})))


def test_one_caller_has_one_view_and_many_do_not_fill_the_memory(
    tmp_path: Path,
) -> None:
    served = open_library(tmp_path)
    first = served.view(client="first")

    assert served.view() is served.view()
    assert served.view(client="a") is not served.view(client="b")
    assert [e.id for e in served.view(Caller("x", ("b*",))).catalog] == []
    assert served.view().catalog is served.catalog

    for n in range(MAX_VIEWS):
        served.view(client=str(n))

    assert served._client_view.cache_info().currsize == MAX_VIEWS
    assert served.view(client="first") is not first


@pytest.mark.row("F45")
def test_a_new_name_of_a_client_costs_no_look_at_every_skill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        write_pack(tmp_path, f"alpha-{number}")
    served = open_library(tmp_path)
    looks: list[str] = []

    def counted(name: str, pattern: str) -> bool:
        looks.append(name)
        return fnmatchcase(name, pattern)

    monkeypatch.setattr(_view, "fnmatchcase", counted)
    caller = Caller("x", ("alpha-1*",))
    for number in range(MAX_VIEWS + 5):
        assert len(served.view(caller, client=f"agent-{number}").catalog) == 11
    once = len(looks)
    write_pack(tmp_path, "alpha-100")
    served.refresh()
    assert len(served.view(caller, client="another").catalog) == 12

    assert once == 21
    assert len(looks) == once + 22


@pytest.mark.row("F03", "T02")
@pytest.mark.parametrize("later", [True, False])
def test_a_conflict_at_the_start_or_later_leaves_the_rest(
    tmp_path: Path, later: bool
) -> None:
    """For callers old and new."""

    def write() -> None:
        write_pack(tmp_path, "alpha")
        for place in ("one", "two"):
            write_pack(tmp_path / place, "secret", body=f"From {place}.\n")

    if not later:
        write()
    served = ServedLibrary(Satchel(tmp_path, options=Options(environ={})))
    old = served.view()
    if later:
        write()
        served.refresh()
    new = served.view(Caller("x", ("a*", "secret")), client="new")

    for view in (old, new):
        assert [entry.id for entry in view.catalog] == ["alpha"]
        assert view.load("alpha").id == "alpha"
        with pytest.raises(DuplicateSkillError):
            view.load("secret")
    assert served.skills.registry.latest.unresolved


def test_who_listens_is_told_of_changes_only(tmp_path: Path) -> None:
    served = open_library(tmp_path)
    result: list[SyncReport] = []
    stop = served.listen(result.append)

    served.refresh()
    assert result == []
    write_pack(tmp_path, "beta")
    served.refresh()
    write_pack(tmp_path, "shy", disable_model_invocation=True)
    served.refresh()
    stop()
    write_pack(tmp_path, "gamma")
    served.refresh()

    assert [report.added for report in result] == [("beta",), ()]


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
    made = ServedLibrary(Satchel(hung, near_only(), sinks=()))
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
        paths = "/healthz /v1/skills/here /v1/catalog /v1/find?q=here /v1/prompt"
        for path in paths.split():
            assert client.get(path).status_code == 200, path
        assert not hung.let_go.is_set()
        assert hung.waiting == MAX_THREADS
        hung.let_go.set()

        assert {item.result().status_code for item in far} <= {200, 503}


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
async def test_no_library_gets_the_threads_of_one_that_is_gone() -> None:
    """A new object may have the address, and so the `id`, of a deleted one."""
    old = SourceThreads()._limit_of("far")
    lanes = SourceThreads()

    assert lanes._limit_of("far") is not old
    assert lanes._limit_of("far") is lanes._limit_of("far")


@pytest.mark.row("F41")
def test_whose_threads_a_skill_has(hung: Hung) -> None:
    served = library(hung)

    slow = [served.slow_source(item) for item in ("far", "here", "nope", 7)]
    assert slow == ["hung", None, None, None]
    assert served.slow_sources == ALL_SOURCES
    assert ServedLibrary(Satchel(near_only(), sinks=())).slow_sources is None


def near_only() -> FakeSource:
    source = FakeSource("near", {"here": {"SKILL.md": pack("here")}})
    source.near = True  # type: ignore[attr-defined]
    return source
