"""What the description says, and how it is written in valid YAML."""

import re
from typing import Final

from satchel.clients._pack import Detector, PackReader
from satchel.model import MAX_DESCRIPTION_CHARS

_BLOCK: Final = re.compile(r"[|>][-+0-9]*[ \t]*(?:#.*)?")
_COMMENT: Final = re.compile(r"\s#(?:\s|$)|\s#")
_YAML_BOOLEAN: Final = re.compile(r"yes|no|on|off|true|false", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[-+]?\d[\d_.]*")
_DATE: Final = re.compile(r"\d{4}-\d\d?-\d\d?")
_NULL: Final = re.compile(r"~|null", re.IGNORECASE)


def _value(reading: PackReader) -> str:
    entry = reading.entry("description")
    return entry.value.strip() if entry is not None and reading.root else ""


def _more(reading: PackReader) -> tuple[str, ...]:
    entry = reading.entry("description")
    if entry is None or not reading.root:
        return ()
    return tuple(line for line in entry.more if line.strip() and line[0] != "#")


def _is_block(reading: PackReader, mark: str) -> bool:
    return bool(_BLOCK.fullmatch(_value(reading))) and _value(reading)[0] == mark


def _quote(reading: PackReader) -> str:
    return _value(reading)[:1] if _value(reading)[:1] in {'"', "'"} else ""


def _is_plain(reading: PackReader) -> bool:
    value = _value(reading)
    return bool(value) and value[0] not in "|>\"'[{&*!"


def _is_word(reading: PackReader, pattern: re.Pattern[str]) -> bool:
    return not _more(reading) and bool(pattern.fullmatch(_value(reading)))


def _is_longer(reading: PackReader, chars: int) -> bool:
    return len(reading.description) > chars


DETECTORS: Final[dict[str, Detector]] = {
    "missing-description": lambda r: bool(r.root) and "description" not in r.root,
    "empty-description": lambda r: (
        "description" in r.root
        and r.root["description"] is None
        and not _NULL.fullmatch(_value(r))
    ),
    "null-description": lambda r: (
        "description" in r.root and bool(_NULL.fullmatch(_value(r)))
    ),
    "empty-quotes": lambda r: r.root.get("description") == "",
    "blank-quotes": lambda r: (
        isinstance(r.root.get("description"), str)
        and str(r.root["description"]).isspace()
    ),
    "description-list": lambda r: isinstance(r.root.get("description"), list),
    "description-mapping": lambda r: isinstance(r.root.get("description"), dict),
    "description-number": lambda r: _is_word(r, _NUMBER) and not _is_word(r, _DATE),
    "description-boolean": lambda r: _is_word(r, _YAML_BOOLEAN),
    "description-date": lambda r: _is_word(r, _DATE),
    "description-over-60": lambda r: _is_longer(r, 60),
    "description-over-250": lambda r: _is_longer(r, 250),
    "description-over-1024": lambda r: _is_longer(r, MAX_DESCRIPTION_CHARS),
    "description-over-1536": lambda r: _is_longer(r, 1536),
    "description-over-4096": lambda r: _is_longer(r, 4096),
    "description-angle-brackets": lambda r: bool(re.search(r"[<>]", r.description)),
    "description-folded-block": lambda r: _is_block(r, ">"),
    "description-literal-block": lambda r: _is_block(r, "|"),
    "description-many-lines": lambda r: bool(r.root) and "\n" in r.description,
    "description-wrapped": lambda r: _is_plain(r) and bool(_more(r)),
    "description-below-key": lambda r: (
        bool(_more(r))
        and not _value(r)
        and isinstance(r.root.get("description"), str)
        and _more(r)[0].strip()[:1] not in "\"'"
    ),
    "description-quoted": lambda r: _quote(r) == '"',
    "description-single-quoted": lambda r: _quote(r) == "'",
    "description-quoted-wrapped": lambda r: bool(_quote(r)) and bool(_more(r)),
    "description-quoted-below-key": lambda r: (
        bool(_more(r)) and not _value(r) and _more(r)[0].strip()[:1] in {'"', "'"}
    ),
    "description-escaped-quote": lambda r: _quote(r) == '"' and '\\"' in _value(r),
    "description-escape": lambda r: (
        _quote(r) == '"' and bool(re.search(r'\\[^"]', _value(r)))
    ),
    "description-doubled-quote": lambda r: _quote(r) == "'" and "''" in _value(r),
    "description-quote-inside": lambda r: (
        _is_plain(r) and '"' in _value(r) and not _value(r).endswith('"')
    ),
    "description-quote-at-end": lambda r: (
        _is_plain(r) and not _more(r) and _value(r)[-1] in "\"'"
    ),
    "description-comment": lambda r: (
        _is_plain(r) and not _more(r) and bool(_COMMENT.search(_value(r)))
    ),
    "comment-behind-description": lambda r: (
        bool(_quote(r))
        and not _more(r)
        and bool(re.search(r"[\"']\s+#[^\"']*$", _value(r)))
    ),
    "description-blank-around": lambda r: (
        bool(_quote(r)) and " " in {_value(r)[1:2], _value(r)[-2:-1]}
    ),
    "description-bracketed": lambda r: (
        bool(_quote(r)) and r.description[:1] == "[" and r.description[-1:] == "]"
    ),
}
