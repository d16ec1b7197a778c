"""The two dialects of frontmatter, turned into each other without loss.

One has fields of its own for files, keywords, version, author and the schema of all of
them. The other, the public specification, has six fields, and keeps everything else in
``metadata``, as texts.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from satchel.model import Json
from satchel.spec.fields import decode_items

__all__ = [
    "SCHEMA_FIELD",
    "SET_ASIDE",
    "SPEC_FIELDS",
    "STRICT_FIELDS",
    "encode_items",
    "from_spec",
    "to_spec",
]

_LISTS: Final = ("trigger_keywords", "references", "scripts", "assets")
SCHEMA_FIELD: Final = "manifest_schema"
SPEC_FIELDS: Final = frozenset(
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"]
)
"""Source: agentskills.io/specification, "Frontmatter"."""

STRICT_FIELDS: Final = frozenset(
    ["name", "description", "version", "author", SCHEMA_FIELD, *_LISTS]
)
"""Source: the manifest of the packs that profile ``strict`` comes from."""

_MOVED: Final = (*_LISTS, "version", "author", SCHEMA_FIELD)
SET_ASIDE: Final = "satchel:"
"""Stands before a moved key that ``metadata`` already uses for something else."""
_AMBIGUOUS: Final = re.compile(r"[\s,]|\A\[|\A\Z")
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,17}")


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
    """Return a list as one text: blanks between the items, or JSON where those fail."""
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
