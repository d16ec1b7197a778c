"""What a pack is called, in its frontmatter and as a folder."""

import re
from typing import Final

from satchel.clients._pack import PackProperty, PackReader
from satchel.skill_md import spec_name_violations

_MAX_CHARS: Final = 64
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
    """Return the declared name; empty where there is none."""
    if reading.is_hidden:
        return ""
    manifest = reading.parsed.manifest
    said = reading.source("name")
    if said is None and manifest is not None and "missing-name" not in reading.codes:
        return manifest.name
    return said or ""


def _is_plain(reading: PackReader, pattern: re.Pattern[str]) -> bool:
    """Whether the name is such a scalar, without quotes."""
    entry = reading.entry("name")
    return entry is not None and bool(pattern.fullmatch(entry.value.strip()))


def _is_missing(reading: PackReader) -> bool:
    return "name" not in reading.root and reading.problem == "" and bool(reading.root)


def _is_odd(name: str) -> bool:
    return any(each.code == "name-characters" for each in spec_name_violations(name))


PROPERTIES: Final = (
    PackProperty(
        "missing-name",
        "there is no `name:`",
        "write `name:` with the folder's name",
        _is_missing,
    ),
    PackProperty(
        "no-name-and-odd-folder",
        "there is no name, and the folder's breaks the rules for names",
        "name the folder in a-z, 0-9 and single hyphens, and write that as `name:`",
        lambda r: not _name(r) and _is_odd(r.candidate.folder),
    ),
    PackProperty(
        "empty-name",
        "`name:` is empty",
        "write the folder's name behind `name:`",
        lambda r: (
            "name" in r.root
            and not _is_plain(r, _YAML_NULL)
            and not (r.source("name") or "").strip()
            and not isinstance(r.root["name"], list | dict)
        ),
    ),
    PackProperty(
        "null-name",
        "the name is `~` or `null`",
        "write the folder's name, in quotes if it is that word",
        lambda r: "name" in r.root and _is_plain(r, _YAML_NULL),
    ),
    PackProperty(
        "name-not-text",
        "the name is a list or a mapping",
        "write the name as text",
        lambda r: isinstance(r.root.get("name"), list | dict),
    ),
    PackProperty(
        "name-not-folder",
        "the name is not the folder's",
        "give the folder the name of `name:`",
        lambda r: bool(_name(r)) and _name(r).lower() != r.candidate.folder.lower(),
    ),
    PackProperty(
        "name-not-folder-by-case",
        "the name and the folder's differ by upper and lower case only",
        "give the folder the name of `name:`",
        lambda r: (
            _name(r) != r.candidate.folder
            and _name(r).lower() == r.candidate.folder.lower()
        ),
    ),
    PackProperty(
        "name-number",
        "the name is a number",
        "put the name in quotes, or put a letter before it",
        lambda r: _is_plain(r, _YAML_NUMBER),
    ),
    PackProperty(
        "name-odd-number",
        "the name is a number that programs write otherwise, such as 1.10",
        "put the name in quotes, or put a letter before it",
        lambda r: _is_plain(r, _ODD_NUMBER) and not _is_plain(r, _YAML_NUMBER),
    ),
    PackProperty(
        "name-boolean",
        "the name is a word that YAML takes for yes or no",
        "put the name in quotes",
        lambda r: _is_plain(r, _YAML_BOOLEAN),
    ),
    PackProperty(
        "name-date",
        "the name is a date",
        "put the name in quotes",
        lambda r: _is_plain(r, _YAML_DATE),
    ),
    PackProperty(
        "name-upper-case",
        "the name has upper-case letters",
        "write the name in lower case, and the folder's with it",
        lambda r: _name(r) != _name(r).lower(),
    ),
    PackProperty(
        "name-underscore",
        "the name has an underscore",
        "write hyphens in place of underscores, in the folder's name, too",
        lambda r: "_" in _name(r),
    ),
    PackProperty(
        "name-blank",
        "the name has a blank in it",
        "write hyphens in place of blanks, in the folder's name, too",
        lambda r: bool(re.search(r"\s", _name(r).strip())),
    ),
    PackProperty(
        "name-blank-around",
        "a quoted name begins or ends with a blank",
        "take the blank away",
        lambda r: _name(r) != _name(r).strip(),
    ),
    PackProperty(
        "name-not-ascii",
        "the name has letters outside ASCII",
        "write the name in a-z, 0-9 and hyphens",
        lambda r: not _name(r).isascii(),
    ),
    PackProperty(
        "name-other-character",
        "the name has a character that is no letter, digit, hyphen, or underscore",
        "write the name in a-z, 0-9 and hyphens",
        lambda r: bool(_OTHER.search(_name(r))),
    ),
    PackProperty(
        "name-leading-hyphen",
        "the name begins with a hyphen",
        "take the hyphen away, in the folder's name, too",
        lambda r: _name(r).startswith("-"),
    ),
    PackProperty(
        "name-trailing-hyphen",
        "the name ends with a hyphen",
        "take the hyphen away, in the folder's name, too",
        lambda r: _name(r).endswith("-"),
    ),
    PackProperty(
        "name-double-hyphen",
        "the name has two hyphens in a row",
        "write one hyphen, in the folder's name, too",
        lambda r: "--" in _name(r),
    ),
    PackProperty(
        "name-leading-digit",
        "the name begins with a digit",
        "begin the name with a letter",
        lambda r: _name(r)[:1].isdigit() and not _name(r).isdigit(),
    ),
    PackProperty(
        "name-over-64",
        "the name has more than 64 characters",
        "shorten the name, and the folder's with it",
        lambda r: len(_name(r)) > _MAX_CHARS,
    ),
    PackProperty(
        "name-reserved-word",
        "the name has `claude` or `anthropic` in it",
        "leave the word out",
        lambda r: bool(_RESERVED.search(_name(r).lower())),
    ),
)
