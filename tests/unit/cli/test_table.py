"""Columns on terminals of any width."""

import pytest

from satchel.cli._terminal import layout
from satchel.text import cells

ROWS = [
    ("SKILL", "DESCRIPTION"),
    ("pdf-forms", "Read and fill in PDF forms of all kinds"),
]


@pytest.mark.parametrize(
    ("columns", "lines"),
    [
        (40, ["SKILL      DESCRIPTION", "pdf-forms  Read and fill in PDF forms…"]),
        (None, ["SKILL      DESCRIPTION", f"pdf-forms  {ROWS[1][1]}"]),
        (
            30,
            ["SKILL", "    DESCRIPTION", "pdf-forms", "    Read and fill in PDF…"],
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
