"""Pages and cursors."""

from __future__ import annotations

import base64

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import PaginatedRequestParams

from satchel.server._mcp._request import MAX_CURSOR_CHARS, page_of, reject_cursor

NAMES = ["a", "b", "c d", "é", "\ud800"]


def pages(names: list[str], size: int) -> list[list[str]]:
    found: list[list[str]] = []
    cursor = None
    while True:
        page, cursor = page_of(names, str, kind="k", cursor=cursor, size=size)
        found.append([*page])
        if cursor is None:
            return found


@pytest.mark.parametrize("size", [1, 2, 4, 5, 6])
def test_all_pages_together_are_the_list(size: int) -> None:
    found = pages(NAMES, size)

    assert [name for page in found for name in page] == NAMES
    assert all(len(page) == size for page in found[:-1])
    assert found[-1]


def test_an_empty_list_is_one_empty_page() -> None:
    assert pages([], 3) == [[]]


def test_a_list_may_change_between_two_pages() -> None:
    first, cursor = page_of(["a", "c", "e"], str, kind="k", cursor=None, size=2)
    then, end = page_of(["a", "b", "d", "e"], str, kind="k", cursor=cursor, size=2)

    assert (first, then, end) == (["a", "c"], ["d", "e"], None)


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "é",
        "!!!",
        "/////w",
        base64.urlsafe_b64encode(b"other\na").decode(),
        base64.urlsafe_b64encode(b"k").decode(),
        base64.urlsafe_b64encode(b"k\n\xff").decode(),
        "a" * (MAX_CURSOR_CHARS + 1),
    ],
    ids=["empty", "short", "accent", "marks", "bytes", "list", "half", "utf8", "long"],
)
def test_what_is_no_cursor_of_the_list_is_an_error(cursor: str) -> None:
    with pytest.raises(MCPError, match="no cursor") as raised:
        page_of(NAMES, str, kind="k", cursor=cursor, size=1)

    assert raised.value.code == -32602


def test_a_list_of_one_page_has_no_cursors() -> None:
    reject_cursor(None)
    reject_cursor(PaginatedRequestParams())
    with pytest.raises(MCPError, match="no cursor"):
        reject_cursor(PaginatedRequestParams(cursor="a"))
