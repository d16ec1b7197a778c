"""A tree to the manifest that the rest of Satchel knows, whatever the dialect."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from satchel.model import ClientFields, Manifest
from satchel.skill_md._dialects import (
    NEEDS_FIELDS,
    SET_ASIDE,
    boolean,
    file_list,
    mapping,
    skill_names,
    text_list,
    tool_list,
    word_list,
)
from satchel.skill_md._frontmatter import Node, YamlTree

_Within: TypeAlias = "dict[str, Node]"


def manifest_of(
    tree: YamlTree, name: str, description: str, profile: str, *, written: _Within
) -> Manifest:
    """Return the manifest of a tree; ``written`` has misspelled keys as they were."""
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
    return Manifest(name=name, description=description, profile=profile, **fields)


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


_FILES: Final = ("references", "scripts", "assets")
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
KEYS_AT_THE_TOP: Final = _AT_THE_TOP.keys() | _either_spelling(
    *("disallowed-tools", "background", "paths", "platforms", "model", "effort"),
    *("context", "agent", "shell", "required_environment_variables"),
)
KEYS_IN_METADATA: Final = _IN_METADATA.keys() | {
    *("short-description", "internal", "openclaw", "clawdbot")
}
