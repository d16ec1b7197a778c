import pytest

from satchel.server._guard._limits import RateLimiter
from satchel.server._guard._settings import rate_key
from tests.unit.server.guard.asking import Clock


def test_a_burst_and_then_the_rate() -> None:
    clock = Clock()
    buckets = RateLimiter(0.5, 3, clock)

    assert [buckets.take("a") for _ in range(5)] == [0, 0, 0, 2, 2]
    clock.now += 2
    assert [buckets.take("a"), buckets.take("a")] == [0, 2]
    clock.now += 1000
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 2]


def test_one_does_not_pay_for_another() -> None:
    buckets = RateLimiter(1, 1, Clock())

    assert [buckets.take("a"), buckets.take("a"), buckets.take("b")] == [0, 1, 0]


def test_no_number_of_callers_takes_more_memory() -> None:
    buckets = RateLimiter(1, 1, Clock(), max_buckets=3)

    for number in range(10):
        buckets.take(str(number))

    assert len(buckets) == 3
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
