"""A file's frontmatter: its fences, its values as a tree, the lines of its keys."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from satchel.lazy import lazy_pattern
from satchel.model import Finding, Limits

if TYPE_CHECKING:
    from satchel.skill_md._misspelled import MisspelledKey

Value: TypeAlias = "str | int | float | bool | None"

# First characters of the plain scalars that may be something else than a string.
FIRST_OF_ODD: Final = frozenset(["", *"~nNtTfF+-.0123456789"])

# YAML 1.2: `yes`, `no`, `on` and `off` are text, unlike in YAML 1.1.
_WORDS: Final[Mapping[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER_STARTS: Final = frozenset("+-.0123456789")
_INT: Final = re.compile(r"[-+]?[0-9]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
# YAML 1.2 writes octal as `0o17`; `017` is the decimal number 17.
_BASED: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
# A longer number stays text: Python itself refuses to read one over 4,300 digits.
_MAX_DIGITS: Final = 4_000


def resolve(text: str) -> Value:
    """Return the core-schema value of a plain scalar.

    Three plain scalars stay text because JSON has no such number: ``.nan``,
    ``.inf``, and a float too large for 64 bits.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS or len(text) > _MAX_DIGITS:
        return text
    if _INT.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return text if number in _INFINITE else number
    return text


_INFINITE: Final = (float("inf"), float("-inf"))


Node: TypeAlias = "Value | dict[str, Node] | list[Node]"


class YamlProblem(NamedTuple):
    """Why there is no tree: a code, a sentence, and the line in the frontmatter."""

    code: str
    message: str
    line: int | None = None


class DuplicateKey(NamedTuple):
    """A key that is there twice in one mapping; the later value is used."""

    # `replaced` keeps the earlier value, and so its identity, from being used again.

    key: str
    line: int
    replaced: Node


@dataclass(slots=True)
class YamlTree:
    """A frontmatter as values, with the source text of what is not a string."""

    # `texts` holds, by container and key or index, what the author wrote for a number,
    # a boolean or a null. `lines` holds the line of each key; it is empty unless lines
    # were asked for. Containers are known by identity, which holds as long as the tree
    # itself does.

    root: dict[str, Node]
    texts: dict[tuple[int, str | int], str]
    lines: dict[tuple[int, str], int]
    duplicates: list[DuplicateKey]

    def text(self, key: str, within: dict[str, Node] | None = None) -> str | None:
        """Return the source text of a scalar; None for none, and for null."""
        mapping = self.root if within is None else within
        value = mapping.get(key)
        if type(value) is str:
            return value
        return None if value is None else self.texts.get((id(mapping), key))

    def items(self, values: list[Node]) -> list[str | None]:
        """Return each item's source text; None for what `text` gives None."""
        texts, key = self.texts, id(values)
        return [
            value
            if type(value) is str
            else None
            if value is None
            else texts.get((key, index))
            for index, value in enumerate(values)
        ]


# What the parser refuses, takes for a line end, or reads differently between tokens.
_ODD: Final = r"\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff"
# A plain scalar, by YAML 1.2, 7.3.3: no indicator begins it; a colon in it has text
# behind it, a number sign has text before it.
_PLAIN: Final = (
    rf"""[^\s\-?:,\[\]{{}}#&*!|>'"%@`{_ODD}](?:[^\n:#{_ODD}]|:(?!\s|\Z)|(?<!\ )\#)*+"""
)
# A key that no other reading is known of, and its value: plain, in quotes without an
# escape, or none. Possessive, so that no line is looked at twice.
_LINE: Final = re.compile(
    rf"""(\ *+)(?:([A-Za-z_][A-Za-z0-9_-]*+):
    (?:\ ++(?:({_PLAIN})|"([^"\\\n{_ODD}]*+)"\ *+|'([^'\n{_ODD}]*+)'\ *+)|\ *+)
    (?:\n|\Z)|\n)""",
    re.VERBOSE,
)
# libyaml gives a key up that is longer.
_MAX_KEY_CHARS: Final = 1_000


# Scalars on one line, and maps of them: two thirds of public files have nothing else.
# What is read is what the parser would give, exactly (tests/property/test_plain.py);
# in any doubt, nothing is read. One loop, since it runs for every line of every pack.
def read_plain(head: bytes, limits: Limits) -> YamlTree | None:  # noqa: C901, PLR0911, PLR0912
    """Return the tree of plain frontmatter; None where the parser has to look."""
    try:
        text = head.decode()
    except UnicodeDecodeError:
        return None
    root: dict[str, Node] = {}
    texts: dict[tuple[int, str | int], str] = {}
    here, indent = root, 0
    around: list[tuple[dict[str, Node], int]] = []
    opened = ""  # the key without a value on the line before
    value: Node
    position, end, nodes = 0, len(text), 1
    while position < end:
        line = _LINE.match(text, position)
        if line is None:
            return None
        position = line.end()
        spaces, key, plain, double, single = line.groups()
        if key is None:
            if spaces:
                return None
            continue
        column = len(spaces)
        if column > indent and opened:
            del texts[id(here), opened]
            around.append((here, indent))
            inner: dict[str, Node] = {}
            here[opened] = inner
            here, indent = inner, column
        while column < indent and around:
            here, indent = around.pop()
        if column != indent or key in here or len(key) > _MAX_KEY_CHARS:
            return None
        nodes += 2
        opened = ""
        if plain is not None:
            value = plain = plain.rstrip(" ")
            if plain[0] in FIRST_OF_ODD:
                value = resolve(plain)
                if value is not plain:
                    texts[id(here), key] = plain
        elif double is not None or single is not None:
            value = single if double is None else double
        else:
            value, opened, texts[id(here), key] = None, key, ""
        here[key] = value
        if len(around) >= limits.yaml_depth:
            return None
    if not root or nodes > limits.yaml_nodes:
        return None
    return YamlTree(root, texts, {}, [])


