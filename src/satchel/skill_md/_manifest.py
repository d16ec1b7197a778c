"""A tree to the manifest that the rest of Satchel knows, whatever the dialect."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, cast

from satchel.model import MAX_COMPATIBILITY_CHARS, ClientFields, Json, Manifest, is_name
from satchel.skill_md._frontmatter import Node, YamlTree
from satchel.skill_md._opening import ManifestDraft

_Within: TypeAlias = dict[str, Node]
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


def boolean(tree: YamlTree, key: str, within: _Within | None = None) -> bool | None:
    """Return a flag, in any case; None where the text is neither."""
    # These words are those of Claude Code's documentation of skills.
    text = (tree.text(key, within) or "").strip().lower()
    return True if text in _TRUE else False if text in _FALSE else None


def text_list(tree: YamlTree, key: str, within: _Within | None = None) -> _Texts:
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


def word_list(tree: YamlTree, key: str, within: _Within | None = None) -> _Texts:
    value = (tree.root if within is None else within).get(key)
    if isinstance(value, str):
        return tuple([item.strip() for item in decode_items(value) if item.strip()])
    return text_list(tree, key, within)


def file_list(tree: YamlTree, key: str, within: _Within | None = None) -> _Texts:
    value = (tree.root if within is None else within).get(key)
    words = word_list(tree, key, within)
    is_clear = not isinstance(value, str) or value.startswith("[")
    return words if is_clear or are_files(words or ()) else None


def are_files(items: Sequence[str]) -> bool:
    """Tell whether the words of a text name files: one of several surely does.

    A list of files closes the pack to all others, so a doubtful word opens nothing.
    """
    return len(items) <= 1 or any(map(_OF_A_FILE.search, items))


def tool_list(tree: YamlTree, key: str, within: _Within | None = None) -> _Texts:
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


LISTS: Final = ("trigger_keywords", "references", "scripts", "assets")
SCHEMA_FIELD: Final = "manifest_schema"
# Source: agentskills.io/specification, "Frontmatter".
SPEC_FIELDS: Final = frozenset(
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"]
)
# Source: the manifest of the packs that profile `strict` comes from.
STRICT_FIELDS: Final = frozenset(
    ["name", "description", "version", "author", SCHEMA_FIELD, *LISTS]
)
# The prefix of a moved key that `metadata` already uses for something else.
SET_ASIDE: Final = "satchel:"


def manifest_of(
    draft: ManifestDraft, name: str, profile: str, *, written: _Within
) -> Manifest:
    """Return the manifest of a draft; ``written`` has misspelled keys as they were."""
    tree = draft.file.tree
    # Only keys that are there cost anything: this runs for every pack of a sync.
    root = tree.root
    fields: dict[str, Any] = {"frontmatter": written}
    client: dict[str, Any] = {}
    if "metadata" in root:
        fields["metadata"] = metadata = mapping(root["metadata"])
        _read(tree, metadata, _IN_METADATA, fields, client)
        if not _SET_ASIDE.keys().isdisjoint(metadata):
            _read(tree, metadata, _SET_ASIDE, fields, client)
    # Last, so that a key at the top overwrites the same one in `metadata`.
    _read(tree, root, _AT_THE_TOP, fields, client)
    if client:
        fields["client"] = ClientFields(**client)
    # A pack that declares any of its files is closed to just these.
    if not fields.keys().isdisjoint(_FILES):
        fields["declares_files"] = True
    return Manifest(name=name, description=draft.description, profile=profile, **fields)


def _read(
    tree: YamlTree,
    within: _Within,
    table: dict[str, "_Field"],
    fields: dict[str, Any],
    client: dict[str, Any],
) -> None:
    for key in within:
        field = table.get(key)
        if field is not None:
            value = field.read(tree, key, within)
            # Null, or of a wrong kind: the default stays.
            if value is not None:
                (client if field.of_client else fields)[field.name] = value


def _word(tree: YamlTree, key: str, within: _Within) -> str | None:
    text = tree.text(key, within)
    return None if text is None else text.strip().lower()


def _skills(tree: YamlTree, key: str, within: _Within) -> tuple[str, ...] | None:
    del tree
    return skill_names(key, within[key])


def _unless(tree: YamlTree, key: str, within: _Within) -> bool | None:
    # A word that is neither hides the skill: its author meant to keep it for people.
    return None if within[key] is None else boolean(tree, key, within) is False


class _Field(NamedTuple):
    """Where a key goes, and how it is read; a reader returns None for no value."""

    name: str
    read: Callable[[YamlTree, str, _Within], object]
    of_client: bool = False


def _either_spelling(*keys: str) -> frozenset[str]:
    """Return keys with hyphens for underscores, and the other way round."""
    return frozenset(
        spelling
        for key in keys
        for spelling in (key, key.replace("-", "_"), key.replace("_", "-"))
    )


_FILES: Final = LISTS[1:]
_BOTH: Final = {
    **{key: _Field(key, YamlTree.text) for key in ("version", "author", "license")},
    **{key: _Field(key, file_list) for key in _FILES},
    "compatibility": _Field("compatibility", YamlTree.text),
}
# Source: docs/reference/frontmatter.md, which names the client behind each field.
_OF_CLIENTS: Final = {
    "when_to_use": _Field("when_to_use", YamlTree.text, of_client=True),
    "disable-model-invocation": _Field("model_invocable", _unless, of_client=True),
    "user-invocable": _Field("user_invocable", boolean, of_client=True),
    "user-invokable": _Field("user_invocable", boolean, of_client=True),
    "argument-hint": _Field("argument_hint", YamlTree.text, of_client=True),
    "arguments": _Field("arguments", tool_list, of_client=True),
}
# Fields that are true or false, in either spelling.
FLAGS: Final = _either_spelling(
    *("disable-model-invocation", "user-invocable", "user-invokable")
)
_AT_THE_TOP: Final = {
    **_BOTH,
    **{
        spelling: field
        for key, field in _OF_CLIENTS.items()
        for spelling in _either_spelling(key)
    },
    "allowed-tools": _Field("allowed_tools", tool_list),
    "triggers": _Field("trigger_keywords", text_list),
    "trigger_keywords": _Field("trigger_keywords", text_list),
    **{key: _Field("requires", _skills) for key in NEEDS_FIELDS},
}
_IN_METADATA: Final = {
    **_BOTH,
    "trigger_keywords": _Field("trigger_keywords", word_list),
    "status": _Field("status", _word),
    "replaced-by": _Field("replaced_by", YamlTree.text),
    "replaces": _Field("replaces", word_list),
    "requires": _Field("requires", _skills),
}
# Where `to_spec` puts a field whose name metadata used already.
_SET_ASIDE: Final = {f"{SET_ASIDE}{key}": row for key, row in _IN_METADATA.items()}

# Keys that some client reads, Satchel among them; the others stay in `frontmatter`.
# A key that is nearly one of them is taken for a misspelling.
TOP_KEYS: Final = frozenset[str]().union(
    *(_AT_THE_TOP, SPEC_FIELDS, STRICT_FIELDS),
    _either_spelling("disallowed-tools", "required_environment_variables"),
    ("background", "paths", "platforms", "model", "effort", "context"),
    ("agent", "shell"),
)
# The first of these are read by the catalog.
METADATA_KEYS: Final = frozenset(
    {*_IN_METADATA, "tools", "adk_additional_tools", "include_tools", "category"}
    | {"owner", "short-description", "internal", "openclaw", "clawdbot"}
)


def has_unknown_keys(root: Mapping[str, object]) -> bool:
    """Tell whether a key, at the top or in ``metadata``, may be a misspelled one."""
    metadata = root.get("metadata")
    if isinstance(metadata, Mapping) and not metadata.keys() <= METADATA_KEYS:
        return True
    return not root.keys() <= TOP_KEYS


def nonstandard_fields(frontmatter: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the fields whose values the public specification does not allow."""
    # They cost nothing here, but some readers refuse a whole list of skills for one.
    fields = [
        name
        for name in ("license", "allowed-tools", "compatibility")
        if name in frontmatter and not isinstance(frontmatter[name], str)
    ]
    text = frontmatter.get("compatibility")
    if isinstance(text, str) and not 1 <= len(text) <= MAX_COMPATIBILITY_CHARS:
        fields.append("compatibility")
    if "metadata" not in frontmatter:
        return tuple(fields)
    metadata = frontmatter["metadata"]
    if not isinstance(metadata, dict):
        return (*fields, "metadata")
    inner = cast("dict[str, object]", metadata).items()
    fields += [f"metadata.{key}" for key, value in inner if not isinstance(value, str)]
    return tuple(fields)
