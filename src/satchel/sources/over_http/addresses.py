"""Which addresses are connected to: a name that somebody else chose may mean any.

The standard library's ``is_global`` is asked, and is not enough: on older Pythons it
calls multicast and site-local addresses global, and IPv6 addresses that stand for an
IPv4 one are judged by the wrong half.
"""

from enum import Enum
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)
from typing import Final

__all__ = ["AddressKind", "kind_of"]


class AddressKind(Enum):
    """What an address means for whoever connects to it; the value is for people."""

    PUBLIC = "public"
    LOOPBACK = "a loopback address"
    PRIVATE = "a private address"
    NEVER = "an address that no skill is fetched from"


_PRIVATE_V4: Final = tuple(
    map(
        IPv4Network,
        # RFC 1918, and the shared space of RFC 6598, which private networks use.
        ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"),
    )
)
_PRIVATE_V6: Final = IPv6Network("fc00::/7")
_UNICAST_V6: Final = IPv6Network("2000::/3")
_NEVER: Final = frozenset(
    map(
        ip_address,
        # Where clouds tell a machine its secrets, beyond the link-local 169.254/16.
        ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254"),
    )
)
_NEVER_V4: Final = tuple(map(IPv4Network, ("0.0.0.0/8", "192.88.99.0/24")))
_NEVER_V6: Final = IPv6Network("3fff::/20")  # for documents: RFC 9637
_NAT64: Final = IPv6Network("64:ff9b::/96")


def kind_of(text: str) -> AddressKind:
    """Return what an address is, by the IPv4 address that it stands for, if it does."""
    try:
        address = _meant(ip_address(text))
    except ValueError:
        return AddressKind.NEVER
    if address in _NEVER:
        return AddressKind.NEVER
    if address.is_loopback:
        return AddressKind.LOOPBACK
    if isinstance(address, IPv4Address):
        if any(address in network for network in _PRIVATE_V4):
            return AddressKind.PRIVATE
        public = not any(address in network for network in _NEVER_V4)
    else:
        if address in _PRIVATE_V6:
            return AddressKind.PRIVATE
        public = address in _UNICAST_V6 and address not in _NEVER_V6
    public = public and address.is_global and not address.is_multicast
    return AddressKind.PUBLIC if public else AddressKind.NEVER


def _meant(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address behind mapped, NAT64 and 6to4 ones."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or address
