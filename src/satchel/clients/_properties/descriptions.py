"""What the description says, and how it is written down in valid YAML."""

import re
from typing import Final

from satchel.clients._pack import PackProperty, PackReader

_BLOCK: Final = re.compile(r"[|>][-+0-9]*[ \t]*(?:#.*)?")
_COMMENT: Final = re.compile(r"\s#(?:\s|$)|\s#")
_YAML_BOOLEAN: Final = re.compile(r"yes|no|on|off|true|false", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[-+]?\d[\d_.]*")
_DATE: Final = re.compile(r"\d{4}-\d\d?-\d\d?")
_NULL: Final = re.compile(r"~|null", re.IGNORECASE)


def _value(reading: PackReader) -> str:
    """Return what stands on the line of `description:`, in valid YAML."""
    entry = reading.entry("description")
    return entry.value.strip() if entry is not None and reading.root else ""


def _more(reading: PackReader) -> tuple[str, ...]:
    """Return the lines below it that are neither blank nor comments."""
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


PROPERTIES: Final = (
    PackProperty(
        "missing-description",
        "there is no `description:`",
        "say in `description:` what the skill does and when to use it",
        lambda r: bool(r.root) and "description" not in r.root,
    ),
    PackProperty(
        "empty-description",
        "`description:` is empty",
        "say in `description:` what the skill does and when to use it",
        lambda r: (
            "description" in r.root
            and r.root["description"] is None
            and not _NULL.fullmatch(_value(r))
        ),
    ),
    PackProperty(
        "null-description",
        "the description is `~` or `null`",
        "say in `description:` what the skill does and when to use it",
        lambda r: "description" in r.root and bool(_NULL.fullmatch(_value(r))),
    ),
    PackProperty(
        "empty-quotes",
        'the description is `""`',
        "say in `description:` what the skill does and when to use it",
        lambda r: r.root.get("description") == "",
    ),
    PackProperty(
        "blank-quotes",
        "the description is a quoted blank",
        "say in `description:` what the skill does and when to use it",
        lambda r: (
            isinstance(r.root.get("description"), str)
            and str(r.root["description"]).isspace()
        ),
    ),
    PackProperty(
        "description-list",
        "the description is a list",
        "write the description as one text, in quotes",
        lambda r: isinstance(r.root.get("description"), list),
    ),
    PackProperty(
        "description-mapping",
        "the description is a mapping",
        "write the description as one text, in quotes",
        lambda r: isinstance(r.root.get("description"), dict),
    ),
    PackProperty(
        "description-number",
        "the description is a number",
        "write the description as text, in quotes",
        lambda r: _is_word(r, _NUMBER) and not _is_word(r, _DATE),
    ),
    PackProperty(
        "description-boolean",
        "the description is a word that YAML takes for yes or no",
        "write the description as text, in quotes",
        lambda r: _is_word(r, _YAML_BOOLEAN),
    ),
    PackProperty(
        "description-date",
        "the description is a date",
        "write the description as text, in quotes",
        lambda r: _is_word(r, _DATE),
    ),
    PackProperty(
        "description-over-60",
        "the description has more than 60 characters",
        "say the point of the description in its first 57 characters",
        lambda r: _is_longer(r, 60),
    ),
    PackProperty(
        "description-over-250",
        "the description has more than 250 characters",
        "shorten the description to 250 characters",
        lambda r: _is_longer(r, 250),
    ),
    PackProperty(
        "description-over-1024",
        "the description has more than 1,024 characters",
        "shorten the description to 1,024 characters",
        lambda r: _is_longer(r, 1024),
    ),
    PackProperty(
        "description-over-1536",
        "the description has more than 1,536 characters",
        "shorten the description to 1,024 characters",
        lambda r: _is_longer(r, 1536),
    ),
    PackProperty(
        "description-over-4096",
        "the description has more than 4,096 characters",
        "shorten the description to 1,024 characters",
        lambda r: _is_longer(r, 4096),
    ),
    PackProperty(
        "description-angle-brackets",
        "the description has angle brackets",
        "write the description without < and >",
        lambda r: bool(re.search(r"[<>]", r.description)),
    ),
    PackProperty(
        "description-folded-block",
        "the description is a block behind `>`",
        "write the description on the line of `description:`, in double quotes",
        lambda r: _is_block(r, ">"),
    ),
    PackProperty(
        "description-literal-block",
        "the description is a block behind `|`",
        "write the description on the line of `description:`, in double quotes",
        lambda r: _is_block(r, "|"),
    ),
    PackProperty(
        "description-many-lines",
        "the description has line breaks in it",
        "write the description as one line",
        lambda r: bool(r.root) and "\n" in r.description,
    ),
    PackProperty(
        "description-wrapped",
        "a plain description goes on in the next line",
        "write the description on one line",
        lambda r: _is_plain(r) and bool(_more(r)),
    ),
    PackProperty(
        "description-below-key",
        "a plain description begins in the line below `description:`",
        "write the description on the line of `description:`",
        lambda r: (
            bool(_more(r))
            and not _value(r)
            and isinstance(r.root.get("description"), str)
            and _more(r)[0].strip()[:1] not in "\"'"
        ),
    ),
    PackProperty(
        "description-quoted",
        "the description is in double quotes",
        "write the description without quotes",
        lambda r: _quote(r) == '"',
    ),
    PackProperty(
        "description-single-quoted",
        "the description is in single quotes",
        "put the description in double quotes",
        lambda r: _quote(r) == "'",
    ),
    PackProperty(
        "description-quoted-wrapped",
        "a quoted description goes on in the next line",
        "write the description on one line",
        lambda r: bool(_quote(r)) and bool(_more(r)),
    ),
    PackProperty(
        "description-quoted-below-key",
        "a quoted description begins in the line below `description:`",
        "write the description on the line of `description:`",
        lambda r: (
            bool(_more(r)) and not _value(r) and _more(r)[0].strip()[:1] in {'"', "'"}
        ),
    ),
    PackProperty(
        "description-escaped-quote",
        "the description has an escaped double quote in double quotes",
        "write single quotes inside the description",
        lambda r: _quote(r) == '"' and '\\"' in _value(r),
    ),
    PackProperty(
        "description-escape",
        "the description has a backslash escape other than of a quote",
        "write the character itself",
        lambda r: _quote(r) == '"' and bool(re.search(r'\\[^"]', _value(r))),
    ),
    PackProperty(
        "description-doubled-quote",
        "the description has a doubled single quote in single quotes",
        "put the description in double quotes",
        lambda r: _quote(r) == "'" and "''" in _value(r),
    ),
    PackProperty(
        "description-quote-inside",
        "a plain description has double quotes in it",
        "put the description in double quotes, and write single ones inside",
        lambda r: _is_plain(r) and '"' in _value(r) and not _value(r).endswith('"'),
    ),
    PackProperty(
        "description-quote-at-end",
        "a plain description ends with a quote",
        "put the description in double quotes, and write single ones inside",
        lambda r: _is_plain(r) and not _more(r) and _value(r)[-1] in "\"'",
    ),
    PackProperty(
        "description-comment",
        "a plain description has a ` #` in it, where YAML begins a comment",
        "put the description in double quotes",
        lambda r: _is_plain(r) and not _more(r) and bool(_COMMENT.search(_value(r))),
    ),
    PackProperty(
        "comment-behind-description",
        "a comment follows a quoted description",
        "take the comment away",
        lambda r: (
            bool(_quote(r))
            and not _more(r)
            and bool(re.search(r"[\"']\s+#[^\"']*$", _value(r)))
        ),
    ),
    PackProperty(
        "description-blank-around",
        "a quoted description begins or ends with a blank",
        "take the blank away",
        lambda r: bool(_quote(r)) and " " in {_value(r)[1:2], _value(r)[-2:-1]},
    ),
    PackProperty(
        "description-bracketed",
        "a quoted description stands in brackets",
        "begin the description with a letter",
        lambda r: (
            bool(_quote(r)) and r.description[:1] == "[" and r.description[-1:] == "]"
        ),
    ),
)
