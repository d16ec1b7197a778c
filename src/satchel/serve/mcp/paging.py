"""Pages of a list in order of its keys; a page begins behind the last key of the other.

So a list may change between two pages: nothing that stays is told twice or left out.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams

__all__ = ["only_page", "page_of"]

_T = TypeVar("_T")

MAX_CURSOR_CHARS: Final = 8_192


def page_of(
    items: Sequence[_T],
    key: Callable[[_T], str],
    *,
    kind: str,
    cursor: str | None,
    size: int,
) -> tuple[Sequence[_T], str | None]:
    """Return one page and the cursor of the next; None behind the last one.

    Args:
        items: The whole list, sorted by ``key``.
        key: Tells items apart.
        kind: Which list it is: a cursor of one is none of another.
        cursor: Where the page begins; None is at the beginning.
        size: Items on a page.

    Raises:
        MCPError: The cursor is none that this list gives: -32602.
    """
    start = 0
    if cursor is not None:
        start = bisect_right(items, _last_of(cursor, kind), key=key)
    page = items[start : start + size]
    if start + size >= len(items):
        return page, None
    text = f"{kind}\n{key(page[-1])}".encode("utf-8", "surrogatepass")
    return page, urlsafe_b64encode(text).decode().rstrip("=")


def only_page(params: PaginatedRequestParams | None) -> None:
    """Let a request pass for a list that has one page, so that it has no cursors.

    Raises:
        MCPError: There is a cursor: -32602.
    """
    if params is not None and params.cursor is not None:
        raise _no_cursor()


def _no_cursor() -> MCPError:
    return MCPError(INVALID_PARAMS, "this is no cursor of this list")


def _last_of(cursor: str, kind: str) -> str:
    if len(cursor) <= MAX_CURSOR_CHARS:
        try:
            padding = "=" * (-len(cursor) % 4)
            raw = urlsafe_b64decode(cursor.encode("ascii") + padding.encode())
            given, line, last = raw.decode("utf-8", "surrogatepass").partition("\n")
        except ValueError:
            given = line = last = ""
        if given == kind and line:
            return last
    raise _no_cursor()
