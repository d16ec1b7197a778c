"""What is made once, and kept up to a number."""

from functools import partial

import pytest

from satchel.files import LruCache
from satchel_server._cache import IdentityCache


class Made:
    """Counts what it makes."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def upper(self, key: str) -> str:
        self.keys.append(key)
        return key.upper()


def test_the_least_recently_used_goes_first() -> None:
    made = Made()
    memory: LruCache[str, str] = LruCache(2)

    for key in ("a", "b", "a", "c", "a", "b"):
        assert memory.get(key, partial(made.upper, key)) == key.upper()

    assert made.keys == ["a", "b", "c", "b"]
    assert len(memory) == 2


def test_what_could_not_be_made_is_tried_again() -> None:
    memory: LruCache[str, int] = LruCache(2)

    with pytest.raises(ZeroDivisionError):
        memory.get("a", lambda: 1 // 0)

    assert memory.get("a", lambda: 1) == 1


def test_an_equal_object_is_another_one() -> None:
    made = Made()
    present = [0]
    memory: IdentityCache[list[int], str] = IdentityCache(4, lambda: present[0])
    one, two = [1], [1]

    for item in (one, two, one):
        memory.get(item, partial(made.upper, "x"))

    assert made.keys == ["x", "x"]
    present[0] = 1
    assert len(memory._kept) == 2
    memory.get(one, partial(made.upper, "y"))
    assert made.keys == ["x", "x", "y"]
    assert len(memory._kept) == 1
