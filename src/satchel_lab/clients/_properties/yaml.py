"""Frontmatter that is not valid YAML, and valid YAML that not every loader reads."""

import re
from typing import Final

from satchel.model import DEFAULT_LIMITS
from satchel.skill_md import SPEC_FIELDS, FrontmatterEntry, YamlTree, read_tree
from satchel_lab.clients._pack import Detector, PackReader

_BLOCK: Final = re.compile(r"[|>][-+0-9]*[ \t]*(?:#.*)?")
_BLOCK_TEXT: Final = re.compile(r"[|>][-+0-9]*[ \t]+\S")
_NESTED: Final = re.compile(r"^[ \t]+(?:name|description)[ \t]*:", re.MULTILINE)
_PAIR: Final = re.compile(r"^(\s*\w[\w-]*):\s+(.+)$")
_RESERVED: Final = frozenset("@`%*&!,]}?-#{[")


def _entry(reading: PackReader) -> FrontmatterEntry | None:
    return reading.entry("description") if reading.is_broken else None


def _value(reading: PackReader) -> str:
    entry = _entry(reading)
    return entry.value.strip() if entry is not None else ""


def _more(reading: PackReader) -> bool:
    entry = _entry(reading)
    return entry is not None and any(line.strip() for line in entry.more)


def _breaks(reading: PackReader) -> bool:
    entry = _entry(reading)
    if entry is None:
        return False
    return not isinstance(read_tree(entry.text.encode(), DEFAULT_LIMITS), YamlTree)


def _runs_on_at_margin(reading: PackReader) -> bool:
    entry = _entry(reading)
    return entry is not None and any(
        line and not line[0].isspace() for line in entry.more
    )


def _starts(reading: PackReader, marks: str) -> bool:
    return _breaks(reading) and _value(reading)[:1] in set(marks)


def _is_plain(reading: PackReader) -> bool:
    value = _value(reading)
    return bool(value) and value[0] not in _RESERVED and value[0] not in "|>\"'"


def _colons_quoted(head: str) -> YamlTree | None:
    lines: list[str] = []
    for line in head.split("\n"):
        pair = _PAIR.match(line)
        if pair is not None and ":" in pair[2] and pair[2][0] not in "\"'":
            lines.append(f'{pair[1]}: "{pair[2]}"')
        else:
            lines.append(line)
    read = read_tree("\n".join(lines).encode("utf-8", "replace"), DEFAULT_LIMITS)
    return read if isinstance(read, YamlTree) else None


def _reads_otherwise(reading: PackReader) -> bool:
    tree = _colons_quoted(reading.head) if reading.is_broken else None
    if tree is None:
        return False
    words = (tree.text("description") or "").split()
    return words != reading.description.split()


def _kind_of_quotes(reading: PackReader, quote: str) -> str:
    """Return what is wrong with the quotes of a description that is not valid YAML."""
    if not _starts(reading, quote):
        return ""
    value = _value(reading)
    if quote not in value[1:]:
        return "open"
    if not value.endswith(quote):
        return "after"
    return "below" if _more(reading) else "inside"


def _quoted_elsewhere(reading: PackReader, quote: str) -> bool:
    return not _breaks(reading) and _value(reading)[:1] == quote


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


