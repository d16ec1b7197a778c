"""Templates of the page, and the headers with which each answer leaves."""

import hashlib
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from satchel.text import clip, plural, printable
from satchel_server._errors import ErrorAnswer
from satchel_server._guard._sessions import PAGE_PATH

if TYPE_CHECKING:
    from starlette.types import Message

_HERE: Final = Path(__file__).parent
# The one script and the one style sheet are files of this server; nothing is inline.
_CSP: Final = "; ".join(
    (
        *("default-src 'none'", "style-src 'self'", "script-src 'self'"),
        *("img-src 'self'", "connect-src 'self'", "form-action 'self'"),
        *("base-uri 'none'", "frame-ancestors 'none'"),
    )
)
_HEADERS: Final = {
    "Content-Security-Policy": _CSP,
    "X-Content-Type-Options": "nosniff",
    # With "no-referrer" browsers would send the origin of a form as "null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_TYPES: Final = {
    "style.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
# Characters of a text in a list.
_CLIP: Final = 240
_KILO: Final = 1_000
_EPOCH: Final = date(1970, 1, 1).toordinal()
_TITLES: Final = {
    401: "Log in",
    403: "Not for this token",
    404: "Not here",
    429: "Too many requests",
    500: "Something went wrong here",
    503: "Too busy",
}


def shown(value: object) -> object:
    """Return what is printed: text of packs with all that it hides made visible."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return f"{value:,}" if type(value) is int else value


@cache
def environment() -> Environment:
    """Return the templates; each value in them is escaped, after `shown`."""
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    filters: dict[str, Any] = made.filters
    filters.update({"clip": _clip, "plural": plural, "bytes": size})
    functions: dict[str, Any] = made.globals
    functions.update({"ui": page_url, "static": _static_url})
    return made


def render(name: str, values: Mapping[str, Any]) -> bytes:
    # A lone surrogate, as a source may have, is no text that can be sent.
    text = environment().get_template(name).render(values)
    return text.encode("utf-8", "replace")


def page_response(
    request: Request,
    name: str,
    values: Mapping[str, Any],
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return a page that no cache keeps: it is of one caller, at one time."""
    body = render(name, values)
    response = Response(
        b"" if request.method == "HEAD" else body,
        status,
        {**_HEADERS, "Cache-Control": "no-store", **(headers or {})},
        "text/html",
    )
    response.headers["Content-Length"] = str(len(body))
    return response


def error_values(status: int, message: str) -> dict[str, object]:
    title = _TITLES.get(status, "This cannot be answered")
    return {"status": status, "title": title, "message": message}


def error_page(error: ErrorAnswer) -> "tuple[Message, Message]":
    """Return the messages of an error that the guard answers for a browser."""
    body = render("error.html", error_values(error.status, error.message))
    headers = [(n.lower().encode(), v.encode()) for n, v in _HEADERS.items()]
    headers += [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
        *error.headers,
    ]
    start = {"type": "http.response.start", "status": error.status, "headers": headers}
    return start, {"type": "http.response.body", "body": body}


@cache
def static_file(name: str) -> tuple[bytes, str] | None:
    """Return the bytes and the digest of a file that pages refer to."""
    if name not in _TYPES:
        return None
    data = (_HERE / "static" / name).read_bytes()
    return data, hashlib.sha256(data).hexdigest()[:16]


def static_response(request: Request, name: str) -> Response | None:
    file = static_file(name)
    if file is None:
        return None
    # The address has the digest, so that what is cached is never an earlier one.
    fresh = request.query_params.get("v") == file[1]
    keep = "public, max-age=31536000, immutable" if fresh else "no-cache"
    headers = {**_HEADERS, "Cache-Control": keep, "Content-Type": _TYPES[name]}
    headers["Content-Length"] = str(len(file[0]))
    return Response(b"" if request.method == "HEAD" else file[0], headers=headers)


def page_url(*parts: str, **query: object) -> str:
    """Return an address of the page; each part may be any text."""
    # `?` is what cannot be encoded becomes; nothing has such an address.
    path = "/".join(quote(part, safe="", errors="replace") for part in parts)
    pairs = [
        (key, str(value)) for key, value in query.items() if value not in ("", None)
    ]
    asked = f"?{urlencode(pairs, errors='replace')}" if pairs else ""
    return f"{PAGE_PATH}{f'/{path}' if path else ''}{asked}"


def _static_url(name: str) -> str:
    file = static_file(name)
    return page_url("static", name, v=file[1] if file else "")


def _clip(text: str, most: int = _CLIP) -> str:
    return clip(" ".join(text.split()), most, at_words=True)


def day(number: int | None) -> str:
    """Return a day since the epoch as 2026-11-29; empty for none."""
    return "" if number is None else date.fromordinal(_EPOCH + number).isoformat()


def size(count: int) -> str:
    """Return a number of bytes as people read it."""
    if count < _KILO:
        return f"{count} B"
    kilos = count / _KILO
    return f"{kilos:,.1f} kB" if kilos < _KILO else f"{kilos / _KILO:,.1f} MB"
