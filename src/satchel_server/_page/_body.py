"""Markdown of a pack as HTML, with no markup of its own and nothing from elsewhere."""

import re
from collections.abc import Callable
from posixpath import dirname, join, normpath
from typing import Any, Final, cast
from urllib.parse import unquote, urlsplit

import nh3
import pyromark
from markupsafe import Markup

from satchel.text import printable

# Longer or deeper texts are shown as they are written: to clean up deeply nested
# markup takes time with the square of its depth.
MAX_CHARS: Final = 256 * 1024
_MAX_DEPTH: Final = 40
_OPTIONS: Final = pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_STRIKETHROUGH
_TAGS: Final = {
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote"),
    *("ul", "ol", "li", "em", "strong", "del", "a", "code", "pre"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_SCHEMES: Final = {"http", "https", "mailto"}
_LESS: Final = re.compile(b"<")
_HEADING: Final = re.compile(r"(</?h)([1-6])>")
# Headings of a body come below those of the page.
_LOWER_BY: Final = 2
_LOWEST: Final = 6


def body_html(
    text: str, url_of: Callable[[str], str | None], file: str
) -> Markup | None:
    """Return the HTML of Markdown; None where only its text can be shown.

    HTML in it is shown as it is written, and an image is a link to where it is.
    ``url_of`` returns the address of another file of the pack, by its path; links that
    lead nowhere are text. ``file`` is the path of this one.
    """
    plain = printable(text)
    edited = _without_markup(plain) if len(plain) <= MAX_CHARS else None
    if edited is None:
        return None

    def checked(tag: str, attribute: str, value: str) -> str | None:
        del tag
        # The other one is the `rel` of below.
        return _link(value, url_of, dirname(file)) if attribute == "href" else value

    html = nh3.clean(
        pyromark.html(edited, options=_OPTIONS),
        tags=_TAGS,
        attributes={"a": {"href"}},
        attribute_filter=checked,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    # What `nh3` returns has no attribute on a heading.
    return Markup(_HEADING.sub(_lower, html))  # noqa: S704 - it was cleaned just now


def _without_markup(text: str) -> str | None:
    """Return Markdown whose HTML is text, and images links; None if it is too deep."""
    data = text.encode()
    edits: dict[int, bytes] = {}
    depth = 0
    events: Any = pyromark.events_with_range(text, options=_OPTIONS)
    for event, place in events:
        # An event that is one word has no fields.
        fields = cast("dict[str, Any]", event) if isinstance(event, dict) else {"": ""}
        kind, what = next(iter(fields.items()))
        start, end = place["start"], place["end"]
        depth += {"Start": 1, "End": -1}.get(kind, 0)
        if depth > _MAX_DEPTH:
            return None
        if kind == "Start" and "Image" in what and data[start : start + 1] == b"!":
            edits[start] = b""
        elif kind in ("Html", "InlineHtml"):
            edits |= {m.start(): b"&lt;" for m in _LESS.finditer(data, start, end)}
    parts: list[bytes] = []
    last = 0
    for at, new in sorted(edits.items()):
        parts += data[last:at], new
        last = at + 1
    return b"".join((*parts, data[last:])).decode("utf-8", "replace")


def _link(value: str, url_of: Callable[[str], str | None], folder: str) -> str | None:
    try:
        parts = urlsplit(value)
    except ValueError:
        return None
    if parts.scheme or parts.netloc:
        return value if parts.scheme.lower() in _SCHEMES else None
    return url_of(normpath(join(folder, unquote(parts.path)))) if parts.path else None


def _lower(heading: re.Match[str]) -> str:
    return f"{heading[1]}{min(int(heading[2]) + _LOWER_BY, _LOWEST)}>"
