"""The ways a field's value may be written, each brought to one form."""

import re
from typing import Final

from satchel.spec.frontmatter import Node, Tree

__all__ = [
    "boolean",
    "decode_items",
    "file_list",
    "mapping",
    "names_list",
    "split_tools",
    "text_list",
    "tool_list",
]

_TRUE: Final = frozenset(["true", "yes", "on", "1"])
_FALSE: Final = frozenset(["false", "no", "off", "0"])
# A tool and its rule in parentheses are one: `Bash(git log, *)`. A parenthesis that
# is never closed runs to the end.
_TOOL: Final = re.compile(r"(?:\([^)]*(?:\)|\Z)|[^\s,(])+")
_ITEM: Final = re.compile(r"[^\s,]+")


def mapping(value: Node) -> dict[str, Node]:
    """Return ``value`` where it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def boolean(tree: Tree, key: str, within: dict[str, Node] | None = None) -> bool | None:
    """Return a flag, in any case; None where the text is neither.

    Source: Claude Code's documentation of skills, which takes true, false, yes, no,
    on, off, 1 and 0.
    """
    text = (tree.text(key, within) or "").strip().lower()
    return True if text in _TRUE else False if text in _FALSE else None


def text_list(
    tree: Tree, key: str, within: dict[str, Node] | None = None
) -> tuple[str, ...] | None:
    """Return a list, or a text with commas, as its items without blanks around them.

    None where the field is absent, null or a mapping. What is empty or no scalar is
    left out of a list.
    """
    value = (tree.root if within is None else within).get(key)
    if isinstance(value, list):
        texts = tree.items(value)
    else:
        text = tree.text(key, within)
        if text is None:
            return None
        texts = [*text.split(",")]
    return tuple([text.strip() for text in texts if text and text.strip()])


def file_list(
    tree: Tree, key: str, within: dict[str, Node] | None = None
) -> tuple[str, ...] | None:
    """Return declared files: a list, or a text as `decode_items` takes it."""
    value = (tree.root if within is None else within).get(key)
    if isinstance(value, str):
        return tuple([item.strip() for item in decode_items(value) if item.strip()])
    return text_list(tree, key, within)


def tool_list(
    tree: Tree, key: str, within: dict[str, Node] | None = None
) -> tuple[str, ...] | None:
    """Return tools: a list, or a text with blanks or commas outside parentheses."""
    value = (tree.root if within is None else within).get(key)
    if isinstance(value, list):
        return text_list(tree, key, within)
    text = tree.text(key, within)
    return None if text is None else tuple(split_tools(text))


def split_tools(text: str) -> list[str]:
    """Return the tools of a text; blanks and commas within parentheses part none."""
    return _TOOL.findall(text)


def names_list(
    tree: Tree, key: str, within: dict[str, Node] | None = None
) -> tuple[str, ...] | None:
    """Return names: as `text_list` does, or each the ``name`` of a mapping."""
    value = (tree.root if within is None else within).get(key)
    if not isinstance(value, list):
        return text_list(tree, key, within)
    plain = tree.items(value)
    names = (
        tree.text("name", mapping(item)) if text is None else text
        for item, text in zip(value, plain, strict=True)
    )
    return tuple([name.strip() for name in names if name and name.strip()])


def decode_items(text: str) -> tuple[str, ...]:
    """Return the items of a text: a JSON list, else parts between blanks or commas.

    The JSON form is what `to_spec` writes for items that hold blanks or commas.
    """
    if text.startswith("["):
        import json

        try:
            items: list[object] = json.loads(text)
        except (ValueError, RecursionError):
            items = []
        if items:
            return tuple(str(item) for item in items)
    return tuple(_ITEM.findall(text))
