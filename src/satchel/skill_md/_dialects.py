"""How a field's value may be written, and the two dialects of frontmatter."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from satchel.model import Json
from satchel.skill_md._frontmatter import Node, YamlTree

_Within: TypeAlias = "dict[str, Node] | None"
_Texts: TypeAlias = "tuple[str, ...] | None"
_TRUE: Final = frozenset(["true", "yes", "on", "1"])
_FALSE: Final = frozenset(["false", "no", "off", "0"])
# A tool and its rule in parentheses are one: `Bash(git log, *)`. A parenthesis that
# is never closed runs to the end.
_TOOL: Final = re.compile(r"(?:\([^)]*(?:\)|\Z)|[^\s,(])+")
_ITEM: Final = re.compile(r"[^\s,]+")


def mapping(value: Node) -> dict[str, Node]:
    return value if isinstance(value, dict) else {}


def boolean(tree: YamlTree, key: str, within: _Within = None) -> bool | None:
    """Return a flag, in any case; None where the text is neither."""
    # These words are those of Claude Code's documentation of skills.
    text = (tree.text(key, within) or "").strip().lower()
    return True if text in _TRUE else False if text in _FALSE else None


def text_list(tree: YamlTree, key: str, within: _Within = None) -> _Texts:
    """Return the scalars of a list, or of a text with commas; else None."""
    value = (tree.root if within is None else within).get(key)
    if isinstance(value, list):
        texts = tree.items(value)
    else:
        text = tree.text(key, within)
        if text is None:
            return None
        texts = [*text.split(",")]
    return tuple([text.strip() for text in texts if text and text.strip()])


def file_list(tree: YamlTree, key: str, within: _Within = None) -> _Texts:
    value = (tree.root if within is None else within).get(key)
    if isinstance(value, str):
        return tuple([item.strip() for item in decode_items(value) if item.strip()])
    return text_list(tree, key, within)


def tool_list(tree: YamlTree, key: str, within: _Within = None) -> _Texts:
    value = (tree.root if within is None else within).get(key)
    if isinstance(value, list):
        return text_list(tree, key, within)
    text = tree.text(key, within)
    return None if text is None else tuple(split_tools(text))


def split_tools(text: str) -> list[str]:
    """Return the tools of a text; spaces and commas within parentheses split none."""
    return _TOOL.findall(text)


def decode_items(text: str) -> tuple[str, ...]:
    """Return the items of a text: a JSON list, else parts between spaces or commas."""
    if text.startswith("["):
        import json

        try:
            items: list[object] = json.loads(text)
        except (ValueError, RecursionError):
            items = []
        if items:
            return tuple(str(item) for item in items)
    return tuple(_ITEM.findall(text))


_LISTS: Final = ("trigger_keywords", "references", "scripts", "assets")
SCHEMA_FIELD: Final = "manifest_schema"
# Source: agentskills.io/specification, "Frontmatter".
SPEC_FIELDS: Final = frozenset(
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"]
)

# Source: the manifest of the packs that profile `strict` comes from.
STRICT_FIELDS: Final = frozenset(
    ["name", "description", "version", "author", SCHEMA_FIELD, *_LISTS]
)

_MOVED: Final = (*_LISTS, "version", "author", SCHEMA_FIELD)
# The prefix of a moved key that `metadata` already uses for something else.
SET_ASIDE: Final = "satchel:"
_AMBIGUOUS: Final = re.compile(r"[\s,]|\A\[|\A\Z")
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,17}")


# One dialect has fields of its own. The public specification has six, and keeps all
# else in `metadata`, as texts; neither way loses anything.
def to_spec(frontmatter: Mapping[str, Json]) -> dict[str, Json]:
    """Return the frontmatter with the fields of its own dialect moved to ``metadata``.

    Only texts, lists of texts and the number of ``manifest_schema`` are moved;
    everything else stays where it is. `from_spec` undoes it, but for an empty
    ``metadata``, which is as good as none.
    """
    metadata = frontmatter.get("metadata", {})
    if not isinstance(metadata, Mapping):
        return dict(frontmatter)
    top, inner = dict(frontmatter), dict(metadata)
    for key in _MOVED:
        text = _encoded(key, top.get(key))
        aside = f"{SET_ASIDE}{key}"
        place = key if key not in metadata else aside
        # Where `aside` is taken, readers would take that for what is moved.
        if text is not None and aside not in metadata:
            del top[key]
            inner[place] = text
    return {**top, "metadata": inner} if inner or "metadata" in top else top


def from_spec(frontmatter: Mapping[str, Json]) -> dict[str, Json]:
    """Return the frontmatter with those fields moved out of ``metadata`` again.

    A text that `to_spec` would write differently stays, so that it undoes this too.
    """
    metadata = frontmatter.get("metadata")
    if not isinstance(metadata, Mapping):
        return dict(frontmatter)
    top, inner = dict(frontmatter), dict(metadata)
    for key in _MOVED:
        place = f"{SET_ASIDE}{key}" if f"{SET_ASIDE}{key}" in metadata else key
        text = metadata.get(place)
        if key in top or not isinstance(text, str) or key not in metadata:
            continue
        value = _decoded(key, text)
        if _encoded(key, value) == text:
            del inner[place]
            top[key] = value
    if inner or not metadata:
        return {**top, "metadata": inner}
    del top["metadata"]
    return top


def encode_items(items: Iterable[str]) -> str:
    """Return a list as one text: spaces between the items, or JSON where those fail."""
    texts = list(items)
    if any(_AMBIGUOUS.search(text) for text in texts):
        import json

        return json.dumps(texts, ensure_ascii=False)
    return " ".join(texts)


def _decoded(key: str, text: str) -> Json:
    if key in _LISTS:
        return list(decode_items(text))
    return int(text) if key == SCHEMA_FIELD and _NUMBER.fullmatch(text) else text


def _encoded(key: str, value: Json) -> str | None:
    if key == SCHEMA_FIELD:
        text = str(value) if type(value) is int else ""
        return text if _NUMBER.fullmatch(text) else None
    if key not in _LISTS:
        return value if isinstance(value, str) else None
    if not isinstance(value, list | tuple):
        return None
    texts = [item for item in value if isinstance(item, str)]
    return encode_items(texts) if len(texts) == len(value) else None
