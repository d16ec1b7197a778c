"""Text of any kind, cleaned, shown and looked at."""

from __future__ import annotations

import html

import pytest
from hypothesis import given, strategies as st

from satchel.text import (
    EstimateCounter,
    clean_line,
    escape_xml,
    find_hidden,
    may_hide,
    printable,
)

pytestmark = pytest.mark.property

SPICE = (
    "\u200d\u200c\u200b\ufe0f\ufe00\u202e\u2028\x1b\x85\r\n \t<>&\"'\u3000\ud800\ufffe"
    "\U000e0041\U000e007f\U000e0100\U0001f468\U0001f3f4\u2764\u0645\u0915\u094d\u4e2d1#"
    "\u180b\u1820\u3164\u034f\u2014\ue000\u00ad"
)
texts = st.text(st.characters(codec=None) | st.sampled_from(SPICE), max_size=60)


@given(texts)
def test_a_clean_line_hides_nothing_and_stays(text: str) -> None:
    clean = clean_line(text)

    assert find_hidden(clean) == ()
    assert clean == clean_line(clean) == " ".join(clean.split())


@given(texts)
def test_what_is_seen_is_kept(text: str) -> None:
    """All that cleaning takes away is hidden or white space."""
    if not find_hidden(text):
        assert clean_line(text) == " ".join(text.split())


@given(texts)
def test_the_quick_look_misses_nothing(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")

    assert may_hide(data) or not find_hidden(text)


@given(texts)
def test_printable_text_is_safe_to_print(text: str) -> None:
    shown = printable(text)

    assert find_hidden(shown) == ()
    assert "\r" not in shown
    shown.encode()


@given(texts)
def test_escapes_are_undone(text: str) -> None:
    assert html.unescape(escape_xml(text)) == html.unescape(text.replace("&", "&amp;"))


@given(texts, texts)
def test_more_text_never_costs_less(text: str, more: str) -> None:
    count = EstimateCounter().count

    assert count(text) <= count(text + more) <= count(text) + count(more)
