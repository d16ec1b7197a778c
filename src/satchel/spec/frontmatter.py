"""The text between the fences to a tree: the one place that knows a YAML library.

Events of the C parser in one pass. `yaml.load` and `yaml.compose` are never called:
both recurse, and end the process on some 30,000 nested brackets; the event stream is
a state machine, and here it is left as soon as it goes too deep.
"""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from yaml import SafeLoader
from yaml.error import MarkedYAMLError
from yaml.events import (
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from yaml.reader import ReaderError

from satchel.model import Limits
from satchel.spec.scalars import FIRST_OF_ODD, Value, resolve

try:  # The wheels bring the C parser; without it the same events come slower.
    from yaml.cyaml import CParser as _Parser
except ImportError:  # pragma: no cover - only where PyYAML was built without libyaml
    _Parser = SafeLoader  # type: ignore[assignment,misc]

__all__ = ["Duplicate", "Node", "Problem", "Tree", "read_tree"]

Node: TypeAlias = "Value | dict[str, Node] | list[Node]"


@dataclass(frozen=True, slots=True)
class Problem:
    """Why there is no tree: a code, a sentence, and the line in the frontmatter."""

    code: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A key that stands twice in one mapping; the later value is the one kept.

    ``replaced`` keeps the earlier value, and so its identity, from being used again.
    """

    key: str
    line: int
    replaced: Node


@dataclass(slots=True)
class Tree:
    """A frontmatter as values, with the source text of what is not a string.

    ``texts`` holds, by container and key or index, what the author wrote for a number,
    a boolean or a null. ``lines`` holds the line of each key; it is empty unless
    lines were asked for. Containers are known by identity, which holds as long as
    the tree itself does.
    """

    root: dict[str, Node] = field(default_factory=dict[str, Node])
    texts: dict[tuple[int, str | int], str] = field(
        default_factory=dict[tuple[int, str | int], str]
    )
    lines: dict[tuple[int, str], int] = field(
        default_factory=dict[tuple[int, str], int]
    )
    duplicates: list[Duplicate] = field(default_factory=list[Duplicate])

    def text(self, key: str, within: dict[str, Node] | None = None) -> str | None:
        """Return the source text of a scalar, top-level unless ``within`` is given.

        None where there is none, where it is null, and where it is no scalar.
        """
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


class _RefusedError(Exception):
    """Carries a problem out of the loop over events."""

    def __init__(self, code: str, message: str, event: Event | None = None) -> None:
        super().__init__(code, message, event)
        line = event.start_mark.line + 1 if event is not None else None
        self.problem = Problem(code, message, line)


def read_tree(
    head: bytes, limits: Limits, *, with_lines: bool = False
) -> Tree | Problem:
    """Return the mapping in ``head``, or why there is none; nothing is ever raised.

    Aliases, anchors and tags are refused where they stand, before any of them could
    be expanded. A duplicate key is no problem but noted in the tree.
    """
    try:
        return _read(head, limits, with_lines=with_lines)
    except _RefusedError as refused:
        return refused.problem
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        text = str(error.problem or error.context or "not YAML")
        return Problem("invalid-yaml", text, mark.line + 1 if mark else None)
    except ReaderError as error:
        line = head.count(b"\n", 0, error.position) + 1
        return Problem("invalid-yaml", f"{error.reason}", line)
    except Exception as error:  # noqa: BLE001 - R33: whatever the library lets through
        return Problem("invalid-yaml", f"the YAML parser failed: {error!r}")


def _read(head: bytes, limits: Limits, *, with_lines: bool) -> Tree:
    parser = _Parser(head)
    event = parser.get_event()  # the start of the stream
    event = parser.get_event()
    if type(event) is not DocumentStartEvent:
        raise _RefusedError("empty-frontmatter", "there is nothing between the fences")
    event = parser.get_event()
    _refuse_reference(event)
    if type(event) is not MappingStartEvent:
        kind = "a list" if type(event) is SequenceStartEvent else "a single value"
        raise _RefusedError(
            "frontmatter-not-mapping", f"want keys and values, got {kind}", event
        )
    tree = Tree()
    _fill(tree, parser, limits, with_lines=with_lines)
    event = parser.get_event()
    if type(event) is DocumentEndEvent:
        event = parser.get_event()
        if type(event) is DocumentStartEvent:
            raise _RefusedError("invalid-yaml", "a second document begins", event)
    return tree


def _fill(  # noqa: C901, PLR0912 - one loop, since it runs for every event
    tree: Tree, parser: SafeLoader, limits: Limits, *, with_lines: bool
) -> None:
    get_event, texts = parser.get_event, tree.texts
    around: list[Node] = []
    here: Any = tree.root
    in_mapping, key = True, None
    nodes = 1
    while True:
        event = get_event()
        kind = type(event)
        if kind is ScalarEvent:
            if event.tag is not None or event.anchor is not None:
                _refuse_reference(event)
            nodes += 1
            value = text = event.value
            if in_mapping and key is None:
                key = text
                if key in here or with_lines:
                    _note_key(tree, here, key, event)
                continue
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
                _refuse_reference(event)
            if in_mapping and key is None:
                raise _RefusedError(
                    "complex-key", "a key is a list or a mapping", event
                )
            nodes += 1
            value = {} if kind is MappingStartEvent else []
        else:
            raise _RefusedError("yaml-alias", "an alias is not accepted", event)
        if in_mapping:
            here[key] = value
            key = None
        else:
            here.append(value)
        if kind is not ScalarEvent:
            around.append(here)
            here, in_mapping = value, kind is MappingStartEvent
            if len(around) >= limits.yaml_depth:
                raise _over("yaml_depth", limits.yaml_depth, "levels", event)
        if nodes > limits.yaml_nodes:
            raise _over("yaml_nodes", limits.yaml_nodes, "nodes", event)


def _note_key(tree: Tree, here: dict[str, Node], key: str, event: Event) -> None:
    line = event.start_mark.line + 1
    if key in here:
        tree.duplicates.append(Duplicate(key, line, here[key]))
        tree.texts.pop((id(here), key), None)
    else:
        tree.lines[id(here), key] = line


def _refuse_reference(event: Event) -> None:
    if event.anchor is not None:
        message = f"the anchor &{event.anchor} is not accepted"
        raise _RefusedError("yaml-anchor", message, event)
    if event.tag is not None:
        raise _RefusedError("yaml-tag", f"the tag {event.tag} is not accepted", event)


def _over(name: str, limit: int, unit: str, event: Event) -> _RefusedError:
    message = f"{name} is limited to {limit} {unit}, this frontmatter has more"
    return _RefusedError("limit-exceeded", message, event)
