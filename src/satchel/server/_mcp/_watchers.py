"""What changed for one client since it was told last: lists, and single files."""

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
    """One client: how it is told, and what it was told of last.

    ``uris`` maps resources to marks that differ where their bytes do.
    """

    view: CallerView
    deliver: _Deliver
    catalog: Catalog
    uris: dict[str, Hashable] = field(default_factory=dict[str, Hashable])


class Watchers:
    """All clients that are told of changes. Thread-safe.

    What is new is found out in the thread that synced, and told in the event loop.
    """

    def __init__(self, served: ExtensionCatalog) -> None:
        self._served = served
        self._lock = threading.Lock()
        self._watchers: dict[Watcher, None] = {}

    def __len__(self) -> int:
        """Return how many clients are told."""
        return len(self._watchers)

    def look(
        self, view: CallerView, deliver: _Deliver, uris: Iterable[str] = ()
    ) -> Watcher:
        """Return a client with what it can see now; it may take a look at a disk."""
        marks = {uri: self._mark(view, uri) for uri in uris}
        return Watcher(view, deliver, view.catalog, marks)

    def add(self, watcher: Watcher) -> None:
        """Tell a client from now on."""
        with self._lock:
            self._watchers[watcher] = None

    def remove(self, watcher: Watcher) -> None:
        """Tell it no longer."""
        with self._lock:
            self._watchers.pop(watcher, None)

    def watch(self, watcher: Watcher, uri: str) -> None:
        """Tell a client of one more resource."""
        mark = self._mark(watcher.view, uri)
        with self._lock:
            watcher.uris[uri] = mark

    def forget(self, watcher: Watcher, uri: str) -> None:
        """Tell it no longer of that one."""
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
                return  # the loop has ended meanwhile: nobody is left to be told

        stop = self._served.library.listen(changed)
        try:
            yield {}
        finally:
            stop()

    def news(self, *of: Watcher) -> list[tuple[_Deliver, ServerEvent]]:
        """Return what is new for these, or for all; once told it is not new."""
        compared: dict[tuple[int, int], tuple[Catalog, Catalog, bool]] = {}
        news: list[tuple[_Deliver, ServerEvent]] = []
        with self._lock:
            watchers = of or tuple(self._watchers)
        for watcher in watchers:
            old, new = watcher.catalog, watcher.view.catalog
            pair = id(old), id(new)
            if pair not in compared:
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
        now = {uri: self._mark(watcher.view, uri) for uri in before}
        updated = [uri for uri, mark in now.items() if mark != before[uri]]
        with self._lock:
            for uri in updated:
                if uri in watcher.uris:
                    watcher.uris[uri] = now[uri]
        return updated

    def _mark(self, view: CallerView, uri: str) -> Hashable:
        """Return what tells one state of a resource from another; None if unknown."""
        place = self._served.place(view, uri)
        if place is None:
            return None
        if place.path == SKILL_FILE:
            return place.entry.digest
        if place.path in place.entry.resources:
            return next((s for s in place.entry.files if s.path == place.path), None)
        return place.entry.files


def _differ(old: Catalog, new: Catalog) -> bool:
    """Tell whether anything that a list may show, a file's digest included, differs."""
    if old is new:
        return False
    if old.entries != new.entries or old.excluded != new.excluded:
        return True
    return any(
        a.files != b.files for a, b in zip(old.entries, new.entries, strict=True)
    )


def deliver_all(news: Iterable[tuple[_Deliver, ServerEvent]]) -> None:
    """Tell each client its own."""
    for deliver, event in news:
        deliver(event)
