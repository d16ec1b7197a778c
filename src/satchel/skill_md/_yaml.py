"""Plain scalars by the YAML 1.2 core schema, section 10.3.2 of the specification."""

import re
from collections.abc import Mapping
from typing import Final, TypeAlias

Value: TypeAlias = "str | int | float | bool | None"

FIRST_OF_ODD: Final = frozenset(["", *"~nNtTfF+-.0123456789"])
"""First characters of the plain scalars that may be something else than a string."""

_WORDS: Final[Mapping[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER_STARTS: Final = frozenset("+-.0123456789")
_INT: Final = re.compile(r"[-+]?[0-9]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BASED: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_MAX_DIGITS: Final = 4_000
"""A longer number stays text: Python itself refuses to read one over 4,300 digits."""


def resolve(text: str) -> Value:
    """Return the core-schema value of a plain scalar.

    Three plain scalars stay text because JSON has no such number: ``.nan``,
    ``.inf``, and a float too large for 64 bits.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS or len(text) > _MAX_DIGITS:
        return text
    if _INT.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return text if number in _INFINITE else number
    return text


_INFINITE: Final = (float("inf"), float("-inf"))
