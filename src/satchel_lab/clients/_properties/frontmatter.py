"""What the frontmatter says, and how it is written in valid YAML."""

import re
from functools import partial
from types import NoneType
from typing import Final

from satchel.model import MAX_COMPATIBILITY_CHARS, MAX_DESCRIPTION_CHARS, MAX_NAME_CHARS
from satchel.skill_md import SPEC_FIELDS, Node, spec_name_violations
from satchel_lab.clients._pack import Detector, PackReader

# YAML 1.1, as PyYAML and most others read it: `no` is false, `1:30` is ninety.
_YAML_BOOLEAN: Final = re.compile(r"yes|no|on|off|true|false", re.IGNORECASE)
_YAML_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)")
_ODD_NUMBER: Final = re.compile(
    r"[-+]?(?:\d[\d_]*(?:\.[\d_]*)?(?:[eE][-+]?\d+)?|\.\d+|0x[0-9a-fA-F]+|0o[0-7]+"
    r"|\d+(?::[0-5]?\d)+)"
)
_YAML_NULL: Final = re.compile(r"~|null|Null|NULL")
_DATE: Final = re.compile(r"\d{4}-\d\d?-\d\d?")
_RESERVED: Final = re.compile(r"claude|anthropic")
_OTHER: Final = re.compile(r"[^\w\s-]")


def _name(reading: PackReader) -> str:
    if reading.is_hidden:
        return ""
    manifest = reading.parsed.manifest
    written = reading.source("name")
    if written is None and manifest is not None and "missing-name" not in reading.codes:
        return manifest.name
    return written or ""


def _is_name(reading: PackReader, pattern: re.Pattern[str]) -> bool:
    entry = reading.entry("name")
    return entry is not None and bool(pattern.fullmatch(entry.value.strip()))


def _is_odd(name: str) -> bool:
    return any(one.code == "name-characters" for one in spec_name_violations(name))


_BLOCK: Final = re.compile(r"[|>][-+0-9]*[ \t]*(?:#.*)?")
_COMMENT: Final = re.compile(r"\s#(?:\s|$)|\s#")
_NUMBER: Final = re.compile(r"[-+]?\d[\d_.]*")
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


# Source: semver.org, less what follows - or +.
_SEMANTIC: Final = re.compile(r"\d+\.\d+\.\d+(?:[-+].*)?")
_DATE_FIELD: Final = re.compile(
    r"^[ \t]+[\w.-]+:[ \t]+\d{4}-\d\d-\d\d[ \t]*$", re.MULTILINE
)


def _metadata(reading: PackReader) -> dict[str, Node]:
    value = reading.root.get("metadata")
    return value if isinstance(value, dict) else {}


def _has_date(reading: PackReader) -> bool:
    entry = reading.entry("metadata")
    lines = "\n".join(entry.more) if entry is not None else ""
    return bool(_metadata(reading)) and bool(_DATE_FIELD.search(lines))


def _items(reading: PackReader, key: str) -> list[Node]:
    value = reading.root.get(key)
    return value if isinstance(value, list) else []


def _is_number(value: Node) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_empty(reading: PackReader, key: str) -> bool:
    return key in reading.root and reading.root[key] is None


def _text(reading: PackReader, key: str) -> str:
    return (reading.source(key) or "").strip()


def _metadata_has(reading: PackReader, kind: type) -> bool:
    return any(isinstance(value, kind) for value in _metadata(reading).values())


def _is_said(reading: PackReader, key: str, kind: type | tuple[type, ...]) -> bool:
    return isinstance(reading.root.get(key), kind)


