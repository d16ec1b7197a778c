"""The headings, links, anchors and code blocks of a Markdown text, with lines."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Literal, cast

from satchel.lazy import lazy_pattern

_DROPPED: Final = lazy_pattern(r"[^\w\- ]")
# `# Title {#id}`: some renderers use it as the heading's anchor.
_OWN_ID: Final = lazy_pattern(r" ?\{#([^\s{}]+)(?: [^{}]*)?\}\Z")
_HYPHENS: Final = lazy_pattern(r"-{2,}")
_COLOURED: Final = "\ufe0f"
_ID: Final = lazy_pattern(
    r"""(?<![\w-])(?:id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"""
)
# GitHub gives a heading of HTML an anchor, too.
_HEADING: Final = lazy_pattern(r"(?is)<h[1-6]\b[^<>]*>(.*?)</h[1-6]>")
_ANY_TAG: Final = lazy_pattern(r"<[^<>]*>")


def slug_of(text: str) -> str:
    """Return GitHub's anchor of a heading with this text, the first of its kind."""
    # Source: the behaviour of github.com; gjtorikian/html-pipeline's table of contents.
    lowered = text.strip().lower()
    if lowered.isascii():
        return _DROPPED.sub("", lowered).replace(" ", "-")
    # Marks (vowel signs, separate accents) are not \w in Python, but GitHub keeps them.
    slug = "".join(
        char
        for char in lowered
        if not _DROPPED.match(char) or unicodedata.category(char)[0] == "M"
    )
    return slug.replace(" ", "-")


def slugs_of(headings: Iterable[str]) -> Iterator[str]:
    """Yield the anchor that GitHub gives to each heading of a text, in their order."""
    taken: set[str] = set()
    for heading in headings:
        slug = anchor = slug_of(heading)
        count = 0
        while anchor in taken:
            count += 1
            anchor = f"{slug}-{count}"
        taken.add(anchor)
        yield anchor


def anchors_of(headings: Iterable[str], html: Iterable[str] = ()) -> frozenset[str]:
    """Return all anchors, in lower case: of headings in their order, of HTML's ids.

    Among them are those of other renderers, which a link may mean.
    """
    anchors: set[str] = set()
    bare: list[str] = []
    for heading in headings:
        own = _OWN_ID.search(heading)
        anchors |= {own[1].lower(), slug_of(heading)} if own else set()
        bare.append(heading[: own.start()] if own else heading)
    for slug in slugs_of(bare):
        short = _HYPHENS.sub("-", slug).strip("-")
        anchors |= {slug, slug.replace(_COLOURED, ""), short}
    for piece in html:
        anchors.update(
            (match[1] or match[2] or match[3] or "").lower()
            for match in _ID.finditer(piece)
        )
        anchors.update(
            slug_of(_ANY_TAG.sub("", match[1])) for match in _HEADING.finditer(piece)
        )
    return frozenset(anchors)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, its text without marks; ``quoted`` is in a quotation or a list."""

    level: int
    text: str
    line: int
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A link or an image, of HTML too; references are resolved."""

    kind: Literal["link", "image"]
    to: str
    line: int


@dataclass(frozen=True, slots=True)
class UndefinedLink:
    """A link by reference without a definition, with the characters on both sides."""

    source: str
    label: str
    line: int
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A code block: the text after its fence; ``lines`` counts the fences too."""

    info: str
    line: int
    closed: bool
    lines: int = field(default=0, compare=False)

    @property
    def language(self) -> str:
        """The first word after the fence, in lower case."""
        return self.info.strip().lower().partition(" ")[0]

    @property
    def rows(self) -> range:
        """The lines of the file from one fence to the other."""
        return range(self.line, self.line + self.lines)


@dataclass(frozen=True, slots=True)
class MarkdownDocument:
    """The parts of one text, in their order; lines are those of the file, from 1."""

    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    undefined: tuple[UndefinedLink, ...] = ()
    blocks: tuple[CodeBlock, ...] = ()
    html: tuple[str, ...] = ()
    # Whether a code block has a line that begins another one: its end is a guess.
    nested_fence: bool = False

    @property
    def anchors(self) -> frozenset[str]:
        """All fragments that lead somewhere, in lower case: of headings and of HTML."""
        return anchors_of([heading.text for heading in self.headings], self.html)

    def block_at(self, line: int) -> CodeBlock | None:
        """Return the code block that a line is in, its fences included."""
        return next((block for block in self.blocks if line in block.rows), None)


def read_markdown(text: str, first: int = 1) -> MarkdownDocument:
    return _MarkdownReader(text, first).document()


# CommonMark with what GitHub adds to it.
@cache
def _options() -> Any:  # noqa: ANN401 - the library's flags
    from pyromark import Options

    return (
        Options.ENABLE_TABLES
        | Options.ENABLE_FOOTNOTES
        | Options.ENABLE_TASKLISTS
        | Options.ENABLE_STRIKETHROUGH
    )


_NESTING: Final = frozenset(["List", "BlockQuote"])
_LINKS: Final[dict[str, Literal["link", "image"]]] = {"Link": "link", "Image": "image"}
_AUTOMATIC: Final = frozenset(["Autolink", "Email"])
_WORDS: Final = frozenset(["Text", "Code"])
_ATTRIBUTE: Final = lazy_pattern(
    r"""(?<![\w:.@-])(?:href|src)\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE
)
_TAG: Final = lazy_pattern(r"<(?:a|(img))\s([^<>]*)>", re.IGNORECASE)
_CLOSING: Final = lazy_pattern(rb"\n([ \t>]*)(`{3,}|~{3,})[ \t]*\r?\n?\Z")
_OPENING: Final = lazy_pattern(rb"`{3,}|~{3,}")
_NESTED: Final = lazy_pattern(rb"\n[ \t>]*(?:```|~~~)[ \t]*\w")


