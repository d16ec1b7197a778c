"""Notifications of changes for clients that ask for them, in both eras.

In the modern one a client opens a stream with ``subscriptions/listen``; in the earlier
one its session has a channel, and ``resources/subscribe`` adds to it.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Hashable, Iterable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeAlias

from anyio import ClosedResourceError, WouldBlock, create_memory_object_stream
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp_types import (
    INVALID_PARAMS,
    EmptyResult,
    InitializeRequestParams,
    NotificationParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from satchel.model import SKILL_FILE, Catalog, SyncReport
from satchel.runtime import View
from satchel_server._mcp._request import McpContext, mcp_view
from satchel_server._mcp._skills import ExtensionCatalog

# Resources that one client may subscribe to.
MAX_URIS: Final = 1_000
# Clients of one era that are notified at a time; the others have to poll.
MAX_CLIENTS: Final = 1_024
# Events that wait for a client that does not read; then it gets no more.
_MAX_WAITING: Final = 2 * MAX_URIS

_LISTS: Final[tuple[ServerEvent, ...]] = (
    ToolsListChanged(),
    PromptsListChanged(),
    ResourcesListChanged(),
)

_Deliver: TypeAlias = Callable[[ServerEvent], None]


@dataclass(slots=True, eq=False)
class Watcher:
    """One client, and what it knows: ``uris`` maps resources to marks of bytes."""

    view: View
    deliver: _Deliver
    catalog: Catalog
    uris: dict[str, Hashable] = field(default_factory=dict[str, Hashable])


# Changes are computed in the thread that synced, and sent in the event loop.
class Watchers:
    """All clients that are notified of changes. Thread-safe."""

    def __init__(self, extension: ExtensionCatalog) -> None:
        self._extension = extension
        self._lock = threading.Lock()
        self._watchers: dict[Watcher, None] = {}

    def look(self, view: View, deliver: _Deliver, uris: Iterable[str] = ()) -> Watcher:
        """Return a client with what it can see now; this may read a disk."""
        marks = {uri: self._mark(view, uri) for uri in uris}
        return Watcher(view, deliver, view.catalog, marks)

    def add(self, watcher: Watcher) -> None:
        with self._lock:
            self._watchers[watcher] = None

    def remove(self, watcher: Watcher) -> None:
        with self._lock:
            self._watchers.pop(watcher, None)

    @asynccontextmanager
    async def watching(
        self, ctx: McpContext, deliver: _Deliver, uris: tuple[str, ...] = ()
    ) -> AsyncGenerator[Watcher, None]:
        """Notify the client of a request until the end of the block."""
        library = self._extension.library
        in_thread = partial(library.threads.run, None)
        view = await in_thread(partial(mcp_view, library, ctx))
        watcher = await in_thread(partial(self.look, view, deliver, uris))
        self.add(watcher)
        try:
            # What changed since `look` would otherwise never be sent.
            deliver_all(await in_thread(partial(self.news, watcher)))
            yield watcher
        finally:
            self.remove(watcher)

    async def watch(self, watcher: Watcher, uri: str) -> None:
        work = partial(self._mark, watcher.view, uri)
        mark = await self._extension.library.threads.run(None, work)
        with self._lock:
            watcher.uris[uri] = mark

    def forget(self, watcher: Watcher, uri: str) -> None:
        with self._lock:
            watcher.uris.pop(uri, None)

    @asynccontextmanager
    async def listening(self, _: object = None) -> AsyncGenerator[Mapping[str, Any]]:
        """Follow the library while a server runs: its lifespan."""
        loop = asyncio.get_running_loop()

        def changed(_: SyncReport) -> None:
            news = self.news()
            try:
                loop.call_soon_threadsafe(deliver_all, news)
            except RuntimeError:
                return  # the loop has ended, and with it every client

        stop = self._extension.library.listen(changed)
        try:
            yield {}
        finally:
            stop()

    def news(self, *of: Watcher) -> list[tuple[Watcher, ServerEvent]]:
        """Return what is new for these clients, or all; then it is no longer new."""
        compared: dict[tuple[int, int], tuple[Catalog, Catalog, bool]] = {}
        news: list[tuple[Watcher, ServerEvent]] = []
        with self._lock:
            watchers = of or tuple(self._watchers)
        for watcher in watchers:
            old, new = watcher.catalog, watcher.view.catalog
            # Most clients see the same two catalogs, which are compared once.
            pair = id(old), id(new)
            if pair not in compared:
                # The value holds both catalogs, so that no other one gets their ids.
                compared[pair] = old, new, _differ(old, new)
            if compared[pair][2]:
                news += ((watcher, event) for event in _LISTS)
            watcher.catalog = new
            updated = map(ResourceUpdated, self._updated(watcher))
            news += ((watcher, event) for event in updated)
        return news

    def _updated(self, watcher: Watcher) -> list[str]:
        with self._lock:
            before = dict(watcher.uris)
        # Outside the lock: a mark may read a disk.
        now = {uri: self._mark(watcher.view, uri) for uri in before}
        updated = [uri for uri, mark in now.items() if mark != before[uri]]
        with self._lock:
            for uri in updated:
                # The client may have unsubscribed while the marks were computed.
                if uri in watcher.uris:
                    watcher.uris[uri] = now[uri]
        return updated

    def _mark(self, view: View, uri: str) -> Hashable:
        """Return a value that differs between states of a resource; None if unknown."""
        target = self._extension.target(view, uri)
        if target is None:
            return None
        entry, path = target.entry, target.path
        if path == SKILL_FILE:
            return entry.digest
        if path in entry.resources:
            return next((stat for stat in entry.files if stat.path == path), None)
        return entry.files


def _differ(old: Catalog, new: Catalog) -> bool:
    """Return whether anything that a list may show differs, also a file's digest."""
    if old is new:
        return False
    if old.entries != new.entries or old.excluded != new.excluded:
        return True
    # Equal entries may differ in their files, which `==` leaves out.
    return any(
        a.files != b.files for a, b in zip(old.entries, new.entries, strict=True)
    )


