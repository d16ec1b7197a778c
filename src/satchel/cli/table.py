"""Columns on a terminal of any width."""

from collections.abc import Iterator, Sequence
from typing import Final

__all__ = ["cells", "clip", "layout"]

MIN_LAST: Final = 24
"""Columns that the last cell needs to be worth a line beside the others."""


def cells(text: str) -> int:
    """Return how many columns a printable text takes."""
    if text.isascii():
        return len(text)
    return sum(_cells(char) for char in text)


def _cells(char: str) -> int:
    import unicodedata

    if unicodedata.combining(char) or char in "\u200c\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def clip(text: str, columns: int | None) -> str:
    """Return the text, cut with ``…`` where it is wider than ``columns``."""
    if columns is None or cells(text) <= columns:
        return text
    used = 0
    for end, char in enumerate(text):
        used += _cells(char)
        if used > columns - 1:
            return f"{text[:end].rstrip()}…"
    return text


def layout(rows: Sequence[tuple[str, ...]], columns: int | None) -> Iterator[str]:
    """Yield the lines of a table whose last column takes what is left of the width.

    On a narrow terminal each last cell gets a line of its own, indented.
    """
    if not rows:
        return
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)][:-1]
    taken = sum(width + 2 for width in widths)
    stacked = columns is not None and columns - taken < MIN_LAST
    for *heads, last in rows:
        if stacked:
            yield clip("  ".join(head for head in heads if head), columns)
            yield f"    {clip(last, max((columns or 0) - 4, 8))}"
            continue
        padded = (
            head + " " * (width - cells(head))
            for head, width in zip(heads, widths, strict=True)
        )
        rest = None if columns is None else columns - taken
        yield "  ".join([*padded, clip(last, rest)]).rstrip()
