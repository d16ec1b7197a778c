"""Text as a double-quoted YAML scalar, which is a JSON string too."""

import re
from typing import Final

__all__ = ["quoted"]

_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
# What YAML calls printable, less the line ends that it once had, and the byte order
# mark, which would be taken for one.
_SPECIAL: Final = re.compile(
    '["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]'
)


def quoted(text: str) -> str:
    """Return ``text`` in double quotes on one line; every YAML parser reads it back."""
    return f'"{_SPECIAL.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return _SHORT.get(char) or f"\\u{ord(char):04x}"
