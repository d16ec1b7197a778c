"""Every URL and every index of another publisher gives a result or an error."""

import json
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

import pytest
from hypothesis import given, strategies as st

from satchel.model import Limits
from satchel_store.http._addresses import AddressKind, address_kind
from satchel_store.http._urls import Url, parse_url
from satchel_store.release import DiscoveryIndex, NotAnIndexError, parse_index

pytestmark = pytest.mark.property

BASE = parse_url("https://example.com/a/index.json?key=1")
SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"

_PIECES = st.one_of(
    st.sampled_from(["https://", "http://", "//", "/", "..", "@", ":", "\\", "?"]),
    st.sampled_from(["#", "%2f", "[", "]", "\t", " ", "\ud800", "a", "é", "80", "::1"]),
    st.sampled_from(["example.com", "127.0.0.1", "user"]),
)
TEXTS = st.one_of(st.lists(_PIECES, max_size=8).map("".join), st.text(max_size=40))

_KEYS = st.sampled_from(
    ["name", "type", "description", "url", "digest", "files", "sha256", "id", "x"]
)
_VALUES = st.one_of(
    st.none(),
    st.integers(),
    st.text(max_size=20),
    st.sampled_from(["a", "skill-md", "archive", f"sha256:{'0' * 64}", "x/SKILL.md"]),
    st.lists(st.one_of(st.text(max_size=9), st.just("SKILL.md"), st.integers())),
)
_ENTRIES = st.one_of(st.dictionaries(_KEYS, _VALUES), _VALUES)


def parsed(text: str, base: Url | None) -> Url | None:
    try:
        return parse_url(text, base)
    except ValueError:
        return None


@given(text=TEXTS, base=st.sampled_from([None, BASE]))
def test_urls(text: str, base: Url | None) -> None:
    """What is taken reads the same to every parser: no user, no control, one host."""
    url = parsed(text, base)
    if url is None:
        return
    again = urlsplit(f"{url.scheme}://{url.authority}{url.target}")

    assert again.hostname == url.host
    assert "@" not in again.netloc
    assert f"{url}{url.target}".isascii()
    assert f"{url}{url.target}".isprintable()
    assert " " not in url.target
    assert parse_url(f"{url}?{url.query}" if url.query else str(url)) == url


@given(skills=st.lists(_ENTRIES, max_size=5), schema=st.sampled_from([SCHEMA, None, 1]))
def test_indexes(skills: list[object], schema: object) -> None:
    document: dict[str, object] = {"skills": skills}
    if schema is not None:
        document["$schema"] = schema
    index = read(json.dumps(document).encode())

    assert isinstance(index, DiscoveryIndex)
    assert len({entry.name for entry in index.entries}) == len(index.entries)
    problems = sum(finding.severity != "note" for finding in index.findings)
    assert not index.is_known or len(index.entries) + problems >= len(skills)
    assert all(str(finding).isprintable() for finding in index.findings)
    assert all(entry.digest or entry.type == "files" for entry in index.entries)


@given(data=st.one_of(st.binary(), st.text().map(str.encode)))
def test_any_bytes(data: bytes) -> None:
    read(data)


def read(data: bytes) -> DiscoveryIndex | NotAnIndexError:
    try:
        return parse_index(data, "https://example.com/index.json", Limits())
    except NotAnIndexError as error:
        return error


@given(address=st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_addresses(address: IPv4Address | IPv6Address) -> None:
    """What is public here, is so to Python as well, and is a host's own."""
    if address_kind(str(address)) is AddressKind.PUBLIC:
        if isinstance(address, IPv6Address):
            meant = address.ipv4_mapped or address.sixtofour or address
        else:
            meant = address
        nat64 = str(address).startswith("64:ff9b::")
        assert nat64 or meant.is_global
        assert not meant.is_multicast
        assert not meant.is_link_local
