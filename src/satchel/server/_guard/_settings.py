"""What an operator sets: the address, who may call, and the limits of one server."""

from dataclasses import dataclass, fields
from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from satchel.errors import ConfigError

if TYPE_CHECKING:
    from satchel.server._guard._oauth import OAuthSettings
    from satchel.server._guard._tokens import TokenStore


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


_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardSettings:
    """Who may come in, and what one server takes on at a time.

    ``host`` is the address that the server listens at: loopback names and addresses
    need no token. ``allowed_hosts`` are names that the server is reached by, beside its
    own address: ``name``, ``name:port``, ``*.suffix``, or ``*`` where something before
    the server looks at the Host header. ``allowed_origins`` are origins of web pages
    (``https://app.example.com``) that may call it from a browser, ``*`` for any.

    Raises:
        ConfigError: A size, a number or a time is not above 0; there is no "unlimited".
    """

    host: str = "127.0.0.1"
    tokens: "TokenStore | None" = None
    oauth: "OAuthSettings | None" = None
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()

    max_body_bytes: int = _MIB
    """Bytes of one request's body: no request of MCP or of ``/v1`` comes near it."""
    header_timeout_s: float = 10.0
    """From the first byte of a request, or a new connection, to the end of its head."""
    body_timeout_s: float = 15.0
    """From the end of the head to the end of the body."""
    send_timeout_s: float = 30.0
    """How long a client may take none of what is sent to it."""
    max_connections: int = 1000
    """Open connections; the usual limit of a process is 1,024 files."""
    max_bodies: int = 128
    """Bodies being received at a time, so at most ``max_bodies * max_body_bytes``."""
    max_requests: int = 64
    """Requests being answered at a time; more wait."""
    max_waiting: int = 512
    """Requests that wait; more are refused."""
    wait_s: float = 10.0
    """How long a request waits."""
    max_streams: int = 512
    """Streams open at a time that stay open until the client goes."""
    max_streams_each: int = 128
    """Of these, how many one caller has, or one address where nobody has a name."""
    max_sessions: int = 500
    """Sessions of MCP's earlier era; beyond them the idlest of who has most ends."""
    rate_per_s: float = 100.0
    """Requests a second of one caller, or of one address without a good token, in the
    long run. The machine's own loopback is not limited where no token is asked for."""
    burst: int = 500
    """Requests that one caller may send at once, after a pause."""

    def __post_init__(self) -> None:
        """Refuse a limit that would let nothing through."""
        for field in fields(self):
            value: object = getattr(self, field.name)
            if isinstance(value, int | float) and value <= 0:
                raise ConfigError("guard", f"{field.name}: want more than 0")

    @property
    def asks(self) -> bool:
        """Whether a caller has to show a token."""
        return self.tokens is not None or self.oauth is not None


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
