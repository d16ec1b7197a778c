"""Markup and terminals."""

from __future__ import annotations

import html

import pytest

from satchel.text import escape_xml, printable


@pytest.mark.row("G26", "X20")
@pytest.mark.parametrize("text", ["plain", "<a b=\"c\" d='e'>&amp;</a>", ""])
def test_escaped_text_reads_back(text: str) -> None:
    """Quotes are left alone in text, and escaped in attributes."""
    plain, quoted = escape_xml(text), escape_xml(text, quotes=True)

    assert html.unescape(plain) == html.unescape(quoted) == text
    assert not set("<>") & set(plain)
    assert not set("<>\"'") & set(quoted)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\tb\n", "a\tb\n"),
        ("\x1b]0;title\x07", "<U+001B>]0;title<U+0007>"),
        ("a\rb\x9b2J", "a<U+000D>b<U+009B>2J"),
        ("a\u202eb\U000e0041\ud800", "a<U+202E>b<U+E0041><U+D800>"),
        ("\U0001f468\u200d\U0001f469 \u00e9", "\U0001f468\u200d\U0001f469 \u00e9"),
    ],
)
def test_a_terminal_is_told_no_more_than_text(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_on_one_line_nothing_breaks_it() -> None:
    assert printable("a\nb\tc", keep="") == "a<U+000A>b<U+0009>c"
