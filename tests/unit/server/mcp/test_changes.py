"""Changes of the catalog, as they reach connected clients."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.shared.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp_types import (
    PromptListChangedNotification,
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
    ToolListChangedNotification,
)

from satchel import Policy, deny
from satchel.testing import write_pack
from satchel_server import Caller, build_server
from satchel_server._mcp import _subscriptions as changes
from satchel_server._mcp._skills import ExtensionCatalog
from satchel_server._mcp._subscriptions import MAX_URIS, Watchers, _into, deliver_all
from tests.unit.server.mcp.clients import (
    ask,
    connected,
    library,
    refused,
    run,
    write_skills,
)

LISTS: list[ServerEvent] = [
    ToolsListChanged(),
    PromptsListChanged(),
    ResourcesListChanged(),
]
GUIDE = "skill://alpha/references/guide.md"
ALPHA = "skill://alpha/SKILL.md"


async def some(stream: Any, number: int) -> list[Any]:  # noqa: ANN401
    actual = []
    async for event in stream:
        actual.append(event)
        if len(actual) == number:
            break
    return actual


async def subscribe(client: Client, uri: str, *, no_more: bool = False) -> None:
    """Ask as clients of the earlier era do: the package is giving that up."""
    method = "resources/unsubscribe" if no_more else "resources/subscribe"
    await ask(client, method, uri=uri)


def everything(client: Client, *uris: str) -> Any:  # noqa: ANN401
    return client.listen(
        tools_list_changed=True,
        prompts_list_changed=True,
        resources_list_changed=True,
        resource_subscriptions=[*uris],
    )


async def test_a_stream_tells_what_changed(tmp_path: Path) -> None:
    served = library(write_skills(tmp_path))

    async with connected(served) as client, everything(client, ALPHA, GUIDE) as sub:
        write_pack(tmp_path, "gamma")
        await asyncio.to_thread(served.refresh)
        assert await some(sub, 3) == LISTS
        write_pack(tmp_path, "handshake", "For people.", disable_model_invocation=True)
        await asyncio.to_thread(served.refresh)
        assert await some(sub, 3) == LISTS
        (tmp_path / "alpha" / "references" / "guide.md").write_text("New.")
        await asyncio.to_thread(served.refresh)
        assert await some(sub, 4) == [*LISTS, ResourceUpdated(GUIDE)]
        (tmp_path / "alpha" / "SKILL.md").unlink()
        await asyncio.to_thread(served.refresh)
        result = await some(sub, 5)
        assert result[:3] == LISTS
        assert set(result[3:]) == {ResourceUpdated(ALPHA), ResourceUpdated(GUIDE)}


async def test_a_stream_tells_what_was_asked_for_only(tmp_path: Path) -> None:
    served = library(write_skills(tmp_path))

    async with (
        connected(served) as client,
        client.listen(prompts_list_changed=True) as sub,
    ):
        write_pack(tmp_path, "gamma")
        served.refresh()  # in the event loop itself, as a command may do it
        assert await some(sub, 1) == [PromptsListChanged()]


@pytest.mark.parametrize("updates", [0, 1])
def test_sessions_of_the_earlier_era_have_a_channel(
    tmp_path: Path, updates: int
) -> None:
    served = library(write_skills(tmp_path))
    send, receive = anyio.create_memory_object_stream[Any](100)
    kinds = (
        ToolListChangedNotification,
        PromptListChangedNotification,
        ResourceListChangedNotification,
        ResourceUpdatedNotification,
    )[: 3 + updates]

    async def keep(message: object) -> None:
        if isinstance(message, kinds):
            await send.send(message)

    async def work() -> None:
        async with connected(served, "legacy", message_handler=keep) as client:
            await subscribe(client, GUIDE)
            await subscribe(client, ALPHA)
            if not updates:
                await subscribe(client, GUIDE, no_more=True)
            (tmp_path / "alpha" / "references" / "guide.md").write_text("New.")
            await asyncio.to_thread(served.refresh)
            result = [await receive.receive() for _ in kinds]
            assert [type(item) for item in result] == [*kinds]
            if updates:
                assert result[3].params.uri == GUIDE

    with send, receive:
        run(work())


def test_nobody_is_remembered_who_has_gone(tmp_path: Path) -> None:
    served = library(write_skills(tmp_path))
    seen: list[Watchers] = []

    class Counted(Watchers):
        def __init__(self, of: ExtensionCatalog) -> None:
            super().__init__(of)
            seen.append(self)

    async def work() -> None:
        async with connected(served, "legacy") as client:
            await subscribe(client, ALPHA)
            assert len(seen[0]._watchers) == 1
        assert len(seen[0]._watchers) == 0
        async with connected(served) as client:
            async with everything(client):
                assert len(seen[1]._watchers) == 1
            await client.list_tools()
        assert len(seen[1]._watchers) == 0
        assert served._listeners == []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("satchel_server._mcp._server.Watchers", Counted)
        run(work())


async def test_a_client_hears_of_so_many_resources_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = library(write_skills(tmp_path))
    monkeypatch.setattr(changes, "MAX_URIS", 2)

    async with connected(served, "legacy") as client:
        for uri in (ALPHA, GUIDE):
            await subscribe(client, uri)
        error = await refused(subscribe(client, "skill://x/y"))
        assert error.code == -32602
    async with connected(served) as client:
        with pytest.raises(Exception, match="at most"):
            async with everything(client, *("skill://x/y",) * 3):
                pass
    assert MAX_URIS == 1_000


async def test_a_session_that_never_began_by_the_book_is_told_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = library(write_skills(tmp_path))
    monkeypatch.setattr(changes, "MAX_CLIENTS", 0)

    async with connected(served, "legacy") as client:
        await subscribe(client, ALPHA)
        await subscribe(client, ALPHA, no_more=True)
        assert (await client.list_tools()).tools


def test_each_is_told_of_what_it_can_see(tmp_path: Path) -> None:
    """A change beyond a caller's skills is none of its business."""
    served = library(
        write_skills(tmp_path),
        policy=Policy(deny("beta", unless=lambda who: who.get("client") == "desk")),
    )
    watchers = Watchers(ExtensionCatalog(served))
    result: list[tuple[str, object]] = []

    def keep_for(name: str, event: object) -> None:
        result.append((name, event))

    for name in ("", "desk"):
        uris = ("skill://beta/SKILL.md", "skill://alpha", "skill://gamma")
        keep = partial(keep_for, name)
        watchers.add(watchers.look(served.view(Caller(name)), keep, uris))
    write_pack(tmp_path, "beta", "Use for other things.")
    served.refresh()
    deliver_all(watchers.news())

    updated = ResourceUpdated("skill://beta/SKILL.md")
    assert result == [("desk", event) for event in (*LISTS, updated)]
    assert watchers.news() == []


