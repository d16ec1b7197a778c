"""The Host and Origin headers that a server accepts, against DNS rebinding."""

import re
from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from satchel_server._errors import ErrorAnswer
from satchel_server._guard._settings import is_loopback

if TYPE_CHECKING:
    from satchel_server._guard._settings import GuardSettings

_AUTHORITY: Final = re.compile(
    r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9._-]*))(?::(?P<port>[0-9]{1,5}))?"
)
_ORIGIN: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<authority>[^/]+)/?")
# Browsers leave these ports out of an Origin header.
_PORTS: Final = {"http": "80", "https": "443"}

# Headers whose verdict is cached.
MAX_JUDGED: Final = 256
MAX_JUDGED_BYTES: Final = 512

_BAD_HOST: Final = ErrorAnswer(
    421,
    "host-not-allowed",
    "this server does not answer to the name in the Host header; "
    "its operator can add the name to the allowed hosts",
)
_BAD_ORIGIN: Final = ErrorAnswer(
    403,
    "origin-not-allowed",
    "this server does not answer to pages of this origin; "
    "its operator can add the origin to the allowed origins",
)


# A web page may send requests to any address that its visitor's browser reaches, also
# to loopback by a name of its own that resolves there. It cannot choose these headers.
# Starlette's TrustedHost knows neither origins nor loopback addresses.
class HostRules:
    def __init__(self, settings: "GuardSettings") -> None:
        self._loopback = is_loopback(settings.host)
        self._own = settings.host.lower().strip("[]")
        self._hosts = frozenset(host.lower() for host in settings.allowed_hosts)
        # The dot stays, so "*.example.com" does not allow "evilexample.com".
        self._suffixes = tuple(host[1:] for host in self._hosts if host[:2] == "*.")
        self._origins = frozenset(map(_plain_origin, settings.allowed_origins))
        # Clients send the same few again and again.
        self._judged = lru_cache(MAX_JUDGED)(self._judge)

    def error(self, hosts: list[bytes], origins: list[bytes]) -> ErrorAnswer | None:
        """Return the error for a request with these headers, None if it may pass."""
        short = sum(map(len, hosts)) + sum(map(len, origins)) <= MAX_JUDGED_BYTES
        judge = self._judged if short else self._judge
        return judge(tuple(hosts), tuple(origins))

    def _judge(
        self, hosts: tuple[bytes, ...], origins: tuple[bytes, ...]
    ) -> ErrorAnswer | None:
        host = hosts[0].decode("latin-1").strip().lower() if hosts else ""
        # Of two Host headers, a proxy in front may have checked the other one.
        if len(hosts) != 1 or not self._allows_host(host):
            return _BAD_HOST
        # Programs that are not browsers send none.
        if not origins:
            return None
        origin = origins[0].decode("latin-1").strip().lower()
        if len(origins) > 1 or not self._allows_origin(origin, host):
            return _BAD_ORIGIN
        return None

    def _allows_host(self, host: str) -> bool:
        if "*" in self._hosts:
            return True
        match = _AUTHORITY.fullmatch(host)
        if match is None:
            return False
        name = match["name"]
        if name in self._hosts or host in self._hosts or name.endswith(self._suffixes):
            return True
        name = name.strip("[]")
        # A rebound name is sent as it is, so a loopback address here was not rebound.
        if is_loopback(name):
            return True
        # An attacker can let a name point anywhere, but not a bare address.
        return not self._loopback and (name == self._own or _is_address(name))

    def _allows_origin(self, origin: str, host: str) -> bool:
        plain = _plain_origin(origin)
        if "*" in self._origins or plain in self._origins:
            return True
        # "null", which sandboxed pages and local files send, does not match.
        match = _ORIGIN.fullmatch(plain)
        if match is None or match["scheme"] not in _PORTS:
            return False
        if plain == _plain_origin(f"{match['scheme']}://{host}"):
            return True  # a page that this server itself delivered
        parts = _AUTHORITY.fullmatch(match["authority"])
        name = parts["name"].strip("[]") if parts else ""
        # On a server for this machine only, local pages may call from any port.
        return self._loopback and is_loopback(name)


def _plain_origin(origin: str) -> str:
    """Return an origin in lower case, without a slash and its scheme's own port."""
    origin = origin.lower().rstrip("/")
    scheme, _, _ = origin.partition("://")
    port = _PORTS.get(scheme)
    return origin.removesuffix(f":{port}") if port else origin


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
