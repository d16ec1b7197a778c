"""YAML to a tree: PyYAML's events, read as YAML 1.2, bounded, with no alias or tag."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Final, Protocol

from yaml import SafeLoader
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
from satchel.skill_md._frontmatter import (
    FIRST_OF_ODD,
    DuplicateKey,
    Node,
    YamlProblem,
    YamlTree,
    resolve,
)


class UnreadableYamlError(Exception):
    """Carries a problem out of the loop over events."""

    def __init__(
        self,
        code: str,
        message: str,
        event: Any = None,  # noqa: ANN401
    ) -> None:
        super().__init__(code, message, event)
        line = None if event is None else event.start_mark.line + 1
        self.problem = YamlProblem(code, message, line)


class YamlParser(Protocol):
    """The part of PyYAML's parsers that is used; its events have no common type."""

    def get_event(self) -> Any:  # noqa: ANN401 - the library types none of it
        """Return the next event; None after the last."""
        ...


class _PureParser:
    """The parser in Python; like the one in C it refuses surrogates."""

    def __init__(self, head: bytes) -> None:
        self._parser: YamlParser = SafeLoader(head)

    def get_event(self) -> Any:  # noqa: ANN401
        event = self._parser.get_event()
        if type(event) is ScalarEvent and not event.value.isascii():
            text: str = event.value
            # The two differ only where the text has a lone surrogate.
            if text.encode("utf-8", "replace") != text.encode("utf-8", "surrogatepass"):
                raise UnreadableYamlError("invalid-yaml", "found a surrogate", event)
        return event


def _best_parser() -> Callable[[bytes], YamlParser]:
    """Return the C parser; the pure one where PyYAML was built without it."""
    try:
        # Neither stubs nor `__all__` name it.
        from yaml.cyaml import CParser  # type: ignore[attr-defined]
    except ImportError:
        return _PureParser
    return CParser  # pyright: ignore[reportUnknownVariableType]


new_parser: Final = _best_parser()


# Line ends in YAML 1.1, which both of PyYAML's parsers read; text since 1.2.
_OLD_BREAKS: Final = re.compile(b"\xc2\x85|\xe2\x80[\xa8\xa9]")


# 131,000 characters of four bytes, more than a frontmatter has room for.
_PLANES: Final = (range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE))


def _spare(head: bytes, codes: Iterable[int]) -> Iterator[str]:
    """Yield characters that are not in the text, escaped or not."""
    # The hex digits of an escape may be in either case.
    small = head.lower()
    for code in codes:
        if chr(code).encode() not in head and b"%x" % code not in small:
            yield chr(code)


class _OldBreaksParser:
    """A parser for which those are text: it reads private characters instead."""

    def __init__(self, head: bytes) -> None:
        self._restored: dict[int, str] = {}
        spare = _spare(head, chain(range(0xE000, 0xF8FF), *_PLANES))
        for mark in "\x85\u2028\u2029":
            stand_in = next(spare)
            self._restored[ord(stand_in)] = mark
            head = head.replace(mark.encode(), stand_in.encode())
        self._parser = new_parser(head)

    def get_event(self) -> Any:  # noqa: ANN401
        event = self._parser.get_event()
        if type(event) is ScalarEvent:
            event.value = event.value.translate(self._restored)
        return event


# A character as JSON escapes it in two halves, an escaped backslash not before it.
_PAIR: Final = re.compile(
    rb"(?<!\\)((?:\\\\)*)"
    rb"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
)


class _SurrogatePairParser:
    """Joins such halves in double quotes: YAML 1.2 has them, libyaml refuses."""

    def __init__(self, head: bytes) -> None:
        # Four bytes in UTF-8, like the two `\u` that it replaces.
        stand_in = next(_spare(head, chain(*_PLANES)))
        self._stand_in = stand_in
        self._shown = re.compile(f"{stand_in}([0-9a-fA-F]{{4}})([0-9a-fA-F]{{4}})")
        self._parser = _text_parser(
            _PAIR.sub(rb"\1" + stand_in.encode() + rb"\2\3", head)
        )

    def get_event(self) -> Any:  # noqa: ANN401
        event = self._parser.get_event()
        if type(event) is ScalarEvent and self._stand_in in event.value:
            meant = _joined if event.style == '"' else r"\\u\1\\u\2"
            event.value = self._shown.sub(meant, event.value)
        return event


def _joined(halves: re.Match[str]) -> str:
    high, low = int(halves[1], 16), int(halves[2], 16)
    # As in UTF-16: the first half has the upper ten bits, the second the lower ten.
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def parser_of(head: bytes) -> YamlParser:
    """Return a parser for the text between the fences."""
    if b"\\u" in head and _PAIR.search(head):
        return _SurrogatePairParser(head)
    return _text_parser(head)


def _text_parser(head: bytes) -> YamlParser:
    if not head.isascii() and _OLD_BREAKS.search(head):
        return _OldBreaksParser(head)
    return new_parser(head)


_REFERENCES: Final = frozenset(["yaml-alias", "yaml-anchor", "yaml-tag"])
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


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
    message = f"there are more than {name} = {limit:,} {unit}"
    return UnreadableYamlError("limit-exceeded", message, event)
