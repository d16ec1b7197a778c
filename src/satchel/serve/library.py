"""What is served: one open Satchel, synced once, and a view of it for each caller."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, TypeVar

from satchel.model import Catalog, Descriptor, SyncReport
from satchel.runtime import Satchel
from satchel.runtime.view import View
from satchel.serve.caller import ANYBODY, Caller
from satchel.serve.lanes import LISTS, Lanes
from satchel.serve.settings import ServeSettings

__all__ = ["Library"]

_K = TypeVar("_K")

MAX_VIEWS: Final = 256
"""Views that are kept: callers times clients times edges."""

NEAR_BYTES: Final = 256 * 1024
NEAR_FILES: Final = 32
"""A file of at most so many bytes, in a pack of so many files, is read from a disk of
this machine in less time than it takes to hand the work to a thread and back."""


class Library:
    """The skills of a server. Thread-safe; nothing here knows a protocol.

    The registry is synced when the Satchel is opened and by `refresh`, never for a
    call. Who listens is told after a sync that changed something.
    """

    def __init__(self, skills: Satchel, settings: ServeSettings | None = None) -> None:
        self.skills = skills
        self.settings = settings or ServeSettings()
        self._first: View | None = None
        self._views: OrderedDict[tuple[Caller, str, str], View] = OrderedDict()
        self._callers: OrderedDict[tuple[Caller, str], View] = OrderedDict()
        self._lock = threading.Lock()
        self.lanes = Lanes()
        self._listeners: list[Callable[[SyncReport], None]] = []
        self._withheld = skills.catalog.withheld
        skills.listen(self._synced)

    @property
    def catalog(self) -> Catalog:
        """The catalog in use: another object after a sync."""
        return self.skills.catalog

    def view(
        self, caller: Caller = ANYBODY, *, via: str = "mcp", client: str = ""
    ) -> View:
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
                _keep(self._views, key, known)
            self._views.move_to_end(key)
            return known

    def _of_caller(self, caller: Caller, via: str) -> View:
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
            _keep(self._callers, key, known)
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
            held = self.catalog.withheld_as(skill_id)
            entry = held.descriptor if held is not None else None
        return None if entry is None or self._near(entry.source) else entry.source

    @property
    def lists(self) -> str | None:
        """Whose threads may wait for what reads skills of all sources."""
        far = not all(map(self._near, self.catalog.readers))
        return LISTS if far else None

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
        before, self._withheld = self._withheld, self.catalog.withheld
        listed = report.added or report.updated or report.removed
        if listed or self._withheld != before:
            for changed in tuple(self._listeners):
                changed(report)


def _keep(views: OrderedDict[_K, View], key: _K, view: View) -> None:
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
