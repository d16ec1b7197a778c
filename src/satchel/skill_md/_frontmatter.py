"""The text between the fences to a tree: the one place that knows a YAML library."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from yaml.error import MarkedYAMLError
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from yaml.reader import ReaderError

from satchel.model import Limits
from satchel.skill_md._yaml import (
    UnreadableYamlError,
    YamlParser,
    YamlProblem,
    new_parser,
    parser_of,
)

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


_REFERENCES: Final = frozenset(["yaml-alias", "yaml-anchor", "yaml-tag"])
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


def read_tree(
    head: bytes, limits: Limits, *, with_lines: bool = False
) -> YamlTree | YamlProblem:
    """Return the mapping in ``head``, or why there is none; it never raises."""
    plain = None if with_lines else read_plain(head, limits)
    return parse_yaml(head, limits, with_lines=with_lines) if plain is None else plain


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


def parse_yaml(
    head: bytes, limits: Limits, *, with_lines: bool = False
) -> YamlTree | YamlProblem:
    """Return what `read_tree` does, by the parser alone."""
    # Aliases, anchors and tags are refused where they are, before any of them could be
    # expanded; where the rest is not YAML either, that is the problem, since then
    # `*bold* text` is prose. A duplicate key is not a problem, but noted in the tree.
    try:
        return _read(head, limits, with_lines=with_lines)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = str(error.problem or error.context or "this is not YAML")
        # At its end the parser may be on a line that is not there.
        line = min(mark.line + 1, len(head.splitlines())) if mark else None
        return YamlProblem("invalid-yaml", message, line)
    except ReaderError as error:
        line = head.count(b"\n", 0, error.position) + 1
        return YamlProblem("invalid-yaml", str(error.reason), line)
    except Exception as error:  # noqa: BLE001 - it raises more than it documents
        return YamlProblem("invalid-yaml", f"the YAML parser failed: {error!r}")


# `yaml.load` and `yaml.compose` recurse, and end the process on some 30,000 nested
# brackets. The events of the parser can be left as soon as they go too deep.
def _read(head: bytes, limits: Limits, *, with_lines: bool) -> YamlTree | YamlProblem:
    # The parsers would accept UTF-16 by its mark; frontmatter has to be UTF-8.
    if head.startswith(_UTF16_MARKS):
        return YamlProblem("invalid-yaml", "this is not UTF-8", 1)
    # Plain ASCII without escapes is the same in YAML 1.1 and 1.2.
    plain = head.isascii() and b"\\u" not in head
    parser = new_parser(head) if plain else parser_of(head)
    tree = YamlTree({}, {}, {}, [])
    parser.get_event()  # the start of the stream
    if type(parser.get_event()) is not DocumentStartEvent:
        message = "there is nothing between the fences"
        return YamlProblem("empty-frontmatter", message)
    try:
        event = parser.get_event()
        if (
            type(event) is not MappingStartEvent
            or event.anchor
            or event.tag is not None
        ):
            raise _not_a_mapping(event)
        _fill(tree, parser, limits, with_lines=with_lines)
    except UnreadableYamlError as refused:
        # Where the rest is not YAML either, that is the problem: go on to its end.
        if refused.problem.code in _REFERENCES:
            while parser.get_event() is not None:
                pass
        return refused.problem
    parser.get_event()  # the end of the document
    after: Any = parser.get_event()
    if type(after) is DocumentStartEvent:
        line: int = after.start_mark.line + 1  # type: ignore[union-attr]
        return YamlProblem("invalid-yaml", "a second document begins here", line)
    return tree


def _not_a_mapping(event: Any) -> UnreadableYamlError:  # noqa: ANN401
    """Return why the first event is not the start of a plain mapping."""
    if type(event) is AliasEvent:
        return _alias(event)
    if event.anchor is not None or event.tag is not None:
        return _reference(event)
    kind = "a list" if type(event) is SequenceStartEvent else "a single value"
    message = f"expected keys and values, got {kind}"
    return UnreadableYamlError("frontmatter-not-mapping", message, event)


def _fill(  # noqa: C901, PLR0912, PLR0915 - one loop, since it runs for every event
    tree: YamlTree, parser: YamlParser, limits: Limits, *, with_lines: bool
) -> None:
    get_event, texts = parser.get_event, tree.texts
    around: list[Node] = []
    here: Any = tree.root
    in_mapping = True
    key: Any = None
    value: Any
    nodes = 1
    while True:
        event = get_event()
        kind: object = event.__class__
        if kind is ScalarEvent:
            if event.tag is not None or event.anchor is not None:
                raise _reference(event)
            nodes += 1
            value = text = event.value
            if in_mapping and key is None:
                # Keys stay as written: `1:` and `true:` are not resolved.
                key = text
                if key in here or with_lines:
                    _note_key(tree, here, key, event)
                continue
            # A quoted scalar is text, and most plain ones begin like a word.
            if not event.style and text[:1] in FIRST_OF_ODD:
                value = resolve(text)
                if value is not text:
                    texts[id(here), key if in_mapping else len(here)] = text
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            if not around:
                break
            here = around.pop()
            in_mapping = type(here) is dict
            continue
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            if event.tag is not None or event.anchor is not None:
                raise _reference(event)
            if in_mapping and key is None:
                raise UnreadableYamlError(
                    "complex-key", "a key is a list or mapping", event
                )
            nodes += 1
            value = {} if kind is MappingStartEvent else []
        else:
            # Inside a mapping the parser gives no other kind of event.
            raise _alias(event)
        if in_mapping:
            here[key] = value
            key = None
        else:
            here.append(value)
        if kind is not ScalarEvent:
            around.append(here)
            here, in_mapping = value, kind is MappingStartEvent
            # Checked on the way in, before a bomb of brackets costs memory.
            if len(around) >= limits.yaml_depth:
                raise _over("yaml_depth", limits.yaml_depth, "levels", event)
        if nodes > limits.yaml_nodes:
            raise _over("yaml_nodes", limits.yaml_nodes, "nodes", event)


def _note_key(
    tree: YamlTree,
    here: dict[str, Node],
    key: str,
    event: Any,  # noqa: ANN401
) -> None:
    line = event.start_mark.line + 1
    if key in here:
        tree.duplicates.append(DuplicateKey(key, line, here[key]))
        # The later value may be a string, which would not replace this entry.
        tree.texts.pop((id(here), key), None)
    else:
        tree.lines[id(here), key] = line


def _reference(event: Any) -> UnreadableYamlError:  # noqa: ANN401
    if event.anchor is not None:
        message = f"the anchor &{event.anchor} is not accepted"
        return UnreadableYamlError("yaml-anchor", message, event)
    message = f"the tag {event.tag} is not accepted"
    return UnreadableYamlError("yaml-tag", message, event)


def _alias(event: Any) -> UnreadableYamlError:  # noqa: ANN401
    return UnreadableYamlError(
        "yaml-alias", f"the alias *{event.anchor} is refused", event
    )


def _over(name: str, limit: int, unit: str, event: Any) -> UnreadableYamlError:  # noqa: ANN401
    message = f"{name} is limited to {limit} {unit}, and here are more"
    return UnreadableYamlError("limit-exceeded", message, event)
