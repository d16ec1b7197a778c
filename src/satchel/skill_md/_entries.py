"""Broken frontmatter as top-level entries, and rewrites that may repair one of them."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from satchel.skill_md._writer import quoted

_ENTRY_KEY: Final = re.compile(
    r"([A-Za-z_][\w.-]*|\"[^\"]+\"|'[^']+')[ \t]*:(?:[ \t]+|$)"
)
# Fields that begin an entry even where they are indented, or lack a space.
_FIELD_NAMES: Final = (
    r"(name|description|version|license|author|metadata|compatibility|allowed-tools"
    r"|tags|homepage|references|scripts|assets|trigger_keywords|user-invocable"
    r"|disable-model-invocation|argument-hint|when_to_use|model)"
)
_KNOWN: Final = re.compile(_FIELD_NAMES)
_INDENTED: Final = re.compile(rf"[ ]{{1,3}}{_FIELD_NAMES}[ \t]*:(?:[ \t]+|$)")
_GLUED: Final = re.compile(rf"{_FIELD_NAMES}:(?=[^\s:/])")
_OPENERS: Final = frozenset('{["')
_QUOTE: Final = re.compile(r"(?<!\\)\"")


class FrontmatterEntry(NamedTuple):
    """A key with all its lines; no ``key`` is the text before the first."""

    # `line` counts from 1 in the frontmatter, `value` is the rest of the first line;
    # `misaligned` was indented, or had no space after its colon.

    line: int
    key: str
    first: str
    value: str
    more: tuple[str, ...] = ()
    misaligned: bool = False

    @property
    def text(self) -> str:
        return "\n".join((self.first, *self.more, ""))


def split_entries(lines: list[str]) -> Iterator[FrontmatterEntry]:
    """Yield the entries in their order; together they hold every line once."""
    growing: _EntryBuilder | None = None
    for number, line in enumerate(lines, 1):
        begun = _begins(number, line, growing)
        if begun is not None or growing is None:
            if growing is not None:
                yield growing.entry()
            growing = begun or _EntryBuilder(FrontmatterEntry(number, "", line, line))
        else:
            growing.add(line)
    if growing is not None:
        yield growing.entry()


class _EntryBuilder:
    """An entry that may still get lines, and what of it is still open."""

    def __init__(self, head: FrontmatterEntry) -> None:
        self.head = head
        self.more: list[str] = []
        self.unindented = False
        self.brackets = 0
        self.quotes = 0
        self.opener = head.value[:1] if head.value[:1] in _OPENERS else ""
        self._count(head.value)

    def add(self, line: str) -> None:
        self.more.append(line)
        self.unindented = self.unindented or bool(line and not line[0].isspace())
        self._count(line)

    def entry(self) -> FrontmatterEntry:
        return self.head._replace(more=tuple(self.more)) if self.more else self.head

    def goes_on(self, key: str) -> bool:
        """Whether what looks like a key is inside a text or a list that continues."""
        # A known field begins an entry even inside an open quote: its end is missing.
        if _KNOWN.fullmatch(key):
            return False
        if self.opener == '"':
            return self.quotes % 2 == 1
        if self.opener:
            return self.brackets > 0
        # `Note: ...` in a text that already continues without an indent is prose.
        return self.unindented and key[:1].isupper()

    def _count(self, line: str) -> None:
        if not self.opener:
            return
        self.brackets += line.count("{") + line.count("[")
        self.brackets -= line.count("}") + line.count("]")
        self.quotes += len(_QUOTE.findall(line))


def _begins(
    number: int, line: str, growing: _EntryBuilder | None
) -> _EntryBuilder | None:
    """Return the entry that ``line`` begins; None where it belongs to the last one."""
    misaligned = False
    match = _ENTRY_KEY.match(line)
    if match is None:
        misaligned = True
        match = _GLUED.match(line)
        if match is None and (growing is None or _is_full(growing.head)):
            match = _INDENTED.match(line)
    if match is None:
        return None
    if growing is not None and growing.goes_on(match[1]):
        return None
    key = match[1].strip("\"'")
    return _EntryBuilder(
        FrontmatterEntry(number, key, line, line[match.end() :], (), misaligned)
    )


def _is_full(head: FrontmatterEntry) -> bool:
    """Whether the value is on the line of the key, so that nothing nests in it."""
    return bool(head.value) and head.value[0] not in "|>\"'{[&*!#"


# A rewrite is used only where the YAML parser then accepts the entry, and sees no valid
# YAML, so that it can change no meaning.
class Rewrite(NamedTuple):
    """The code of a mistake, and the entry without it."""

    code: str
    text: str


# Fields that are one text, whatever their lines look like.
TEXT_FIELDS: Final = frozenset(["name", "description", "when_to_use", "compatibility"])
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


def realigned(entry: FrontmatterEntry) -> tuple[FrontmatterEntry, str]:
    """Return the entry aligned as it should be, and what was wrong, if anything."""
    code = ""
    if entry.misaligned:
        first = f"{entry.key}: {entry.value}"
        entry, code = entry._replace(first=first, misaligned=False), "indentation"
    if _LEADING_TABS.search(entry.text):
        more = tuple(
            _LEADING_TABS.sub(lambda tabs: tabs[0].replace("\t", "  "), line)
            for line in entry.more
        )
        entry, code = entry._replace(more=more, misaligned=False), "tab-indentation"
    return entry, code


def entry_rewrites(entry: FrontmatterEntry) -> Iterator[Rewrite]:
    """Yield what the author may have meant, the likeliest first."""
    # A backslash that begins no escape is written twice.
    text = _DOUBLE_QUOTED.sub(
        lambda quote: _BAD_ESCAPE.sub(r"\\\g<0>", quote[0]), entry.text
    )
    if text != entry.text:
        yield Rewrite("bad-escape", text)
    block = _BLOCK.match(entry.value)
    if block is not None and not entry.value[block.end()].isdigit():
        yield Rewrite("block-text", _pair(entry, _block(entry, block)))
    text = _RESERVED_ITEM.sub(
        lambda item: item[1] + quoted(item[2].rstrip()), entry.text
    )
    if text != entry.text:
        yield Rewrite("reserved-character", text)


def literal_rewrites(entry: FrontmatterEntry) -> Iterator[Rewrite]:
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
    """Return lines as one text, as YAML folds a plain scalar; list items keep lines."""
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
    """Return what was meant by a text whose quotes do not match."""
    mark, inner = text[0], text[1:]
    end = _end_of_quotation(inner, mark)
    if end is None:
        inner = inner.removesuffix(mark)
    elif len(inner[:end].split()) < _SENTENCE_WORDS:
        return text
    # Quotes around a sentence that more text follows are dropped as well.
    else:
        inner = f"{inner[:end]} {inner[end + 1 :].strip()}".rstrip()
    return inner.replace(_ESCAPED[mark], mark)


# Fewer quoted words at the beginning are a term, which keeps its quotes.
_SENTENCE_WORDS: Final = 5
_ESCAPED: Final = {'"': '\\"', "'": "''"}


def _end_of_quotation(inner: str, mark: str) -> int | None:
    """Return where the quotation that began ends, if text follows it."""
    at = inner.find(mark)
    if at <= 0 or at == len(inner) - 1 or inner[at - 1] in " \t([{\\":
        return None
    if mark == "'" and inner[at + 1].isalnum():
        return None
    return at


def _mistake(entry: FrontmatterEntry, text: str) -> str:
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


def _pair(entry: FrontmatterEntry, text: str) -> str:
    key = entry.first[: len(entry.first) - len(entry.value)].rstrip()
    return f"{key} {quoted(text)}\n"


def _block(entry: FrontmatterEntry, block: re.Match[str]) -> str:
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
_NEXT_KEY: Final = re.compile(r"[\w-]+[ \t]*:(?:\s|\Z)")


def with_english_keys(text: str) -> str | None:
    """Return the fields of frontmatter whose keys were translated; None for none."""
    # Seen in Chinese mirrors of English packs.
    if re.search(r"^description[ \t]*:", text, re.MULTILINE):
        return None
    lines = text.split("\n")
    fields = _fields(lines, _TRANSLATED)
    if not fields:
        return None
    for number, (key, value, _) in fields.items():
        fields[number] = (_FIELDS[key], value.rstrip("* ").strip("\u201c\u201d"), 0)
    # Other lines become empty and are not removed, so that line numbers stay right.
    return "".join(
        f"{fields[n][0]}: {quoted(fields[n][1])}\n" if n in fields else "\n"
        for n in range(len(lines))
    )


def without_bold_keys(text: str) -> str | None:
    """Return frontmatter without the marks of keys as ``**name:** x``, if any."""
    lines = text.split("\n")
    fields = _fields(lines, _MARKED)
    if not fields:
        return None
    for number, (key, value, below) in fields.items():
        lines[number] = f"{key}: {quoted(value) if below else value}"
        # Emptied and not removed, so that line numbers stay right.
        lines[number + 1 : number + 1 + below] = [""] * below
    return "\n".join(lines)


def _fields(
    lines: list[str], pattern: re.Pattern[str]
) -> dict[int, tuple[str, str, int]]:
    """Return by line its key, its text, and how many lines below belong to it."""
    fields: dict[int, tuple[str, str, int]] = {}
    for number, line in enumerate(lines):
        match = pattern.fullmatch(line)
        if match is None:
            continue
        value, below = match["value"].strip(), 0
        if not value:
            rest = lines[number + 1 :]
            skipped = next((n for n, after in enumerate(rest) if after.strip()), 0)
            for after in rest[skipped:]:
                if (
                    not after.strip()
                    or pattern.fullmatch(after)
                    or _NEXT_KEY.match(after)
                ):
                    break
                below += 1
            value = fold("", tuple(rest[skipped : skipped + below])).strip()
            below += skipped if value else 0
        if value:
            fields[number] = (match["key"], value, below)
    return fields
