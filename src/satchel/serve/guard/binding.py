"""At which addresses a server may listen without asking who calls."""

from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING

from satchel.errors import ConfigError

if TYPE_CHECKING:
    from satchel.serve.guard.settings import GuardSettings

__all__ = ["check_bind", "is_loopback"]


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


def check_bind(host: str, settings: "GuardSettings") -> None:
    """Refuse to listen where others could come in, and nobody is asked who calls.

    Raises:
        ConfigError: ``host`` is not loopback, and there are no tokens and no OAuth
            settings; the message says what to do.
    """
    if is_loopback(host) or settings.asks:
        return
    raise ConfigError(
        f"--host {host}",
        "whoever reaches this address could read every skill. Ask for a token "
        "(--token-file FILE, --tokens FILE, or the variable SATCHEL_TOKEN) or for one "
        "of an OAuth server, or listen at 127.0.0.1",
    )
