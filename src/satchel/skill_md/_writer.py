"""Frontmatter as text, and its values with the spelling of numbers kept."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from satchel.model import Json
from satchel.skill_md._frontmatter import Node, YamlTree, resolve

_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
# What YAML calls printable, less the line ends that it once had, and the byte order
# mark, which would be taken for one.
_SPECIAL: Final = re.compile(
    '["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]'
)


def quoted(text: str) -> str:
    """Return ``text`` in double quotes on one line; every YAML parser reads it back."""
    return f'"{_SPECIAL.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return _SHORT.get(char) or f"\\u{ord(char):04x}"


# Plain only where no YAML parser, of 1.1 or 1.2, can take it for anything else.
_PLAIN: Final = re.compile(r"[A-Za-z](?:[\w./()+,'-]| (?=\w))*", re.ASCII)
_KEY: Final = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
# Booleans in YAML 1.1, which the parsers of other clients may read.
_OLD_WORDS: Final = frozenset(["y", "n", "yes", "no", "on", "off"])
_FIRST: Final = ("name", "description")


def render_frontmatter(frontmatter: Mapping[str, Json]) -> str:
    """Return a mapping as YAML between two fences, name and description first."""
    order = [key for key in _FIRST if key in frontmatter]
    order += [key for key in frontmatter if key not in _FIRST]
    lines = _block({key: frontmatter[key] for key in order}, "")
    return "".join(["---\n", *lines, "---\n"])


def _block(mapping: Mapping[str, Json], indent: str) -> Iterator[str]:
    for key, value in mapping.items():
        yield f"{indent}{scalar(key, _KEY)}:{_value(value, indent)}"


def _value(value: Json, indent: str) -> str:
    inner = f"{indent}  "
    if isinstance(value, Mapping) and value:
        return "\n" + "".join(_block(value, inner))
    if isinstance(value, list | tuple) and value:
        return "\n" + "".join(f"{inner}-{_value(item, inner)}" for item in value)
    return f" {_simple(value)}\n"


def _simple(value: Json) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return scalar(value, _PLAIN)
    if isinstance(value, int | float):
        return repr(value)
    return "{}" if isinstance(value, Mapping) else "[]"


def scalar(text: str, plain: re.Pattern[str]) -> str:
    """Return ``text`` without quotes where it fits ``plain`` and means nothing else."""
    fits = plain.fullmatch(text) and text.lower() not in _OLD_WORDS
    return text if fits and resolve(text) == text else quoted(text)


_WORDS: Final = (bool, type(None))


def as_written(tree: YamlTree) -> dict[str, Json]:
    """Return a tree's values, with numbers as texts where JSON would respell them."""
    return {key: _plain(tree, tree.root, key, node) for key, node in tree.root.items()}


def _plain(tree: YamlTree, around: Node, key: str | int, node: Node) -> Json:
    if isinstance(node, dict):
        return {
            inner: _plain(tree, node, inner, value) for inner, value in node.items()
        }
    if isinstance(node, list):
        return [_plain(tree, node, at, value) for at, value in enumerate(node)]
    if isinstance(node, (str, *_WORDS)):
        return node
    text = tree.texts.get((id(around), key), "")
    # JSON writes the `repr`: where the author wrote another text, that is kept.
    return node if text == repr(node) else text