# Loaders that give up on an invalid file do not differ here. Those that repair it, or
# read it by lines, differ by how the description is written.
DETECTORS: Final[dict[str, Detector]] = {
    "broken-field": lambda r: r.is_broken and not _breaks(r),
    "unquoted-colon": lambda r: _breaks(r) and _is_plain(r) and not _more(r),
    "unquoted-colon-wrapped": lambda r: _breaks(r) and _is_plain(r) and _more(r),
    "text-behind-block-mark": lambda r: _breaks(r) and _BLOCK_TEXT.match(_value(r)),
    "broken-block": lambda r: _breaks(r) and _BLOCK.fullmatch(_value(r)),
    "broken-below-key": lambda r: _breaks(r) and not _value(r),
    "reserved-first-character": lambda r: _starts(r, "@`%*&!,]}?-#"),
    "text-behind-bracket": lambda r: _starts(r, "[{"),
    "double-quotes-inside-double-quotes": lambda r: _kind_of_quotes(r, '"') == "inside",
    "text-behind-double-quote": lambda r: _kind_of_quotes(r, '"') == "after",
    "text-below-double-quote": lambda r: _kind_of_quotes(r, '"') == "below",
    "open-double-quote": lambda r: _kind_of_quotes(r, '"') == "open",
    "single-quotes-inside-single-quotes": lambda r: _kind_of_quotes(r, "'") == "inside",
    "text-behind-single-quote": lambda r: _kind_of_quotes(r, "'") == "after",
    "text-below-single-quote": lambda r: _kind_of_quotes(r, "'") == "below",
    "open-single-quote": lambda r: _kind_of_quotes(r, "'") == "open",
    "broken-quoted-wrapped": lambda r: (
        _more(r) and "after" in {_kind_of_quotes(r, '"'), _kind_of_quotes(r, "'")}
    ),
    "reserved-wrapped": lambda r: _starts(r, "@`%*&!,]}?-#[{") and _more(r),
    "block-mark-wrapped": lambda r: (
        _breaks(r) and _BLOCK_TEXT.match(_value(r)) and _more(r)
    ),
    "broken-field-wrapped-description": lambda r: (
        not _breaks(r) and _is_plain(r) and _more(r)
    ),
    "broken-field-block-description": lambda r: (
        not _breaks(r) and _BLOCK.fullmatch(_value(r))
    ),
    "broken-field-below-key": lambda r: not _breaks(r) and not _value(r) and _more(r),
    "broken-field-quoted-description": lambda r: _quoted_elsewhere(r, '"'),
    "broken-field-escape-in-description": lambda r: (
        _quoted_elsewhere(r, '"') and "\\" in _value(r)
    ),
    "broken-field-single-quoted-description": lambda r: _quoted_elsewhere(r, "'"),
    "broken-field-doubled-quote-in-description": lambda r: (
        _quoted_elsewhere(r, "'") and "''" in _value(r)
    ),
    "broken-quote-at-end": lambda r: (
        _is_plain(r) and not _more(r) and _value(r)[-1] in "\"'"
    ),
    "broken-comment": lambda r: (
        not _breaks(r) and _is_plain(r) and not _more(r) and " #" in _value(r)
    ),
    "broken-nested-name": lambda r: r.is_broken and _NESTED.search(r.head),
    "beyond-colons": lambda r: r.is_broken and _colons_quoted(r.head) is None,
    "colons-mend-otherwise": _reads_otherwise,
    "tab-indentation": lambda r: r.is_broken and "tab-indentation" in r.codes,
    "indented-key": lambda r: r.is_broken and "indentation" in r.codes,
    "unindented-text": _runs_on_at_margin,
    "stray-text": lambda r: r.is_broken and "stray-text" in r.codes,
    "duplicate-key": lambda r: isinstance(r.read, YamlTree) and r.read.duplicates,
    "anchor": lambda r: r.problem == "yaml-anchor",
    "undefined-alias": lambda r: r.problem == "yaml-alias",
    "tag": lambda r: r.problem == "yaml-tag" and not _STANDARD_TAG.search(r.head),
    "standard-tag": lambda r: r.problem == "yaml-tag" and _STANDARD_TAG.search(r.head),
    "tab-behind-colon": lambda r: _TAB_AFTER.search(_outside_text(r)),
    "indented-fields": lambda r: r.root and _INDENTED.match(r.head),
    "complex-key": lambda r: r.problem == "complex-key",
    "flow-list": lambda r: _FLOW_LIST.search(_outside_text(r)),
    "flow-mapping": lambda r: _FLOW_MAPPING.search(_outside_text(r)),
    "unknown-field-empty": lambda r: any(
        value is None for key, value in r.root.items() if key not in SPEC_FIELDS
    ),
    "odd-key": lambda r: any(not _PLAIN_KEY.fullmatch(key) for key in r.root),
    "quoted-key": lambda r: re.search(r"^[\"']description[\"']", r.head, re.MULTILINE),
}
