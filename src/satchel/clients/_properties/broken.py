"""Frontmatter that is no YAML: what breaks it, and what a line-by-line look still sees.

Loaders that give up on such a file differ in nothing here. Those that mend it, or read
it line by line, differ by how the description is written.
"""

import re
from typing import Final

from satchel.clients._pack import PackProperty, PackReader
from satchel.model import DEFAULT_LIMITS
from satchel.skill_md import FrontmatterEntry, YamlTree, read_tree

_QUOTE_IT: Final = "put the description in double quotes"
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


def _is_broken_itself(reading: PackReader) -> bool:
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
    return _is_broken_itself(reading) and _value(reading)[:1] in set(marks)


def _is_plain(reading: PackReader) -> bool:
    value = _value(reading)
    return bool(value) and value[0] not in _RESERVED and value[0] not in "|>\"'"


def _colons_quoted(head: str) -> YamlTree | None:
    """Return the YAML that quoting each value with a colon in it gives."""
    lines: list[str] = []
    for line in head.split("\n"):
        pair = _PAIR.match(line)
        if pair is not None and ":" in pair[2] and pair[2][0] not in "\"'":
            lines.append(f'{pair[1]}: "{pair[2]}"')
        else:
            lines.append(line)
    read = read_tree("\n".join(lines).encode("utf-8", "replace"), DEFAULT_LIMITS)
    return read if isinstance(read, YamlTree) else None


def _is_beyond_colons(reading: PackReader) -> bool:
    return reading.is_broken and _colons_quoted(reading.head) is None


def _reads_otherwise(reading: PackReader) -> bool:
    tree = _colons_quoted(reading.head) if reading.is_broken else None
    if tree is None:
        return False
    said = (tree.text("description") or "").split()
    return said != reading.description.split()


def _kind_of_quotes(reading: PackReader, quote: str) -> str:
    """Return how the quotes of a description that is no YAML go wrong."""
    if not _starts(reading, quote):
        return ""
    value = _value(reading)
    if quote not in value[1:]:
        return "open"
    if not value.endswith(quote):
        return "behind"
    return "below" if _more(reading) else "inside"


def _quoted_elsewhere(reading: PackReader, quote: str) -> bool:
    return not _is_broken_itself(reading) and _value(reading)[:1] == quote


