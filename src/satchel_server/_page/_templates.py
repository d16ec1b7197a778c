"""Templates of the page, and the headers with which each answer leaves."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from shlex import quote as shell_word
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from satchel.text import clip, plural, printable
from satchel_server._errors import ErrorAnswer
from satchel_server._guard._page_sessions import PAGE_PATH
from satchel_server._http._responses import uncached_response
from satchel_server._page._facts import cost_of
from satchel_server.usage import iso_day, replica_name

if TYPE_CHECKING:
    from starlette.types import Scope, Send

HERE: Final = Path(__file__).parent
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
    # With "no-referrer" browsers would send the origin of a form as "null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# Characters of a text in a list.
_CLIP: Final = 240


def shown(value: object) -> object:
    """Return what is printed: text of packs with all that it hides made visible."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return f"{value:,}" if type(value) is int else value


@cache
def environment() -> Environment:
    """Return the templates; each value in them is escaped, after `shown`."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    filters: dict[str, Any] = made.filters
    filters.update(clip=_clip, plural=plural, day=iso_day, encoded=encoded)
    filters.update(shell=shell_word, cost=cost_of)
    functions: dict[str, Any] = made.globals
    functions.update(ui=page_url, replica=replica_name)
    return made


def page_response(
    request: Request, template: str, values: Mapping[str, object], status: int = 200
) -> Response:
    """Return a page that no cache keeps: it is of one caller, at one time."""
    text = environment().get_template(template).render(values)
    # A lone surrogate, as a source may have, is no text that can be sent.
    data, kind = text.encode("utf-8", "replace"), "text/html; charset=utf-8"
    response = uncached_response(request, data, media_type=kind, status=status)
    response.headers.update(_HEADERS)
    return response


def error_page(request: Request, status: int, message: str = "") -> Response:
    values = {"code": status, "message": message}
    return page_response(request, "error.html", values, status)


async def send_error_page(scope: "Scope", error: ErrorAnswer, send: "Send") -> None:
    """Send the page of an error that the guard answers for a browser."""
    request = Request(scope)
    response = error_page(request, error.status, error.message)
    response.raw_headers += error.headers
    await response(scope, request.receive, send)


def page_url(*parts: str, **query: object) -> str:
    """Return an address of the page; each part may be any text."""
    path = "/".join((PAGE_PATH, *map(encoded, parts)))
    pairs = [(key, value) for key, value in query.items() if value not in ("", None)]
    return f"{path}?{urlencode(pairs, errors='replace')}" if pairs else path


def encoded(text: str) -> str:
    """Return a text as one part of a path."""
    # `?` is what cannot be encoded becomes; nothing has such an address.
    return quote(text, safe="", errors="replace")


def _clip(text: str, most: int = _CLIP) -> str:
    return clip(" ".join(text.split()), most, at_words=True)
