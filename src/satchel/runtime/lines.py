"""The lines of files that findings are about."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from satchel.text.decoding import decode, is_text

__all__ = ["line_reader"]

_MOST_BYTES: Final = 1024 * 1024


def line_reader() -> Callable[[str, int], str | None]:
    """Return what gives a line of a file by its number, from 1; None for none.

    The last file is remembered, for findings come file by file.
    """
    last: tuple[str, list[str]] = ("", [])

    def line_at(path: str, number: int) -> str | None:
        nonlocal last
        if last[0] != path:
            last = (path, _lines(path))
        return last[1][number - 1] if 0 < number <= len(last[1]) else None

    return line_at


def _lines(path: str) -> list[str]:
    file = Path(path)
    try:
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            return []
        data = file.read_bytes()
    except (OSError, ValueError):
        return []
    return decode(data).text.split("\n") if is_text(data) else []
