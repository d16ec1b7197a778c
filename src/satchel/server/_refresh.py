"""Keeping what is served current while the server runs, off its event loop."""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from satchel.errors import ExtraMissingError
from satchel.protocols import with_abilities
from satchel.runtime import FolderWatch
from satchel.server._library import ServedLibrary

SETTLE_S: Final = 1.0
"""To watch a large library takes a while; the first requests go before it."""

OBSERVE_S: Final = 3600.0
"""A day counts as observed when something was said of it; an hour is often enough."""

LATE_CHECK_S: Final = 1.0
"""How often it is looked whether a source that took its time has answered."""

_log = logging.getLogger("satchel.server")


class LibraryRefresher:
    """Syncs a library again when it may have changed, from `begin` until `stop`.

    Folders are watched where the extra ``watch`` is installed. What cannot be watched,
    sources elsewhere or all of them, is asked every ``every_s`` seconds; 0 is never.
    Every hour the sinks are told what is on offer.
    """

    def __init__(
        self,
        library: ServedLibrary,
        *,
        every_s: float = 60.0,
        observe_s: float = OBSERVE_S,
        settle_s: float = SETTLE_S,
    ) -> None:
        self._library = library
        self._settle_s = settle_s
        self._every_s = every_s
        self._observe_s = observe_s
        self._stop = threading.Event()
        self.begun = threading.Event()
        """Set once it is known what is watched, and what is asked."""
        self.watches = self.polls = False
        """Whether folders are watched, and whether sources are asked."""
        self._thread = threading.Thread(
            target=self._run, name="satchel-refresh", daemon=True
        )

    def begin(self) -> None:
        """Begin, in a thread; a server does so once it answers."""
        self._thread.start()

    def stop(self) -> None:
        """Stop, and wait for a sync that is under way; a second call does nothing."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def __enter__(self) -> Self:
        """Return the refresher itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()

    def _run(self) -> None:
        if self._stop.wait(self._settle_s):
            return
        watch, unwatched = _watch(self._library, self._refresh)
        self.watches = watch is not None
        self.polls = unwatched and self._every_s > 0
        self.begun.set()
        if self.watches:
            self._refresh()  # what changed since the last sync was not seen
        try:
            self._do_duties()
        finally:
            if watch is not None:
                watch.stop()

    def _do_duties(self) -> None:
        """Do each thing when it is due, until it is time to stop."""
        skills = self._library.skills
        every: dict[Callable[[], object], float] = {
            skills.observe: self._observe_s,
            skills.apply_late_answers: LATE_CHECK_S,
        }
        if self.polls:
            every[self._refresh] = self._every_s
        now = time.monotonic()
        due = {duty: now + each for duty, each in every.items()}
        while not self._stop.wait(max(0.0, min(due.values()) - time.monotonic())):
            for duty, at in due.items():
                if at <= time.monotonic():
                    _do(duty)
                    due[duty] = time.monotonic() + every[duty]

    def _refresh(self) -> None:
        _do(self._library.refresh)


def _do(duty: Callable[[], object]) -> None:
    try:
        duty()
    except Exception as error:  # noqa: BLE001 - whoever listens for changes: R33
        _log.error("refreshing failed: %s", type(error).__name__)


def _watch(
    library: ServedLibrary, refresh: Callable[[], object]
) -> tuple[FolderWatch | None, bool]:
    """Return the watch over folders, and whether some source is not watched."""
    roots = [
        with_abilities(source).root
        for source in library.skills.registry.sources.values()
    ]
    folders = [root for root in roots if root and Path(root).is_dir()]
    unwatched = len(folders) < len(roots)
    if not folders:
        return None, unwatched
    try:
        return FolderWatch(folders, refresh), unwatched
    except ExtraMissingError:
        return None, True
    except OSError as error:  # the system has no more watches to give
        _log.warning("folders are not watched: %s", error.strerror)
        return None, True