PROPERTIES: Final = (
    PackProperty(
        "broken-field",
        "a field other than the description is no YAML",
        "put the field's value in double quotes",
        lambda r: r.is_broken and not _is_broken_itself(r),
    ),
    PackProperty(
        "unquoted-colon",
        "a plain description has a colon and a blank in it",
        _QUOTE_IT,
        lambda r: _is_broken_itself(r) and _is_plain(r) and not _more(r),
    ),
    PackProperty(
        "unquoted-colon-wrapped",
        "a plain description of several lines has a colon and a blank in it",
        _QUOTE_IT,
        lambda r: _is_broken_itself(r) and _is_plain(r) and _more(r),
    ),
    PackProperty(
        "text-behind-block-mark",
        "the description stands on the line of > or |, which want it below",
        "take the > or | away, and put the description in double quotes",
        lambda r: _is_broken_itself(r) and bool(_BLOCK_TEXT.match(_value(r))),
    ),
    PackProperty(
        "broken-block",
        "the description is a block behind > or |, badly indented",
        "indent every line of the text alike",
        lambda r: _is_broken_itself(r) and bool(_BLOCK.fullmatch(_value(r))),
    ),
    PackProperty(
        "broken-below-key",
        "the description begins below its key, and is no YAML",
        _QUOTE_IT,
        lambda r: _is_broken_itself(r) and not _value(r),
    ),
    PackProperty(
        "reserved-first-character",
        "the description begins with one of @ ` % * & ! , ] } ? - #",
        _QUOTE_IT,
        lambda r: _starts(r, "@`%*&!,]}?-#"),
    ),
    PackProperty(
        "text-behind-bracket",
        "the description begins with a bracket or brace, and goes on behind it",
        _QUOTE_IT,
        lambda r: _starts(r, "[{"),
    ),
    PackProperty(
        "double-quotes-inside-double-quotes",
        "the description has double quotes in double quotes",
        "write a backslash before each quote inside",
        lambda r: _kind_of_quotes(r, '"') == "inside",
    ),
    PackProperty(
        "text-behind-double-quote",
        "text follows the closing double quote on its line",
        "put the whole description in double quotes",
        lambda r: _kind_of_quotes(r, '"') == "behind",
    ),
    PackProperty(
        "text-below-double-quote",
        "text follows the closing double quote on the next lines",
        "put the whole description in double quotes",
        lambda r: _kind_of_quotes(r, '"') == "below",
    ),
    PackProperty(
        "open-double-quote",
        "the double quote before the description is never closed on its line",
        "put the whole description in double quotes",
        lambda r: _kind_of_quotes(r, '"') == "open",
    ),
    PackProperty(
        "single-quotes-inside-single-quotes",
        "the description has an apostrophe in single quotes",
        _QUOTE_IT,
        lambda r: _kind_of_quotes(r, "'") == "inside",
    ),
    PackProperty(
        "text-behind-single-quote",
        "text follows the closing single quote on its line",
        _QUOTE_IT,
        lambda r: _kind_of_quotes(r, "'") == "behind",
    ),
    PackProperty(
        "text-below-single-quote",
        "text follows the closing single quote on the next lines",
        _QUOTE_IT,
        lambda r: _kind_of_quotes(r, "'") == "below",
    ),
    PackProperty(
        "open-single-quote",
        "the single quote before the description is never closed on its line",
        _QUOTE_IT,
        lambda r: _kind_of_quotes(r, "'") == "open",
    ),
    PackProperty(
        "broken-quoted-wrapped",
        "text follows the closing quote on its line, and goes on in the next",
        "write the description on one line, in double quotes",
        lambda r: (
            _more(r) and "behind" in {_kind_of_quotes(r, '"'), _kind_of_quotes(r, "'")}
        ),
    ),
    PackProperty(
        "reserved-wrapped",
        "a description that begins with @, `, * or the like goes on in the next line",
        "write the description on one line, in double quotes",
        lambda r: _starts(r, "@`%*&!,]}?-#[{") and _more(r),
    ),
    PackProperty(
        "block-mark-wrapped",
        "a description behind > or | on its line goes on in the next line",
        "take the > or | away, and put the description in double quotes",
        lambda r: (
            _is_broken_itself(r) and bool(_BLOCK_TEXT.match(_value(r))) and _more(r)
        ),
    ),
    PackProperty(
        "broken-field-wrapped-description",
        "another field is no YAML, and a plain description goes on in the next line",
        "put that field in double quotes",
        lambda r: not _is_broken_itself(r) and _is_plain(r) and _more(r),
    ),
    PackProperty(
        "broken-field-block-description",
        "another field is no YAML, and the description is a block behind > or |",
        "put that field in double quotes",
        lambda r: not _is_broken_itself(r) and bool(_BLOCK.fullmatch(_value(r))),
    ),
    PackProperty(
        "broken-field-below-key",
        "another field is no YAML, and the description begins below its key",
        "put that field in double quotes",
        lambda r: not _is_broken_itself(r) and not _value(r) and _more(r),
    ),
    PackProperty(
        "broken-field-quoted-description",
        "another field is no YAML, and the description is in double quotes",
        "put that field in double quotes",
        lambda r: _quoted_elsewhere(r, '"'),
    ),
    PackProperty(
        "broken-field-escape-in-description",
        "another field is no YAML, and the quoted description has a backslash in it",
        "put that field in double quotes",
        lambda r: _quoted_elsewhere(r, '"') and "\\" in _value(r),
    ),
    PackProperty(
        "broken-field-single-quoted-description",
        "another field is no YAML, and the description is in single quotes",
        "put that field in double quotes",
        lambda r: _quoted_elsewhere(r, "'"),
    ),
    PackProperty(
        "broken-field-doubled-quote-in-description",
        "another field is no YAML, and the description has a doubled single quote",
        "put that field in double quotes",
        lambda r: _quoted_elsewhere(r, "'") and "''" in _value(r),
    ),
    PackProperty(
        "broken-quote-at-end",
        "the frontmatter is no YAML, and a plain description ends with a quote",
        _QUOTE_IT,
        lambda r: _is_plain(r) and not _more(r) and _value(r)[-1] in "\"'",
    ),
    PackProperty(
        "broken-comment",
        "the frontmatter is no YAML, and a plain description has a ` #` in it",
        _QUOTE_IT,
        lambda r: (
            not _is_broken_itself(r)
            and _is_plain(r)
            and not _more(r)
            and " #" in _value(r)
        ),
    ),
    PackProperty(
        "broken-nested-name",
        "the frontmatter is no YAML, and a nested field is called name or description",
        "put values with special characters in double quotes",
        lambda r: r.is_broken and bool(_NESTED.search(r.head)),
    ),
    PackProperty(
        "beyond-colons",
        "the frontmatter is no YAML, and quoting values with a colon does not mend it",
        "put values with special characters in double quotes",
        _is_beyond_colons,
    ),
    PackProperty(
        "colons-mend-otherwise",
        "quoting values with a colon makes it YAML that says something else",
        "put values with special characters in double quotes",
        _reads_otherwise,
    ),
    PackProperty(
        "tab-indentation",
        "a line of the frontmatter is indented with a tab",
        "indent with blanks",
        lambda r: r.is_broken and "tab-indentation" in r.codes,
    ),
    PackProperty(
        "indented-key",
        "name or description is indented, or glued to its value",
        "begin the field at the margin, with one blank behind its colon",
        lambda r: r.is_broken and "indentation" in r.codes,
    ),
    PackProperty(
        "unindented-text",
        "the description runs on at the margin, where YAML wants the next field",
        "indent every line of the text",
        _runs_on_at_margin,
    ),
    PackProperty(
        "stray-text",
        "text stands before the first field",
        "delete it, or write a # before it",
        lambda r: r.is_broken and "stray-text" in r.codes,
    ),
)
