"""Syncs in the background, of sources in which a load found an edited pack."""

import threading
import time
from collections.abc import Callable
from typing import Final

__all__ = ["Resync"]

REST_SHARE: Final = 4.0
REST_S: Final = 1.0
"""The rest after a sync: at least a second, and four times as long as it took, so that
a folder that is written all day is not all that the process looks at."""


class Resync:
    """One thread at most, which syncs what was asked for and ends; safe across threads.

    No thread outlives `close`.
    """

    def __init__(
        self,
        sync: Callable[[str], object],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start nothing yet; ``sync`` takes the label of a source."""
        self._sync = sync
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._wanted: dict[str, None] = {}
        self._thread: threading.Thread | None = None

    def ask(self, label: str) -> None:
        """Sync a source soon; does not wait for it."""
        with self._lock:
            if self._closing.is_set():
                return
            self._wanted[label] = None
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
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while (label := self._next()) is not None:
            start = self._monotonic()
            try:
                self._sync(label)
            except Exception as error:  # noqa: BLE001 - whoever listens for changes: R33
                import logging  # nobody pays for it before something is wrong

                log = logging.getLogger("satchel")
                log.warning("a sync in the background failed: %s", type(error).__name__)
            took_s = self._monotonic() - start
            with self._lock:
                more = bool(self._wanted)
            if more:
                self._closing.wait(max(REST_S, REST_SHARE * took_s))

    def _next(self) -> str | None:
        """Return the source that was asked for first; None ends the thread."""
        with self._lock:
            if self._closing.is_set() or not self._wanted:
                self._thread = None
                return None
            label = next(iter(self._wanted))
            del self._wanted[label]
            return label
