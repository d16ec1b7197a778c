"""Several frontmatters of one skill, in layers, to one: pure and deterministic."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from satchel.errors import SkillManifestError, UnknownFieldError
from satchel.model import Json
from satchel.skill_md._dialects import from_spec, to_spec
from satchel.skill_md._manifest import are_files, decode_items, split_tools

# How a field is merged; `metadata` is merged key by key. In a list that is appended to,
# a mapping replaces the one of the same `name`, `id` or `code`; an item that is there
# already is not added again.
Strategy: TypeAlias = Literal["override", "append"]

Fields: TypeAlias = Mapping[str, Json]

_SCHEMA: Final = "manifest_schema"
_METADATA: Final = "metadata"
_KEYS: Final = ("name", "id", "code")


def _commas(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _items(text: str) -> list[str]:
    return list(decode_items(text))


_OVERRIDE: Final = frozenset(
    {"name", "description", "version", "author", "license", "compatibility", _SCHEMA}
    | {"sandbox_profile", "when_to_use", "disable-model-invocation", "user-invocable"}
    | {"user-invokable", "argument-hint", "arguments", "model", "effort", "context"}
    | {"agent", "background", "shell", "homepage", "hooks"}
)
# Fields that are lists, and how a text in the place of one is split.
_APPEND: Final[Mapping[str, Callable[[str], list[str]]]] = MappingProxyType(
    {
        "trigger_keywords": _commas,
        "triggers": _commas,
        "references": _items,
        "scripts": _items,
        "assets": _items,
        "allowed-tools": split_tools,
        "disallowed-tools": split_tools,
        "paths": _commas,
        "platforms": _commas,
        "tags": _commas,
        "required_environment_variables": _commas,
        "requires": _commas,
        "depends": _commas,
    }
)


def _folded(key: str) -> str:
    return key.replace("_", "-")


# The one spelling of each field, by its spelling with hyphens.
_KNOWN: Final[Mapping[str, str]] = MappingProxyType(
    {_folded(key): key for key in (*_OVERRIDE, *_APPEND, _METADATA)}
)


class Layer(NamedTuple):
    """One layer of a skill: the layer's name, and a frontmatter."""

    label: str
    fields: Fields


@dataclass(frozen=True, slots=True)
class MergedField:
    """One field of the result, its keys with dots between; the lowest layer first."""

    field: str
    strategy: Strategy
    layers: tuple[str, ...]
    value: Json


@dataclass(frozen=True, slots=True)
class MergedFrontmatter:
    """The frontmatter that the layers give together, and where each field is from."""

    fields: dict[str, Json]
    given: tuple[MergedField, ...]


# A field that no rule knows is refused: a guess would lose what one of the layers says.
def merge_layers(name: str, layers: Sequence[Layer]) -> MergedFrontmatter:
    """Return the frontmatter that the layers give together, the lowest first."""
    # `UnknownFieldError` where no rule merges a field, `SkillManifestError` where
    # layers disagree on a kind or on the name.
    schemas = [_at_the_top(layer.fields).get(_SCHEMA) for layer in layers]
    # `True` is an int in Python, but no version.
    later = any(type(schema) is int and schema > 1 for schema in schemas)
    plain = [
        Layer(layer.label, _plain(name, layer, tolerant=later)) for layer in layers
    ]
    names = {str(layer.fields["name"]) for layer in plain if "name" in layer.fields}
    if len(names) > 1:
        raise SkillManifestError(
            name, f"its layers call it {' and '.join(sorted(names))}"
        )
    fields: dict[str, Json] = {}
    for layer in plain:
        fields = merge_fields(fields, layer.fields, name)
    given = tuple(_merged_fields(fields, plain))
    # If a layer has own fields at the top, the result keeps that dialect.
    moved = any(to_spec(layer.fields) != dict(layer.fields) for layer in layers)
    return MergedFrontmatter(_rendered(fields if moved else to_spec(fields)), given)


def merge_fields(low: Fields, high: Fields, name: str = "") -> dict[str, Json]:
    """Return two layers merged, of which each field has its one form already."""
    merged = dict(low)
    for key, value in high.items():
        if key not in merged or key in _OVERRIDE:
            merged[key] = value
        else:
            merged[key] = _merge(merged[key], value, key, name)
    return merged