def deliver_all(news: Iterable[tuple[Watcher, ServerEvent]]) -> None:
    for watcher, event in news:
        watcher.deliver(event)


class SubscriptionStreams:
    """Answers ``subscriptions/listen``: each request is a stream."""

    def __init__(self, watchers: Watchers) -> None:
        self._watchers = watchers
        # This is the bus of the package's handler, but sends to each stream separately.
        self._handler = ListenHandler(
            self, max_subscriptions=MAX_CLIENTS, max_buffered_events=_MAX_WAITING
        )
        # The package's handler calls `subscribe` without the request it serves.
        # Until then events wait.
        self._pending: ContextVar[tuple[Watcher, list[ServerEvent]]]
        self._pending = ContextVar("pending")

    async def listen(
        self, ctx: McpContext, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        uris = tuple(params.notifications.resource_subscriptions or ())
        if len(uris) > MAX_URIS:
            raise _too_many()
        waiting: list[ServerEvent] = []
        async with self._watchers.watching(ctx, waiting.append, uris) as watcher:
            self._pending.set((watcher, waiting))
            return await self._handler(ctx, params)

    def subscribe(self, listener: _Deliver) -> Callable[[], None]:
        watcher, waiting = self._pending.get()
        watcher.deliver = listener
        for event in waiting:
            listener(event)

        def end() -> None:
            watcher.deliver = lambda _: None

        return end

    async def publish(self, event: ServerEvent) -> None:
        """Do nothing: `Watchers` sends to every stream what it can see."""

    def close(self) -> None:
        """End every stream as the protocol requires, so that its clients ask again."""
        self._handler.close()


class SessionNotifier:
    """Notifies the sessions of the earlier era, each by its own channel."""

    def __init__(self, watchers: Watchers) -> None:
        self._watchers = watchers
        # Each has what its key is the `id` of, and its watcher once it has begun.
        self._sessions: dict[
            int, tuple[InitializeRequestParams, asyncio.Future[Watcher | None]]
        ] = {}

    async def initialized(self, ctx: McpContext, _: NotificationParams) -> None:
        """Notify a session of changes, until ``mcp`` cancels this at its end."""
        who = ctx.session.client_params
        full = len(self._sessions) >= MAX_CLIENTS
        # A client that sends this twice is notified once.
        if who is None or id(who) in self._sessions or full:
            return
        send, receive = create_memory_object_stream[ServerEvent](_MAX_WAITING)
        begun: asyncio.Future[Watcher | None] = asyncio.Future()
        self._sessions[id(who)] = who, begun
        watched = self._watchers.watching(ctx, _into(send))
        try:
            async with send, receive, watched as watcher:
                begun.set_result(watcher)
                async for event in receive:
                    await _notify(ctx, event)
        finally:
            del self._sessions[id(who)]
            # Requests that wait for a session that could not begin go on without it.
            if not begun.done():
                begun.set_result(None)

    async def subscribe(
        self, ctx: McpContext, params: SubscribeRequestParams
    ) -> EmptyResult:
        watcher = await self._watcher_of(ctx)
        if watcher is not None:
            if len(watcher.uris) >= MAX_URIS:
                raise _too_many()
            await self._watchers.watch(watcher, params.uri)
        return EmptyResult()

    async def unsubscribe(
        self, ctx: McpContext, params: UnsubscribeRequestParams
    ) -> EmptyResult:
        watcher = await self._watcher_of(ctx)
        if watcher is not None:
            self._watchers.forget(watcher, params.uri)
        return EmptyResult()

    async def _watcher_of(self, ctx: McpContext) -> Watcher | None:
        """Return the watcher of a session; None if it never sent ``initialized``."""
        session = self._sessions.get(id(ctx.session.client_params))
        # Requests before it has begun wait for that, and may be cancelled alone.
        return None if session is None else await asyncio.shield(session[1])


def _too_many() -> MCPError:
    return MCPError(INVALID_PARAMS, f"at most {MAX_URIS:,} resources")


def _into(send: MemoryObjectSendStream[ServerEvent]) -> _Deliver:
    """Return a function that puts an event into a stream, and ends a full one."""

    def deliver(event: ServerEvent) -> None:
        try:
            send.send_nowait(event)
        except WouldBlock:
            # Ends the loop that sends, and so the notifications of this session.
            send.close()
        except ClosedResourceError:
            return

    return deliver


async def _notify(ctx: McpContext, event: ServerEvent) -> None:
    session = ctx.session
    if isinstance(event, ToolsListChanged):
        await session.send_tool_list_changed()
    elif isinstance(event, PromptsListChanged):
        await session.send_prompt_list_changed()
    elif isinstance(event, ResourcesListChanged):
        await session.send_resource_list_changed()
    else:
        await session.send_resource_updated(event.uri)
