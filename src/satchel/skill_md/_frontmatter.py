"""A frontmatter: where it is in a file, and plain text to values without a parser."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from satchel.lazy import lazy_pattern
from satchel.model import Limits

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


class MisspelledKey(NamedTuple):
    """A key as it is written, and the known one that it is near."""

    # `within` is empty at the top, else `metadata`. `counts` is false where the known
    # key is there as well: then that one counts.

    written: str
    meant: str
    within: tuple[str, ...] = ()
    counts: bool = True

    @property
    def at(self) -> tuple[str, ...]:
        return (*self.within, self.written)
