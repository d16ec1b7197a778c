"""What the description says, and how it is written down in valid YAML."""

import re
from typing import Final

from satchel.compat.property import Property
from satchel.compat.reading import Reading

__all__ = ["PROPERTIES"]

_BLOCK: Final = re.compile(r"[|>][-+0-9]*[ \t]*(?:#.*)?")
_COMMENT: Final = re.compile(r"\s#(?:\s|$)|\s#")
_YAML_BOOLEAN: Final = re.compile(r"yes|no|on|off|true|false", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[-+]?\d[\d_.]*")
_DATE: Final = re.compile(r"\d{4}-\d\d?-\d\d?")
_NULL: Final = re.compile(r"~|null", re.IGNORECASE)


def _value(reading: Reading) -> str:
    """Return what stands on the line of `description:`, in valid YAML."""
    entry = reading.entry("description")
    return entry.value.strip() if entry is not None and reading.root else ""


def _more(reading: Reading) -> tuple[str, ...]:
    """Return the lines below it that are neither blank nor comments."""
    entry = reading.entry("description")
    if entry is None or not reading.root:
        return ()
    return tuple(line for line in entry.more if line.strip() and line[0] != "#")


def _is_block(reading: Reading, mark: str) -> bool:
    return bool(_BLOCK.fullmatch(_value(reading))) and _value(reading)[0] == mark


def _quote(reading: Reading) -> str:
    return _value(reading)[:1] if _value(reading)[:1] in {'"', "'"} else ""


def _is_plain(reading: Reading) -> bool:
    value = _value(reading)
    return bool(value) and value[0] not in "|>\"'[{&*!"


def _is_word(reading: Reading, pattern: re.Pattern[str]) -> bool:
    return not _more(reading) and bool(pattern.fullmatch(_value(reading)))


def _is_longer(reading: Reading, chars: int) -> bool:
    return len(reading.description) > chars


PROPERTIES: Final = (
    Property(
        "missing-description",
        "there is no `description:`",
        "say in `description:` what the skill does and when to use it",
        lambda r: bool(r.root) and "description" not in r.root,
    ),
    Property(
        "empty-description",
        "`description:` is empty",
        "say in `description:` what the skill does and when to use it",
        lambda r: (
            "description" in r.root
            and r.root["description"] is None
            and not _NULL.fullmatch(_value(r))
        ),
    ),
    Property(
        "null-description",
        "the description is `~` or `null`",
        "say in `description:` what the skill does and when to use it",
        lambda r: "description" in r.root and bool(_NULL.fullmatch(_value(r))),
    ),
    Property(
        "empty-quotes",
        'the description is `""`',
        "say in `description:` what the skill does and when to use it",
        lambda r: r.root.get("description") == "",
    ),
    Property(
        "blank-quotes",
        "the description is a quoted blank",
        "say in `description:` what the skill does and when to use it",
        lambda r: (
            isinstance(r.root.get("description"), str)
            and str(r.root["description"]).isspace()
        ),
    ),
    Property(
        "description-list",
        "the description is a list",
        "write the description as one text, in quotes",
        lambda r: isinstance(r.root.get("description"), list),
    ),
    Property(
        "description-mapping",
        "the description is a mapping",
        "write the description as one text, in quotes",
        lambda r: isinstance(r.root.get("description"), dict),
    ),
    Property(
        "description-number",
        "the description is a number",
        "write the description as text, in quotes",
        lambda r: _is_word(r, _NUMBER) and not _is_word(r, _DATE),
    ),
    Property(
        "description-boolean",
        "the description is a word that YAML takes for yes or no",
        "write the description as text, in quotes",
        lambda r: _is_word(r, _YAML_BOOLEAN),
    ),
    Property(
        "description-date",
        "the description is a date",
        "write the description as text, in quotes",
        lambda r: _is_word(r, _DATE),
    ),
    Property(
        "description-over-60",
        "the description has more than 60 characters",
        "say the point of the description in its first 57 characters",
        lambda r: _is_longer(r, 60),
    ),
    Property(
        "description-over-250",
        "the description has more than 250 characters",
        "shorten the description to 250 characters",
        lambda r: _is_longer(r, 250),
    ),
    Property(
        "description-over-1024",
        "the description has more than 1,024 characters",
        "shorten the description to 1,024 characters",
        lambda r: _is_longer(r, 1024),
    ),
    Property(
        "description-over-1536",
        "the description has more than 1,536 characters",
        "shorten the description to 1,024 characters",
        lambda r: _is_longer(r, 1536),
    ),
    Property(
        "description-over-4096",
        "the description has more than 4,096 characters",
        "shorten the description to 1,024 characters",
        lambda r: _is_longer(r, 4096),
    ),
    Property(
        "description-angle-brackets",
        "the description has angle brackets",
        "write the description without < and >",
        lambda r: bool(re.search(r"[<>]", r.description)),
    ),
    Property(
        "description-folded-block",
        "the description is a block behind `>`",
        "write the description on the line of `description:`, in double quotes",
        lambda r: _is_block(r, ">"),
    ),
    Property(
        "description-literal-block",
        "the description is a block behind `|`",
        "write the description on the line of `description:`, in double quotes",
        lambda r: _is_block(r, "|"),
    ),
    Property(
        "description-many-lines",
        "the description has line breaks in it",
        "write the description as one line",
        lambda r: bool(r.root) and "\n" in r.description,
    ),
    Property(
        "description-wrapped",
        "a plain description goes on in the next line",
        "write the description on one line",
        lambda r: _is_plain(r) and bool(_more(r)),
    ),
    Property(
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
    Property(
        "description-quoted",
        "the description is in double quotes",
        "write the description without quotes",
        lambda r: _quote(r) == '"',
    ),
    Property(
        "description-single-quoted",
        "the description is in single quotes",
        "put the description in double quotes",
        lambda r: _quote(r) == "'",
    ),
    Property(
        "description-quoted-wrapped",
        "a quoted description goes on in the next line",
        "write the description on one line",
        lambda r: bool(_quote(r)) and bool(_more(r)),
    ),
    Property(
        "description-quoted-below-key",
        "a quoted description begins in the line below `description:`",
        "write the description on the line of `description:`",
        lambda r: (
            bool(_more(r)) and not _value(r) and _more(r)[0].strip()[:1] in {'"', "'"}
        ),
    ),
    Property(
        "description-escaped-quote",
        "the description has an escaped double quote in double quotes",
        "write single quotes inside the description",
        lambda r: _quote(r) == '"' and '\\"' in _value(r),
    ),
    Property(
        "description-escape",
        "the description has a backslash escape other than of a quote",
        "write the character itself",
        lambda r: _quote(r) == '"' and bool(re.search(r'\\[^"]', _value(r))),
    ),
    Property(
        "description-doubled-quote",
        "the description has a doubled single quote in single quotes",
        "put the description in double quotes",
        lambda r: _quote(r) == "'" and "''" in _value(r),
    ),
    Property(
        "description-quote-inside",
        "a plain description has double quotes in it",
        "put the description in double quotes, and write single ones inside",
        lambda r: _is_plain(r) and '"' in _value(r) and not _value(r).endswith('"'),
    ),
    Property(
        "description-quote-at-end",
        "a plain description ends with a quote",
        "put the description in double quotes, and write single ones inside",
        lambda r: _is_plain(r) and not _more(r) and _value(r)[-1] in "\"'",
    ),
    Property(
        "description-comment",
        "a plain description has a ` #` in it, where YAML begins a comment",
        "put the description in double quotes",
        lambda r: _is_plain(r) and not _more(r) and bool(_COMMENT.search(_value(r))),
    ),
    Property(
        "comment-behind-description",
        "a comment follows a quoted description",
        "take the comment away",
        lambda r: (
            bool(_quote(r))
            and not _more(r)
            and bool(re.search(r"[\"']\s+#[^\"']*$", _value(r)))
        ),
    ),
    Property(
        "description-blank-around",
        "a quoted description begins or ends with a blank",
        "take the blank away",
        lambda r: bool(_quote(r)) and " " in {_value(r)[1:2], _value(r)[-2:-1]},
    ),
    Property(
        "description-bracketed",
        "a quoted description stands in brackets",
        "begin the description with a letter",
        lambda r: (
            bool(_quote(r)) and r.description[:1] == "[" and r.description[-1:] == "]"
        ),
    ),
)
