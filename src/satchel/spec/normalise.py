"""A tree to the manifest that the rest of Satchel knows, whatever the dialect."""

from typing import Final

from satchel.model import NO_CLIENT_FIELDS, ClientFields, Manifest
from satchel.spec.fields import boolean, file_list, mapping, text_list, tool_list
from satchel.spec.frontmatter import Node, Tree

__all__ = ["manifest_of"]

_ESSENTIAL: Final = frozenset(["name", "description"])
_FILES: Final = ("references", "scripts", "assets")


def manifest_of(tree: Tree, name: str, description: str, profile: str) -> Manifest:
    """Return the manifest; every field but name and description is read from the tree.

    What stands at the top goes before what stands in ``metadata``.
    """
    root = tree.root
    if root.keys() <= _ESSENTIAL:
        return Manifest(
            name=name, description=description, profile=profile, frontmatter=root
        )
    metadata = mapping(root.get("metadata"))
    files = {key: _files(tree, key, metadata) for key in _FILES}
    return Manifest(
        name=name,
        description=description,
        version=_text(tree, "version", metadata) or "1.0.0",
        author=_text(tree, "author", metadata),
        license=_text(tree, "license", metadata),
        compatibility=_text(tree, "compatibility", metadata),
        allowed_tools=tool_list(tree, "allowed-tools")
        if "allowed-tools" in root
        else (),
        trigger_keywords=_keywords(tree, metadata),
        references=files["references"] or (),
        scripts=files["scripts"] or (),
        assets=files["assets"] or (),
        declares_files=any(value is not None for value in files.values()),
        metadata=metadata,
        client=_client(tree, metadata),
        status=(tree.text("status", metadata) or "").strip().lower(),
        replaced_by=(tree.text("replaced-by", metadata) or "").strip(),
        profile=profile,
        frontmatter=root,
    )


def _text(tree: Tree, key: str, metadata: dict[str, Node]) -> str | None:
    text = tree.text(key)
    return tree.text(key, metadata) if text is None else text


def _files(tree: Tree, key: str, metadata: dict[str, Node]) -> tuple[str, ...] | None:
    if key in tree.root:
        return file_list(tree, key)
    return file_list(tree, key, metadata) if key in metadata else None


def _keywords(tree: Tree, metadata: dict[str, Node]) -> tuple[str, ...]:
    for key in ("trigger_keywords", "triggers"):
        if key in tree.root:
            return text_list(tree, key) or ()
    if "trigger_keywords" in metadata:
        return file_list(tree, "trigger_keywords", metadata) or ()
    return ()


_CLIENT_KEYS: Final = frozenset(
    [
        "when_to_use",
        "disable-model-invocation",
        "user-invocable",
        "argument-hint",
        "arguments",
        "disallowed-tools",
        "model",
        "effort",
        "context",
        "agent",
        "background",
        "shell",
        "paths",
        "platforms",
        "required_environment_variables",
    ]
)
_CLIENT_METADATA: Final = frozenset(
    ["short-description", "internal", "openclaw", "clawdbot"]
)


def _client(tree: Tree, metadata: dict[str, Node]) -> ClientFields:
    root = tree.root
    if _CLIENT_KEYS.isdisjoint(root) and _CLIENT_METADATA.isdisjoint(metadata):
        return NO_CLIENT_FIELDS
    user = boolean(tree, "user-invocable")
    return ClientFields(
        when_to_use=tree.text("when_to_use") or "",
        model_invocable=not boolean(tree, "disable-model-invocation"),
        user_invocable=user is not False,
        argument_hint=tree.text("argument-hint") or "",
        arguments=tool_list(tree, "arguments"),
        disallowed_tools=tool_list(tree, "disallowed-tools"),
        model=tree.text("model"),
        effort=tree.text("effort"),
        context=tree.text("context"),
        agent=tree.text("agent"),
        background=boolean(tree, "background"),
        shell=tree.text("shell"),
        paths=text_list(tree, "paths") or (),
        platforms=text_list(tree, "platforms") or (),
        short_description=tree.text("short-description", metadata) or "",
        internal=bool(boolean(tree, "internal", metadata)),
    )
