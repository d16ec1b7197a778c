"""Syncs in the background: after an edited pack, and when files change."""

import threading
import time
from collections.abc import Callable, Iterable
from typing import Final, Self

from satchel.errors import ExtraMissingError

PAUSE_SHARE: Final = 4.0
# The rest after a sync: at least a second, and four times as long as it took, so that a
# folder that is written all day is not all that the process looks at.
PAUSE_S: Final = 1.0


class BackgroundSync:
    """One thread at most, which syncs what was asked for and ends; thread-safe."""

    def __init__(self, sync: Callable[[str], object]) -> None:
        self._sync = sync
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._wanted: dict[str, None] = {}
        self._thread: threading.Thread | None = None

    def ask(self, label: str) -> None:
        """Sync a source soon; does not wait for it."""
        with self._lock:
            if self._closing.is_set():
                return
            self._wanted[label] = None  # a dict: each label once, in order
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="satchel-resync", daemon=True
                )
                self._thread.start()

    def wait(self) -> None:
        """Wait until all that was asked for is done."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def close(self) -> None:
        """End, once a sync that is under way has; a second call does nothing."""
        self._closing.set()
        thread = self._thread
        # A listener of the sync may close the Satchel: a thread cannot join itself.
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while (label := self._next()) is not None:
            start = time.monotonic()
            try:
                self._sync(label)
            except Exception as error:  # noqa: BLE001 - a listener may raise anything
                import logging  # costs start-up time

                log = logging.getLogger("satchel")
                log.warning("a sync in the background failed: %s", type(error).__name__)
            took_s = time.monotonic() - start
            with self._lock:
                more = bool(self._wanted)
            if more:
                self._closing.wait(max(PAUSE_S, PAUSE_SHARE * took_s))

    def _next(self) -> str | None:
        """Return the source that was asked for first; None ends the thread."""
        # The thread takes itself off under the lock, so that a request that comes now
        # starts a new one, and none is lost.
        with self._lock:
            if self._closing.is_set() or not self._wanted:
                self._thread = None
                return None
            label = next(iter(self._wanted))
            del self._wanted[label]
            return label


# Editors write a file in several steps; this is longer than those take.
DEBOUNCE_MS: Final = 200


class FolderWatch:
    """Calls ``on_change`` after files below ``roots`` moved, until it is stopped.

    Changes that come within ``debounce_ms`` milliseconds of one another are one call.
    """

    def __init__(
        self,
        roots: Iterable[str],
        on_change: Callable[[], object],
        *,
        debounce_ms: int = DEBOUNCE_MS,
    ) -> None:
        try:
            from watchfiles import watch
        except ImportError as error:
            raise ExtraMissingError("hot reload", "watch") from error
        self._stop = threading.Event()
        changes = watch(
            *roots,
            debounce=debounce_ms,
            step=min(debounce_ms, 50),
            stop_event=self._stop,
            rust_timeout=200,
            yield_on_timeout=True,
            watch_filter=None,
        )
        next(changes)  # the watch is set up once the first step is over
        self._thread = threading.Thread(
            target=_watch_loop,
            args=(changes, on_change),
            name="satchel-watch",
            daemon=True,
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop watching and wait for a sync that is under way; idempotent."""
        self._stop.set()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()


def _watch_loop(changes: Iterable[object], on_change: Callable[[], object]) -> None:
    for batch in changes:
        if batch:
            on_change()
