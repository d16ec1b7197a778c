"""What ``satchel serve`` prints while it runs: requests, changes, warnings."""

import logging
import threading
import time
from contextlib import suppress
from queue import Full, Queue
from typing import TYPE_CHECKING, Final

from satchel.cli._terminal import echo_always
from satchel.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from satchel.model import SyncReport
    from satchel.server import ServedLibrary

# Lines that may wait to be printed, and names of skills on one.
MAX_LINES: Final = 1_000
MAX_NAMES: Final = 5
# Seconds for the last lines, once the server has ended.
CLOSE_S: Final = 1.0
# Seconds in which lines come together, so that they are printed in one go.
PAUSE_S: Final = 0.05

_LOGGER: Final = logging.getLogger("satchel")


class ServerLog(logging.Handler):
    """Prints lines, and what Satchel logs, in a thread; each with the time of day.

    A terminal may be paused, and a pipe may be full. The server goes on answering: the
    lines that find no room are counted, and the count is printed once there is room.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._lines: Queue[str | None] = Queue(MAX_LINES)
        self._dropped = 0
        self._thread = threading.Thread(
            target=self._print, name="satchel-log", daemon=True
        )
        self._thread.start()
        _LOGGER.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Print what was logged, such as why a pack is listed no more."""
        self.add(self.format(record))

    def add(self, text: str) -> None:
        """Print a line soon; never wait."""
        try:
            self._lines.put_nowait(f"{time.strftime('%H:%M:%S')} {text}")
        except Full:
            self._dropped += 1

    def stop(self) -> bool:
        """Print what waits; return whether there was somebody to read it."""
        _LOGGER.removeHandler(self)
        with suppress(Full):
            self._lines.put(None, timeout=CLOSE_S)
            self._thread.join(CLOSE_S)
        return not self._thread.is_alive()

    def _print(self) -> None:
        line: str | None = ""
        while line is not None and (line := self._lines.get()) is not None:
            # To wake this thread for each line would cost more than most answers do.
            time.sleep(PAUSE_S)
            lines = [line]
            while not self._lines.empty() and (line := self._lines.get()) is not None:
                lines.append(line)
            # The reader may be gone for good, which ends no server.
            with suppress(OSError, ValueError):
                echo_always(*lines)
                if self._dropped and self._lines.empty():
                    dropped, self._dropped = self._dropped, 0
                    echo_always(f"{plural(dropped, 'line')} left out: nobody read them")


def log_changes(library: "ServedLibrary", log: ServerLog) -> None:
    """Add a line for each change of the library."""

    def changed(report: "SyncReport") -> None:
        parts = [
            f"{what} {_names(ids)}"
            for what, ids in (
                ("added", report.added),
                ("changed", report.updated),
                ("removed", report.removed),
            )
            if ids
        ]
        what = "; ".join(parts) or "packs that are not listed changed"
        log.add(f"{what}: {plural(report.total, 'skill')} now")

    library.listen(changed)


def _names(ids: "Iterable[str]") -> str:
    every = list(ids)
    more = f" and {len(every) - MAX_NAMES:,} more" if len(every) > MAX_NAMES else ""
    return f"{', '.join(every[:MAX_NAMES])}{more}"
