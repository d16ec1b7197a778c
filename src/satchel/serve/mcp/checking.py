"""Arguments held against a tool's schema, before anything else is done with them."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol, cast

from jsonschema import (  # type: ignore[import-untyped]
    Draft202012Validator,  # pyright: ignore[reportUnknownVariableType]
)

from satchel.errors import echo
from satchel.model import Json
from satchel.text import clean_line

__all__ = ["MAX_TEXT_CHARS", "Check", "bounded"]

MAX_TEXT_CHARS: Final = 4_096
"""Characters of one argument: four times the longest path that a pack may hold."""

_OF_TEXT: Final = frozenset({"type", "description", "maxLength"})
_SHOWN_CHARS: Final = 300


class _Found(Protocol):
    """One breach of a schema."""

    message: str
    path: Iterable[object]
    validator: str


class _Validator(Protocol):
    """What is used of the library's validators."""

    def iter_errors(self, instance: object) -> Iterable[_Found]:
        """Yield every breach."""
        ...


def bounded(schema: Mapping[str, Json]) -> dict[str, Any]:
    """Return a tool's schema with a bound on each text that has none."""
    properties = cast("Mapping[str, Mapping[str, Json]]", schema["properties"])
    return {
        **schema,
        "properties": {
            name: {**each, "maxLength": MAX_TEXT_CHARS} if _is_text(each) else each
            for name, each in properties.items()
        },
    }


def _is_text(schema: Mapping[str, Json]) -> bool:
    types = schema.get("type")
    return "string" in (types if isinstance(types, list) else [types])


class Check:
    """A schema that was compiled once."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._validator = cast("_Validator", Draft202012Validator(schema))
        self._required = frozenset[str](schema.get("required", ()))
        self._texts = {
            name: each["maxLength"]
            for name, each in schema["properties"].items()
            if each.keys() <= _OF_TEXT and _is_text(each) and "maxLength" in each
        }

    def problem(self, arguments: object) -> str | None:
        """Return the first thing that is wrong with the arguments, on a short line."""
        if self._is_plain(arguments):
            return None
        found = next(iter(self._validator.iter_errors(arguments)), None)
        if found is None:
            return None
        place = "".join(f"{echo(str(step))}: " for step in found.path)
        said = found.message  # it repeats the value
        if len(said) > _SHOWN_CHARS:
            said = f"the value does not fit the schema's {found.validator!r}"
        return clean_line(place + said)

    def _is_plain(self, arguments: object) -> bool:
        """Tell whether these are short texts and nothing else, as most calls have them.

        Then they are right for certain, and the validator, which takes its time, need
        not be asked. What is not plain it judges, and words.
        """
        if not isinstance(arguments, dict):
            return False
        given = cast("dict[str, object]", arguments)
        return self._required <= given.keys() and all(
            isinstance(value, str) and len(value) <= self._texts.get(name, -1)
            for name, value in given.items()
        )
