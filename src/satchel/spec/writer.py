"""Frontmatter as text: the same mapping gives the same bytes, and reads back equal."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from satchel.model import Json, Manifest
from satchel.spec.dialects import encode_items, to_spec
from satchel.spec.quoting import quoted
from satchel.spec.scalars import resolve

__all__ = ["frontmatter_of", "render_frontmatter", "write"]

# Plain only where no YAML parser, of 1.1 or 1.2, can take it for anything else.
_PLAIN: Final = re.compile(r"[A-Za-z](?:[\w./()+,'-]| (?=\w))*", re.ASCII)
_KEY: Final = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_OLD_WORDS: Final = frozenset(["y", "n", "yes", "no", "on", "off"])
_FIRST: Final = ("name", "description")


def write(manifest: Manifest) -> str:
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
    return to_spec({key: value for key, value in top.items() if _says(key, value)})


_VERSION: Final = Manifest(name="", description="").version
_FILES: Final = ("references", "scripts", "assets")


def _says(key: str, value: Json) -> bool:
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
