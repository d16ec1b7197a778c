"""Which addresses, hosts and origins a server accepts."""

from typing import Any

import pytest

from satchel.errors import ConfigError
from satchel_server import GuardSettings, check_bind
from satchel_server._errors import ErrorAnswer
from satchel_server._guard._hosts import HostRules
from satchel_server._guard._settings import is_loopback
from satchel_server._guard._tokens import JoinedTokens


@pytest.mark.parametrize(
    ("loopback", "hosts"),
    [
        (True, "127.0.0.1 127.8.9.1 localhost LOCALHOST ::1 [::1] ::ffff:127.0.0.1"),
        (
            False,
            (
                "0.0.0.0 :: 192.168.1.4 ::ffff:10.0.0.1 localhost.example.com "
                "127.0.0.1.example.com"
            ),
        ),
    ],
)
def test_loopback_is_known(loopback: bool, hosts: str) -> None:
    for host in hosts.split():
        assert is_loopback(host) is loopback, host
    assert not is_loopback("")


def test_another_address_needs_a_token() -> None:
    with pytest.raises(ConfigError) as caught:
        check_bind("192.0.2.1", GuardSettings())

    assert "192.0.2.1" in caught.value.path
    for way in ("--token-file", "--tokens", "SATCHEL_TOKEN", "127.0.0.1"):
        assert way in caught.value.detail
    check_bind("192.0.2.1", GuardSettings(tokens=JoinedTokens(())))
    check_bind("127.0.0.1", GuardSettings())


@pytest.mark.parametrize("name", ["burst", "rate_per_s", "max_body_bytes", "wait_s"])
def test_a_limit_is_above_zero(name: str) -> None:
    limit: dict[str, Any] = {name: 0}

    with pytest.raises(ConfigError, match=name):
        GuardSettings(**limit)


HERE = GuardSettings(allowed_hosts=("skills.test", "*.inner.test", "one.test:81"))
OPEN = GuardSettings(
    host="192.0.2.1",
    tokens=JoinedTokens(()),
    allowed_hosts=("skills.test",),
    allowed_origins=("https://app.test/",),
)
ANY = GuardSettings(allowed_hosts=("*",), allowed_origins=("*",))


@pytest.mark.parametrize(
    ("settings", "admitted", "hosts"),
    [
        (
            HERE,
            True,
            (
                "127.0.0.1 127.0.0.1:8000 LocalHost:8000 [::1]:8000 skills.test "
                "skills.test:444 a.inner.test one.test:81"
            ),
        ),
        (
            HERE,
            False,
            (
                "inner.test one.test:82 evil.test 127.0.0.1.evil.test 10.0.0.1 "
                "localhost.evil.test:8000 localhost:8000/ localhost:port "
                "user@localhost localhost\0"
            ),
        ),
        (OPEN, True, "10.0.0.1:80 [2001:db8::1]:80 192.0.2.1:80 skills.test"),
        (OPEN, False, "evil.test"),
        (GuardSettings(host="box", tokens=JoinedTokens(())), True, "box:80"),
        (ANY, True, "evil.test"),
    ],
)
def test_hosts(settings: GuardSettings, admitted: bool, hosts: str) -> None:
    rules = HostRules(settings)
    expected = None if admitted else (421, "host-not-allowed")
    for host in hosts.split(" "):
        assert refusal(rules.error([host.encode()], [])) == expected, host
    assert (rules.error([b""], []) is None) is (settings is ANY)


@pytest.mark.parametrize(
    ("settings", "admitted", "origins"),
    [
        (
            HERE,
            True,
            (
                "http://localhost:6274 http://127.0.0.1 https://[::1]:1 "
                "http://skills.test http://skills.test:80"
            ),
        ),
        (
            HERE,
            False,
            (
                "http://skills.test:81 https://evil.test http://localhost.evil.test "
                "null file://localhost"
            ),
        ),
        (OPEN, True, "https://app.test https://APP.test:443"),
        (OPEN, False, "http://app.test http://localhost:6274"),
        (ANY, True, "https://evil.test null"),
    ],
)
def test_origins(settings: GuardSettings, admitted: bool, origins: str) -> None:
    rules = HostRules(settings)
    expected = None if admitted else (403, "origin-not-allowed")
    for origin in origins.split():
        actual = rules.error([b"skills.test"], [origin.encode()])
        assert refusal(actual) == expected, origin
    assert settings is not HERE or rules.error([b"skills.test"], [b""])


def refusal(error: ErrorAnswer | None) -> tuple[int, str] | None:
    return None if error is None else (error.status, error.code)


def test_there_is_one_host_and_one_origin() -> None:
    rules = HostRules(HERE)
    refusals = [rules.error(hosts, []) for hosts in ([], [b"localhost"] * 2)]
    refusals.append(rules.error([b"localhost"], [b"http://localhost"] * 2))

    assert [refusal and refusal.status for refusal in refusals] == [421, 421, 403]