# A fence is a line of its own. `...` ends a YAML document as `---` does. A line that
# only begins like a fence stops the search, with no group matched: what its author
# meant is for `tolerant_span` to find out.
_OPENING: Final = r"(?:{mark})?---[ \t]*\r?(?=\n)"
_CLOSING: Final = r"\n(?:---|\.\.\.(?=\s|\Z))[ \t]*(\r?\n|\r?\Z)?"
_TEXT: Final = re.compile(_OPENING.format(mark="\ufeff")), re.compile(_CLOSING)
_BYTES: Final = (
    re.compile(_OPENING.format(mark="\\xef\\xbb\\xbf").encode()),
    re.compile(_CLOSING.encode()),
)

HEADING: Final = lazy_pattern(r"^#{1,6}[ \t]+\S", re.MULTILINE)

# For frontmatter that was read within the limits before.
ANY_DEPTH: Final = Limits(yaml_depth=1_000_000, yaml_nodes=1_000_000)


class Span(NamedTuple):
    """Offsets: the frontmatter is ``[head:end]``, the body begins at ``body``."""

    head: int
    end: int
    body: int
    line: int = 2


def find_span(data: str | bytes) -> Span | None:
    """Return the span between two exact fences; in bytes for bytes."""
    patterns: Any = _BYTES if isinstance(data, bytes) else _TEXT
    opening, closing = patterns
    first = opening.match(data)
    if first is None:
        return None
    # From the line feed of the opening fence, so that empty frontmatter ends too.
    last = closing.search(data, first.end())
    if last is None or last.lastindex is None:
        return None
    # The opening match stops before a line feed, the closing one begins with one.
    return Span(first.end() + 1, last.start() + 1, last.end())


# Text alone decides, no YAML, so that this and `parse` agree. Only the top of the file
# counts: a document may show a SKILL.md as an example.
def body_of(text: str) -> str:
    """Return the text after the frontmatter, unaltered; else the whole text."""
    span = find_span(text)
    # `# text` between the fences is a YAML comment, or a heading of a body whose
    # `---` is only a rule; `tolerant_span` decides.
    if span is None or HEADING.search(text, span.head, span.end):
        from satchel.skill_md._body import tolerant_span

        loose = tolerant_span(text)
        span = loose[0] if loose else None
    return text if span is None else text[span.body :]


def read_tree(
    head: bytes, limits: Limits, *, with_lines: bool = False
) -> YamlTree | YamlProblem:
    """Return the mapping in ``head``, or why there is none; it never raises."""
    plain = None if with_lines else read_plain(head, limits)
    if plain is not None:
        return plain
    from satchel.skill_md._yaml import parse_yaml  # most libraries need it never

    return parse_yaml(head, limits, with_lines=with_lines)


class Frontmatter(NamedTuple):
    """The frontmatter of one file, read."""

    # `head` is the YAML that `tree` was read from, its first line the file's `line`.
    # `repairs` are warnings, their lines the file's. `misspelled` are keys that `tree`
    # has as they were meant, and `head` as they were written.

    tree: YamlTree
    head: bytes
    line: int
    repairs: tuple[Finding, ...] = ()
    misspelled: "tuple[MisspelledKey, ...]" = ()

    def line_of(self, *at: str) -> int | None:
        """Return the file's line of a key, given with those around it, if known."""
        if not at:
            return None
        at = self.as_written(at)
        # A search is enough for a key at the top, and much faster than the parser.
        if len(at) == 1:
            key = at[0].encode() + b":"
            if self.head.startswith(key):
                return self.line
            start = self.head.find(b"\n" + key)
            if start >= 0:
                return self.line + 1 + self.head.count(b"\n", 0, start)
        # Only the parser knows where a nested, quoted or flow-style key is.
        tree = read_tree(self.head, ANY_DEPTH, with_lines=True)
        if not isinstance(tree, YamlTree):
            return None
        within: Node = tree.root
        for key_around in at[:-1]:
            within = within.get(key_around) if isinstance(within, dict) else None
        line = tree.lines.get((id(within), at[-1]))
        return None if line is None else line + self.line - 1

    def as_written(self, at: tuple[str, ...]) -> tuple[str, ...]:
        """Return keys as the file has them, where they are given as they were meant."""
        for wrong in self.misspelled:
            depth = len(wrong.within)
            same = at[:depth] == wrong.within and at[depth : depth + 1] == (
                wrong.meant,
            )
            if wrong.counts and same:
                at = (*at[:depth], wrong.written, *at[depth + 1 :])
        return at


def too_large(name: str, limit: int, actual: int) -> Finding:
    return Finding.of(
        "limit-exceeded",
        sentence="file",
        severity="error",
        limit_name=name,
        limit=limit,
        actual=actual,
    )


class ManifestDraft(NamedTuple):
    """A file's frontmatter with its essential fields as text."""

    # `name` is as written, None for none; `description` is stripped, empty for none;
    # `repairs` are those of both.

    file: Frontmatter
    name: str | None
    description: str
    directory: str
    repairs: tuple[Finding, ...]
