"""What a pack is called, in its frontmatter and as a folder."""

import re
from typing import Final

from satchel.clients._pack import Detector, PackReader
from satchel.model import MAX_NAME_CHARS
from satchel.skill_md import spec_name_violations

# YAML 1.1, as PyYAML and most others read it: `no` is false, `1:30` is ninety.
_YAML_BOOLEAN: Final = re.compile(r"yes|no|on|off|true|false", re.IGNORECASE)
_YAML_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)")
_ODD_NUMBER: Final = re.compile(
    r"[-+]?(?:\d[\d_]*(?:\.[\d_]*)?(?:[eE][-+]?\d+)?|\.\d+|0x[0-9a-fA-F]+|0o[0-7]+"
    r"|\d+(?::[0-5]?\d)+)"
)
_YAML_NULL: Final = re.compile(r"~|null|Null|NULL")
_YAML_DATE: Final = re.compile(r"\d{4}-\d\d?-\d\d?")
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


def _is_plain(reading: PackReader, pattern: re.Pattern[str]) -> bool:
    entry = reading.entry("name")
    return entry is not None and bool(pattern.fullmatch(entry.value.strip()))


def _is_missing(reading: PackReader) -> bool:
    return "name" not in reading.root and reading.problem == "" and bool(reading.root)


def _is_odd(name: str) -> bool:
    return any(one.code == "name-characters" for one in spec_name_violations(name))


DETECTORS: Final[dict[str, Detector]] = {
    "missing-name": _is_missing,
    "no-name-and-odd-folder": lambda r: not _name(r) and _is_odd(r.candidate.folder),
    "empty-name": lambda r: (
        "name" in r.root
        and not _is_plain(r, _YAML_NULL)
        and not (r.source("name") or "").strip()
        and not isinstance(r.root["name"], list | dict)
    ),
    "null-name": lambda r: "name" in r.root and _is_plain(r, _YAML_NULL),
    "name-not-text": lambda r: isinstance(r.root.get("name"), list | dict),
    "name-not-folder": lambda r: (
        bool(_name(r)) and _name(r).lower() != r.candidate.folder.lower()
    ),
    "name-not-folder-by-case": lambda r: (
        _name(r) != r.candidate.folder
        and _name(r).lower() == r.candidate.folder.lower()
    ),
    "name-number": lambda r: _is_plain(r, _YAML_NUMBER),
    "name-odd-number": lambda r: (
        _is_plain(r, _ODD_NUMBER) and not _is_plain(r, _YAML_NUMBER)
    ),
    "name-boolean": lambda r: _is_plain(r, _YAML_BOOLEAN),
    "name-date": lambda r: _is_plain(r, _YAML_DATE),
    "name-upper-case": lambda r: _name(r) != _name(r).lower(),
    "name-underscore": lambda r: "_" in _name(r),
    "name-blank": lambda r: bool(re.search(r"\s", _name(r).strip())),
    "name-blank-around": lambda r: _name(r) != _name(r).strip(),
    "name-not-ascii": lambda r: not _name(r).isascii(),
    "name-other-character": lambda r: bool(_OTHER.search(_name(r))),
    "name-leading-hyphen": lambda r: _name(r).startswith("-"),
    "name-trailing-hyphen": lambda r: _name(r).endswith("-"),
    "name-double-hyphen": lambda r: "--" in _name(r),
    "name-leading-digit": lambda r: _name(r)[:1].isdigit() and not _name(r).isdigit(),
    "name-over-64": lambda r: len(_name(r)) > MAX_NAME_CHARS,
    "name-reserved-word": lambda r: bool(_RESERVED.search(_name(r).lower())),
}
