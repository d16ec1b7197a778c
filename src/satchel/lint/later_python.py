"""Grammar that one Python takes and an earlier one refuses."""

import re
import sys
from typing import Final

__all__ = ["version_for"]

_F_STRING: Final = r"\b(?:[fF][rR]?|[rR][fF])([\"'])(?!\1\1)(?:(?!\1).)*\{"
_GRAMMAR: Final[tuple[tuple[int, re.Pattern[str]], ...]] = (
    # PEP 695: types with parameters, and the statement `type`.
    (12, re.compile(r"\s*type\s+\w+\s*(?:\[.*\]\s*)?=")),
    (12, re.compile(r"\s*(?:async\s+)?(?:def|class)\s+\w+\s*\[")),
    # PEP 701: in an f-string's braces its own quotes, a backslash, a line end.
    (12, re.compile(rf".*?{_F_STRING}[^{{}}]*(?:\1|\\)[^{{}}]*\}}")),
    (12, re.compile(rf".*?{_F_STRING}[^{{}}'\"]*\Z")),
    # PEP 758, 750: `except A, B:`, and t-strings.
    (14, re.compile(r"\s*except\s*\*?\s*[\w.]+\s*,\s*[\w.]+(?:\s*,\s*[\w.]+)*\s*:")),
    (14, re.compile(r".*\b(?:[tT][rR]?|[rR][tT])[\"']")),
    # PEP 810, 798: `lazy import`, and unpacking in comprehensions.
    (15, re.compile(r"\s*lazy\s+(?:import|from)\b")),
    (15, re.compile(r".*[\[({]\s*\*{1,2}\w[^\n]*\bfor\b")),
)
_MOST_CHARS: Final = 1_000
_MESSAGES: Final = {"f-string expression part cannot include": 12}


def version_for(text: str, line: int | None, message: str) -> str:
    """Return the Python that may take the line that this one refuses, or nothing.

    ``3.12`` means that and later ones. What every Python refuses gives nothing, and
    so does the grammar that the running one has.
    """
    lines = text.splitlines()
    if line is None or not 0 < line <= len(lines):
        return ""
    said = lines[line - 1][:_MOST_CHARS]
    minors = [minor for minor, grammar in _GRAMMAR if grammar.match(said)]
    minors += [minor for start, minor in _MESSAGES.items() if message.startswith(start)]
    later = [minor for minor in minors if minor > sys.version_info.minor]
    return f"3.{min(later)}" if later else ""