def test_a_sync_after_the_loop_has_ended_tells_nobody(tmp_path: Path) -> None:
    served = library(write_skills(tmp_path))
    loop = asyncio.new_event_loop()
    listening = Watchers(ExtensionCatalog(served)).listening()
    loop.run_until_complete(listening.__aenter__())
    loop.close()

    write_pack(tmp_path, "gamma")

    assert served.refresh().added == ("gamma",)


def test_who_does_not_read_is_told_no_more() -> None:
    send, receive = anyio.create_memory_object_stream[Any](1)
    deliver = _into(send)

    for event in LISTS:
        deliver(event)

    with receive:
        assert receive.receive_nowait() == LISTS[0]
        with pytest.raises(anyio.EndOfStream):
            receive.receive_nowait()


def test_what_comes_while_a_stream_begins_waits_for_it(tmp_path: Path) -> None:
    served = library(write_skills(tmp_path))
    watchers = Watchers(ExtensionCatalog(served))
    streams = changes.SubscriptionStreams(watchers)
    result: list[Any] = []
    waiting: list[Any] = []
    watcher = watchers.look(served.view(), waiting.append)
    streams._pending.set((watcher, waiting))

    watcher.deliver(LISTS[0])
    end = streams.subscribe(result.append)
    watcher.deliver(LISTS[1])
    end()
    watcher.deliver(LISTS[2])

    assert result == LISTS[:2]


async def test_a_server_can_end_its_streams(tmp_path: Path) -> None:
    server = build_server(library(write_skills(tmp_path)))

    async with Client(server, cache=None) as client, everything(client) as sub:
        await server.streams.publish(LISTS[0])
        server.streams.close()
        assert [event async for event in sub] == []