class _MarkdownReader:
    def __init__(self, text: str, first: int) -> None:
        # Lone surrogates have no UTF-8; each becomes a question mark.
        self.data = text.encode("utf-8", "replace")
        self.text = self.data.decode("utf-8")
        self.line = first
        self.at = 0
        self.depth = 0
        self.words: list[str] | None = None
        self.headings: list[Heading] = []
        self.links: list[Link] = []
        self.blocks: list[CodeBlock] = []
        self.html: list[str] = []
        self.nested_fence = False

    def document(self) -> MarkdownDocument:
        undefined: list[UndefinedLink] = []
        for event, span in self._events(undefined):
            if type(event) is str:  # a line break, or a rule
                if self.words is not None:
                    self.words.append(" ")
                continue
            (kind,) = event
            value = event[kind]
            if kind in _WORDS:  # half of all events
                if self.words is not None:
                    self.words.append(value)
            elif kind == "InlineHtml":
                self._see_html(value, span["start"])
            elif value == "HtmlBlock" and kind == "Start":
                start, end = span["start"], span["end"]
                self._see_html(self.data[start:end].decode(), start)
            elif type(value) is dict:  # where something begins or ends
                look = self._start if kind == "Start" else self._end
                look(cast("dict[str, Any]", value), span)
        return MarkdownDocument(
            tuple(self.headings),
            tuple(self.links),
            tuple(sorted(undefined, key=lambda link: link.line)),
            tuple(self.blocks),
            tuple(self.html),
            self.nested_fence,
        )

    def _events(
        self, undefined: list[UndefinedLink]
    ) -> Iterator[tuple[Any, dict[str, int]]]:
        from pyromark import events_with_range

        def note(link: Any) -> None:  # noqa: ANN401 - a dict of the library
            if link["link_type"] != "Shortcut":
                undefined.append(self._undefined(link["span"], link["reference"]))

        # A call for every bracket that is not a link costs; most texts have no `][`.
        events = events_with_range(
            self.text,
            options=_options(),
            broken_link_callback=cast("Any", note) if "][" in self.text else None,
        )
        return cast("Iterator[tuple[Any, dict[str, int]]]", events)

    def _start(self, value: dict[str, Any], span: dict[str, int]) -> None:
        (tag,) = value
        data = value[tag]
        if tag == "Heading":
            self.words = []
        elif tag in _NESTING:
            self.depth += 1
        elif tag in _LINKS:
            if data["link_type"] not in _AUTOMATIC:
                line = self.line_at(span["start"])
                self.links.append(Link(_LINKS[tag], data["dest_url"], line))
        elif tag == "CodeBlock" and data != "Indented":
            start = span["start"]
            block = self.data[start : span["end"]]
            indent = start - self.data.rfind(b"\n", 0, start) - 1
            line, lines = self.line_at(start), block.count(b"\n") + 1
            closed = _is_closed(block, indent)
            self.nested_fence |= _NESTED.search(block) is not None
            self.blocks.append(CodeBlock(data["Fenced"], line, closed, lines))

    def _end(self, value: dict[str, str], span: dict[str, int]) -> None:
        (tag,) = value
        if tag in _NESTING:
            self.depth -= 1
        elif tag == "Heading" and self.words is not None:
            text = " ".join("".join(self.words).split())
            line = self.line_at(span["start"])
            level = int(value[tag][1])
            self.headings.append(Heading(level, text, line, self.depth > 0))
            self.words = None

    def _see_html(self, text: str, at: int) -> None:
        """Keep a piece of HTML and its links; comments do not count."""
        line = self.line_at(at)
        while text:
            piece, _, rest = text.partition("<!--")
            comment, _, rest = rest.partition("-->")
            self.html.append(piece)
            for tag in _TAG.finditer(piece):
                to = _ATTRIBUTE.search(tag[2])
                if to:
                    kind: Literal["link", "image"] = "image" if tag[1] else "link"
                    below = piece.count("\n", 0, tag.start())
                    self.links.append(Link(kind, to[1] or to[2] or "", line + below))
            line += piece.count("\n") + comment.count("\n")
            text = rest

    def _undefined(self, span: dict[str, int], label: str) -> UndefinedLink:
        start, end = span["start"], span["end"]
        if self.data.startswith(b"[]", end):  # a collapsed link, without its end
            end += 2
        return UndefinedLink(
            self.data[start:end].decode(),
            label,
            self.line_at(start),
            self.data[max(0, start - 4) : start].decode("utf-8", "ignore")[-1:],
            self.data[end : end + 4].decode("utf-8", "ignore")[:1],
        )

    def line_at(self, at: int) -> int:
        """Return the file's line of a byte; fast where it is near the last one."""
        if at < self.at:
            self.line -= self.data.count(b"\n", at, self.at)
        else:
            self.line += self.data.count(b"\n", self.at, at)
        self.at = at
        return self.line


def _is_closed(block: bytes, indent: int) -> bool:
    """Tell whether the last line of a fenced block is a fence that closes it."""
    opening = _OPENING.match(block)
    closing = _CLOSING.search(block)
    if opening is None or closing is None:
        return False
    # Four columns further in than the opening one, it is code.
    return len(closing[1]) < indent + 4 and closing[2].startswith(opening[0])
