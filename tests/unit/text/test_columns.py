"""How many columns a text fills, and where it is cut and wrapped."""

import pytest
from hypothesis import given, strategies as st

from satchel.text import cells, clip, printable, wrap


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("abc", 3),
        ("技能", 4),
        ("e\u0301", 1),
        ("ก\u0e31", 1),  # a mark of the class of letters
        ("각", 2),
        ("\u1100\u1161\u11a8", 2),
        ("👩\u200d🚀", 2),
        ("👩\u200d⚕\ufe0f", 2),
        ("👍🏽", 2),
        ("❤\ufe0f", 2),
        ("❤", 1),
        ("🇩🇪", 2),
        ("क\u094d\u200dष", 2),
        ("x\u200dy", 2),
    ],
)
def test_cells(text: str, expected: int) -> None:
    assert cells(text) == expected


@given(st.text(st.characters(max_codepoint=0x2600), max_size=8))
def test_narrow_text_fills_as_much_next_to_wide_text(text: str) -> None:
    # Next to a wide character each one is counted by itself.
    assert cells(f"{text} 技") == cells(text) + 3


def test_narrow_text_has_a_column_for_each_character() -> None:
    text = "Größe “Straße” — naïve… → └─ ø"

    assert cells(text) == len(text)


@pytest.mark.parametrize(
    ("text", "columns", "expected"),
    [
        ("abcdef", None, "abcdef"),
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("abc def", 5, "abc…"),
        ("技能技能", 5, "技能…"),
        ("技能技能", 4, "技…"),
    ],
)
def test_clip(text: str, columns: int | None, expected: str) -> None:
    assert clip(text, columns) == expected


@pytest.mark.parametrize(
    ("text", "columns", "lines"),
    [
        ("a bc def", None, ["> a bc def"]),
        ("a bc def", 20, ["> a bc def"]),
        ("one two three four", 14, ["> one two", "    three four"]),
        ("x" * 20, 12, ["> xxxxxxxxxx", "    xxxxxxxx", "    xx"]),
        ("技能技能技能", 12, ["> 技能技能技", "    能"]),
        ("a  b", 12, ["> a  b"]),
        ("", 12, ["> "]),
        ("xxxxxxxxxx::y", 12, ["> xxxxxxxxx", "    x::y"]),
        # Less than this is never a line: eight columns after what begins it.
        ("abcdefghijk", 1, ["> abcdefghij", "    k"]),
    ],
)
def test_wrap(text: str, columns: int | None, lines: list[str]) -> None:
    assert list(wrap(text, columns, first="> ", rest="    ")) == lines


@pytest.mark.property
@given(st.text().map(lambda text: printable(text, keep="")), st.integers(1, 40))
def test_what_is_wrapped_fits_and_loses_nothing_but_spaces(
    text: str, columns: int
) -> None:
    lines = list(wrap(text, columns, rest="  "))

    assert max(map(cells, lines)) <= max(columns, 10)
    assert all(line.startswith("  ") for line in lines[1:])
    shown = "".join([lines[0], *(line[2:] for line in lines[1:])])
    assert shown.replace(" ", "") == text.replace(" ", "")
