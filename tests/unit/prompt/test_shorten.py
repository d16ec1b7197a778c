"""A shortened description can still be read."""

from __future__ import annotations

import pytest

from satchel.prompt._render import shorten

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [
        ("short", 5, "short"),
        ("one two three", 9, "one two\u2026"),
        ("one, two three", 6, "one\u2026"),
        ("onelongword", 5, "onel\u2026"),
        ("\u4e2d\u6587\u5b57\u7b26\u4e32", 4, "\u4e2d\u6587\u5b57\u2026"),
        (f"abc{FAMILY}def", 7, "abc\u2026"),
        ("cafe\u0301s", 5, "caf\u2026"),
        ("x\U0001f44d\U0001f3ffyz", 3, "x\u2026"),
    ],
)
def test_it_ends_behind_a_word_or_a_whole_character(
    text: str, limit: int, short: str
) -> None:
    assert shorten(text, limit) == short
