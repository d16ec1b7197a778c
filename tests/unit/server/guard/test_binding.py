from typing import Any

import pytest

from satchel.errors import ConfigError
from satchel.server import GuardSettings, check_bind
from satchel.server._guard._settings import is_loopback
from satchel.server._guard._tokens import FixedTokens


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("localhost", True),
        ("LOCALHOST", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("0.0.0.0", False),  # noqa: S104 - it is about that
        ("::", False),
        ("", False),
        ("192.168.1.4", False),
        ("::ffff:10.0.0.1", False),
        ("localhost.example.com", False),
        ("127.0.0.1.example.com", False),
    ],
)
def test_loopback_is_known(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_another_address_needs_a_token() -> None:
    with pytest.raises(ConfigError) as caught:
        check_bind("192.0.2.1", GuardSettings())

    assert "192.0.2.1" in caught.value.path
    for way in ("--token-file", "--tokens", "SATCHEL_TOKEN", "127.0.0.1"):
        assert way in caught.value.detail


def test_with_a_token_any_address_will_do() -> None:
    check_bind("192.0.2.1", GuardSettings(tokens=FixedTokens(())))
    check_bind("127.0.0.1", GuardSettings())


@pytest.mark.parametrize("name", ["burst", "rate_per_s", "max_body_bytes", "wait_s"])
def test_a_limit_is_above_zero(name: str) -> None:
    limit: dict[str, Any] = {name: 0}

    with pytest.raises(ConfigError, match=name):
        GuardSettings(**limit)
