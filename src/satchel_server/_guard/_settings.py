"""What an operator sets: the address, who may call, and the limits of one server."""

from dataclasses import dataclass, field, fields
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from math import inf
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from satchel.errors import ConfigError

if TYPE_CHECKING:
    from mcp.server.auth.provider import TokenVerifier

    from satchel_server._guard._tokens import JoinedTokens

METADATA_PATH: Final = "/.well-known/oauth-protected-resource"


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthSettings:
    """Whose tokens are accepted, and for what.

    ``issuer`` is the URL of the authorization server, ``resource`` that of this server
    as clients know it (``https://skills.example.com/mcp``): a token has to be issued
    for it. A token needs all ``scopes``. Either ``jwks_url`` says where the issuer's
    keys are, or ``verifier`` verifies tokens itself; it sets ``AccessToken.resource``.
    ``only_claim`` names a claim with the patterns of the skills that a token opens, a
    list or one text with spaces between them; a token without it then opens nothing.

    Raises:
        ConfigError: Neither, or both, of ``jwks_url`` and ``verifier``; a URL is not
            HTTPS (loopback may be HTTP).
    """

    issuer: str
    resource: str
    scopes: tuple[str, ...] = ("skills:read",)
    jwks_url: str = ""
    verifier: "TokenVerifier | None" = None
    only_claim: str = ""

    def __post_init__(self) -> None:
        """Refuse settings that would let in the wrong callers."""
        if bool(self.jwks_url) == (self.verifier is not None):
            raise ConfigError("OAuth", "expected one of jwks_url and verifier")
        for url in filter(None, (self.issuer, self.resource, self.jwks_url)):
            parts = urlsplit(url)
            safe = parts.scheme == "https" or (
                parts.scheme == "http" and is_loopback(parts.hostname or "")
            )
            if not safe or not parts.hostname or parts.query or parts.fragment:
                detail = f"{url}: expected https://..., without '?' and '#'"
                raise ConfigError("OAuth", detail)

    @property
    def metadata_url(self) -> str:
        """Where the metadata of this resource is (RFC 9728, section 3.1)."""
        parts = urlsplit(self.resource)
        path = parts.path.rstrip("/")
        # The well-known path comes before the path of the resource, not after it.
        return f"{parts.scheme}://{parts.netloc}{METADATA_PATH}{path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardSettings:
    """Who may call, and how much one server does at a time.

    ``host`` is the address that the server listens at: loopback names and addresses
    need no token. ``allowed_hosts`` are other names that the server is reached by:
    ``name``, ``name:port``, ``*.suffix``, or ``*`` where a proxy checks the Host
    header. ``allowed_origins`` are origins of web pages
    (``https://app.example.com``) that may call it from a browser, ``*`` for any.

    Raises:
        ConfigError: A size, a number or a time is not above 0; there is no "unlimited".
    """

    host: str = "127.0.0.1"
    tokens: "JoinedTokens | None" = None
    oauth: OAuthSettings | None = None
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    page: bool = False
    """Whether browsers get the page: without a token, its form for one."""
    session_key: bytes = field(default=b"", repr=False)
    """What signs sessions of the page, next to tokens. Replicas that accept tokens of
    an OAuth server need the same one, or each browser has to stay with one replica."""

    max_body_bytes: int = 1024 * 1024
    """Bytes of one request's body: requests of MCP and of ``/v1`` are far smaller."""
    header_timeout_s: float = 10.0
    """From the first byte of a request, or a new connection, to the end of its head."""
    body_timeout_s: float = 15.0
    """From the end of the head to the end of the body."""
    send_timeout_s: float = 30.0
    """How long a client may take none of the bytes that are sent to it."""
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
    """Streams that are open at a time, each until its client closes it."""
    max_streams_each: int = 128
    """Streams of one caller, or of one address where callers have no name."""
    max_sessions: int = 500
    """Sessions of MCP's earlier era. Beyond it, the caller with most of them loses the
    one that was idle longest."""
    rate_per_s: float = 100.0
    """Requests a second of one caller, or of one address without a valid token, in the
    long run. Loopback addresses have no limit on a server that needs no token."""
    burst: int = 500
    """Requests that one caller may send at once, after a pause."""
    drain_s: float = 1.0
    """How long a server that ends goes on for connections that are open, so that a
    balancer reads in ``/readyz`` that it should ask another one."""
    finish_s: float = 20.0
    """How long it then waits for the answers that it has begun."""

    def __post_init__(self) -> None:
        """Refuse a limit that would let nothing through."""
        for limit in fields(self):
            value: object = getattr(self, limit.name)
            if isinstance(value, bool):
                continue
            if isinstance(value, int | float) and not 0 < value < inf:
                raise ConfigError("guard", f"{limit.name}: expected a number above 0")

    @property
    def asks(self) -> bool:
        """Whether a caller needs a token."""
        return self.tokens is not None or self.oauth is not None


@lru_cache(maxsize=1024)  # called for each request
def is_loopback(host: str) -> bool:
    """Return whether only programs on this machine reach ``host``."""
    if host.lower() == "localhost":
        return True
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return False  # any other name, since what it resolves to may change
    # A socket for both versions reports IPv4 peers as "::ffff:127.0.0.1".
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


@lru_cache(maxsize=1024)  # called for each request
def rate_key(address: str) -> str:
    """Return the key of an address: IPv6 by its network, since each host has many."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is None:
        return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"
    return address


def check_bind(host: str, settings: GuardSettings) -> None:
    """Refuse to listen at an address that others reach without a token."""
    if is_loopback(host) or settings.asks:
        return
    raise ConfigError(
        f"--host {host}",
        "anyone who reaches this address could read every skill. Ask for a token "
        "(--token-file FILE, --tokens FILE, or the variable SATCHEL_TOKEN) or for one "
        "of an OAuth server, or listen at 127.0.0.1",
    )
