"""Pages, threads, errors and callers of MCP requests."""

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any, cast

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import Implementation, PaginatedRequestParams

from satchel import sources
from satchel.errors import SkillNotFoundError, SourceUnavailableError
from satchel.runtime import View
from satchel.usage import ListSink
from satchel_server import Caller, ServerSettings
from satchel_server._library import ANYONE, SourceThreads
from satchel_server._mcp._request import (
    MAX_CLIENT_CHARS,
    MAX_CURSOR_CHARS,
    McpRequest,
    client_name,
    contain_errors,
    mcp_caller,
    mcp_error,
    reject_cursor,
)
from tests.unit.server.mcp.clients import (
    ERAS,
    ask,
    connected,
    context,
    library,
    refused,
    write_skills,
)

NAMES = ["a", "b", "c d", "é", "\ud800"]


def page_of(
    names: list[str], cursor: str | None, size: int
) -> tuple[Sequence[str], str | None]:
    view = cast("View", None)  # a page needs none
    request = McpRequest(context(), view, ServerSettings(page_size=size))
    return request.page(names, str, PaginatedRequestParams(cursor=cursor), kind="k")


def pages(names: list[str], size: int) -> list[list[str]]:
    actual: list[list[str]] = []
    cursor = None
    while True:
        page, cursor = page_of(names, cursor, size)
        actual.append([*page])
        if cursor is None:
            return actual


@pytest.mark.parametrize("size", [1, 2, 4, 5, 6])
def test_all_pages_together_are_the_list(size: int) -> None:
    actual = pages(NAMES, size)

    assert [name for page in actual for name in page] == NAMES
    assert all(len(page) == size for page in actual[:-1])
    assert actual[-1]


def test_a_list_may_change_between_two_pages() -> None:
    first, cursor = page_of(["a", "c", "e"], None, 2)
    then, end = page_of(["a", "b", "d", "e"], cursor, 2)

    assert (first, then, end) == (["a", "c"], ["d", "e"], None)
    assert pages([], 3) == [[]]


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "é",
        "!!!",
        "/////w",
        base64.urlsafe_b64encode(b"other\na").decode(),
        base64.urlsafe_b64encode(b"k").decode(),
        base64.urlsafe_b64encode(b"k\n\xff").decode(),
        "a" * (MAX_CURSOR_CHARS + 1),
    ],
    ids=["empty", "short", "accent", "marks", "bytes", "list", "half", "utf8", "long"],
)
def test_what_is_no_cursor_of_the_list_is_an_error(cursor: str) -> None:
    with pytest.raises(MCPError, match="no cursor") as raised:
        page_of(NAMES, cursor, 1)

    assert raised.value.code == -32602


def test_a_list_of_one_page_has_no_cursors() -> None:
    reject_cursor(None)
    reject_cursor(PaginatedRequestParams())
    with pytest.raises(MCPError, match="no cursor"):
        reject_cursor(PaginatedRequestParams(cursor="a"))


@pytest.mark.row("F41")
def test_nobody_waits_for_work_whose_client_has_gone() -> None:
    begun, go, ended = Event(), Event(), Event()

    def work() -> None:
        begun.set()
        go.wait(10)
        ended.set()

    async def main() -> bool:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(SourceThreads().run, None, work)
            await anyio.to_thread.run_sync(begun.wait)
            tasks.cancel_scope.cancel()
        waited = ended.is_set()
        go.set()
        return waited

    assert not anyio.run(main)


