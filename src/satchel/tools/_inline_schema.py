"""A JSON Schema without references, for frameworks that follow none."""

from collections.abc import Mapping
from typing import Any, cast

from satchel.model import Json


def inline_schema(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return the schema with what it refers to in place, and without ``$defs``."""
    # Only references to its own `$defs` are followed, so nothing is fetched.
    definitions = cast("Mapping[str, Json]", schema.get("$defs", {}))
    rest = {key: value for key, value in schema.items() if key != "$defs"}
    return cast("dict[str, Json]", _inlined(rest, definitions, ()))


def _inlined(
    schema: Any,  # noqa: ANN401 - JSON
    definitions: Mapping[str, Json],
    within: tuple[str, ...],
) -> Any:  # noqa: ANN401
    if isinstance(schema, list):
        return [_inlined(value, definitions, within) for value in schema]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(schema, Mapping):
        return schema
    named = cast("Mapping[str, Any]", schema)
    plain = {key: _inlined(value, definitions, within) for key, value in named.items()}
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
