"""The fields that clients know, and the two dialects of frontmatter."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from satchel.model import MAX_NAME_CHARS, Json
from satchel.skill_md._manifest import (
    LISTS,
    NEEDS_FIELDS,
    SCHEMA_FIELD,
    SET_ASIDE,
    SPEC_FIELDS,
    STRICT_FIELDS,
    are_files,
    decode_items,
)

# Source: the documentation of these clients, read from August to November 2026.
_OF_CLIENTS: Final = {
    "Claude Code": "agent argument-hint arguments background context "
    "disable-model-invocation disallowed-tools effort hooks model paths shell "
    "user-invocable when_to_use",
    "Claude": "dependencies",
    "VS Code": "argument-hint context disable-model-invocation user-invocable "
    "user-invokable",
    "Cursor": "disable-model-invocation",
    "OpenClaw": "command-arg-mode command-dispatch command-tool "
    "disable-model-invocation homepage metadata.clawdbot metadata.clawdis "
    "metadata.openclaw user-invocable",
    "OpenHands": "disable-model-invocation triggers",
    "pi": "disable-model-invocation",
    "Hermes": "metadata.hermes platforms prerequisites required_environment_variables",
    "Codex": "metadata.short-description",
    "the skills installer (npx skills)": "metadata.internal",
}
# Fields beyond the specification, with the clients that honour them; others do not.
CLIENT_FIELDS: Final = {
    field: tuple(client for client, own in _OF_CLIENTS.items() if field in own.split())
    for fields in _OF_CLIENTS.values()
    for field in fields.split()
}

# Fields beyond it that only describe a pack to people; many write them at the top.
DESCRIBING_FIELDS: Final = frozenset(
    [
        *("author", "authors", "categories", "category", "keywords", "tags", "title"),
        "version",
    ]
)
# Fields of an agent, which some keep in a file that is called as a skill's is.
_OF_AGENTS: Final = frozenset(["color", "tools"])

_OF_SKILLS: Final = (
    SPEC_FIELDS | STRICT_FIELDS | CLIENT_FIELDS.keys() | DESCRIBING_FIELDS
).union(NEEDS_FIELDS)


def is_of_a_skill(fields: Mapping[str, object]) -> bool:
    """Tell whether frontmatter is that of a skill, and not of another kind of page.

    A skill has a name and a description, and most of its fields are known to clients of
    skills. A ticket, a lesson or an agent that is kept in a SKILL.md has others.
    """
    named = fields.get("name") and fields.get("description")
    others = fields.keys() - _OF_SKILLS
    return (
        bool(named)
        and len(str(fields["name"])) <= MAX_NAME_CHARS
        and 2 * len(others) <= len(fields)
        and _OF_AGENTS.isdisjoint(fields)
    )


_MOVED: Final = (*LISTS, "version", "author", SCHEMA_FIELD)
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


def encode_items(items: Iterable[str], *, as_json: bool = False) -> str:
    """Return a list as one text: spaces between the items, or JSON where those fail."""
    texts = list(items)
    if as_json or any(_AMBIGUOUS.search(text) for text in texts):
        import json

        return json.dumps(texts, ensure_ascii=False)
    return " ".join(texts)


def _decoded(key: str, text: str) -> Json:
    if key in LISTS:
        return list(decode_items(text))
    return int(text) if key == SCHEMA_FIELD and _NUMBER.fullmatch(text) else text


def _encoded(key: str, value: Json) -> str | None:
    if key == SCHEMA_FIELD:
        text = str(value) if type(value) is int else ""
        return text if _NUMBER.fullmatch(text) else None
    if key not in LISTS:
        return value if isinstance(value, str) else None
    if not isinstance(value, list | tuple):
        return None
    texts = [item for item in value if isinstance(item, str)]
    if len(texts) != len(value):
        return None
    return encode_items(texts, as_json=key != LISTS[0] and not are_files(texts))
