"""Pages of other origins that are let in: what their browsers are told (CORS)."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from starlette.types import Send

    from satchel.serve.guard.requests import Seen

__all__ = ["allow_page", "is_preflight", "say_allowed"]

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


def is_preflight(seen: "Seen") -> bool:
    """Tell whether a browser asks before it sends what a page wants to send.

    It never shows a token then.
    """
    asks = seen.all(b"access-control-request-method")
    return seen.method == "OPTIONS" and bool(asks) and bool(seen.all(b"origin"))


async def say_allowed(seen: "Seen", send: "Send") -> None:
    """Answer a browser that asks first; the origin has been found to be welcome."""
    headers: Headers = [
        (b"access-control-allow-methods", _METHODS),
        (b"access-control-allow-headers", _HEADERS),
        (b"access-control-max-age", _AGE_S),
        (b"content-length", b"0"),
    ]
    allow_page(headers, seen)
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def allow_page(headers: Headers, seen: "Seen") -> None:
    """Let the page read an answer; what the application says of it goes before."""
    origins = seen.all(b"origin")
    if not origins or any(n == b"access-control-allow-origin" for n, _ in headers):
        return
    headers += [
        (b"access-control-allow-origin", origins[0]),
        (b"access-control-expose-headers", _EXPOSED),
        (b"vary", b"Origin"),
    ]
