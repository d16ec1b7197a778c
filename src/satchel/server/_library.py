"""The library that a server offers: its settings, its callers, its views.

And threads.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from satchel.errors import SourceUnavailableError
from satchel.model import Catalog, Descriptor, Style, SyncReport
from satchel.runtime import CallerView, Satchel

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How skills are served; nothing here says who may come in (`serve.guard`).

    ``style`` is that of the MCP tools. ``ttl_s`` is how many seconds a client may keep
    an answer about the catalog. ``compat`` adds the resources that older readers ask
    for. ``page_size`` is the number of skills on one page of a list: MCP Inspector
    reads 64 pages at most, FastMCP's client 250.
    """

    name: str = "satchel"
    style: Style = "packs"
    ttl_s: int = 60
    page_size: int = 250
    compat: bool = False
    allow_empty: bool = False
    """Whether a server without a skill calls itself ready."""
    max_resources: int = 512
    """Files of one skill in MCP's skills extension (SEP-2640)."""
    max_skill_bytes: int = 16 * _MIB
    """Bytes of one skill in MCP's skills extension (SEP-2640)."""


@dataclass(frozen=True, slots=True)
class Caller:
    """One who may come in: what it is called, and which skills are its.

    ``name`` is that of its token, empty where none is asked for. ``only`` are shell
    patterns over ids, None for every skill. It says nothing of the secret.
    """

    name: str = ""
    only: tuple[str, ...] | None = None


ANYONE: Final = Caller()


_T = TypeVar("_T")

MAX_THREADS: Final = 8
"""Requests that may wait for one source at a time."""
MAX_WAITING: Final = 16
"""Requests that may wait for one of these threads, while none is answered."""
STUCK_S: Final = 1.0
"""Seconds without an answer after which no more than that may wait."""
ALL_SOURCES: Final = "\0lists"
"""The lane of what reads skills of all sources, such as a list of them."""


@dataclass(slots=True)
class _ThreadLimit:
    """The threads of one source, and when it last answered."""

    limiter: CapacityLimiter = field(
        default_factory=lambda: CapacityLimiter(MAX_THREADS)
    )
    moved_at: float = 0.0


_limits: RunVar[dict[tuple[int, str], _ThreadLimit]] = RunVar("satchel_lanes")


