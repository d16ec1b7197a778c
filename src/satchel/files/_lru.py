"""An LRU cache: the one class for every room that remembers something."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")


class LruCache(Generic[_K, _V]):
    """Values by key; the least recently used go first. Thread-safe.

    ``most`` bounds the number of values, or the total of the sizes given to `put`. Two
    threads that ask `get` for one key at once may both make its value.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._entries: OrderedDict[_K, tuple[_V, int]] = OrderedDict()
        self._total = 0

    def get(self, key: _K, make: Callable[[], _V]) -> _V:
        """Return the value of the key, else what ``make`` gives; it may raise."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key][0]
        # Outside the lock: this may take long, and may use the cache itself.
        value = make()
        self.put(key, value)
        return value

    def find(self, key: _K) -> _V | None:
        """Return the value of the key, or None."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def put(self, key: _K, value: _V, size: int = 1) -> None:
        """Store a value, unless it alone is larger than the whole cache may be."""
        with self._lock:
            self._total -= self._entries.pop(key, (value, 0))[1]
            if size <= self._most:
                self._entries[key] = value, size
                self._total += size
            while self._total > self._most:
                self._total -= self._entries.popitem(last=False)[1][1]

    def __len__(self) -> int:
        """Return how many values there are."""
        return len(self._entries)
