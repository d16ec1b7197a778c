"""Valid YAML of the kinds that not every loader reads."""

import re
from typing import Final

from satchel.clients._pack import Detector, PackReader
from satchel.skill_md import SPEC_FIELDS, YamlTree

_FLOW_MAPPING: Final = re.compile(r"^ *(?:- +)*(?:[\w.-]+: +)?\{", re.MULTILINE)
_FLOW_LIST: Final = re.compile(r"^ *(?:- +)*(?:[\w.-]+: +)?\[", re.MULTILINE)
_STANDARD_TAG: Final = re.compile(r":[ \t]+!!(?:str|int|float|bool|null|seq|map)\b")
_TAB_AFTER: Final = re.compile(r"^[\w.-]+:[ ]*\t", re.MULTILINE)
_INDENTED: Final = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*[ ]+[\w-]+[ ]*:(?:\s|\Z)")
_PLAIN_KEY: Final = re.compile(r"[^\W\d][\w .-]*")


def _outside_text(reading: PackReader) -> str:
    """Return the lines of valid YAML that are not in a block of text."""
    lines: list[str] = []
    for entry in reading.entries:
        lines.append(entry.first)
        if entry.value[:1] not in {"|", ">", '"', "'"}:
            lines.extend(entry.more)
    return "\n".join(lines) if reading.root else ""


def _has_duplicates(reading: PackReader) -> bool:
    return isinstance(reading.read, YamlTree) and bool(reading.read.duplicates)


DETECTORS: Final[dict[str, Detector]] = {
    "duplicate-key": _has_duplicates,
    "anchor": lambda r: r.problem == "yaml-anchor",
    "undefined-alias": lambda r: r.problem == "yaml-alias",
    "tag": lambda r: r.problem == "yaml-tag" and not _STANDARD_TAG.search(r.head),
    "standard-tag": lambda r: (
        r.problem == "yaml-tag" and bool(_STANDARD_TAG.search(r.head))
    ),
    "tab-behind-colon": lambda r: bool(_TAB_AFTER.search(_outside_text(r))),
    "indented-fields": lambda r: bool(r.root) and bool(_INDENTED.match(r.head)),
    "complex-key": lambda r: r.problem == "complex-key",
    "flow-list": lambda r: bool(_FLOW_LIST.search(_outside_text(r))),
    "flow-mapping": lambda r: bool(_FLOW_MAPPING.search(_outside_text(r))),
    "unknown-field-empty": lambda r: any(
        value is None for key, value in r.root.items() if key not in SPEC_FIELDS
    ),
    "odd-key": lambda r: any(not _PLAIN_KEY.fullmatch(key) for key in r.root),
    "quoted-key": lambda r: bool(
        re.search(r"^[\"']description[\"']", r.head, re.MULTILINE)
    ),
}
