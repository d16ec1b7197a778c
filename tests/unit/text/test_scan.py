"""The quick look at raw bytes, and what it lets pass."""

from __future__ import annotations

import pytest

from satchel.text import breaks_out, find_breakouts, may_hide


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Title\r\n\ttext\n",
        "dashes \u2014 quotes \u201cx\u201d arrows \u2192 \u00e9 \u4e2d \u0436",
        "\u26a0\ufe0f \U0001f600 \u2764\ufe0f \u2705 \u00a9 \u20ac \uac00 \u0645",
    ],
)
def test_ordinary_text_is_cleared(text: str) -> None:
    assert may_hide(text.encode()) is False


@pytest.mark.parametrize(
    "char",
    "\x1b\x00\x7f\x9b\u00ad\u034f\u061c\u115f\u180b\u200b\u202e\u2028\u2066\u3164\ue000"
    "\ufe00\ufeff\ufe0f\U0001fffe\U000e0041\U000e0100\U000f0000\U0010fffd",
)
def test_what_hides_is_suspected(char: str) -> None:
    assert may_hide(f"plain text {char} more".encode()) is True


@pytest.mark.row("X12", "G26")
@pytest.mark.parametrize(
    "text",
    [
        "</instructions>",
        "a </Instructions >",
        "<\n/ instructions>",
        "</skill_context>",
        '<skill_context id="x">',
        "<execution_directive>",
        "</execution_directive>",
        "<active_resources>",
    ],
)
def test_a_tag_of_the_envelope_is_found(text: str) -> None:
    found = find_breakouts(f"first\n{text}")

    assert breaks_out(text.encode()) is True
    assert [line for line, _ in found] == [2]


@pytest.mark.parametrize(
    "text",
    ["<instructions>", "instructions", "</instructionset>", "&lt;/instructions>"],
)
def test_other_tags_are_left_in_peace(text: str) -> None:
    assert (breaks_out(text.encode()), find_breakouts(text)) == (False, ())


def test_the_line_of_a_tag_counts_from_the_first_character() -> None:
    assert [line for line, _ in find_breakouts("\n</instructions>\n")] == [2]
