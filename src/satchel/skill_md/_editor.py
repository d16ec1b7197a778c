"""Changes to the text of a frontmatter that keep every other byte."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from satchel.errors import NotEditableError
from satchel.model import DEFAULT_LIMITS, Finding, Json, Limits
from satchel.skill_md._body import HEADING, before_frontmatter, tolerant_span
from satchel.skill_md._entries import split_entries
from satchel.skill_md._frontmatter import Node, YamlTree, read_tree
from satchel.skill_md._opening import (
    Span,
    read_frontmatter,
    span_of_bytes,
    span_of_text,
)
from satchel.skill_md._repair import (
    RepairedFrontmatter,
    repair_frontmatter,
    without_controls,
)
from satchel.skill_md._repairs import LOSSY_REPAIR
from satchel.skill_md._writer import as_written, quoted, same_values

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_OPENING: Final = re.compile(r"\ufeff?---[ \t]*\r?\n")
_CLOSING: Final = re.compile(r"(?:---|\.\.\.)[ \t]*(?:\r?\n|\r?\Z)")
_ENDS: Final = "\r\n"
_MARK: Final = "\ufeff"
_UNSEEN: Final = "\ufeff\u200b \t\r\n"


def repaired_text(text: str, limits: Limits = DEFAULT_LIMITS) -> str | None:
    """Return the file with its frontmatter repaired; None where that cannot be done.

    What stood before the frontmatter becomes comments in it. The body is the same,
    to the byte. Whether the result is read as the file was is for the caller to check.
    """
    span = _span(text)
    if span is None:
        return None
    head = _head(text[span.head : span.end], limits)
    if head is None:
        return None
    end = line_end(text)
    if head and not head.endswith(("\n", "\r")):
        head += end
    opening, closing = text[: span.head], text[span.end : span.body]
    body = text[span.body :]
    if not _OPENING.fullmatch(opening):
        mark = _MARK if text.startswith(_MARK) else ""
        opening = f"{mark}---{end}{_as_comments(before_frontmatter(text), end)}"
    if not _CLOSING.fullmatch(closing) or (body and closing[-1] != "\n"):
        closing = f"---{end}"
    return f"{opening}{head}{closing}{body}"


def entry_text(text: str, key: str) -> str | None:
    """Return a top-level entry as it is written, each line ended by LF.

    Empty where there is none; None where there are two, or no frontmatter.
    """
    place = _place(text, key)
    if place is None:
        return None
    _, raw, at, count = place
    return "".join(f"{line.rstrip(_ENDS)}\n" for line in raw[at : at + count])


def set_entry(text: str, key: str, lines: str, *, first: bool = False) -> str | None:
    """Return the file with a top-level entry written as ``lines``, each line ended.

    One that is not there becomes the last, or the ``first``. None where `entry_text`
    gives None.
    """
    place = _place(text, key)
    if place is None:
        return None
    span, raw, at, count = place
    if not count and first:
        at = 0
    raw[at : at + count] = [lines.replace("\n", line_end(text))]
    return f"{text[: span.head]}{''.join(raw)}{text[span.end :]}"


def _place(text: str, key: str) -> tuple[Span, list[str], int, int] | None:
    """Return the lines of the frontmatter, and which of them are an entry's.

    Blank lines behind an entry are not its own. None where it stands there twice.
    """
    span = span_of_text(text)
    if span is None:
        return None
    raw = _LINE.findall(text[span.head : span.end])
    entries = split_entries([line.rstrip(_ENDS) for line in raw])
    named = [each for each in entries if each.key.strip("\"'") == key]
    if len(named) > 1:
        return None
    if not named:
        return span, raw, len(raw), 0
    at, count = named[0].line - 1, 1 + len(named[0].more)
    while count > 1 and not raw[at + count - 1].strip():
        count -= 1
    return span, raw, at, count


def line_end(text: str) -> str:
    """Return how the first line ends: CR LF, or LF."""
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def _span(text: str) -> Span | None:
    span = span_of_text(text)
    if span is None or HEADING.search(text, span.head, span.end):
        loose = tolerant_span(text)
        return loose[0] if loose else None
    return span


def _head(head: str, limits: Limits) -> str | None:
    """Return the frontmatter as YAML; None where it cannot be, or loses something."""
    found = read_tree(head.encode("utf-8", "replace"), limits)
    if isinstance(found, YamlTree):
        return head
    mended = repair_frontmatter(head, found, limits)
    if not isinstance(mended, RepairedFrontmatter) or LOSSY_REPAIR in {
        f.code for f in mended.findings
    }:
        return None
    return "".join(_written(head, mended))


def _written(head: str, mended: RepairedFrontmatter) -> Iterator[str]:
    """Yield the lines as they were, and the entries that were rewritten."""
    raw = _LINE.findall(head)
    end = line_end(head)
    at = 0
    for change in mended.changes:
        yield from map(without_controls, raw[at : change.line - 1])
        text = change.text.replace("\n", end)
        at = change.line - 1 + change.lines
        yield text
        kept = _behind(raw[change.line : at])
        if not text.endswith(kept):
            yield without_controls(kept)
    yield from map(without_controls, raw[at:])


def _behind(lines: list[str]) -> str:
    """Return the blank lines and comments that stand behind an entry."""
    first = len(lines)
    while first and (not lines[first - 1].strip() or lines[first - 1][0] == "#"):
        first -= 1
    return "".join(lines[first:])


def _as_comments(text: str, end: str) -> str:
    lines = (line.strip(_UNSEEN) for line in text.splitlines())
    return "".join(f"# {line}{end}" for line in lines if line)


_METADATA: Final = "metadata"
_LINES: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_PLAIN: Final = re.compile(r"[A-Za-z][\w-]*(?: [\w-]+)*", re.ASCII)
_NOTHING: Final = re.compile(r"(?P<key>[^#]*?:)[ \t]*(?:~|[nN]ull|NULL|\{[ \t]*\})?")
# A scalar on one line, up to a remark behind it.
_VALUE: Final = re.compile(
    r"""[ \t]*(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?!["'#])\S*(?:[ \t]+[^\s#]\S*)*)"""
    r"""(?=[ \t]+\#|[ \t]*\Z)"""
)
_COMMA: Final = re.compile(r"[ \t]*,")
_REMARK_BEHIND: Final = re.compile(r"[ \t]#")
_REMARK: Final = re.compile(r"[ \t]*#")
_IDLE: Final = re.compile(r"[ \t]*(?:#.*)?[\r\n]*")
_MOST_BRACES: Final = 32
"""Closing braces that are tried, from the last: a flow mapping ends at one of them."""


def edit_metadata(
    data: bytes,
    changes: Mapping[str, str | None],
    *,
    path: str = "SKILL.md",
    limits: Limits = DEFAULT_LIMITS,
) -> bytes:
    """Return a SKILL.md with some keys of ``metadata`` set, or taken out with None.

    Comments, order, spelling, line ends and a byte order mark stay as they are. What
    says it already is not touched; ``metadata`` itself comes and goes as needed.

    Args:
        data: The whole file.
        changes: Texts by key; ``[A-Za-z][A-Za-z0-9_-]*`` each key.
        path: What errors call the file.
        limits: Bounds on what is read.

    Raises:
        NotEditableError: The frontmatter cannot be read as it stands, or is written in
            a way in which this cannot be put by a small change.
    """
    for key, value in changes.items():
        data = _edit(data, key, value, path, limits)
    return data


class _EditableFrontmatter(NamedTuple):
    """The lines of a frontmatter, and what they say."""

    lines: list[str]
    tree: YamlTree
    newline: str

    @property
    def metadata(self) -> Node:
        return self.tree.root.get(_METADATA)

    def at(self, key: str, *, inside: bool = False) -> int:
        """Return the index of the line of a key, at the top or in ``metadata``."""
        around = self.metadata if inside else self.tree.root
        return self.tree.lines[id(around), key] - 1

    def end(self, key: str, *, inside: bool = False) -> int:
        """Return the index behind the last line that is certainly of this key."""
        ends = [self._behind(self.tree.root, _METADATA if inside else key)]
        if inside:
            ends.append(self._behind(self.metadata, key))
        end, start = min(ends), self.at(key, inside=inside)
        while end - 1 > start and _IDLE.fullmatch(self.lines[end - 1]):
            end -= 1
        return end

    def _behind(self, around: Node, key: str) -> int:
        lines = self.tree.lines
        own = lines[id(around), key]
        later = [
            line for (place, _), line in lines.items() if place == id(around)
        ]  # of this mapping alone
        return min((line - 1 for line in later if line > own), default=len(self.lines))


def _edit(data: bytes, key: str, value: str | None, path: str, limits: Limits) -> bytes:
    span, text = _read(data, path, limits)
    before = as_written(text.tree)
    metadata = before.get(_METADATA)
    if not isinstance(metadata, Mapping | None):
        raise _refused(path, text, "metadata is no mapping")
    wanted = _changed(before, metadata or {}, key, value)
    if same_values(wanted, before):
        return data
    for lines in _candidates(text, key, value):
        head = "".join(lines).encode()
        tree = read_tree(head, limits)
        if (
            isinstance(tree, YamlTree)
            and not tree.duplicates
            and same_values(as_written(tree), wanted)
        ):
            return data[: span.head] + head + data[span.end :]
    raise _refused(path, text, f"metadata.{key} cannot be changed by itself here")


def _changed(
    before: Mapping[str, Json], metadata: Mapping[str, Json], key: str, value: Json
) -> dict[str, Json]:
    """Return what the frontmatter has to say afterwards."""
    inner = {each: said for each, said in metadata.items() if each != key}
    if value is not None:
        inner[key] = value
    if inner == dict(metadata):
        return dict(before)
    wanted = {each: said for each, said in before.items() if each != _METADATA}
    return {**wanted, _METADATA: inner} if inner else wanted


def _read(data: bytes, path: str, limits: Limits) -> tuple[Span, _EditableFrontmatter]:
    opened = read_frontmatter(data, limits)
    if isinstance(opened, Finding):
        raise NotEditableError(path, opened.message, opened.line)
    span = span_of_bytes(data)
    tree = read_tree(opened.head, limits, with_lines=True)
    if opened.repairs or span is None or not isinstance(tree, YamlTree):
        first = opened.repairs[0] if opened.repairs else None
        detail = "its fences are not in their places"
        if first is not None:
            detail = f"{first.message} (satchel check --fix may mend it)"
        raise NotEditableError(path, detail, first.line if first else None)
    if tree.duplicates:
        twice = tree.duplicates[0]
        detail = f"the key {twice.key!r} stands twice"
        raise NotEditableError(path, detail, span.line - 1 + twice.line)
    head = data[span.head : span.end].decode()
    newline = "\r\n" if data[: span.head].endswith(b"\r\n") else "\n"
    return span, _EditableFrontmatter(_LINES.findall(head), tree, newline)


def _refused(path: str, text: _EditableFrontmatter, detail: str) -> NotEditableError:
    there = _METADATA in text.tree.root
    return NotEditableError(path, detail, text.at(_METADATA) + 2 if there else None)


def _candidates(
    text: _EditableFrontmatter, key: str, value: str | None
) -> Iterator[list[str]]:
    """Yield the ways in which the change may be written, the likeliest first."""
    metadata = text.metadata
    if value is None:
        assert isinstance(metadata, dict)  # noqa: S101 - else there was nothing to do
        yield from _without(text, key, last=len(metadata) == 1)
        return
    said = value if _PLAIN.fullmatch(value) else quoted(value)
    entry = f"{key}: {said}"
    if not isinstance(metadata, dict) or not metadata:
        yield from _begun(text, entry)
    elif key in metadata:
        yield from _replaced(text, key, said)
    else:
        yield from _added(text, entry)


def _begun(text: _EditableFrontmatter, entry: str) -> Iterator[list[str]]:
    """Write ``metadata`` where there is none, or nothing in it."""
    lines, newline = text.lines, text.newline
    if _METADATA not in text.tree.root:
        first = min(text.tree.lines.values()) - 1
        margin = _margin(lines[first])
        yield [
            *lines,
            f"{margin}{_METADATA}:{newline}",
            f"{margin}  {entry}{newline}",
        ]
        return
    at = text.at(_METADATA)
    margin = _margin(lines[at])
    head, ending = _NOTHING.match(lines[at]), lines[at]
    if head is not None:
        ending = f"{head['key']}{lines[at][head.end() :]}"
        yield [
            *lines[:at],
            ending,
            f"{margin}  {entry}{newline}",
            *lines[at + 1 :],
        ]


def _added(text: _EditableFrontmatter, entry: str) -> Iterator[list[str]]:
    """Put the entry behind the last one, else before the first; or before a brace."""
    lines, at, end = text.lines, text.at(_METADATA), text.end(_METADATA)
    metadata = text.metadata
    assert isinstance(metadata, dict)  # noqa: S101
    first = text.at(next(iter(metadata)), inside=True)
    line = f"{_margin(lines[first])}{entry}{text.newline}"
    if first > at:
        yield [*lines[:end], line, *lines[end:]]
        yield [*lines[:first], line, *lines[first:]]
    flow = "".join(lines[at:end])
    braces = [at for at, char in enumerate(flow) if char == "}"]
    for brace in braces[: -_MOST_BRACES - 1 : -1]:
        for place in (len(flow[:brace].rstrip()), brace):  # a remark may be between
            more = f" {entry}," if _ends_in_comma(flow[:place]) else f", {entry}"
            added = f"{flow[:place]}{more}{flow[place:]}"
            yield [*lines[:at], added, *lines[end:]]


def _replaced(text: _EditableFrontmatter, key: str, said: str) -> Iterator[list[str]]:
    lines, at = text.lines, text.at(key, inside=True)
    end = text.end(key, inside=True)
    own = re.compile(rf"([ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*:)([^\r\n]*)")
    line = lines[at]
    found = own.match(line)
    if found is not None:
        value = _VALUE.match(found[2])
        remarks = [found[2][value.end() :]] if value else []
        for kept in (*remarks, ""):
            rest = line[found.end() :] or text.newline
            yield [*lines[:at], f"{found[1]} {said}{kept}{rest}", *lines[end:]]
    yield from _in_flow(text, key, said)


def _in_flow(text: _EditableFrontmatter, key: str, said: str) -> Iterator[list[str]]:
    at, end = text.at(_METADATA), text.end(_METADATA)
    flow = "".join(text.lines[at:end])
    own = re.compile(rf"([\"']?\b{re.escape(key)}[\"']?[ \t]*:)[ \t]*([^,{{}}\r\n]*)")
    for found in own.finditer(flow):
        remark = _REMARK_BEHIND.search(found[2])
        kept = found[2][len(found[2][: remark.start()].rstrip()) :] if remark else ""
        for rest in dict.fromkeys((kept, "")):
            changed = f"{flow[: found.start()]}{found[1]} {said}{rest}"
            yield [*text.lines[:at], changed + flow[found.end() :], *text.lines[end:]]


def _without(
    text: _EditableFrontmatter, key: str, *, last: bool
) -> Iterator[list[str]]:
    """Take the entry out; with the last one goes ``metadata`` itself."""
    lines = text.lines
    if last:
        at, end = text.at(_METADATA), text.end(_METADATA)
        remarks = [line for line in lines[at + 1 : end] if _REMARK.match(line)]
        yield [*lines[:at], *remarks, *lines[end:]]
        return
    at, end = text.at(key, inside=True), text.end(key, inside=True)
    if at > text.at(_METADATA):
        yield [*lines[:at], *lines[end:]]
    at, end = text.at(_METADATA), text.end(_METADATA)
    flow = "".join(lines[at:end])
    own = re.compile(rf"[\"']?\b{re.escape(key)}[\"']?[ \t]*:[^,{{}}\r\n]*")
    for found in own.finditer(flow):
        remark = _REMARK_BEHIND.search(found[0])
        said = found[0][: remark.start()] if remark else found[0]
        left = flow[: found.start()]
        right = flow[found.start() + len(said.rstrip()) :]
        comma = _COMMA.match(right)
        if comma is not None and _ends_in_comma(left):
            kept = left.rstrip(" \t") + right[comma.end() :]
            yield [*lines[:at], kept, *lines[end:]]
        yield [*lines[:at], re.sub(r",[ \t]*\Z", "", left) + right, *lines[end:]]
        yield [*lines[:at], left + re.sub(r"\A[ \t]*,[ \t]*", "", right), *lines[end:]]


def _ends_in_comma(text: str) -> bool:
    return text.rstrip().endswith(",")


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]
