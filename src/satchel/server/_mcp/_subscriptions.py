"""Changes of the catalog, told to whoever asked to be told, in both eras.

In the modern one a client opens a stream with ``subscriptions/listen``; in the earlier
one its session has a channel, and ``resources/subscribe`` names what else it wants to
hear of. Both are told of what they themselves can see.
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

MAX_URIS: Final = 1_000
"""Resources that one client may want to hear of."""
MAX_CLIENTS: Final = 1_024
"""Clients of one era that are told at a time; further ones have to look themselves."""
_MAX_WAITING: Final = 2 * MAX_URIS
"""Events that wait for a client that does not read; then it is told no more."""


class SubscriptionStreams:
    """Answers ``subscriptions/listen``: each request is a stream, until its end.

    It is the bus of the package's own handler, whose streams are told one by one.
    """

    def __init__(self, library: ServedLibrary, watchers: Watchers) -> None:
        self._library = library
        self._watchers = watchers
        self._handler = ListenHandler(
            self, max_subscriptions=MAX_CLIENTS, max_buffered_events=_MAX_WAITING
        )
        self._asking: ContextVar[_PendingStream] = ContextVar("asking")

    async def listen(
        self, ctx: McpContext, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve one stream."""
        uris = tuple(params.notifications.resource_subscriptions or ())
        if len(uris) > MAX_URIS:
            raise _too_many()
        asking = _PendingStream()
        self._asking.set(asking)
        async with _watched(self._library, self._watchers, ctx, asking.deliver, uris):
            return await self._handler(ctx, params)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Take in the stream of the request that is being served."""
        asking = self._asking.get()
        asking.begin(listener)
        return asking.end

    async def publish(self, event: ServerEvent) -> None:
        """Do nothing: every stream is told of what it can see (`Watchers`)."""

    def close(self) -> None:
        """End every stream as the protocol has it, so that its clients ask again."""
        self._handler.close()


class _PendingStream:
    """A stream on its way: what comes before it has begun waits for it."""

    def __init__(self) -> None:
        self._waiting: list[ServerEvent] = []
        self._listener: Callable[[ServerEvent], None] = self._waiting.append

    def deliver(self, event: ServerEvent) -> None:
        """Hand one event on."""
        self._listener(event)

    def begin(self, listener: Callable[[ServerEvent], None]) -> None:
        """Hand everything to ``listener`` from now on, and what has waited."""
        self._listener = listener
        for event in self._waiting:
            listener(event)

    def end(self) -> None:
        """Drop what still comes."""
        self._listener = _drop


def _drop(_: ServerEvent) -> None:
    return


class SessionNotifier:
    """Tells the sessions of the earlier era, each by its own channel."""

    def __init__(self, library: ServedLibrary, watchers: Watchers) -> None:
        self._library = library
        self._watchers = watchers
        self._known: dict[int, _NotifiedSession] = {}

    async def initialized(self, ctx: McpContext, _: NotificationParams) -> None:
        """Tell a session of changes, for as long as it lasts.

        The package cancels what a notification began when its connection ends.
        """
        who = ctx.session.client_params
        if who is None or id(who) in self._known or len(self._known) >= MAX_CLIENTS:
            return
        send, receive = create_memory_object_stream[ServerEvent](_MAX_WAITING)
        known = self._known[id(who)] = _NotifiedSession(who)
        watched = _watched(self._library, self._watchers, ctx, _into(send))
        try:
            async with send, receive, watched as watcher:
                known.begin(watcher)
                async for event in receive:
                    await _notify(ctx, event)
        finally:
            del self._known[id(who)]
            known.begin(None)

    async def subscribe(
        self, ctx: McpContext, params: SubscribeRequestParams
    ) -> EmptyResult:
        """Tell a session of changes of one resource, too."""
        watcher = await self._watcher_of(ctx)
        if watcher is not None:
            if len(watcher.uris) >= MAX_URIS:
                raise _too_many()
            await in_thread(lambda: self._watchers.watch(watcher, params.uri))
        return EmptyResult()

    async def unsubscribe(
        self, ctx: McpContext, params: UnsubscribeRequestParams
    ) -> EmptyResult:
        """Tell it of that one no longer."""
        watcher = await self._watcher_of(ctx)
        if watcher is not None:
            self._watchers.forget(watcher, params.uri)
        return EmptyResult()

    async def _watcher_of(self, ctx: McpContext) -> Watcher | None:
        """Return who is told in this session; None where it never began by the book."""
        known = self._known.get(id(ctx.session.client_params))
        return None if known is None else await known.begun()


class _NotifiedSession:
    """One session that is told; what it sends before that has begun waits for it.

    ``who`` is the handshake, by which its later requests are known.
    """

    def __init__(self, who: InitializeRequestParams) -> None:
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
    """Tell a client of changes for as long as this lasts."""
    view = await in_thread(partial(mcp_view, library, ctx))
    watcher = await in_thread(partial(watchers.look, view, deliver, uris))
    watchers.add(watcher)
    try:
        # What changed between the look and now would never be news again.
        deliver_all(await in_thread(partial(watchers.news, watcher)))
        yield watcher
    finally:
        watchers.remove(watcher)


def _too_many() -> MCPError:
    return MCPError(INVALID_PARAMS, f"at most {MAX_URIS:,} resources")


def _into(send: MemoryObjectSendStream[ServerEvent]) -> Callable[[ServerEvent], None]:
    """Return what puts an event into a stream, and ends one that nobody reads."""

    def deliver(event: ServerEvent) -> None:
        try:
            send.send_nowait(event)
        except WouldBlock:
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
