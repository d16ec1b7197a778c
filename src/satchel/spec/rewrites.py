"""Rewrites of one broken entry: each knows one mistake, and may not apply.

A rewrite never decides by itself: `mend` keeps it only where the YAML parser then
takes the entry. None of them ever sees valid YAML, so none can change its meaning.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from satchel.spec.entries import Entry
from satchel.spec.quoting import quoted

__all__ = [
    "TEXT_FIELDS",
    "Rewrite",
    "entry_rewrites",
    "fold",
    "line_rewrite",
    "literal_rewrites",
    "realigned",
    "translated",
    "unmarked",
]


class Rewrite(NamedTuple):
    """The code of a mistake, and the entry without it."""

    code: str
    text: str


TEXT_FIELDS: Final = frozenset(["name", "description", "when_to_use", "compatibility"])
"""Fields that are one text, whatever their lines look like."""
_RESERVED: Final = frozenset("[]{},>|*&!%@`?-#\"'")
_LEADING_TABS: Final = re.compile(r"^[ ]*\t[ \t]*", re.MULTILINE)
_BLOCK: Final = re.compile(r"([|>])(?:[-+]?\d?|\d[-+])[ \t]+(?=[^\s#])")
_DOUBLE_QUOTED: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_BAD_ESCAPE: Final = re.compile(
    r"""\\(?:x(?![0-9a-fA-F]{2})|u(?![0-9a-fA-F]{4})|U(?![0-9a-fA-F]{8})"""
    r"""|[^0abt\tnvfre "/\\N_LPxuU\n])"""
)
_RESERVED_ITEM: Final = re.compile(r"(?<=[\[,])(\s*)([@`%*&!|>][^,\[\]{}\n]*)")
_PAIR: Final = re.compile(
    r"([ ]*(?:-[ ]+)*(?:\"[^\"]*\"|[^\s:#\"'\[{-][^:]*?):[ \t]+)(\S.*)"
)
_ITEM: Final = re.compile(r"([ ]*(?:-[ ]+)+)(\S.*)")
_LIST_MARK: Final = re.compile(
    r"[-*+•][ \t]|\(?\d{1,2}[.)、]|[（(]\d{1,2}[)）]"  # noqa: RUF001
)
_COMMENT: Final = re.compile(r"\s*#(?:\s|$)")


def realigned(entry: Entry) -> tuple[Entry, str]:
    """Return the entry where it should stand, and what was wrong, if anything."""
    code = ""
    if entry.slipped:
        entry, code = _set_right(entry), "indentation"
    if _LEADING_TABS.search(entry.text):
        entry, code = _without_tabs(entry), "tab-indentation"
    return entry, code


def entry_rewrites(entry: Entry) -> Iterator[Rewrite]:
    """Yield what the entry may have meant, the likeliest first."""
    text = _DOUBLE_QUOTED.sub(_double_backslashes, entry.text)
    if text != entry.text:
        yield Rewrite("bad-escape", text)
    block = _BLOCK.match(entry.value)
    if block is not None and not entry.value[block.end()].isdigit():
        yield Rewrite("block-text", _pair(entry, _block(entry, block)))
    text = _RESERVED_ITEM.sub(_quote_item, entry.text)
    if text != entry.text:
        yield Rewrite("reserved-character", text)


def literal_rewrites(entry: Entry) -> Iterator[Rewrite]:
    """Yield the value as the text that it looks like; the last one always applies."""
    text = fold(entry.value, entry.more)
    if text[:1] in {'"', "'"}:
        yield Rewrite("bad-quotes", _pair(entry, unquote(text)))
    yield Rewrite(_mistake(entry, text), _pair(entry, text))


def line_rewrite(line: str) -> Rewrite | None:
    """Return a nested line with its value quoted; None where it has no plain value."""
    match = _PAIR.fullmatch(line) or _ITEM.fullmatch(line)
    if match is None:
        return None
    value = match[2].rstrip()
    if value[0] in "\"'":
        text = unquote(value)
        return Rewrite("bad-quotes", match[1] + quoted(text))
    code = "reserved-character" if value[0] in _RESERVED else "unquoted-colon"
    return Rewrite(code, match[1] + quoted(value))


def fold(value: str, more: tuple[str, ...]) -> str:
    """Return lines as one text, as YAML folds a plain scalar, but keep lists as lists.

    A blank line is a line break, so is one before a list item and one that Markdown
    writes with two blanks. Comment lines are left out.
    """
    parts: list[str] = []
    hard = True
    for line in (value, *more):
        text = line.strip()
        if not text or (_COMMENT.match(line) and line is not value):
            hard = True
            continue
        if parts:
            parts.append("\n" if hard or _LIST_MARK.match(text) else " ")
        parts.append(text)
        hard = line.rstrip("\r").endswith("  ")
    return "".join(parts)


def unquote(text: str) -> str:
    """Return what was meant by a text whose quotes do not add up.

    Quotes around the whole are dropped, and quotes around a sentence that more text
    follows; a quoted word at the beginning keeps its quotes.
    """
    mark, inner = text[0], text[1:]
    end = _end_of_quotation(inner, mark)
    if end is None:
        inner = inner.removesuffix(mark)
    elif len(inner[:end].split()) < _SENTENCE_WORDS:
        return text
    else:
        inner = f"{inner[:end]} {inner[end + 1 :].strip()}".rstrip()
    return inner.replace(_ESCAPED[mark], mark)


_SENTENCE_WORDS: Final = 5
_ESCAPED: Final = {'"': '\\"', "'": "''"}


def _end_of_quotation(inner: str, mark: str) -> int | None:
    """Return where the quotation that began ends, if text follows it.

    A quote behind a blank or a bracket begins another quotation, one between two
    letters is an apostrophe.
    """
    at = inner.find(mark)
    if at <= 0 or at == len(inner) - 1 or inner[at - 1] in " \t([{\\":
        return None
    if mark == "'" and inner[at + 1].isalnum():
        return None
    return at


def _mistake(entry: Entry, text: str) -> str:
    bracketed = text[:1] in {"{", "["} and text[-1:] in {"}", "]"}
    if entry.key not in TEXT_FIELDS and (bracketed or not entry.value.strip()):
        return "kept-as-text"
    if text[:1] in _RESERVED and entry.value.strip():
        return "reserved-character"
    if any(line and not line[0].isspace() and line[0] != "#" for line in entry.more):
        return "unindented-text"
    if ": " in text or ":\n" in text or text.endswith(":"):
        return "unquoted-colon"
    return "kept-as-text"


def _pair(entry: Entry, text: str) -> str:
    key = entry.first[: len(entry.first) - len(entry.value)].rstrip()
    return f"{key} {quoted(text)}\n"


def _set_right(entry: Entry) -> Entry:
    first = f"{entry.key}: {entry.value}"
    return Entry(entry.line, entry.key, first, entry.value, entry.more)


def _without_tabs(entry: Entry) -> Entry:
    more = tuple(_LEADING_TABS.sub(_blanks, line) for line in entry.more)
    return Entry(entry.line, entry.key, entry.first, entry.value, more)


def _blanks(match: re.Match[str]) -> str:
    return match[0].replace("\t", "  ")


def _double_backslashes(text: re.Match[str]) -> str:
    """Write two for one that begins no escape."""
    return _BAD_ESCAPE.sub(r"\\\g<0>", text[0])


def _quote_item(match: re.Match[str]) -> str:
    return match[1] + quoted(match[2].rstrip())


def _block(entry: Entry, block: re.Match[str]) -> str:
    first = entry.value[block.end() :]
    if block[1] == ">":
        return fold(first, entry.more)
    return "\n".join((first.strip(), *(line.strip() for line in entry.more))).rstrip()


_TRANSLATED: Final = re.compile(
    r"\*{0,2}(?P<key>名称|描述)\*{0,2}[：:]\*{0,2}(?P<value>.*)"  # noqa: RUF001
)
_FIELDS: Final = {"名称": "name", "描述": "description"}
_MARKED: Final = re.compile(
    r"(?P<mark>\*\*|__)(?P<key>[A-Za-z][\w-]*)(?:[ \t]*:(?P=mark)|(?P=mark)[ \t]*:)"
    r"(?P<value>.*)"
)
_KEY: Final = re.compile(r"[\w-]+[ \t]*:(?:\s|\Z)")


def translated(text: str) -> str | None:
    """Return the fields of frontmatter that a machine translated, keys and all.

    Seen in Chinese mirrors of English packs, bold or not; None where there is none.
    """
    if re.search(r"^description[ \t]*:", text, re.MULTILINE):
        return None
    lines = text.split("\n")
    fields = _fields(lines, _TRANSLATED)
    if not fields:
        return None
    for number, (key, value, _) in fields.items():
        fields[number] = (_FIELDS[key], value.rstrip("* ").strip("\u201c\u201d"), 0)
    return "".join(
        f"{fields[n][0]}: {quoted(fields[n][1])}\n" if n in fields else "\n"
        for n in range(len(lines))
    )


def unmarked(text: str) -> str | None:
    """Return frontmatter without the marks of bold keys: ``**name:** x`` is a field.

    The text of a field may be on the lines below its key. None where no key is bold.
    """
    lines = text.split("\n")
    fields = _fields(lines, _MARKED)
    if not fields:
        return None
    for number, (key, value, below) in fields.items():
        lines[number] = f"{key}: {quoted(value) if below else value}"
        lines[number + 1 : number + 1 + below] = [""] * below
    return "\n".join(lines)


def _fields(
    lines: list[str], pattern: re.Pattern[str]
) -> dict[int, tuple[str, str, int]]:
    """Return key and text of each line that has one, and how many lines are below it.

    A key with nothing behind it has its text there, up to the next key or the end of
    the paragraph.
    """
    fields: dict[int, tuple[str, str, int]] = {}
    for number, line in enumerate(lines):
        match = pattern.fullmatch(line)
        if match is None:
            continue
        value, below = match["value"].strip(), 0
        if not value:
            rest = lines[number + 1 :]
            skipped = next((n for n, each in enumerate(rest) if each.strip()), 0)
            for each in rest[skipped:]:
                if not each.strip() or pattern.fullmatch(each) or _KEY.match(each):
                    break
                below += 1
            value = fold("", tuple(rest[skipped : skipped + below])).strip()
            below += skipped if value else 0
        if value:
            fields[number] = (match["key"], value, below)
    return fields