def _merge(low: Json, high: Json, field: str, name: str) -> Json:
    if isinstance(low, Mapping) and isinstance(high, Mapping):
        merged = dict(low)
        for key, value in high.items():
            inner = f"{field}.{key}"
            both = key in merged
            merged[key] = _merge(merged[key], value, inner, name) if both else value
        return merged
    if isinstance(low, list) and isinstance(high, list):
        return _appended([*low, *high])
    if isinstance(low, Mapping | list) or isinstance(high, Mapping | list):
        detail = f"{field} is {_kind(low)} in one layer, and {_kind(high)} in another"
        raise SkillManifestError(name, detail)
    return high


def _kind(value: Json) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    return "a list" if isinstance(value, list) else "a single value"


def _appended(items: Sequence[Json]) -> list[Json]:
    """Return each item once; of those of one key the last, in the first one's place."""
    return list({_identity(item): item for item in items}.values())


def _identity(item: Json) -> str:
    if isinstance(item, Mapping):
        for key in _KEYS:
            if isinstance(item.get(key), str | int):
                return json.dumps([key, item[key]])
    # JSON makes a key of any value, and keeps 1, true and "1" apart.
    return json.dumps({"": item}, sort_keys=True)


def _plain(name: str, layer: Layer, *, tolerant: bool) -> dict[str, Json]:
    """Return a layer's fields in their one form: spelling, place, lists as lists."""
    fields: dict[str, Json] = {}
    for key, value in _at_the_top(layer.fields).items():
        field = _KNOWN.get(_folded(key), "")
        if value is None:
            continue
        if not field and not tolerant:
            raise UnknownFieldError(key, layer.label, name)
        fields[field or key] = _form(field, value, name)
    return fields


def _form(key: str, value: Json, name: str) -> Json:
    if key == _METADATA:
        if not isinstance(value, Mapping):
            raise SkillManifestError(name, "metadata is not a mapping in one layer")
        return _without_nulls(value)
    if key in _APPEND:
        if isinstance(value, Mapping):
            raise SkillManifestError(name, f"{key} is a mapping in one layer")
        listed = value if isinstance(value, list | tuple) else _APPEND[key](str(value))
        return _appended([item for item in listed if item is not None])
    return value


def _without_nulls(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return _appended([item for item in value if item is not None])
    return value


def _at_the_top(fields: Fields) -> dict[str, Json]:
    """Return the fields of a layer with none of them set aside in ``metadata``."""
    top = from_spec(fields)
    metadata = top.get(_METADATA)
    if not isinstance(metadata, Mapping):
        return top
    inner = dict(metadata)
    for key in ("trigger_keywords", "references", "scripts", "assets"):
        text = inner.get(key)
        items = _items(text) if isinstance(text, str) else []
        if items and key not in top and (key == "trigger_keywords" or are_files(items)):
            del inner[key]
            top[key] = [*items]
    return {**top, _METADATA: inner}


def _rendered(fields: Fields) -> dict[str, Json]:
    written = dict(fields)
    for key in ("allowed-tools", "disallowed-tools"):
        tools = written.get(key)
        # One text only where it splits into the same tools again.
        if isinstance(tools, list) and split_tools(" ".join(map(str, tools))) == tools:
            written[key] = " ".join(map(str, tools))
    if written.get(_METADATA) == {}:
        del written[_METADATA]
    return written


def _merged_fields(
    fields: Fields, layers: Sequence[Layer], prefix: str = ""
) -> Iterator[MergedField]:
    """Yield each field of the result; of mappings that are merged each inner one."""
    for key, value in fields.items():
        giving = [layer for layer in layers if key in layer.fields]
        labels = tuple(layer.label for layer in giving)
        if isinstance(value, Mapping) and (prefix or key == _METADATA):
            inner = [
                Layer(layer.label, mapping)
                for layer in giving
                if isinstance(mapping := layer.fields[key], Mapping)
            ]
            yield from _merged_fields(value, inner, f"{prefix}{key}.")
        elif isinstance(value, list) and (prefix or key in _APPEND):
            yield MergedField(f"{prefix}{key}", "append", labels, value)
        else:
            yield MergedField(f"{prefix}{key}", "override", labels, value)
