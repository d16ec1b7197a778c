"""Valid YAML of the kinds that not every loader reads."""

import re
from typing import Final

from satchel.clients._pack import PackProperty, PackReader
from satchel.skill_md import SPEC_FIELDS, YamlTree

_FLOW_MAPPING: Final = re.compile(r"^ *(?:- +)*(?:[\w.-]+: +)?\{", re.MULTILINE)
_FLOW_LIST: Final = re.compile(r"^ *(?:- +)*(?:[\w.-]+: +)?\[", re.MULTILINE)
_STANDARD_TAG: Final = re.compile(r":[ \t]+!!(?:str|int|float|bool|null|seq|map)\b")
_TAB_BEHIND: Final = re.compile(r"^[\w.-]+:[ ]*\t", re.MULTILINE)
_INDENTED: Final = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*[ ]+[\w-]+[ ]*:(?:\s|\Z)")
_PLAIN_KEY: Final = re.compile(r"[^\W\d][\w .-]*")


def _outside_text(reading: PackReader) -> str:
    """Return the lines of valid YAML that lie in no block of text."""
    kept: list[str] = []
    for entry in reading.entries:
        kept.append(entry.first)
        if entry.value[:1] not in {"|", ">", '"', "'"}:
            kept.extend(entry.more)
    return "\n".join(kept) if reading.root else ""


def _has_duplicates(reading: PackReader) -> bool:
    return isinstance(reading.read, YamlTree) and bool(reading.read.duplicates)


PROPERTIES: Final = (
    PackProperty(
        "duplicate-key",
        "a key stands twice",
        "keep one of the two",
        _has_duplicates,
    ),
    PackProperty(
        "anchor",
        "a value has an anchor, &name",
        "take the & away, or put the value in quotes",
        lambda r: r.problem == "yaml-anchor",
    ),
    PackProperty(
        "undefined-alias",
        "a value is an alias, *name, of nothing",
        "put the value in quotes",
        lambda r: r.problem == "yaml-alias",
    ),
    PackProperty(
        "tag",
        "a value has a tag, !name",
        "take the ! away, or put the value in quotes",
        lambda r: r.problem == "yaml-tag" and not _STANDARD_TAG.search(r.head),
    ),
    PackProperty(
        "standard-tag",
        "a value has a tag of YAML itself, such as !!str",
        "take the tag away, and put the value in quotes",
        lambda r: r.problem == "yaml-tag" and bool(_STANDARD_TAG.search(r.head)),
    ),
    PackProperty(
        "tab-behind-colon",
        "a tab stands between a key's colon and its value",
        "write a blank in place of the tab",
        lambda r: bool(_TAB_BEHIND.search(_outside_text(r))),
    ),
    PackProperty(
        "indented-fields",
        "every field is indented",
        "begin each field at the margin",
        lambda r: bool(r.root) and bool(_INDENTED.match(r.head)),
    ),
    PackProperty(
        "complex-key",
        "a key is a list or a mapping, as `{{name}}` is",
        "put the value in quotes",
        lambda r: r.problem == "complex-key",
    ),
    PackProperty(
        "flow-list",
        "a field is a list in brackets",
        "write one item a line, each behind `- `",
        lambda r: bool(_FLOW_LIST.search(_outside_text(r))),
    ),
    PackProperty(
        "flow-mapping",
        "a field is a mapping in braces",
        "write one key a line, indented",
        lambda r: bool(_FLOW_MAPPING.search(_outside_text(r))),
    ),
    PackProperty(
        "unknown-field-empty",
        "a field that the specification does not have is empty",
        "leave the field out",
        lambda r: any(
            value is None for key, value in r.root.items() if key not in SPEC_FIELDS
        ),
    ),
    PackProperty(
        "odd-key",
        "a key is no word, such as a number",
        "give the field a name of letters",
        lambda r: any(not _PLAIN_KEY.fullmatch(key) for key in r.root),
    ),
    PackProperty(
        "quoted-key",
        "`description` itself is in quotes",
        "write description: without quotes",
        lambda r: bool(re.search(r"^[\"']description[\"']", r.head, re.MULTILINE)),
    ),
)
