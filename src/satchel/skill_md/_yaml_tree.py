"""Events of a YAML parser to a tree, bounded, with no alias, anchor or tag."""

from typing import Any, Final

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
from satchel.skill_md._yaml import (
    UnreadableYamlError,
    YamlParser,
    new_parser,
    parser_of,
)

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
    message = f"{name} is limited to {limit} {unit}, and here are more"
    return UnreadableYamlError("limit-exceeded", message, event)
