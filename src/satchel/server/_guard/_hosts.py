"""The Host and Origin headers that a server accepts, and CORS for allowed pages."""

import re
from collections.abc import Iterable
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from satchel.server._errors import Refusal
from satchel.server._guard._settings import is_loopback

if TYPE_CHECKING:
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.types import Send

    from satchel.server._guard._messages import GuardedRequest
    from satchel.server._guard._settings import GuardSettings


_AUTHORITY: Final = re.compile(
    r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9._-]*))(?::(?P<port>[0-9]{1,5}))?"
)
_ORIGIN: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<authority>[^/]+)/?")
_PORTS: Final = {"http": "80", "https": "443"}

_BAD_HOST: Final = Refusal(
    421,
    "host-not-allowed",
    "this server does not answer to the name in the Host header; "
    "whoever runs it can add the name to its allowed hosts",
)
_BAD_ORIGIN: Final = Refusal(
    403,
    "origin-not-allowed",
    "this server does not answer to pages of this origin; "
    "whoever runs it can add the origin to its allowed origins",
)


class HostRules:
    """The rules of one server; made once, asked for every request."""

    def __init__(self, settings: "GuardSettings") -> None:
        self._loopback = is_loopback(settings.host)
        self._own = settings.host.lower().strip("[]")
        self._hosts = frozenset(each.lower() for each in settings.allowed_hosts)
        self._suffixes = tuple(each[1:] for each in self._hosts if each[:2] == "*.")
        self._origins = frozenset(
            _plain_origin(each) for each in settings.allowed_origins
        )

    def objection(self, hosts: list[bytes], origins: list[bytes]) -> Refusal | None:
        """Return why a request with these headers is refused, None where it is not."""
        if len(hosts) != 1 or not self._answers_to(_header_text(hosts)):
            return _BAD_HOST
        if origins and (
            len(origins) > 1 or not self._welcomes(_header_text(origins), hosts)
        ):
            return _BAD_ORIGIN
        return None

    def _answers_to(self, host: str) -> bool:
        if "*" in self._hosts:
            return True
        found = _AUTHORITY.fullmatch(host)
        if found is None:
            return False
        name = found["name"]
        if name in self._hosts or host in self._hosts or name.endswith(self._suffixes):
            return True
        name = name.strip("[]")
        if is_loopback(name):
            return True
        # A page has a name, not a bare address, that it could let point elsewhere.
        return not self._loopback and (name == self._own or _is_address(name))

    def _welcomes(self, origin: str, hosts: list[bytes]) -> bool:
        plain = _plain_origin(origin)
        if "*" in self._origins or plain in self._origins:
            return True
        found = _ORIGIN.fullmatch(plain)
        if found is None or found["scheme"] not in _PORTS:
            return False
        if plain == _plain_origin(f"{found['scheme']}://{_header_text(hosts)}"):
            return True  # a page that this server itself delivered
        parts = _AUTHORITY.fullmatch(found["authority"])
        name = parts["name"].strip("[]") if parts else ""
        return self._loopback and is_loopback(name)


def transport_security(settings: "GuardSettings") -> "TransportSecuritySettings":
    """Return what ``mcp`` is told, so that it refuses nothing that the guard lets in.

    Its rules know exact names and ports only. A server at loopback has them as a second
    lock; one whose names it cannot say leaves the matter to the guard.
    """
    from mcp.server.transport_security import TransportSecuritySettings

    listed = (*settings.allowed_hosts, *settings.allowed_origins)
    if not is_loopback(settings.host) or any("*" in each for each in listed):
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    own = settings.host.lower()
    loopback = dict.fromkeys(
        ("127.0.0.1", "localhost", "[::1]", f"[{own}]" if ":" in own else own)
    )
    hosts = [*loopback, *(each.lower() for each in settings.allowed_hosts)]
    origins = [f"{scheme}://{name}" for scheme in _PORTS for name in hosts]
    return TransportSecuritySettings(
        allowed_hosts=[*hosts, *_with_any_port(hosts)],
        allowed_origins=[
            *origins,
            *_with_any_port(origins),
            *settings.allowed_origins,
        ],
    )


def _with_any_port(names: Iterable[str]) -> list[str]:
    return [f"{name}:*" for name in names]


def _header_text(values: list[bytes]) -> str:
    return values[0].decode("latin-1").strip().lower()


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


_METHODS: Final = b"GET, HEAD, POST, DELETE, OPTIONS"
# What clients of MCP and of HTTP send; a browser's token comes as Authorization, which
# "*" does not stand for.
_HEADERS: Final = (
    b"authorization, accept, content-type, if-none-match, last-event-id, "
    b"mcp-method, mcp-name, mcp-protocol-version, mcp-session-id"
)
_EXPOSED: Final = b"etag, mcp-session-id, retry-after, www-authenticate, link"
_AGE_S: Final = b"600"

Headers = list[tuple[bytes, bytes]]


def is_preflight(seen: "GuardedRequest") -> bool:
    """Tell whether a browser asks before it sends what a page wants to send.

    It never shows a token then.
    """
    asks = seen.all(b"access-control-request-method")
    return seen.method == "OPTIONS" and bool(asks) and bool(seen.all(b"origin"))


async def send_preflight(seen: "GuardedRequest", send: "Send") -> None:
    """Answer a browser that asks first; the origin has been found to be welcome."""
    headers: Headers = [
        (b"access-control-allow-methods", _METHODS),
        (b"access-control-allow-headers", _HEADERS),
        (b"access-control-max-age", _AGE_S),
        (b"content-length", b"0"),
    ]
    add_cors_headers(headers, seen)
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def add_cors_headers(headers: Headers, seen: "GuardedRequest") -> None:
    """Let the page read an answer; what the application says of it goes before."""
    origins = seen.all(b"origin")
    if not origins or any(n == b"access-control-allow-origin" for n, _ in headers):
        return
    headers += [
        (b"access-control-allow-origin", origins[0]),
        (b"access-control-expose-headers", _EXPOSED),
        (b"vary", b"Origin"),
    ]
