"""How a field's value may be written, and the two dialects of frontmatter."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias, cast

from satchel.model import MAX_NAME_CHARS, Json, is_name
from satchel.skill_md._frontmatter import Node, YamlTree

_Within: TypeAlias = "dict[str, Node] | None"
_Texts: TypeAlias = "tuple[str, ...] | None"
_TRUE: Final = frozenset(["true", "yes", "on", "1"])
_FALSE: Final = frozenset(["false", "no", "off", "0"])
# A tool and its rule in parentheses are one: `Bash(git log, *)`. A parenthesis that
# is never closed runs to the end.
_TOOL: Final = re.compile(r"(?:\([^)]*(?:\)|\Z)|[^\s,(])+")
_ITEM: Final = re.compile(r"[^\s,]+")
_OF_A_FILE: Final = re.compile(r"\w\.[A-Za-z]\w*\Z|\A(?:references|scripts|assets)/.")


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


def word_list(tree: YamlTree, key: str, within: _Within = None) -> _Texts:
    value = (tree.root if within is None else within).get(key)
    if isinstance(value, str):
        return tuple([item.strip() for item in decode_items(value) if item.strip()])
    return text_list(tree, key, within)


def file_list(tree: YamlTree, key: str, within: _Within = None) -> _Texts:
    value = (tree.root if within is None else within).get(key)
    words = word_list(tree, key, within)
    is_clear = not isinstance(value, str) or value.startswith("[")
    return words if is_clear or are_files(words or ()) else None


def are_files(items: Sequence[str]) -> bool:
    """Tell whether the words of a text name files: one of several surely does.

    A list of files closes the pack to all others, so a doubtful word opens nothing.
    """
    return len(items) <= 1 or any(map(_OF_A_FILE.search, items))


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


# Fields at the top in which a manifest names the skills that it needs. The first is
# ours; the other is also where packages are named, so one item that cannot be a skill's
# name makes it a list of those. `dependencies` has packages, as Claude documents it.
NEEDS_FIELDS: Final = ("requires", "depends")


def skill_names(field: str, value: object) -> _Texts:
    """Return the skills that a list, or a text with commas, names; None for others."""
    items: object = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        return None
    texts = [str(item).strip() for item in cast("Sequence[object]", items)]
    names = tuple(dict.fromkeys(filter(is_name, texts)))
    is_ours = field == NEEDS_FIELDS[0] or all(map(is_name, texts))
    return names if (names and is_ours) or not texts else None


_LISTS: Final = ("trigger_keywords", "references", "scripts", "assets")
SCHEMA_FIELD: Final = "manifest_schema"
# Source: agentskills.io/specification, "Frontmatter".
SPEC_FIELDS: Final = frozenset(
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"]
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

# Source: the manifest of the packs that profile `strict` comes from.
STRICT_FIELDS: Final = frozenset(
    ["name", "description", "version", "author", SCHEMA_FIELD, *_LISTS]
)

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


def encode_items(items: Iterable[str], *, as_json: bool = False) -> str:
    """Return a list as one text: spaces between the items, or JSON where those fail."""
    texts = list(items)
    if as_json or any(_AMBIGUOUS.search(text) for text in texts):
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
    if len(texts) != len(value):
        return None
    return encode_items(texts, as_json=key != _LISTS[0] and not are_files(texts))
