"""How a person looks at a report."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

__all__ = ["PLAIN", "View"]


def _no_line(path: str, line: int) -> str | None:
    del path, line
    return None


@dataclass(frozen=True, slots=True)
class View:
    """Whether there are colours, how many columns, and how to see a line of a file.

    ``width`` is None where nothing limits a line. ``line_at`` takes a path as findings
    have it and a number from 1, and gives None for what cannot be shown.
    """

    colour: bool = False
    width: int | None = None
    line_at: Callable[[str, int], str | None] = _no_line


PLAIN: Final = View()
