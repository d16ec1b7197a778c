"""Part of what ``python -m tests.abuse`` does, and proof that it would see a fault."""

import pytest

from tests.abuse.attack import Attack, Manner
from tests.abuse.running import over_lines, over_sockets
from tests.abuse.sending import SECRETS, Failure, judge

pytestmark = pytest.mark.slow

GOOD = b"HTTP/1.1 200 OK\r\n\r\n"


def test_a_server_stands_malformed_requests() -> None:
    report = over_sockets(200)

    assert report.failures == []
    assert report.kinds.total() == 200
    assert len(report.kinds) > 15


def test_none_of_them_gets_past_a_token() -> None:
    report = over_sockets(100, seed=1, asking=True)

    assert report.failures == []
    for line in report.granted:
        assert line.split()[1].startswith((b"/healthz", b"/readyz", b"http://127"))


@pytest.mark.parametrize("earlier", [False, True], ids=["present", "earlier"])
def test_so_does_one_at_standard_streams(earlier: bool) -> None:
    report = over_lines(40, earlier=earlier)

    assert report.failures == []


@pytest.mark.parametrize(
    "output",
    [
        b"HTTP/1.1 500 Internal Server Error\r\n\r\n",
        b"HTTP/1.1 503 Service Unavailable\r\n\r\n",
        GOOD + b"Traceback (most recent call last):",
        *(GOOD + b"no such file: " + secret for secret in SECRETS),
        b"",
        b"garbage",
    ],
    ids=lambda output: str(output[-30:]),
)
def test_a_bad_answer_is_seen(output: bytes) -> None:
    with pytest.raises(Failure):
        judge(Attack("any", b""), output)


@pytest.mark.parametrize(
    "attack",
    [Attack("any", b"", unanswered=True), Attack("any", b"", Manner.LEAVE)],
    ids=["broken", "gone"],
)
def test_no_answer_will_do_for_some(attack: Attack) -> None:
    judge(attack, b"")
    judge(attack, GOOD)
