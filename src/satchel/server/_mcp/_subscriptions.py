"""Notifications of changes for clients that ask for them, in both eras.

In the modern one a client opens a stream with ``subscriptions/listen``; in the earlier
one its session has a channel, and ``resources/subscribe`` adds to it.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import partial
from typing import Final

from anyio import ClosedResourceError, Event, WouldBlock, create_memory_object_stream
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
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

from satchel.server._library import ServedLibrary
from satchel.server._mcp._request import McpContext, in_thread, mcp_view
from satchel.server._mcp._watchers import Watcher, Watchers, deliver_all

# Resources that one client may subscribe to.
MAX_URIS: Final = 1_000
# Clients of one era that are notified at a time; the others have to poll.
MAX_CLIENTS: Final = 1_024
# Events that wait for a client that does not read; then it gets no more.
_MAX_WAITING: Final = 2 * MAX_URIS


class SubscriptionStreams:
    """Answers ``subscriptions/listen``: each request is a stream."""

    def __init__(self, library: ServedLibrary, watchers: Watchers) -> None:
        self._library = library
        self._watchers = watchers
        # This is the bus of the package's handler, but sends to each stream separately.
        self._handler = ListenHandler(
            self, max_subscriptions=MAX_CLIENTS, max_buffered_events=_MAX_WAITING
        )
        # The package's handler calls `subscribe` without the request it serves.
        self._pending: ContextVar[_PendingStream] = ContextVar("pending")

    async def listen(
        self, ctx: McpContext, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        uris = tuple(params.notifications.resource_subscriptions or ())
        if len(uris) > MAX_URIS:
            raise _too_many()
        pending = _PendingStream()
        self._pending.set(pending)
        async with _watched(self._library, self._watchers, ctx, pending.deliver, uris):
            return await self._handler(ctx, params)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        pending = self._pending.get()
        pending.begin(listener)
        return pending.end

    async def publish(self, event: ServerEvent) -> None:
        """Do nothing: `Watchers` sends to every stream what it can see."""

    def close(self) -> None:
        """End every stream as the protocol requires, so that its clients ask again."""
        self._handler.close()


class _PendingStream:
    """A stream that starts: events that come before it has begun wait for it."""

    def __init__(self) -> None:
        self._waiting: list[ServerEvent] = []
        self._listener: Callable[[ServerEvent], None] = self._waiting.append

    def deliver(self, event: ServerEvent) -> None:
        self._listener(event)

    def begin(self, listener: Callable[[ServerEvent], None]) -> None:
        """Pass all events to ``listener`` from now on, also those that have waited."""
        self._listener = listener
        for event in self._waiting:
            listener(event)

    def end(self) -> None:
        self._listener = lambda _: None


class SessionNotifier:
    """Notifies the sessions of the earlier era, each by its own channel."""

    def __init__(self, library: ServedLibrary, watchers: Watchers) -> None:
        self._library = library
        self._watchers = watchers
        self._sessions: dict[int, _NotifiedSession] = {}

    async def initialized(self, ctx: McpContext, _: NotificationParams) -> None:
        """Notify a session of changes, until ``mcp`` cancels this at its end."""
        who = ctx.session.client_params
        full = len(self._sessions) >= MAX_CLIENTS
        # A client that sends this twice is notified once.
        if who is None or id(who) in self._sessions or full:
            return
        send, receive = create_memory_object_stream[ServerEvent](_MAX_WAITING)
        session = self._sessions[id(who)] = _NotifiedSession(who)
        watched = _watched(self._library, self._watchers, ctx, _into(send))
        try:
            async with send, receive, watched as watcher:
                session.begin(watcher)
                async for event in receive:
                    await _notify(ctx, event)
        finally:
            del self._sessions[id(who)]
            # Requests that wait for a session that could not begin go on without it.
            session.begin(None)

    async def subscribe(
        self, ctx: McpContext, params: SubscribeRequestParams
    ) -> EmptyResult:
        watcher = await self._watcher_of(ctx)
        if watcher is not None:
            if len(watcher.uris) >= MAX_URIS:
                raise _too_many()
            await in_thread(lambda: self._watchers.watch(watcher, params.uri))
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
        return None if session is None else await session.begun()


class _NotifiedSession:
    """One session that is notified; requests before it has begun wait for that."""

    def __init__(self, who: InitializeRequestParams) -> None:
        # Kept alive, since its `id` is the key of this session.
        self.who = who
        self._begun = Event()
        self._watcher: Watcher | None = None

    def begin(self, watcher: Watcher | None) -> None:
        self._watcher = watcher
        self._begun.set()

    async def begun(self) -> Watcher | None:
        await self._begun.wait()
        return self._watcher


@asynccontextmanager
async def _watched(
    library: ServedLibrary,
    watchers: Watchers,
    ctx: McpContext,
    deliver: Callable[[ServerEvent], None],
    uris: tuple[str, ...] = (),
) -> AsyncGenerator[Watcher, None]:
    view = await in_thread(partial(mcp_view, library, ctx))
    watcher = await in_thread(partial(watchers.look, view, deliver, uris))
    watchers.add(watcher)
    try:
        # What changed since `look` would otherwise never be sent.
        deliver_all(await in_thread(partial(watchers.news, watcher)))
        yield watcher
    finally:
        watchers.remove(watcher)


def _too_many() -> MCPError:
    return MCPError(INVALID_PARAMS, f"at most {MAX_URIS:,} resources")


def _into(send: MemoryObjectSendStream[ServerEvent]) -> Callable[[ServerEvent], None]:
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
