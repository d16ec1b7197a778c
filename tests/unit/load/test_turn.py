"""The cache of one turn: bounded, shared, and without errors."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from satchel.load import TurnCache
from satchel.model import Descriptor, Loaded


def loaded(size: int = 1) -> Loaded:
    return Loaded(Descriptor("a", "Use."), "SKILL.md", b"x" * size, "x" * size, "")


@pytest.mark.row("X16", "E27", "A06")
def test_callers_at_one_time_share_one_read() -> None:
    cache = TurnCache()
    begun, go = threading.Event(), threading.Event()

    def read() -> Loaded:
        begun.set()
        assert go.wait(10)
        return loaded()

    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(cache.get, ("a", "f"), read)
        assert begun.wait(10)
        others = [pool.submit(cache.get, ("a", "f"), read) for _ in range(3)]
        go.set()
        results = {id(each.result(10)) for each in (first, *others)}

    assert (len(results), cache.reads, cache.hits) == (1, 1, 3)


@pytest.mark.row("X16")
def test_each_caller_of_a_failing_read_gets_an_error_of_its_own() -> None:
    cache = TurnCache()
    begun, go = threading.Event(), threading.Event()

    def fail() -> Loaded:
        begun.set()
        assert go.wait(10)
        raise KeyError("gone")

    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(cache.get, ("a", "f"), fail) for _ in range(2)]
        assert begun.wait(10)
        go.set()
        errors = {id(call.exception(10)) for call in calls}

    assert (len(errors), cache.reads, cache.hits) == (2, 2, 0)
    assert cache.get(("a", "f"), loaded) is not None


@pytest.mark.row("E27")
def test_the_least_recently_used_goes_first() -> None:
    cache = TurnCache(max_files=2)
    for file in ("a", "b", "a", "c"):
        cache.get(("s", file), loaded)

    for file in ("a", "c", "b"):
        cache.get(("s", file), loaded)

    assert (cache.reads, cache.hits) == (4, 3)


def test_large_files_push_out_others_but_not_themselves() -> None:
    cache = TurnCache(max_bytes=10)
    cache.get(("s", "small"), loaded)
    cache.get(("s", "large"), lambda: loaded(100))

    cache.get(("s", "large"), loaded)
    cache.get(("s", "small"), loaded)

    assert (cache.reads, cache.hits) == (3, 1)
