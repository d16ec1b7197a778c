"""Keep the served library current while the server runs, off its event loop."""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

from satchel.errors import ExtraMissingError
from satchel.protocols import with_abilities
from satchel.runtime import FolderWatch
from satchel_server._library import ServedLibrary

# Starting to watch a large library takes a while; the first requests come first.
SETTLE_S: Final = 1.0
# How often the sinks get the catalog: a day counts as observed if they got one.
OBSERVE_S: Final = 3600.0
# How often to check whether a slow source has answered.
LATE_CHECK_S: Final = 1.0

_log = logging.getLogger("satchel.server")


class LibraryRefresher:
    """Syncs a library again when it may have changed, from `begin` until `stop`."""

    def __init__(
        self,
        library: ServedLibrary,
        *,
        every_s: float = 60.0,
        observe_s: float = OBSERVE_S,
        settle_s: float = SETTLE_S,
    ) -> None:
        self._library, self._settle_s = library, settle_s
        self._every_s, self._observe_s = every_s, observe_s
        self._stop = threading.Event()
        self.begun = threading.Event()
        """Set once it is decided what is watched and what is polled."""
        self.watches = self.polls = False
        """Whether folders are watched, and whether sources are polled."""
        self._thread = threading.Thread(
            target=self._run, name="satchel-refresh", daemon=True
        )

    def begin(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop, and wait for a sync that is running; a second call does nothing."""
        self._stop.set()
        # A thread that was never started cannot be joined.
        if self._thread.ident is not None:
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _run(self) -> None:
        if self._stop.wait(self._settle_s):
            return
        refresh = self._library.refresh
        watch, is_unwatched = _watch_folders(
            self._library, lambda: _run_safely(refresh)
        )
        self.watches = watch is not None
        self.polls = self._library.is_polled = is_unwatched and self._every_s > 0
        self.begun.set()
        if self.watches:
            _run_safely(refresh)  # what changed since the last sync was not seen
        try:
            self._run_tasks()
        finally:
            if watch is not None:
                watch.stop()

    def _run_tasks(self) -> None:
        skills = self._library.skills
        periods_s: dict[Callable[[], object], float] = {
            skills.observe: self._observe_s,
            skills.apply_late_answers: LATE_CHECK_S,
        }
        if self.polls:
            periods_s[self._library.refresh] = self._every_s
        now = time.monotonic()
        due = {task: now + period_s for task, period_s in periods_s.items()}
        while not self._stop.wait(max(0.0, min(due.values()) - time.monotonic())):
            for task, at in due.items():
                if at <= time.monotonic():
                    _run_safely(task)
                    # From its end: a task slower than its period does not pile up.
                    due[task] = time.monotonic() + periods_s[task]


def _run_safely(task: Callable[[], object]) -> None:
    try:
        task()
    except Exception as error:  # noqa: BLE001 - a listener's; it may not end the thread
        _log.error("refreshing failed: %s", type(error).__name__)


def _watch_folders(
    library: ServedLibrary, refresh: Callable[[], object]
) -> tuple[FolderWatch | None, bool]:
    """Return the watch over folders, and whether some source is not watched."""
    sources = library.skills.registry.sources.values()
    roots = [with_abilities(source).root for source in sources]
    # A folder that does not exist yet cannot be watched, so it is polled.
    folders = [root for root in roots if root and Path(root).is_dir()]
    is_unwatched = len(folders) < len(roots)
    if not folders:
        return None, is_unwatched
    try:
        return FolderWatch(folders, refresh), is_unwatched
    except ExtraMissingError:
        return None, True
    except OSError as error:  # the system has no more watches to give
        _log.warning("folders are not watched: %s", error.strerror)
        return None, True