class _Broken(sources.LocalSource):
    """A folder whose files bring everything down once it is asked for them."""

    broken = False

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Read, or fail in an unforeseen way."""
        if self.broken:
            raise RuntimeError(f"/etc/secret: {key} {path}")
        return super().read(key, path, limit_bytes)


@pytest.mark.parametrize("era", ERAS)
async def test_no_exception_ends_a_session(tmp_path: Path, era: str) -> None:
    source = _Broken(write_skills(tmp_path))
    served = library(source)

    async with connected(served, era) as client:
        source.broken = True
        for request in (
            client.read_resource("skill://alpha/SKILL.md"),
            client.get_prompt("alpha"),
            ask(client, "skills/get", uri="skill://alpha/SKILL.md"),
        ):
            error = await refused(request)
            assert error.code in (-32602, -32603)
            assert "/etc/secret" not in json.dumps(error.error.model_dump())
        result = await client.call_tool("load_skill", {"name": "alpha"})
        assert result.is_error
        assert "/etc/secret" not in result.model_dump_json()
        assert (await ask(client, "skills/list"))["skills"] == []
        source.broken = False
        assert (await client.read_resource("skill://alpha/SKILL.md")).contents


async def test_unforeseen_failures_are_named_and_no_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail(_: object) -> None:
        raise RuntimeError("/etc/secret")

    error = await refused(contain_errors(context(), fail))
    assert error.code == -32603
    assert error.message == "internal error: RuntimeError"
    # Its kind and its place, and nothing that a caller may have had a hand in.
    assert "unhandled" in caplog.text
    assert "Traceback" not in caplog.text
    assert "/etc/secret" not in caplog.text


def deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"uri": "\ud800"}, "a lone surrogate"),
        ({"x": [{"\udfff": 1}]}, "a lone surrogate"),
        (None, "reached"),
        ({"uri": "é"}, "reached"),
    ],
    ids=["surrogate", "key", "none", "good"],
)
async def test_text_that_cannot_be_sent_back_is_turned_away(
    params: dict[str, Any] | None, message: str
) -> None:
    async def reached(_: object) -> None:
        raise MCPError(1, "reached")

    error = await refused(contain_errors(context(params=params), reached))
    assert message in error.message


async def test_what_is_nested_too_deep_to_send_back_is_turned_away() -> None:
    await test_text_that_cannot_be_sent_back_is_turned_away(
        {"x": deep()}, "nested too deep"
    )


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (SkillNotFoundError("x", ("y",)), -32602, "skill 'x' not found"),
        (SourceUnavailableError("/srv/x", "refused"), -32603, "try again later"),
    ],
)
def test_errors_of_the_core_are_told_without_places(
    error: Any,  # noqa: ANN401
    code: int,
    message: str,
) -> None:
    result = mcp_error(error)

    assert result.code == code
    assert message in result.message
    assert "/srv" not in str(result.error)


class _Request:
    def __init__(self, state: object) -> None:
        self.scope = {"state": state}


def test_the_caller_is_whom_the_guard_let_in() -> None:
    for unknown in (None, *map(_Request, (None, {}, {"caller": "root"}))):
        assert mcp_caller(context(request=unknown)) == ANYONE
    known = _Request({"caller": Caller("desk")})
    assert mcp_caller(context(request=known)) == Caller("desk")


class _Session:
    def __init__(self, name: str | None) -> None:
        info = type("Info", (), {"name": name})
        self.client_params = type("Params", (), {"client_info": info}) if name else None


@pytest.mark.parametrize(
    ("name", "client"),
    [
        (None, ""),
        ("claude-code", "claude-code"),
        ("a\x1b[2J\n b", "a[2J b"),
        ("x" * 10_000, "x" * MAX_CLIENT_CHARS),
    ],
)
def test_a_client_is_called_by_a_short_clean_name(
    name: str | None, client: str
) -> None:
    assert client_name(context(session=_Session(name))) == client


@pytest.mark.parametrize("era", ERAS)
async def test_each_load_is_an_event_with_the_client(tmp_path: Path, era: str) -> None:
    sink = ListSink()
    info = Implementation(name="desk\u200b client", version="1")

    served = library(write_skills(tmp_path), sink=sink)
    async with connected(served, era, client_info=info) as client:
        await client.call_tool("load_skill", {"name": "alpha"})
        await client.read_resource("skill://beta/SKILL.md")
    loads = [event for event in sink.events if event.event == "skill_loaded"]
    assert [(e.name, e.via, e.client) for e in loads] == [
        ("alpha", "mcp", "desk client"),
        ("beta", "mcp", "desk client"),
    ]
