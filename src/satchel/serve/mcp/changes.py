"""Changes of the catalog, told to whoever asked to be told, in both eras.

In the modern one a client opens a stream with ``subscriptions/listen``; in the earlier
one its session has a channel, and ``resources/subscribe`` names what else it wants to
hear of. Both are told of what they themselves can see.
"""

from collections.abc import Callable
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

from satchel.serve.library import Library
from satchel.serve.mcp.answering import in_thread
from satchel.serve.mcp.asking import Context, view_for
from satchel.serve.mcp.watching import Watcher, Watchers

__all__ = ["Sessions", "Streams"]

MAX_URIS: Final = 1_000
"""Resources that one client may want to hear of."""
MAX_CLIENTS: Final = 1_024
"""Clients of one era that are told at a time; further ones have to look themselves."""
_MAX_WAITING: Final = 2 * MAX_URIS
"""Events that wait for a client that does not read; then it is told no more."""


class Streams:
    """Answers ``subscriptions/listen``: each request is a stream, until its end.

    It is the bus of the package's own handler, whose streams are told one by one.
    """

    def __init__(self, library: Library, watchers: Watchers) -> None:
        self._library = library
        self._watchers = watchers
        self._handler = ListenHandler(
            self, max_subscriptions=MAX_CLIENTS, max_buffered_events=_MAX_WAITING
        )
        self._asking: ContextVar[_Asking] = ContextVar("asking")

    async def listen(
        self, ctx: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve one stream."""
        uris = tuple(params.notifications.resource_subscriptions or ())
        if len(uris) > MAX_URIS:
            raise _too_many()
        asking = _Asking()
        view = await in_thread(partial(view_for, self._library, ctx))
        watcher = await in_thread(
            lambda: self._watchers.add(view, asking.deliver, uris)
        )
        self._asking.set(asking)
        try:
            return await self._handler(ctx, params)
        finally:
            self._watchers.remove(watcher)

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


class _Asking:
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


class Sessions:
    """Tells the sessions of the earlier era, each by its own channel."""

    def __init__(self, library: Library, watchers: Watchers) -> None:
        self._library = library
        self._watchers = watchers
        self._known: dict[int, _Session] = {}

    async def initialized(self, ctx: Context, _: NotificationParams) -> None:
        """Tell a session of changes, for as long as it lasts.

        The package cancels what a notification began when its connection ends.
        """
        who = ctx.session.client_params
        if who is None or id(who) in self._known or len(self._known) >= MAX_CLIENTS:
            return
        send, receive = create_memory_object_stream[ServerEvent](_MAX_WAITING)
        known = self._known[id(who)] = _Session(who)
        try:
            view = await in_thread(partial(view_for, self._library, ctx))
            watcher = await in_thread(lambda: self._watchers.add(view, _into(send)))
            known.begin(watcher)
            async with send, receive:
                async for event in receive:
                    await _notify(ctx, event)
        finally:
            del self._known[id(who)]
            if known.watcher is not None:
                self._watchers.remove(known.watcher)

    async def subscribe(
        self, ctx: Context, params: SubscribeRequestParams
    ) -> EmptyResult:
        """Tell a session of changes of one resource, too."""
        watcher = await self._watcher_of(ctx)
        if watcher is not None:
            if len(watcher.uris) >= MAX_URIS:
                raise _too_many()
            await in_thread(lambda: self._watchers.watch(watcher, params.uri))
        return EmptyResult()

    async def unsubscribe(
        self, ctx: Context, params: UnsubscribeRequestParams
    ) -> EmptyResult:
        """Tell it of that one no longer."""
        watcher = await self._watcher_of(ctx)
        if watcher is not None:
            self._watchers.forget(watcher, params.uri)
        return EmptyResult()

    async def _watcher_of(self, ctx: Context) -> Watcher | None:
        """Return who is told in this session; None where it never began by the book."""
        known = self._known.get(id(ctx.session.client_params))
        if known is None:
            return None
        await known.begun.wait()
        return known.watcher


class _Session:
    """One session that asked to be told; what it sends meanwhile waits for ``begun``.

    ``who`` is the handshake, by which its later requests are known.
    """

    def __init__(self, who: InitializeRequestParams) -> None:
        self.who = who
        self.begun = Event()
        self.watcher: Watcher | None = None

    def begin(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.begun.set()


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


async def _notify(ctx: Context, event: ServerEvent) -> None:
    session = ctx.session
    if isinstance(event, ToolsListChanged):
        await session.send_tool_list_changed()
    elif isinstance(event, PromptsListChanged):
        await session.send_prompt_list_changed()
    elif isinstance(event, ResourcesListChanged):
        await session.send_resource_list_changed()
    else:
        await session.send_resource_updated(event.uri)
