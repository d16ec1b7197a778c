"""Frontmatter as text: read with its author's spelling, and written so.

That it reads back equal.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from satchel.model import DEFAULT_LIMITS, Finding, Json, Limits, Manifest
from satchel.skill_md._body import body_of
from satchel.skill_md._dialects import encode_items, to_spec
from satchel.skill_md._frontmatter import Node, YamlTree
from satchel.skill_md._opening import read_frontmatter, span_of_bytes
from satchel.skill_md._yaml import resolve

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
_OLD_WORDS: Final = frozenset(["y", "n", "yes", "no", "on", "off"])
_FIRST: Final = ("name", "description")


def write_manifest(manifest: Manifest) -> str:
    """Return the frontmatter of a manifest between two fences.

    As it was written, where it was read from a file; else in the public
    specification's dialect. Read back it gives the same manifest.
    """
    return render_frontmatter(manifest.frontmatter or frontmatter_of(manifest))


def render_frontmatter(frontmatter: Mapping[str, Json]) -> str:
    """Return a mapping as YAML between two fences, name and description first."""
    order = [key for key in _FIRST if key in frontmatter]
    order += [key for key in frontmatter if key not in _FIRST]
    lines = _block({key: frontmatter[key] for key in order}, "")
    return "".join(["---\n", *lines, "---\n"])


def frontmatter_of(manifest: Manifest) -> dict[str, Json]:
    """Return frontmatter for a manifest that was made in code."""
    client, inner = manifest.client, dict(manifest.metadata)
    files = {key: list(getattr(manifest, key)) for key in _FILES}
    inner |= {
        "status": manifest.status,
        "replaced-by": manifest.replaced_by,
        "replaces": encode_items(manifest.replaces) if manifest.replaces else "",
        "short-description": client.short_description,
        "internal": client.internal and "true",
    }
    top: dict[str, Json] = {
        "name": manifest.name,
        "description": manifest.description,
        "license": manifest.license,
        "compatibility": manifest.compatibility,
        "allowed-tools": " ".join(manifest.allowed_tools),
        "version": manifest.version if manifest.version != _VERSION else None,
        "author": manifest.author,
        "trigger_keywords": list(manifest.trigger_keywords),
        **(files if manifest.declares_files else {}),
        "when_to_use": client.when_to_use,
        "disable-model-invocation": not client.model_invocable,
        "user-invocable": client.user_invocable and None,
        "argument-hint": client.argument_hint,
        "arguments": list(client.arguments),
        "disallowed-tools": list(client.disallowed_tools),
        "model": client.model,
        "effort": client.effort,
        "context": client.context,
        "agent": client.agent,
        "background": client.background,
        "shell": client.shell,
        "paths": list(client.paths),
        "platforms": list(client.platforms),
        "required_environment_variables": list(client.required_environment),
        "metadata": {key: value for key, value in inner.items() if value},
    }
    return to_spec({key: value for key, value in top.items() if _is_given(key, value)})


_VERSION: Final = Manifest(name="", description="").version
_FILES: Final = ("references", "scripts", "assets")


def _is_given(key: str, value: Json) -> bool:
    if key in {"name", "description", *_FILES}:
        return True
    if key in {"user-invocable", "background"}:
        return value is not None
    return bool(value)


def _block(mapping: Mapping[str, Json], indent: str) -> Iterator[str]:
    for key, value in mapping.items():
        yield f"{indent}{_scalar(key, _KEY)}:{_value(value, indent)}"


def _value(value: Json, indent: str) -> str:
    """Return what stands behind a key or a dash, with its line's end."""
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
        return _scalar(value, _PLAIN)
    if isinstance(value, int | float):
        return repr(value)
    return "{}" if isinstance(value, Mapping) else "[]"


def _scalar(text: str, plain: re.Pattern[str]) -> str:
    fits = plain.fullmatch(text) and text.lower() not in _OLD_WORDS
    return text if fits and resolve(text) == text else quoted(text)


_WORDS: Final = (bool, type(None))


class WrittenFrontmatter(NamedTuple):
    """One SKILL.md: its fields, and the bytes of its body.

    A number whose text JSON would change stands as that text: ``1.10`` is ``"1.10"``.
    ``repairs`` are what had to be mended, and keys that stand twice, as findings.
    """

    fields: dict[str, Json]
    body: bytes
    repairs: tuple[Finding, ...] = ()


def read_as_written(
    data: bytes, limits: Limits = DEFAULT_LIMITS
) -> WrittenFrontmatter | Finding:
    """Return what a SKILL.md says, whatever the profile; the error where nothing."""
    opened = read_frontmatter(data, limits)
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
    return WrittenFrontmatter(as_written(opened.tree), body, repairs)


def as_written(tree: YamlTree) -> dict[str, Json]:
    """Return a tree's values, with numbers as texts where JSON would respell them."""
    return {key: _plain(tree, tree.root, key, node) for key, node in tree.root.items()}


def same_values(first: Mapping[str, Json], second: Mapping[str, Json]) -> bool:
    """Tell whether two mappings say the same; ``true`` is not 1, and 1 not 1.0."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def _plain(tree: YamlTree, around: Node, key: str | int, node: Node) -> Json:
    if isinstance(node, dict):
        return {each: _plain(tree, node, each, value) for each, value in node.items()}
    if isinstance(node, list):
        return [_plain(tree, node, at, value) for at, value in enumerate(node)]
    if isinstance(node, (str, *_WORDS)):
        return node
    text = tree.texts.get((id(around), key), "")
    return node if text == repr(node) else text
