"""Tuples whose items are made when they are asked for."""

# a tuple of anything:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, SupportsIndex, TypeVar, overload

_T = TypeVar("_T")

# Items that are made at once, and from how many on none are kept.
_CHUNK: Final = 500
_MOST_KEPT: Final = 30_000
# Items that a mapping keeps, of a catalog of any size.
_MOST_MADE: Final = 1_024


class LazyTuple(tuple[_T, ...]):  # noqa: SLOT001 - a tuple can have none
    """A tuple of which items are made when they are asked for.

    It equals a plain tuple of the same items. A short one keeps what it made. ``ids``
    are what tells its items apart, and cost nothing. ``places`` returns where each item
    is, if that is known without the item. Tuples of one ``stamp`` have equal items, in
    another process, too; empty is unknown.
    """

    ids: Sequence[str]
    stamp: str
    places: Callable[[], Iterable[tuple[str, str]]] | None
    _make: Callable[[int, int], Iterable[_T]]
    _kept: tuple[_T, ...] | None

    def __new__(
        cls,
        ids: Sequence[str],
        make: Callable[[int, int], Iterable[_T]],
        stamp: str = "",
        places: Callable[[], Iterable[tuple[str, str]]] | None = None,
    ) -> "LazyTuple[_T]":
        """Take the ids, and what makes the items from one position to another."""
        lazy = super().__new__(cls)
        lazy.ids, lazy._make, lazy._kept, lazy.stamp = ids, make, None, stamp
        lazy.places = places
        return lazy

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[_T]:
        if self._kept is not None:
            return iter(self._kept)
        if len(self) <= _MOST_KEPT:
            self._kept = tuple(self._make(0, len(self)))
            return iter(self._kept)
        return self._in_chunks()

    def _in_chunks(self) -> Iterator[_T]:
        for start in range(0, len(self), _CHUNK):
            yield from self._make(start, min(start + _CHUNK, len(self)))

    @overload
    def __getitem__(self, index: SupportsIndex) -> _T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[_T, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        if self._kept is not None:
            return self._kept[index]
        places = range(len(self))[index]
        if isinstance(places, int):
            return next(iter(self._make(places, places + 1)))
        if places.step == 1:
            return tuple(self._make(places.start, places.stop))
        return tuple(self[place] for place in places)

    def __contains__(self, item: object) -> bool:
        return any(item is one or item == one for one in self)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __add__(self, other: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(self) + tuple(other)

    def __radd__(self, other: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(other) + tuple(self)

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[object, ...]:
        return tuple, (list(self),)


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


def ids_of(items: Sequence[_HasId]) -> Sequence[str]:
    """Return the ids of items, in order; not one of a lazy tuple is made for that."""
    some: object = items
    return some.ids if isinstance(some, LazyTuple) else [item.id for item in items]


class LazyById(Mapping[str, _T]):
    """The items of a lazy tuple by id, which has to be in order of ids.

    Those that are asked for again and again are made once.
    """

    def __init__(self, items: LazyTuple[_T]) -> None:
        self._items = items
        self._made: dict[str, _T] = {}

    def __getitem__(self, item_id: str) -> _T:
        if (made := self._made.get(item_id)) is not None:
            return made
        ids = self._items.ids
        place = bisect_left(ids, item_id)
        if place == len(ids) or ids[place] != item_id:
            raise KeyError(item_id)
        if len(self._made) >= _MOST_MADE:
            self._made.clear()
        return self._made.setdefault(item_id, self._items[place])

    def __contains__(self, item_id: object) -> bool:
        ids = self._items.ids
        if not isinstance(item_id, str):
            return False
        place = bisect_left(ids, item_id)
        return place < len(ids) and ids[place] == item_id

    def __iter__(self) -> Iterator[str]:
        return iter(self._items.ids)

    def __len__(self) -> int:
        return len(self._items)
