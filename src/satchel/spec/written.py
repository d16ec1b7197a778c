"""Frontmatter as its author wrote it: the values, and numbers as they were spelled."""

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from satchel.model import DEFAULT_LIMITS, Finding, Json, Limits
from satchel.spec.fences import span_of_bytes
from satchel.spec.frontmatter import Node, Tree
from satchel.spec.loose import body_of
from satchel.spec.opening import open_file

__all__ = ["Written", "as_written", "read_written", "same_values"]

_WORDS: Final = (bool, type(None))


class Written(NamedTuple):
    """One SKILL.md: its fields, and the bytes of its body.

    A number whose text JSON would change stands as that text: ``1.10`` is ``"1.10"``.
    ``repairs`` are what had to be mended, and keys that stand twice, as findings.
    """

    fields: dict[str, Json]
    body: bytes
    repairs: tuple[Finding, ...] = ()


def read_written(data: bytes, limits: Limits = DEFAULT_LIMITS) -> Written | Finding:
    """Return what a SKILL.md says, whatever the profile; the error where nothing."""
    opened = open_file(data, limits)
    if isinstance(opened, Finding):
        return opened
    span = span_of_bytes(data)
    repairs = opened.repairs + tuple(
        Finding(
            "duplicate-key",
            "warning",
            f"the key {each.key!r} stands twice; the later value is used",
            line=opened.line - 1 + each.line,
        )
        for each in opened.tree.duplicates
    )
    if span is None or repairs:
        text = data.decode("utf-8", "surrogateescape")
        body = body_of(text).encode("utf-8", "surrogateescape")
    else:
        body = data[span.body :]
    return Written(as_written(opened.tree), body, repairs)


def as_written(tree: Tree) -> dict[str, Json]:
    """Return a tree's values, with numbers as texts where JSON would respell them."""
    return {key: _plain(tree, tree.root, key, node) for key, node in tree.root.items()}


def same_values(first: Mapping[str, Json], second: Mapping[str, Json]) -> bool:
    """Tell whether two mappings say the same; ``true`` is not 1, and 1 not 1.0."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def _plain(tree: Tree, around: Node, key: str | int, node: Node) -> Json:
    if isinstance(node, dict):
        return {each: _plain(tree, node, each, value) for each, value in node.items()}
    if isinstance(node, list):
        return [_plain(tree, node, at, value) for at, value in enumerate(node)]
    if isinstance(node, (str, *_WORDS)):
        return node
    text = tree.texts.get((id(around), key), "")
    return node if text == repr(node) else text
