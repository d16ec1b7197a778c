"""An LRU cache: the one class for every room that remembers something."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")


class LruCache(Generic[_K, _V]):
    """Values by key; the least recently used go first. Thread-safe.

    Two threads that ask for one key at once may both make its value.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[_K, _V] = OrderedDict()

    def get(self, key: _K, make: Callable[[], _V]) -> _V:
        """Return what is kept under the key, else what ``make`` gives; it may raise."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        value = make()
        with self._lock:
            self._kept[key] = value
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return value

    def __len__(self) -> int:
        """Return how many values are kept."""
        return len(self._kept)


class IdentityCache(Generic[_K, _V]):
    """What was made of objects, for as long as they are of the present.

    The present is an object, too: the catalog in use. With another one all is
    forgotten, so that no catalog lives on because something was once made of it.
    """

    def __init__(self, most: int, present: Callable[[], object]) -> None:
        self._most = most
        self._present = present
        self._of: object = None
        self._kept: LruCache[int, tuple[_K, _V]] = LruCache(most)

    def get(self, of: _K, make: Callable[[], _V]) -> _V:
        """Return what is kept of this very object, else what ``make`` gives."""
        present = self._present()
        if present is not self._of:
            self._of, self._kept = present, LruCache(self._most)
        # While it is kept the object lives, so that no other can have its number.
        return self._kept.get(id(of), lambda: (of, make()))[1]
