"""What was made of a catalog, for as long as it is the catalog in use."""

from collections.abc import Callable
from typing import Generic, TypeVar

from satchel.files import LruCache

_K = TypeVar("_K")
_V = TypeVar("_V")


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
            # A new cache: another thread may still put what it made into the old one.
            self._of, self._kept = present, LruCache(self._most)
        # While it is kept the object lives, so that no other can have its number.
        return self._kept.get(id(of), lambda: (of, make()))[1]
