"""What was loaded during one turn of an agent: each file is read at most once."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from satchel.model import Loaded

# Files that a turn keeps: as many as Agent World's cache of loads.
MAX_FILES: Final = 256
# Bytes that a turn keeps, not counting the file it read last.
MAX_BYTES: Final = 64 * 1024 * 1024

Key = tuple[str, str]


class TurnCache:
    """Files that were loaded during one turn, by skill id and path.

    A new turn takes a new cache: nothing is carried over. Only successes are kept,
    the least recently used go first, and callers that want one file at the same time
    share one read. Safe across threads.
    """

    def __init__(self, max_files: int = MAX_FILES, max_bytes: int = MAX_BYTES) -> None:
        self._max_files = max_files
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._files: OrderedDict[Key, Loaded] = OrderedDict()
        self._bytes = 0
        self._reading: dict[Key, threading.Event] = {}
        self._reads = 0
        self._hits = 0

    @property
    def reads(self) -> int:
        """How many reads were begun, failed ones included."""
        return self._reads

    @property
    def hits(self) -> int:
        """How many calls were answered without a read of their own."""
        return self._hits

    def get(self, key: Key, read: Callable[[], Loaded]) -> Loaded:
        """Return what is kept under ``key``; else what ``read`` gives, and keep it.

        A call that waited for another's read that failed reads for itself, so that
        every caller gets an error of its own.
        """
        # The lock is not held over a read: other files are read at the same time.
        while True:
            with self._lock:
                cached = self._files.get(key)
                if cached is not None:
                    self._files.move_to_end(key)
                    self._hits += 1
                    return cached
                under_way = self._reading.get(key)
                if under_way is None:
                    done = self._reading[key] = threading.Event()
                    self._reads += 1
                    break
            under_way.wait()
        try:
            loaded = read()
            with self._lock:
                self._add(key, loaded)
        finally:
            # Also after an error, or those who wait would wait for ever.
            with self._lock:
                del self._reading[key]
            done.set()
        return loaded

    def drop_other(self, latest: Loaded) -> None:
        """Drop all files, where the SKILL.md of a skill is another one now."""
        with self._lock:
            cached = self._files.get((latest.descriptor.id, latest.file), latest)
            if cached.digest != latest.digest:
                self._files.clear()
                self._bytes = 0

    def _add(self, key: Key, loaded: Loaded) -> None:
        self._files[key] = loaded
        self._bytes += len(loaded.data)
        # The last one stays however large: it is what the turn works with.
        while len(self._files) > 1 and (
            len(self._files) > self._max_files or self._bytes > self._max_bytes
        ):
            _, dropped = self._files.popitem(last=False)
            self._bytes -= len(dropped.data)
