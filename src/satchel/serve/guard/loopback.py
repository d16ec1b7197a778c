"""Which addresses lead to this machine alone."""

from functools import lru_cache
from ipaddress import ip_address

__all__ = ["is_loopback"]


@lru_cache(maxsize=1024)  # asked for each request
def is_loopback(host: str) -> bool:
    """Tell whether only programs of this machine reach ``host``.

    That is ``localhost`` and the loopback addresses, IPv4 ones written as IPv6
    included. Another name is not, whatever it resolves to: that may change.
    """
    if host.lower() == "localhost":
        return True
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
