"""What a text hides, what has to stay whole, and how it is shown safely."""

import html
import sys
import unicodedata

import pytest

from satchel.text import (
    clean_line,
    content_warnings,
    escape_xml,
    find_hidden,
    may_hide,
    printable,
)

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
ENGLAND = "\U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in "gbeng") + "\U000e007f"

WHOLE = {
    "family": FAMILY,
    "a heart in fire": "\u2764\ufe0f\u200d\U0001f525",
    "a dark thumb": "\U0001f44d\U0001f3ff",
    "a key": "1\ufe0f\u20e3",
    "a warning sign": "\u26a0\ufe0f",
    "England": ENGLAND,
    "Persian": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "Hindi": "\u0915\u094d\u200d\u0937",
    "Malayalam at a word's end": "\u0d28\u0d4d\u200d",
    "Mongolian": "\u1820\u180b",
    "a variant of a Chinese character": "\u845b\U000e0100",
    "a variant of a mathematical sign": "\u2268\ufe00",
}


@pytest.mark.row("G18", "E01")
@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE.keys())
def test_what_a_text_needs_stays_and_is_not_reported(text: str) -> None:
    assert (clean_line(f"a {text} b"), find_hidden(text)) == (f"a {text} b", ())


@pytest.mark.row("G17", "E01")
@pytest.mark.parametrize(
    ("text", "clean", "kinds"),
    [
        ("a\U000e0041\U000e0042b", "ab", ["2 tag characters"]),
        ("a\u202eb\u2069", "ab", ["2 bidirectional controls"]),
        ("a\u200bb\ufeff", "ab", ["2 zero-width characters"]),
        ("a\x1b[31mb\x00", "a[31mb", ["2 control characters"]),
        ("a\ue000b", "ab", ["1 private-use character"]),
        ("a\ud800b", "ab", ["1 lone surrogate"]),
        ("a\ufe0fb", "ab", ["1 variation selector"]),
        ("a\u3164b\ufffe", "ab", ["2 invisible characters"]),
        ("a\u200d\u200d\u0645\u200c\u200cb", "a\u0645b", ["4 zero-width characters"]),
        ("\U0001f3f4\U000e0067\U000e007f", "\U0001f3f4", ["2 tag characters"]),
        ("a\u2028b\x85c\x1cd", "a b c d", ["3 control characters"]),
        ("a\u200b\U000e0041b", "ab", ["1 tag character", "1 zero-width character"]),
    ],
)
def test_what_hides_is_removed_and_reported(
    text: str, clean: str, kinds: list[str]
) -> None:
    reported = [str(hidden) for hidden in find_hidden(text)]

    assert (clean_line(text), reported) == (clean, kinds)


@pytest.mark.row("C07", "G17")
@pytest.mark.parametrize(
    "text",
    ["a b", "a\nb", "a\r\nb", "a\rb", "a \t b", " a  b ", "a\u3000b", "a\u00a0 b\n"],
)
def test_white_space_becomes_one_space(text: str) -> None:
    assert clean_line(text) == "a b"


def test_a_clean_text_is_given_back_and_the_first_line_reported() -> None:
    text = "Use when a PDF is to be read \u2014 or \u201cfilled in\u201d."

    assert clean_line(text) is text

    hidden = find_hidden("a\nb\u200b\nc\u200b")

    assert [(h.line, h.count) for h in hidden] == [(2, 2)]

    assert printable("a\nb\tc", keep="") == "a<U+000A>b<U+0009>c"


@pytest.mark.slow
def test_every_character_of_the_hidden_categories_is_found() -> None:
    """Format characters with a shape of their own, and the unassigned, are not."""
    shaped = {
        *range(0x600, 0x606),
        *(0x6DD, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD),
        *range(0x13430, 0x13456),
        *range(0x1D173, 0x1D17B),
    }
    missed = [
        f"{code:04X}"
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
        and code not in {*shaped, *b"\t\n\r"}
        and not find_hidden(f"x{chr(code)}")
    ]

    assert missed == []


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
        *("</instructions>", "a </Instructions >", "<\n/ instructions>"),
        *("</skill_context>", '<skill_context id="x">', "<execution_directive>"),
        *("</execution_directive>", "<active_resources>"),
    ],
)
def test_a_tag_of_the_envelope_is_found(text: str) -> None:
    (found,) = content_warnings(f"first\n{text}".encode(), "SKILL.md")

    assert (found.code, found.line) == ("envelope-breakout", 2)


@pytest.mark.parametrize(
    "text",
    ["<instructions>", "instructions", "</instructionset>", "&lt;/instructions>"],
)
def test_other_tags_are_left_in_peace(text: str) -> None:
    assert content_warnings(text.encode(), "SKILL.md") == ()


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
def test_a_terminal_is_reported_no_more_than_text(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.row("E01", "X12")
@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("plain\n", []),
        ("\ufeffwith a mark\n", []),
        ("caf\u00e9 \U0001f468\u200d\U0001f469\u200d\U0001f467\n", []),
        ("a\n\ufeffb\n", [("hidden-text", 2)]),
        ("\n</instructions>\n", [("envelope-breakout", 2)]),
        (
            "\u202ea\n<execution_directive>\n",
            [("hidden-text", 1), ("envelope-breakout", 2)],
        ),
    ],
)
def test_content_warnings_have_codes_and_lines(
    text: str, reported: list[tuple[str, int]]
) -> None:
    found = content_warnings(text.encode(), "a/SKILL.md")

    assert [(finding.code, finding.line) for finding in found] == reported
    assert all(finding.path == "a/SKILL.md" for finding in found)
