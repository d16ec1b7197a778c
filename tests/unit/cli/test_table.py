"""Columns on terminals of any width."""

import pytest

from satchel.cli._terminal import cells, clip, layout

ROWS = [
    ("SKILL", "DESCRIPTION"),
    ("pdf-forms", "Read and fill in PDF forms of all kinds"),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("abc", 3),
        ("技能", 4),
        ("e\u0301", 1),
        ("👩\u200d🚀", 4),
        ("❤\ufe0f", 1),
    ],
)
def test_cells(text: str, expected: int) -> None:
    assert cells(text) == expected


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
    ("columns", "lines"),
    [
        (40, ["SKILL      DESCRIPTION", "pdf-forms  Read and fill in PDF forms o…"]),
        (None, ["SKILL      DESCRIPTION", f"pdf-forms  {ROWS[1][1]}"]),
        (
            30,
            ["SKILL", "    DESCRIPTION", "pdf-forms", "    Read and fill in PDF form…"],
        ),
    ],
    ids=["cut", "whole", "two lines a row"],
)
def test_the_last_column_takes_the_rest(columns: int | None, lines: list[str]) -> None:
    assert list(layout(ROWS, columns)) == lines
    assert list(layout([], columns)) == []


@pytest.mark.parametrize("columns", [1, 5, 12, 34, 35, 80])
def test_any_width_works(columns: int) -> None:
    lines = list(layout(ROWS, columns))

    assert all(lines)
    assert max(map(cells, lines)) <= max(columns, 13)
