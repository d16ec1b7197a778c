"""Hot reload: sync again when a file below a source changes (extra ``watch``)."""

import threading
from collections.abc import Callable, Iterable
from typing import Final, Self

from satchel.errors import ExtraMissingError

__all__ = ["Watch"]

DEBOUNCE_MS: Final = 200
"""Editors write a file in several steps; this is longer than those take."""


class Watch:
    """Calls ``on_change`` after files below ``roots`` moved, until it is stopped.

    Changes that come within ``debounce_ms`` milliseconds of one another are one
    call. ``on_change`` is `Registry.sync`, which never raises and keeps the last good
    catalog when the new one cannot be used.

    Raises:
        ExtraMissingError: The extra ``watch`` is not installed.
    """

    def __init__(
        self,
        roots: Iterable[str],
        on_change: Callable[[], object],
        *,
        debounce_ms: int = DEBOUNCE_MS,
    ) -> None:
        """Start to watch, in a thread."""
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
            target=_run, args=(changes, on_change), name="satchel-watch", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop watching and wait for a sync that is under way; idempotent."""
        self._stop.set()
        self._thread.join()

    def __enter__(self) -> Self:
        """Return the watch itself."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Stop."""
        self.stop()


def _run(changes: Iterable[object], on_change: Callable[[], object]) -> None:
    for batch in changes:
        if batch:
            on_change()
