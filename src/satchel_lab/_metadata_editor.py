"""A key of ``metadata`` set or removed by a small change: every other byte stays."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from satchel.errors import NotEditableError
from satchel.model import DEFAULT_LIMITS, Finding, Json
from satchel.skill_md import (
    Node,
    Span,
    YamlTree,
    as_written,
    find_span,
    read_frontmatter,
    read_tree,
    scalar,
)
from satchel_lab._frontmatter_editor import LINES, indent_of, same_values

_METADATA: Final = "metadata"
_PLAIN: Final = re.compile(r"[A-Za-z][\w-]*(?: [\w-]+)*", re.ASCII)
_NOTHING: Final = re.compile(r"(?P<key>[^#]*?:)[ \t]*(?:~|[nN]ull|NULL|\{[ \t]*\})?")
# A scalar on one line, up to a comment after it.
_VALUE: Final = re.compile(
    r"""[ \t]*(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?!["'#])\S*(?:[ \t]+[^\s#]\S*)*)"""
    r"""(?=[ \t]+\#|[ \t]*\Z)"""
)
_COMMA: Final = re.compile(r"[ \t]*,")
_COMMENT_AFTER: Final = re.compile(r"[ \t]#")
_COMMENT: Final = re.compile(r"[ \t]*#")
_IDLE: Final = re.compile(r"[ \t]*(?:#.*)?[\r\n]*")
# Closing braces that are tried, from the last: a flow mapping ends at one of them.
_MOST_BRACES: Final = 32


def edit_metadata(
    data: bytes, changes: Mapping[str, str | None], *, path: str = "SKILL.md"
) -> bytes:
    """Return a SKILL.md with some keys of ``metadata`` set, or removed with None."""
    # Every other byte stays. `NotEditableError` where the frontmatter cannot be read as
    # it is, or no small change does it.
    for key, value in changes.items():
        data = _edit(data, key, value, path)
    return data


# What the result has to say is known beforehand: the text is changed as its look
# suggests, read again, and used only where it says that.
def _edit(data: bytes, key: str, value: str | None, path: str) -> bytes:
    span, text = _read(data, path)
    before = as_written(text.tree)
    metadata = before.get(_METADATA)
    if not isinstance(metadata, Mapping | None):
        raise text.refused(path, "metadata is not a mapping")
    after = _changed(before, metadata or {}, key, value)
    if same_values(after, before):
        return data
    for candidate in text.candidates(key, value):
        head = candidate.encode()
        tree = read_tree(head, DEFAULT_LIMITS)
        if (
            isinstance(tree, YamlTree)
            and not tree.duplicates
            and same_values(as_written(tree), after)
        ):
            return data[: span.head] + head + data[span.end :]
    raise text.refused(path, f"metadata.{key} cannot be changed by itself here")


def _changed(
    before: Mapping[str, Json], metadata: Mapping[str, Json], key: str, value: Json
) -> dict[str, Json]:
    """Return what the frontmatter has to say afterwards."""
    inner = {name: entry for name, entry in metadata.items() if name != key}
    if value is not None:
        inner[key] = value
    if inner == dict(metadata):
        return dict(before)
    after = {name: entry for name, entry in before.items() if name != _METADATA}
    return {**after, _METADATA: inner} if inner else after


def _read(data: bytes, path: str) -> tuple[Span, "_MetadataText"]:
    file = read_frontmatter(data, DEFAULT_LIMITS)
    if isinstance(file, Finding):
        raise NotEditableError(path, file.message, file.line)
    span = find_span(data)
    tree = read_tree(file.head, DEFAULT_LIMITS, with_lines=True)
    if file.repairs:
        repair = file.repairs[0]
        detail = f"{repair.message} (satchel check --fix may repair it)"
        raise NotEditableError(path, detail, repair.line)
    if span is None or not isinstance(tree, YamlTree):
        raise NotEditableError(path, "its fences are not in their places")
    if tree.duplicates:
        second = tree.duplicates[0]
        detail = f"the key {second.key!r} is there twice"
        raise NotEditableError(path, detail, span.line - 1 + second.line)
    head = data[span.head : span.end].decode()
    newline = "\r\n" if data[: span.head].endswith(b"\r\n") else "\n"
    return span, _MetadataText(LINES.findall(head), tree, newline)


class _MetadataText(NamedTuple):
    """A frontmatter and candidates for its text after a change, likeliest first."""

    lines: list[str]
    tree: YamlTree
    newline: str

    def refused(self, path: str, detail: str) -> NotEditableError:
        there = _METADATA in self.tree.root
        return NotEditableError(
            path, detail, self._at(_METADATA) + 2 if there else None
        )

    def candidates(self, key: str, value: str | None) -> Iterator[str]:
        metadata = self._metadata
        if value is None:
            assert isinstance(metadata, dict)  # noqa: S101 - else nothing to remove
            yield from self._without(key, last=len(metadata) == 1)
            return
        # `true` or `no` without quotes is no text to some YAML parser.
        written = scalar(value, _PLAIN)
        if not isinstance(metadata, dict) or not metadata:
            yield from self._begun(f"{key}: {written}")
        elif key in metadata:
            yield from self._replaced(key, written)
        else:
            yield from self._added(f"{key}: {written}")

    def _begun(self, entry: str) -> Iterator[str]:
        """Write ``metadata`` where there is none, or nothing in it."""
        lines, newline = self.lines, self.newline
        if _METADATA not in self.tree.root:
            indent = indent_of(lines[min(self.tree.lines.values()) - 1])
            block = f"{indent}{_METADATA}:{newline}{indent}  {entry}{newline}"
            yield self._with(len(lines), len(lines), block)
            return
        at = self._at(_METADATA)
        line = lines[at]
        head = _NOTHING.match(line)
        if head is not None:
            opening = f"{head['key']}{line[head.end() :]}"
            yield self._with(
                at, at + 1, f"{opening}{indent_of(line)}  {entry}{newline}"
            )

    def _added(self, entry: str) -> Iterator[str]:
        """Put the entry after the last, else before the first; or before a brace."""
        at, end, metadata = self._at(_METADATA), self._end(_METADATA), self._metadata
        assert isinstance(metadata, dict)  # noqa: S101
        first = self._at(next(iter(metadata)), inside=True)
        line = f"{indent_of(self.lines[first])}{entry}{self.newline}"
        if first > at:
            yield self._with(end, end, line)
            yield self._with(first, first, line)
        flow = "".join(self.lines[at:end])
        braces = [at for at, char in enumerate(flow) if char == "}"]
        for brace in braces[: -_MOST_BRACES - 1 : -1]:
            for place in (len(flow[:brace].rstrip()), brace):  # around a comment
                more = f" {entry}," if _ends_in_comma(flow[:place]) else f", {entry}"
                yield self._with(at, end, f"{flow[:place]}{more}{flow[place:]}")

    def _replaced(self, key: str, written: str) -> Iterator[str]:
        at, end = self._at(key, inside=True), self._end(key, inside=True)
        own = re.compile(rf"([ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*:)([^\r\n]*)")
        line = self.lines[at]
        entry = own.match(line)
        if entry is not None:
            value = _VALUE.match(entry[2])
            comments = [entry[2][value.end() :]] if value else []
            for comment in (*comments, ""):
                rest = line[entry.end() :] or self.newline
                yield self._with(at, end, f"{entry[1]} {written}{comment}{rest}")
        at, end = self._at(_METADATA), self._end(_METADATA)
        flow = "".join(self.lines[at:end])
        own = re.compile(
            rf"([\"']?\b{re.escape(key)}[\"']?[ \t]*:)[ \t]*([^,{{}}\r\n]*)"
        )
        for entry in own.finditer(flow):
            old = _without_comment(entry[2])
            for comment in dict.fromkeys((entry[2][len(old) :], "")):
                changed = f"{flow[: entry.start()]}{entry[1]} {written}{comment}"
                yield self._with(at, end, changed + flow[entry.end() :])

    def _without(self, key: str, *, last: bool) -> Iterator[str]:
        """Take the entry out; with the last one goes ``metadata`` itself."""
        first, after = self._at(_METADATA), self._end(_METADATA)
        if last:
            # The author's comments stay even when all entries go.
            inner = self.lines[first + 1 : after]
            yield self._with(first, after, *filter(_COMMENT.match, inner))
            return
        at = self._at(key, inside=True)
        if at > first:
            yield self._with(at, self._end(key, inside=True))
        flow = "".join(self.lines[first:after])
        own = re.compile(rf"[\"']?\b{re.escape(key)}[\"']?[ \t]*:[^,{{}}\r\n]*")
        for entry in own.finditer(flow):
            left = flow[: entry.start()]
            right = flow[entry.start() + len(_without_comment(entry[0]).rstrip()) :]
            comma = _COMMA.match(right)
            if comma is not None and _ends_in_comma(left):
                yield self._with(first, after, left.rstrip(" \t"), right[comma.end() :])
            yield self._with(first, after, re.sub(r",[ \t]*\Z", "", left), right)
            yield self._with(first, after, left, re.sub(r"\A[ \t]*,[ \t]*", "", right))

    def _with(self, first: int, end: int, *new: str) -> str:
        """Return the text with other lines from ``first`` up to ``end``."""
        return "".join((*self.lines[:first], *new, *self.lines[end:]))

    @property
    def _metadata(self) -> Node:
        return self.tree.root.get(_METADATA)

    def _at(self, key: str, *, inside: bool = False) -> int:
        """Return the index of the line of a key, at the top or in ``metadata``."""
        around = self._metadata if inside else self.tree.root
        return self.tree.lines[id(around), key] - 1

    def _end(self, key: str, *, inside: bool = False) -> int:
        """Return the index after the last line that is certainly of this key."""
        end = self._next(self.tree.root, _METADATA if inside else key)
        if inside:
            end = min(end, self._next(self._metadata, key))
        start = self._at(key, inside=inside)
        # Comments and empty lines at the end may belong to the next key.
        while end - 1 > start and _IDLE.fullmatch(self.lines[end - 1]):
            end -= 1
        return end

    def _next(self, around: Node, key: str) -> int:
        """Return the index of the line of the next key of the same mapping."""
        lines = self.tree.lines
        own = lines[id(around), key]
        siblings = (line for (place, _), line in lines.items() if place == id(around))
        below = (line - 1 for line in siblings if line > own)
        return min(below, default=len(self.lines))


def _without_comment(text: str) -> str:
    """Return a value up to a comment after it, or all of it where there is none."""
    comment = _COMMENT_AFTER.search(text)
    return text[: comment.start()].rstrip() if comment else text


def _ends_in_comma(text: str) -> bool:
    return text.rstrip().endswith(",")
