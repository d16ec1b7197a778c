"""The library that a server offers: settings, callers, their views, threads."""

import hmac
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from secrets import token_bytes
from threading import Event, Lock
from typing import Any, Final, TypeVar, cast

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from satchel.errors import (
    DeniedError,
    ReferenceNotAllowedError,
    SkillError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.files import LruCache
from satchel.model import Catalog, Style, SyncReport
from satchel.runtime import As, Satchel, View
from satchel_server._cache import IdentityCache
from satchel_server._errors import public_labels
from satchel_server._purpose import SYNC

_T = TypeVar("_T")

# Views that are cached: callers times client programs times edges.
MAX_VIEWS: Final = 256

NEAR_BYTES: Final = 256 * 1024
# Reading a file of this size, in a pack of so many files, from a local disk takes less
# time than handing the work to a thread and back.
NEAR_FILES: Final = 32

# Answers that were encoded before, of all protocols together.
MAX_ANSWER_BYTES: Final = 32 * 1024 * 1024

# Requests that may wait for one slow source at a time.
MAX_THREADS: Final = 8
# Requests that may wait for one of these threads while none is answered.
MAX_WAITING: Final = 16
# Seconds without an answer after which no more than these may wait.
STUCK_S: Final = 1.0
# Seconds for scripts to end, once the server does.
END_S: Final = 5.0
END_STEP_S: Final = 0.02
# Seconds between two times that callers have the sources asked.
CATCH_UP_S: Final = 1.0
# Names the threads of work that reads skills of all sources, such as a list.
ALL_SOURCES: Final = "\0all"
# Names no thread: for work that waits for nothing.
NOW: Final = "\0now"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How skills are served. Who may call is in `GuardSettings`.

    ``style`` is that of the MCP tools. ``ttl_s`` is how many seconds a client may cache
    an answer about the catalog. ``compat`` adds the resources that older readers ask
    for. ``page_size`` is the number of skills on one page of a list: MCP Inspector
    reads 64 pages at most, FastMCP's client 250.
    """

    name: str = "satchel"
    style: Style = "lean"
    ttl_s: int = 60
    page_size: int = 250
    compat: bool = False
    allow_empty: bool = False
    """Whether a server without a skill reports that it is ready."""
    max_resources: int = 512
    """Files of one skill in MCP's skills extension (SEP-2640)."""
    max_skill_bytes: int = 16 * 1024 * 1024
    """Bytes of one skill in MCP's skills extension (SEP-2640)."""
    work: str = ""
    """A folder in which scripts of skills run, over HTTP in one of each caller's own;
    without one, or without a runner of the `satchel.Satchel`, none runs."""
    scripts: tuple[str, ...] = ()
    """Patterns over the ids of skills whose scripts the one client over stdio may
    run."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Someone who sends requests: its name, and the skills that it may have.

    ``name`` is that of its token, empty where no token is needed. ``only`` are shell
    patterns over ids, None for every skill, and ``scripts`` those of the skills whose
    scripts it may run. ``rate_per_s`` are the requests a second that it may send, None
    for the server's own limit. The secret is not in it.
    """

    name: str = ""
    only: tuple[str, ...] | None = None
    scripts: tuple[str, ...] = ()
    rate_per_s: float | None = None


ANYONE: Final = Caller()
# Somebody who may see the form of the page, and no skill. No token has this name.
VISITOR: Final = Caller("visitor of the page", ())


def caller_of(scope: Mapping[str, object]) -> Caller:
    """Return the caller that the guard let in; anyone without one, as over stdio."""
    state = cast("Mapping[str, object]", scope.get("state") or {})
    caller = state.get("caller")
    return caller if isinstance(caller, Caller) else ANYONE


def is_copy_request(headers: Mapping[str, str]) -> bool:
    """Return whether a request fetches for a copy elsewhere, which is no load."""
    if not any("purpose" in name for name in headers):
        return False
    if headers.get("satchel-purpose", "").strip().lower() == SYNC:
        return True
    return any(
        "prefetch" in headers.get(name, "").lower()
        for name in ("sec-purpose", "purpose")
    )


@dataclass(slots=True)
class _ThreadLimit:
    limiter: CapacityLimiter
    answered_at: float = 0.0


# All requests share 40 threads. One that reads a slow source may wait for it until a
# time-out, and a few dozen of those would leave no thread for the others.
class SourceThreads:
    """Run work in threads, with a limit for each slow source."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        # anyio's limiters belong to one event loop, so each loop has its own.
        self._limits: RunVar[dict[str, _ThreadLimit]] = RunVar("satchel_source_threads")

    async def run(self, source: str | None, work: Callable[[], _T]) -> _T:
        """Return what ``work`` returns; None is the threads that all requests share."""
        if source == NOW:
            return work()
        if source is None:
            # A local read ends soon, so its thread may be left to itself.
            return await to_thread.run_sync(work, abandon_on_cancel=True)
        limit = self._limit_of(source)
        usage = limit.limiter.statistics()
        now = self._monotonic()
        # An idle source is not stuck, however long ago it answered.
        if not usage.borrowed_tokens:
            limit.answered_at = now
        if usage.tasks_waiting >= MAX_WAITING and now - limit.answered_at > STUCK_S:
            raise SourceUnavailableError(source, "too many requests wait for it")
        try:
            # A client that disconnects must not free a thread that still waits.
            return await to_thread.run_sync(work, limiter=limit.limiter)
        finally:
            limit.answered_at = self._monotonic()

    def _limit_of(self, source: str) -> _ThreadLimit:
        limits = self._limits.get(None)
        if limits is None:
            limits = dict[str, _ThreadLimit]()
            self._limits.set(limits)
        return limits.setdefault(source, _ThreadLimit(CapacityLimiter(MAX_THREADS)))


class RunningScripts:
    """The scripts that run now, so that none outlives its server. Thread-safe."""

    def __init__(self) -> None:
        self._cancels: set[Event] = set()
        self._closed = False

    @contextmanager
    def one(self, cancelled: Event) -> Generator[None]:
        """Count a run that ends once ``cancelled`` is set."""
        self._cancels.add(cancelled)
        if self._closed:
            cancelled.set()
        try:
            yield
        finally:
            self._cancels.discard(cancelled)

    def close(self) -> None:
        """End all runs, also those to come, and wait until they have ended."""
        self._closed, end = True, time.monotonic() + END_S
        while self._cancels and time.monotonic() < end:
            for cancelled in tuple(self._cancels):
                cancelled.set()
            time.sleep(END_STEP_S)


class ServedLibrary:
    """The skills of a server. Thread-safe; nothing here knows a protocol.

    The registry is synced when the Satchel is opened and by `refresh`, never for a
    request. Listeners are called after a sync that changed something.
    """

    def __init__(self, skills: Satchel, settings: ServerSettings | None = None) -> None:
        self.skills = skills
        self.settings = settings or ServerSettings()
        self.threads = SourceThreads()
        self.running = RunningScripts()
        self._key = token_bytes(32)
        self._first_view: View | None = None
        # On the instance: a decorated method would keep every library in memory.
        self._caller_view = lru_cache(MAX_VIEWS)(self._make_caller_view)
        self._client_view = lru_cache(MAX_VIEWS)(self._make_client_view)
        # Of the catalog in use, and of the latest one, which may be another.
        self._labels: IdentityCache[Catalog, dict[str, str]]
        self._labels = IdentityCache(2, lambda: self.catalog)
        self._answers: IdentityCache[Catalog, LruCache[object, Any]]
        self._answers = IdentityCache(1, lambda: self.catalog)
        self._listeners: list[Callable[[SyncReport], None]] = []
        self._excluded = skills.catalog.excluded
        self.is_polled = False
        """Whether somebody asks the sources again and again, so that a caller may."""
        self._catching_up = Lock()
        self._next_s = 0.0
        skills.listen(self._synced)

    @property
    def catalog(self) -> Catalog:
        """The catalog in use: another object after a sync."""
        return self.skills.registry.catalog

    @property
    def answers(self) -> LruCache[object, Any]:
        """Encoded answers about the catalog in use; a sync begins with none."""
        return self._answers.get(self.catalog, lambda: LruCache(MAX_ANSWER_BYTES))

    def labels_in(self, catalog: Catalog) -> dict[str, str]:
        """Return the public names of sources, see `public_labels`; cached."""
        return self._labels.get(catalog, lambda: public_labels(catalog))

    def view(
        self, caller: Caller = ANYONE, *, via: str = "mcp", client: str = ""
    ) -> View:
        """Return the skills that ``caller`` may have.

        ``client`` is the name that a program gives itself: untrusted, for events only.
        """
        if client:
            view = self._client_view(caller, via, client)
        else:
            view = self._caller_view(caller, via)
        if self.settings.work:  # a script on the record names its load by this
            name = caller.name.encode("utf-8", "surrogatepass")
            view.conversation = hmac.new(self._key, name, "sha256").hexdigest()[:32]
        return view

    # Two caches, so that a program that changes its name with each request does not
    # evict the view whose skills all programs of its caller share.
    def _make_client_view(self, caller: Caller, via: str, client: str) -> View:
        return self._caller_view(caller, via).for_client(client)

    def _make_caller_view(self, caller: Caller, via: str) -> View:
        if self._first_view is None:
            self._first_view = self.skills.view(style=self.settings.style)
        return self._first_view.for_caller(
            who={"client": caller.name} if caller.name else {},
            only=caller.only,
            via=via,
            client="",
        )

    def is_near(self, skill_id: object) -> bool:
        """Return whether any file of a skill is read at once, so no thread is needed.

        A source says by ``near`` that it reads from memory or from a local disk. Files
        that are elsewhere, or large, may take long.
        """
        # A policy may call code of the operator, which may take long.
        if not isinstance(skill_id, str) or self.skills.policy.rules:
            return False
        catalog = self.catalog
        entry = catalog.get(skill_id)
        if entry is None or len(entry.files) > NEAR_FILES:
            return False
        reader = catalog.readers.get(entry.source)
        if reader is None or not reader.near:
            return False
        key = entry.origin.key
        # An edited pack is read again, slowly.
        return all(
            stat.size <= NEAR_BYTES and reader.is_unchanged(key, stat) is not False
            for stat in entry.files
        )

    def thread_for(self, skill_id: object) -> str | None:
        """Return where a skill is read: `NOW`, or in a thread, of its slow source."""
        return NOW if self.is_near(skill_id) else self.slow_source(skill_id)

    def slow_source(self, skill_id: object) -> str | None:
        """Return the label of a skill's source if reading from it may take long."""
        if not isinstance(skill_id, str):
            return None
        catalog = self.catalog
        entry = catalog.get(skill_id)
        if entry is None:
            # Models may not have it, but users may, and HTTP clients by its id.
            exclusion = catalog.exclusion_of(skill_id)
            if exclusion is None:
                return None
            entry = exclusion.descriptor
        reader = catalog.readers.get(entry.source)
        return None if reader is None or reader.near else entry.source

    @property
    def slow_sources(self) -> str | None:
        """`ALL_SOURCES` if reading from one of the sources may take long."""
        is_near = all(reader.near for reader in self.catalog.readers.values())
        return None if is_near else ALL_SOURCES

    def listen(self, changed: Callable[[SyncReport], None]) -> Callable[[], None]:
        """Call ``changed`` after each sync that changed something; return how to stop.

        It is called in the thread that synced.
        """
        self._listeners.append(changed)
        return lambda: self._listeners.remove(changed)

    def refresh(self) -> SyncReport:
        """Sync, and call the listeners if something changed. Never raises.

        Excluded packs count, too: a hidden one is still a prompt.
        """
        return self.skills.sync()

    def catch_up(self) -> None:
        """Ask the sources now: another server of the same skills has other ones.

        At most once a second, and for a twentieth of the time. A caller that comes
        while they are asked does not wait: a source that hangs would hold them all.
        """
        if not self._catching_up.acquire(blocking=False):
            return
        try:
            begun = time.monotonic()
            if self.is_polled and begun >= self._next_s:
                self.refresh()
                took = time.monotonic() - begun
                self._next_s = time.monotonic() + max(CATCH_UP_S, 20 * took)
        finally:
            self._catching_up.release()

    def _synced(self, report: SyncReport) -> None:
        """Call the listeners; a sync may also run in the background, after an edit."""
        before, self._excluded = self._excluded, self.catalog.excluded
        if report.added or report.updated or report.removed or self._excluded != before:
            # A copy: another thread may add or remove a listener meanwhile.
            for changed in tuple(self._listeners):
                changed(report)


def record_failed_load(
    view: View, skill_id: str, file: str | None = None, *, as_: As = "use"
) -> None:
    """Record a load that failed before it began: it is an event, too.

    For edges whose callers ask by an address that is looked up first.
    """
    # In the order in which a load finds these out, so that the events agree.
    error: SkillError
    if view.get(skill_id) is None:
        error = SkillNotFoundError(skill_id)
    elif view.loadable(skill_id) is None:
        error = DeniedError("load", skill_id)
    else:
        error = ReferenceNotAllowedError(skill_id, file or "")
    with suppress(SkillError):
        view.refuse(skill_id, file, error, as_=as_)