DETECTORS: Final[dict[str, Detector]] = {
    # The name.
    "missing-name": lambda r: "name" not in r.root and r.problem == "" and r.root,
    "no-name-and-odd-folder": lambda r: not _name(r) and _is_odd(r.candidate.folder),
    "empty-name": lambda r: (
        "name" in r.root
        and not _is_name(r, _YAML_NULL)
        and not _text(r, "name")
        and not isinstance(r.root["name"], list | dict)
    ),
    "null-name": lambda r: "name" in r.root and _is_name(r, _YAML_NULL),
    "name-not-text": lambda r: isinstance(r.root.get("name"), list | dict),
    "name-not-folder": lambda r: (
        _name(r) and _name(r).lower() != r.candidate.folder.lower()
    ),
    "name-not-folder-by-case": lambda r: (
        _name(r) != r.candidate.folder
        and _name(r).lower() == r.candidate.folder.lower()
    ),
    "name-number": lambda r: _is_name(r, _YAML_NUMBER),
    "name-odd-number": lambda r: (
        _is_name(r, _ODD_NUMBER) and not _is_name(r, _YAML_NUMBER)
    ),
    "name-boolean": lambda r: _is_name(r, _YAML_BOOLEAN),
    "name-date": lambda r: _is_name(r, _DATE),
    "name-upper-case": lambda r: _name(r) != _name(r).lower(),
    "name-underscore": lambda r: "_" in _name(r),
    "name-blank": lambda r: re.search(r"\s", _name(r).strip()),
    "name-blank-around": lambda r: _name(r) != _name(r).strip(),
    "name-not-ascii": lambda r: not _name(r).isascii(),
    "name-other-character": lambda r: _OTHER.search(_name(r)),
    "name-leading-hyphen": lambda r: _name(r).startswith("-"),
    "name-trailing-hyphen": lambda r: _name(r).endswith("-"),
    "name-double-hyphen": lambda r: "--" in _name(r),
    "name-leading-digit": lambda r: _name(r)[:1].isdigit() and not _name(r).isdigit(),
    "name-over-64": lambda r: len(_name(r)) > MAX_NAME_CHARS,
    "name-reserved-word": lambda r: _RESERVED.search(_name(r).lower()),
    # The description.
    "missing-description": lambda r: r.root and "description" not in r.root,
    "empty-description": lambda r: (
        _is_empty(r, "description") and not _NULL.fullmatch(_value(r))
    ),
    "null-description": lambda r: (
        "description" in r.root and _NULL.fullmatch(_value(r))
    ),
    "empty-quotes": lambda r: r.root.get("description") == "",
    "blank-quotes": lambda r: str(r.root.get("description", "")).isspace(),
    "description-list": lambda r: isinstance(r.root.get("description"), list),
    "description-mapping": lambda r: isinstance(r.root.get("description"), dict),
    "description-number": lambda r: _is_word(r, _NUMBER) and not _is_word(r, _DATE),
    "description-boolean": lambda r: _is_word(r, _YAML_BOOLEAN),
    "description-date": lambda r: _is_word(r, _DATE),
    **{
        f"description-over-{chars}": partial(_is_longer, chars=chars)
        for chars in (60, 250, MAX_DESCRIPTION_CHARS, 1536, 4096)
    },
    "description-angle-brackets": lambda r: re.search(r"[<>]", r.description),
    "description-folded-block": lambda r: _is_block(r, ">"),
    "description-literal-block": lambda r: _is_block(r, "|"),
    "description-many-lines": lambda r: r.root and "\n" in r.description,
    "description-wrapped": lambda r: _is_plain(r) and _more(r),
    "description-below-key": lambda r: (
        _more(r)
        and not _value(r)
        and isinstance(r.root.get("description"), str)
        and _more(r)[0].strip()[:1] not in "\"'"
    ),
    "description-quoted": lambda r: _quote(r) == '"',
    "description-single-quoted": lambda r: _quote(r) == "'",
    "description-quoted-wrapped": lambda r: _quote(r) and _more(r),
    "description-quoted-below-key": lambda r: (
        _more(r) and not _value(r) and _more(r)[0].strip()[:1] in {'"', "'"}
    ),
    "description-escaped-quote": lambda r: _quote(r) == '"' and '\\"' in _value(r),
    "description-escape": lambda r: (
        _quote(r) == '"' and re.search(r'\\[^"]', _value(r))
    ),
    "description-doubled-quote": lambda r: _quote(r) == "'" and "''" in _value(r),
    "description-quote-inside": lambda r: (
        _is_plain(r) and '"' in _value(r) and not _value(r).endswith('"')
    ),
    "description-quote-at-end": lambda r: (
        _is_plain(r) and not _more(r) and _value(r)[-1] in "\"'"
    ),
    "description-comment": lambda r: (
        _is_plain(r) and not _more(r) and _COMMENT.search(_value(r))
    ),
    "comment-behind-description": lambda r: (
        _quote(r) and not _more(r) and re.search(r"[\"']\s+#[^\"']*$", _value(r))
    ),
    "description-blank-around": lambda r: (
        _quote(r) and " " in {_value(r)[1:2], _value(r)[-2:-1]}
    ),
    "description-bracketed": lambda r: (
        _quote(r) and r.description[:1] == "[" and r.description[-1:] == "]"
    ),
    # Other fields.
    "unknown-field": lambda r: any(key not in SPEC_FIELDS for key in r.root),
    "metadata-number": lambda r: any(_is_number(v) for v in _metadata(r).values()),
    "metadata-boolean": lambda r: _metadata_has(r, bool),
    "metadata-date": _has_date,
    "metadata-null": lambda r: _metadata_has(r, NoneType),
    "metadata-list": lambda r: _metadata_has(r, list),
    "metadata-mapping": lambda r: _metadata_has(r, dict),
    "metadata-text": lambda r: _is_said(r, "metadata", (str, int, float)),
    "metadata-is-list": lambda r: _is_said(r, "metadata", list),
    "metadata-empty": lambda r: _is_empty(r, "metadata"),
    "tools-list": lambda r: _is_said(r, "allowed-tools", list),
    "tools-text": lambda r: _text(r, "allowed-tools"),
    "tools-commas": lambda r: "," in _text(r, "allowed-tools"),
    "tools-underscore-list": lambda r: _is_said(r, "allowed_tools", list),
    "tools-underscore-text": lambda r: _is_said(r, "allowed_tools", str),
    "tools-mapping": lambda r: _is_said(r, "allowed-tools", dict),
    "tools-empty": lambda r: _is_empty(r, "allowed-tools"),
    "compatibility-empty": lambda r: (
        "compatibility" in r.root
        and not _text(r, "compatibility")
        and not _is_said(r, "compatibility", (list, dict))
    ),
    "compatibility-text": lambda r: _text(r, "compatibility"),
    "compatibility-over-500": lambda r: (
        len(r.source("compatibility") or "") > MAX_COMPATIBILITY_CHARS
    ),
    "compatibility-list": lambda r: _is_said(r, "compatibility", list),
    "compatibility-mapping": lambda r: _is_said(r, "compatibility", dict),
    "license-not-text": lambda r: _is_said(r, "license", (list, dict)),
    "license-number": lambda r: _is_number(r.root.get("license")),
    "license-empty": lambda r: _is_empty(r, "license"),
    "triggers-list": lambda r: _is_said(r, "triggers", list),
    "triggers-of-mappings": lambda r: any(
        isinstance(item, dict) for item in _items(r, "triggers")
    ),
    "triggers-not-list": lambda r: (
        "triggers" in r.root and not _is_said(r, "triggers", list)
    ),
    "version-number": lambda r: _is_number(r.root.get("version")),
    "version-not-semantic": lambda r: (
        r.source("version") and not _SEMANTIC.fullmatch(r.source("version") or "")
    ),
    "tags-text": lambda r: _is_said(r, "tags", str),
    "hooks": lambda r: "hooks" in r.root,
    "no-model-invocation": lambda r: r.root.get("disable-model-invocation") is True,
    "not-user-invocable": lambda r: r.root.get("user-invocable") is False,
}
