"""Request rates, and sessions of the earlier era."""

import pytest

from satchel_server._guard import _limits
from satchel_server._guard._authentication import AuthenticatedCaller
from satchel_server._guard._limits import McpSessionLimit, RateLimiter
from satchel_server._guard._settings import rate_key
from satchel_server._library import ANYONE
from tests.unit.server.guard.asking import Clock


def test_a_burst_and_then_the_rate() -> None:
    clock = Clock()
    buckets = RateLimiter(0.5, 3, clock)

    assert [buckets.take("a") for _ in range(5)] == [0, 0, 0, 2, 2]
    clock.now += 2
    assert [buckets.take("a"), buckets.take("a")] == [0, 2]
    clock.now += 1000
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 2]


def test_a_caller_may_have_a_rate_of_its_own() -> None:
    clock = Clock()
    buckets = RateLimiter(1, 2, clock)

    assert [buckets.take("slow") for _ in range(3)] == [0, 0, 1]
    assert [buckets.take("fast", 3.0) for _ in range(7)] == [0] * 6 + [1]
    clock.now += 1
    assert [buckets.take("fast", 3.0) for _ in range(4)] == [0, 0, 0, 1]
    assert [buckets.take("rare", 0.1) for _ in range(2)] == [0, 10]


def test_no_number_of_callers_takes_more_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_limits, "_MAX_BUCKETS", 3)
    buckets = RateLimiter(1, 1, Clock())

    for number in range(10):
        buckets.take(str(number))

    assert len(buckets._levels) == 3
    assert [buckets.take("9"), buckets.take("0")] == [1, 0]


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:2", "2001:db8::/64"),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.1"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_addresses(address: str, key: str) -> None:
    assert rate_key(address) == key


ANA, BO = AuthenticatedCaller(ANYONE, "ana"), AuthenticatedCaller(ANYONE, "bo")


def held(most: int) -> McpSessionLimit:
    sessions = McpSessionLimit(most)
    for name, who in (("a1", ANA), ("b1", BO), ("b2", BO)):
        sessions.began(name, who)
        sessions.began(name, ANA)  # each answer of a session names it
    return sessions


def test_within_the_bound_all_stay() -> None:
    assert held(3).pop_surplus() is None


def test_the_idlest_of_who_has_most_goes() -> None:
    sessions = held(2)

    with sessions.using("b1"):
        pass

    assert sessions.pop_surplus() == ("b2", BO)
    assert sessions.pop_surplus() is None


def test_one_in_use_stays() -> None:
    sessions = held(0)

    with sessions.using("b1"), sessions.using("b1"), sessions.using("b2"):
        assert sessions.pop_surplus() == ("a1", ANA)
        assert sessions.pop_surplus() is None
    assert sessions.pop_surplus() == ("b2", BO)


def test_what_ended_is_forgotten() -> None:
    sessions = held(3)

    with sessions.using("a1"), sessions.using("unknown"):
        sessions.ended("a1")
        sessions.ended("a1")

    assert len(sessions._open) == 2
