"""Markdown of a pack as HTML, with no markup of its own and nothing from elsewhere."""

import re
from collections.abc import Callable, Iterator
from posixpath import dirname, join, normpath
from typing import Any, Final
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
    if len(plain) > MAX_CHARS:
        return None
    data = plain.encode()
    edits = _edits(plain, data)
    if edits is None:
        return None

    def checked(tag: str, attribute: str, value: str) -> str | None:
        del tag
        # The other one is the `rel` of below.
        return _link(value, url_of, dirname(file)) if attribute == "href" else value

    html = nh3.clean(
        pyromark.html(_edited(data, edits), options=_OPTIONS),
        tags=_TAGS,
        attributes={"a": {"href"}},
        attribute_filter=checked,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    # What `nh3` returns has no attribute on a heading.
    return Markup(_HEADING.sub(_lower, html))  # noqa: S704 - it was cleaned just now


def _edits(text: str, data: bytes) -> list[tuple[int, int, bytes]] | None:
    """Return what to replace in the bytes, in order; None if it is nested too deep."""
    edits: dict[int, tuple[int, int, bytes]] = {}
    depth = 0
    for event, place in _events(text):
        start, end = place["start"], place["end"]
        if event:
            kind, what = next(iter(event.items()))
            depth += {"Start": 1, "End": -1}.get(kind, 0)
            if depth > _MAX_DEPTH:
                return None
            if kind == "Start" and "Image" in what and data[start : start + 1] == b"!":
                edits[start] = start, start + 1, b""
            elif kind in ("Html", "InlineHtml"):
                for at in range(start, end):
                    if data[at : at + 1] == b"<":
                        edits[at] = at, at + 1, b"&lt;"
    return [edits[at] for at in sorted(edits)]


def _edited(data: bytes, edits: list[tuple[int, int, bytes]]) -> str:
    parts: list[bytes] = []
    last = 0
    for start, end, new in edits:
        parts += data[last:start], new
        last = end
    return b"".join((*parts, data[last:])).decode("utf-8", "replace")


def _events(text: str) -> Iterator[tuple[dict[str, Any], dict[str, int]]]:
    """Yield the events with their places; those that are one word have no fields."""
    events: Any = pyromark.events_with_range(text, options=_OPTIONS)
    for event, place in events:
        yield (event if isinstance(event, dict) else {}), place


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