class SourceThreads:
    """Runs what may wait, in threads. For one event loop at a time."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic

    async def run(self, lane: str | None, work: Callable[[], _T]) -> _T:
        """Return what ``work`` gives; None is the threads that all share.

        Raises:
            SourceUnavailableError: Too many wait for this source already.
        """
        if lane is None:
            return await to_thread.run_sync(work, abandon_on_cancel=True)
        own = self._lane(lane)
        taken = own.limiter.statistics()
        now = self._monotonic()
        if not taken.borrowed_tokens:
            own.moved_at = now
        if taken.tasks_waiting >= MAX_WAITING and now - own.moved_at > STUCK_S:
            raise SourceUnavailableError(lane, "too many requests wait for it")
        try:
            # A client that goes away must not free a thread that still waits.
            return await to_thread.run_sync(work, limiter=own.limiter)
        finally:
            own.moved_at = self._monotonic()

    def _lane(self, name: str) -> _ThreadLimit:
        try:
            lanes = _limits.get()
        except LookupError:
            lanes = dict[tuple[int, str], _ThreadLimit]()
            _limits.set(lanes)
        return lanes.setdefault((id(self), name), _ThreadLimit())


_K = TypeVar("_K")

MAX_VIEWS: Final = 256
"""Views that are kept: callers times clients times edges."""

NEAR_BYTES: Final = 256 * 1024
NEAR_FILES: Final = 32
"""A file of at most so many bytes, in a pack of so many files, is read from a disk of
this machine in less time than it takes to hand the work to a thread and back."""


class ServedLibrary:
    """The skills of a server. Thread-safe; nothing here knows a protocol.

    The registry is synced when the Satchel is opened and by `refresh`, never for a
    call. Who listens is told after a sync that changed something.
    """

    def __init__(self, skills: Satchel, settings: ServerSettings | None = None) -> None:
        self.skills = skills
        self.settings = settings or ServerSettings()
        self._first: CallerView | None = None
        self._views: OrderedDict[tuple[Caller, str, str], CallerView] = OrderedDict()
        self._callers: OrderedDict[tuple[Caller, str], CallerView] = OrderedDict()
        self._lock = threading.Lock()
        self.lanes = SourceThreads()
        self._listeners: list[Callable[[SyncReport], None]] = []
        self._withheld = skills.catalog.excluded
        skills.listen(self._synced)

    @property
    def catalog(self) -> Catalog:
        """The catalog in use: another object after a sync."""
        return self.skills.catalog

    def view(
        self, caller: Caller = ANYONE, *, via: str = "mcp", client: str = ""
    ) -> CallerView:
        """Return the skills as ``caller`` may have them.

        ``client`` is what the program says it is called: untrusted, for events only.
        """
        with self._lock:
            if not client:
                return self._of_caller(caller, via)
            key = caller, via, client
            known = self._views.get(key)
            if known is None:
                known = self._of_caller(caller, via).for_client(client)
                _keep_newest(self._views, key, known)
            self._views.move_to_end(key)
            return known

    def _of_caller(self, caller: Caller, via: str) -> CallerView:
        """Return the view that those of a caller's programs share their skills with.

        It is not let go for a program that calls itself something new each time.
        """
        key = caller, via
        known = self._callers.get(key)
        if known is None:
            if self._first is None:
                self._first = self.skills.view(style=self.settings.style)
            known = self._first.for_caller(
                who={"client": caller.name} if caller.name else {},
                only=caller.only,
                via=via,
                client="",
            )
            _keep_newest(self._callers, key, known)
        self._callers.move_to_end(key)
        return known

    def is_near(self, skill_id: object) -> bool:
        """Tell whether any file of a skill is had at once, so that no thread is needed.

        A source says by ``near`` that it reads from memory or from a disk of this
        machine; whatever has to be asked for elsewhere, or is large, may take long.
        """
        if not isinstance(skill_id, str) or self.skills.policy.rules:
            return False
        catalog = self.catalog
        entry = catalog.get(skill_id)
        if entry is None or len(entry.files) > NEAR_FILES:
            return False
        reader = catalog.readers.get(entry.source)
        if not getattr(reader, "near", False):
            return False
        if any(stat.size > NEAR_BYTES for stat in entry.files):
            return False
        return _is_unchanged(reader, entry)  # else it is read again, which takes time

    def lane(self, skill_id: object) -> str | None:
        """Return whose threads may wait for the files of a skill; None: everybody's.

        It is the label of its source, where that lies elsewhere.
        """
        if not isinstance(skill_id, str):
            return None
        entry = self.catalog.get(skill_id)
        if entry is None:
            held = self.catalog.exclusion_of(skill_id)
            entry = held.descriptor if held is not None else None
        return None if entry is None or self._near(entry.source) else entry.source

    @property
    def lists(self) -> str | None:
        """Whose threads may wait for what reads skills of all sources."""
        far = not all(map(self._near, self.catalog.readers))
        return ALL_SOURCES if far else None

    def _near(self, source: str) -> bool:
        reader = self.catalog.readers.get(source)
        return reader is None or bool(getattr(reader, "near", False))

    def listen(self, changed: Callable[[SyncReport], None]) -> Callable[[], None]:
        """Call ``changed`` after each sync that changed something; return how to stop.

        It is called in the thread that synced.
        """
        self._listeners.append(changed)
        return lambda: self._listeners.remove(changed)

    def refresh(self) -> SyncReport:
        """Sync, and tell who listens where something changed. Never raises.

        Packs that are withheld count, too: a hidden one is still a prompt.
        """
        return self.skills.sync()

    def _synced(self, report: SyncReport) -> None:
        """Tell who listens; a sync may also be one in the background, after an edit."""
        before, self._withheld = self._withheld, self.catalog.excluded
        listed = report.added or report.updated or report.removed
        if listed or self._withheld != before:
            for changed in tuple(self._listeners):
                changed(report)


def _keep_newest(views: OrderedDict[_K, CallerView], key: _K, view: CallerView) -> None:
    views[key] = view
    while len(views) > MAX_VIEWS:
        views.popitem(last=False)


def _is_unchanged(reader: object, entry: Descriptor) -> bool:
    """Tell whether the files of a pack are, at a glance, those of the catalog."""
    stat_file = getattr(reader, "stat_file", None)
    if stat_file is None:
        return True
    key = entry.origin.key
    return all(stat_file(key, stat.path) == stat for stat in entry.files)
