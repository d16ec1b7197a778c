"""How a person looks at a report."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from satchel.text import printable

__all__ = ["PLAIN", "View", "as_json", "in_log"]

_COMMAND: Final = re.compile(r"##(?=[A-Za-z]{0,20}\[)")


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


def in_log(text: str) -> str:
    """Return text of a pack as part of a line that may stand in the log of a CI system.

    ``##[error]``, ``##vso[...]`` and ``##teamcity[...]`` are commands anywhere in a
    line of standard output or error.
    """
    return _COMMAND.sub("## ", printable(text, keep=""))


def as_json(document: object) -> str:
    """Return JSON of ASCII that is safe on a terminal and in such a log."""
    text = json.dumps(document, indent=2).replace("\x7f", "\\u007f")
    return _COMMAND.sub(r"#\\u0023", text)
