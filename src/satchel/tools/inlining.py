"""JSON Schemas without references, for frameworks that keep no definitions."""

from collections.abc import Mapping
from typing import Any, cast

from satchel.model import Json

__all__ = ["inlined"]


def inlined(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return the schema with what it refers to in place, and without ``$defs``.

    Only references to its own ``$defs`` are followed. A definition that holds itself
    is cut where it comes again: there, any object is allowed.
    """
    definitions = cast("Mapping[str, Json]", schema.get("$defs", {}))
    rest = {key: each for key, each in schema.items() if key != "$defs"}
    return cast("dict[str, Json]", _inlined(rest, definitions, ()))


def _inlined(
    schema: Any,  # noqa: ANN401 - JSON
    definitions: Mapping[str, Json],
    within: tuple[str, ...],
) -> Any:  # noqa: ANN401
    if isinstance(schema, list):
        return [_inlined(each, definitions, within) for each in schema]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(schema, Mapping):
        return schema
    named = cast("Mapping[str, Any]", schema)
    plain = {key: _inlined(each, definitions, within) for key, each in named.items()}
    reference = plain.get("$ref")
    if not isinstance(reference, str):
        return plain  # or a parameter of that name
    del plain["$ref"]
    name = reference.removeprefix("#/$defs/")
    if name in within:
        return {"type": "object", **plain}
    if name not in definitions:
        return {"$ref": reference, **plain}
    return {**_inlined(definitions[name], definitions, (*within, name)), **plain}
