"""What changed for one client since its last notification: lists, single files."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Hashable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from mcp.shared.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)

from satchel.model import SKILL_FILE, Catalog, SyncReport
from satchel.runtime import CallerView
from satchel.server._mcp._skills import ExtensionCatalog

_LISTS: Final[tuple[ServerEvent, ...]] = (
    ToolsListChanged(),
    PromptsListChanged(),
    ResourcesListChanged(),
)

_Deliver: TypeAlias = Callable[[ServerEvent], None]


@dataclass(slots=True, eq=False)
class Watcher:
    """One client, and what it knows: ``uris`` maps resources to marks of bytes."""

    view: CallerView
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

    def __len__(self) -> int:
        return len(self._watchers)

    def look(
        self, view: CallerView, deliver: _Deliver, uris: Iterable[str] = ()
    ) -> Watcher:
        """Return a client with what it can see now; this may read a disk."""
        marks = {uri: self._mark(view, uri) for uri in uris}
        return Watcher(view, deliver, view.catalog, marks)

    def add(self, watcher: Watcher) -> None:
        with self._lock:
            self._watchers[watcher] = None

    def remove(self, watcher: Watcher) -> None:
        with self._lock:
            self._watchers.pop(watcher, None)

    def watch(self, watcher: Watcher, uri: str) -> None:
        mark = self._mark(watcher.view, uri)
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

    def news(self, *of: Watcher) -> list[tuple[_Deliver, ServerEvent]]:
        """Return what is new for these clients, or all; then it is no longer new."""
        compared: dict[tuple[int, int], tuple[Catalog, Catalog, bool]] = {}
        news: list[tuple[_Deliver, ServerEvent]] = []
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
                news += ((watcher.deliver, event) for event in _LISTS)
            watcher.catalog = new
            news += (
                (watcher.deliver, ResourceUpdated(uri))
                for uri in self._updated(watcher)
            )
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

    def _mark(self, view: CallerView, uri: str) -> Hashable:
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


def deliver_all(news: Iterable[tuple[_Deliver, ServerEvent]]) -> None:
    for deliver, event in news:
        deliver(event)
