"""Which addresses and URLs are connected to, by their text alone."""

import pytest

from satchel_store.http._addresses import AddressKind, address_kind
from satchel_store.http._urls import AllowedHosts, parse_url

# Of each kind also those that stand for an IPv4 one: mapped, NAT64 and 6to4.
ADDRESSES = {
    AddressKind.PUBLIC: """
        8.8.8.8 192.0.0.9 2606:4700::1111 ::ffff:8.8.8.8 64:ff9b::808:808
        2002:808:808::1
    """,
    AddressKind.LOOPBACK: """
        127.0.0.1 127.255.0.3 ::1 ::ffff:127.0.0.1 64:ff9b::7f00:1 2002:7f00:1::
    """,
    AddressKind.PRIVATE: """
        10.0.0.1 172.31.255.255 192.168.1.1 100.64.0.1 fd12:3456::1 ::ffff:10.0.0.1
        64:ff9b::a00:1 2002:a00:1::1
    """,
    AddressKind.FORBIDDEN: """
        169.254.169.254 ::ffff:169.254.169.254 64:ff9b::a9fe:a9fe 2002:a9fe:a9fe::
        fd00:ec2::254 100.100.100.200 168.63.129.16 192.0.0.192 0.0.0.0 0.1.2.3
        255.255.255.255 240.0.0.1 224.0.0.1 224.0.1.1 192.0.2.1 198.18.0.1 203.0.113.5
        192.88.99.1 :: ::127.0.0.1 ::8.8.8.8 fe80::1 fe80::1%eth0 fec0::1 ff02::1
        ff0e::1 2001::1 2001:db8::1 3fff::1 5f00::1 64:ff9b:1::1 not-an-address
    """,
}


@pytest.mark.parametrize(
    ("address", "kind"),
    [("", AddressKind.FORBIDDEN)]
    + [(text, kind) for kind, texts in ADDRESSES.items() for text in texts.split()],
)
def test_addresses(address: str, kind: AddressKind) -> None:
    assert address_kind(address) is kind


@pytest.mark.parametrize(
    ("text", "shown", "target"),
    [
        ("https://Example.COM", "https://example.com/", "/"),
        ("https://example.com.:443/a b".replace(" ", "%20"), None, "/a%20b"),
        ("http://127.0.0.1:80/x?key=1#top", "http://127.0.0.1/x", "/x?key=1"),
        ("https://[2606:4700::1]:8443/ü", "https://[2606:4700::1]:8443/%C3%BC", None),
    ],
)
def test_urls(text: str, shown: str | None, target: str | None) -> None:
    url = parse_url(text)

    assert shown is None or str(url) == shown
    assert target is None or url.target == target


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("https://user:secret@example.com/", "user name or a password"),
        ("https://secret@example.com/", "user name or a password"),
        ("https://@example.com/", "user name or a password"),
        ("ftp://example.com/", "not begin"),
        ("file:///etc/passwd", "not begin"),
        ("javascript:alert(1)", "not begin"),
        ("example.com", "not begin"),
        ("", "not begin"),
        ("https://", "host"),
        ("https:///path", "host"),
        ("https://.", "host"),
        ("https://exämple.com/", "host"),
        ("https://example.com%2eevil.com/", "host"),
        ("https://[fe80::1%25eth0]/", "host"),
        ("https://[::1/", "not a URL"),
        ("https://example.com:99999/", "not a URL"),
        ("https://example.com:x/", "not a URL"),
        ("https://example.com:0/", "port"),
        ("https://example.com\\@evil.com/", "backslash"),
        ("https://example.com/a b", "space"),
        ("https://example.com/\r\nHost: evil", "control"),
        ("https://example.com/\ud800", "control"),
        (f"https://example.com/{'x' * 2_100}", "characters"),
    ],
)
def test_no_urls(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        parse_url(text)

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "resolved"),
    [
        ("wrangler.tar.gz", "https://a.com/x/wrangler.tar.gz"),
        ("./y/SKILL.md", "https://a.com/x/y/SKILL.md"),
        ("../SKILL.md", "https://a.com/SKILL.md"),
        ("../../../../etc", "https://a.com/etc"),
        ("/abs", "https://a.com/abs"),
        ("//cdn.com/abs", "https://cdn.com/abs"),
        ("https://cdn.com:444/abs", "https://cdn.com:444/abs"),
        ("", "https://a.com/x/index.json"),
    ],
)
def test_relative_urls(url: str, resolved: str) -> None:
    """As RFC 3986 has it, relative to the index."""
    base = parse_url("https://a.com/x/index.json?key=1")

    assert str(parse_url(url, base)) == resolved


def test_hosts() -> None:
    hosts = AllowedHosts.of(("cdn.com", "other.com:8443", "[::1]:99"))
    allowed = ["https://cdn.com/x", "http://cdn.com/", "https://other.com:8443/"]
    allowed += ["https://[::1]:99/", "https://CDN.com./"]
    refused = ["https://cdn.com:8443/", "https://evil.cdn.com/", "https://other.com/"]

    assert all(parse_url(url) in hosts for url in allowed)
    assert not any(parse_url(url) in hosts for url in refused)
    assert parse_url("http://home:8080/x") in hosts.including(
        parse_url("http://home:8080")
    )


@pytest.mark.parametrize("name", ["", "https://cdn.com", "a/b", "u@cdn.com", "*.com"])
def test_no_hosts(name: str) -> None:
    with pytest.raises(ValueError, match="is not a host"):
        AllowedHosts.of((name,))
