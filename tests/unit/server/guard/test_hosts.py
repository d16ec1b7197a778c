"""Which addresses, hosts and origins a server accepts."""

from typing import Any

import pytest

from satchel.errors import ConfigError
from satchel.server import GuardSettings, check_bind
from satchel.server._guard._hosts import HostRules, transport_security
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


HERE = GuardSettings(allowed_hosts=("skills.test", "*.inner.test", "one.test:81"))
OPEN = GuardSettings(
    host="192.0.2.1",
    tokens=FixedTokens(()),
    allowed_hosts=("skills.test",),
    allowed_origins=("https://app.test/",),
)
ANY = GuardSettings(allowed_hosts=("*",), allowed_origins=("*",))


@pytest.mark.parametrize(
    ("settings", "host", "admitted"),
    [
        (HERE, "127.0.0.1", True),
        (HERE, "127.0.0.1:8000", True),
        (HERE, "LocalHost:8000", True),
        (HERE, "[::1]:8000", True),
        (HERE, "skills.test", True),
        (HERE, "skills.test:444", True),
        (HERE, "a.inner.test", True),
        (HERE, "inner.test", False),
        (HERE, "one.test:81", True),
        (HERE, "one.test:82", False),
        (HERE, "evil.test", False),
        (HERE, "127.0.0.1.evil.test", False),
        (HERE, "localhost.evil.test:8000", False),
        (HERE, "10.0.0.1", False),
        (HERE, "", False),
        (HERE, "localhost:8000/", False),
        (HERE, "localhost:port", False),
        (HERE, "user@localhost", False),
        (HERE, "localhost\x00", False),
        (OPEN, "10.0.0.1:80", True),
        (OPEN, "[2001:db8::1]:80", True),
        (OPEN, "192.0.2.1:80", True),
        (GuardSettings(host="box", tokens=FixedTokens(())), "box:80", True),
        (OPEN, "skills.test", True),
        (OPEN, "evil.test", False),
        (ANY, "evil.test", True),
        (ANY, "", True),
    ],
)
def test_hosts(settings: GuardSettings, host: str, admitted: bool) -> None:
    refusal = HostRules(settings).error([host.encode()], [])

    assert (refusal is None) is admitted
    if refusal:
        assert (refusal.status, refusal.code) == (421, "host-not-allowed")


@pytest.mark.parametrize("hosts", [[], [b"localhost", b"localhost"]])
def test_there_is_one_host(hosts: list[bytes]) -> None:
    refusal = HostRules(HERE).error(hosts, [])

    assert refusal
    assert refusal.status == 421


@pytest.mark.parametrize(
    ("settings", "origin", "admitted"),
    [
        (HERE, "http://localhost:6274", True),
        (HERE, "http://127.0.0.1", True),
        (HERE, "https://[::1]:1", True),
        (HERE, "http://skills.test", True),
        (HERE, "http://skills.test:80", True),
        (HERE, "http://skills.test:81", False),
        (HERE, "https://evil.test", False),
        (HERE, "http://localhost.evil.test", False),
        (HERE, "null", False),
        (HERE, "file://localhost", False),
        (HERE, "", False),
        (OPEN, "https://app.test", True),
        (OPEN, "https://APP.test:443", True),
        (OPEN, "http://app.test", False),
        (OPEN, "http://localhost:6274", False),
        (ANY, "https://evil.test", True),
        (ANY, "null", True),
    ],
)
def test_origins(settings: GuardSettings, origin: str, admitted: bool) -> None:
    refusal = HostRules(settings).error([b"skills.test"], [origin.encode()])

    assert (refusal is None) is admitted
    if refusal:
        assert (refusal.status, refusal.code) == (403, "origin-not-allowed")


def test_there_is_one_origin() -> None:
    twice = [b"http://localhost", b"http://localhost"]

    assert HostRules(HERE).error([b"localhost"], twice)


def test_mcp_is_told_the_same() -> None:
    plain = GuardSettings(
        host="::1", allowed_hosts=("skills.test",), allowed_origins=("https://a.test",)
    )

    result = transport_security(plain)

    assert result.enable_dns_rebinding_protection
    names = ["127.0.0.1", "localhost", "[::1]", "skills.test"]
    assert result.allowed_hosts == [*names, *(f"{name}:*" for name in names)]
    assert "http://localhost:*" in result.allowed_origins
    assert result.allowed_origins[-1] == "https://a.test"


@pytest.mark.parametrize("settings", [HERE, OPEN, ANY], ids=["suffix", "open", "any"])
def test_what_mcp_cannot_say_is_left_to_the_guard(settings: GuardSettings) -> None:
    assert not transport_security(settings).enable_dns_rebinding_protection
