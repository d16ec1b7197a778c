"""The shape of one endpoint: what makes its route makes its description, too."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from satchel.errors import echo
from satchel.runtime.view import View
from satchel.serve.http.answers import Answers
from satchel.serve.library import Library

__all__ = ["Ask", "Endpoint", "InvalidParameterError", "Parameter", "parse"]

_MOST_DIGITS: Final = 9
"""More than any limit here has, and few enough to turn into a number at once."""


class InvalidParameterError(ValueError):
    """A parameter of the query is missing, unknown, twice there, or not as described.

    The text is for the caller.
    """


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; ``schema`` is JSON Schema, of which `parse` knows a few words.

    They are ``type`` (string, integer), ``enum``, ``minimum``, ``maximum``,
    ``minLength``, ``maxLength``, ``default``, and ``anyOf`` for a number or a word.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    example: object
    where: str = "query"
    required: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, understood: who asks, what for, and how to answer."""

    request: Request
    library: Library
    view: View
    answers: Answers
    values: Mapping[str, Any]
    """The parameters by name, with their defaults; None where one is left out."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One thing that can be asked for with GET and HEAD.

    ``path`` is as OpenAPI writes it; ``schema`` names the shape of the answer in
    `satchel.serve.http.shapes`, empty where it is a file. ``missing`` says what a 404
    means here, empty where there is none.
    """

    path: str
    operation: str
    summary: str
    description: str
    answer: Callable[[Ask], Response]
    schema: str
    example: object
    parameters: tuple[Parameter, ...] = ()
    missing: str = ""
    loads: bool = False
    """Whether it hands out bytes of a pack, so that it may be refused or fail."""


_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


def parse(
    parameters: tuple[Parameter, ...],
    query: list[tuple[str, str]],
    path: Mapping[str, str] = _NOTHING,
) -> dict[str, Any]:
    """Return the values of a request's parameters.

    Raises:
        InvalidParameterError: One is not as it is described.
    """
    known = {each.name: each for each in parameters}
    values: dict[str, Any] = {
        each.name: path.get(each.name, each.schema.get("default"))
        for each in parameters
    }
    seen: set[str] = set()
    for name, text in query:
        parameter = known.get(name)
        if parameter is None or parameter.where != "query":
            names = ", ".join(n for n, each in known.items() if each.where == "query")
            choice = f"there are {names}" if names else "there is none"
            raise InvalidParameterError(f"unknown parameter {echo(name)!r}; {choice}")
        if name in seen:
            raise InvalidParameterError(f"{name}: given more than once")
        seen.add(name)
        values[name] = _value(parameter, text)
    for parameter in parameters:
        if parameter.required and values[parameter.name] is None:
            raise InvalidParameterError(f"{parameter.name}: is needed")
    return values


def _value(parameter: Parameter, text: str) -> object:
    """Return what a text means.

    Raises:
        InvalidParameterError: It does not fit the schema.
    """
    schema = parameter.schema
    options: list[Mapping[str, Any]] = schema.get("anyOf", [schema])
    problems: list[str] = []
    for option in options:
        kind = _number if option["type"] == "integer" else _text
        value, problem = kind(option, text)
        if not problem:
            return value
        problems.append(problem)
    wanted = " or ".join(problems)
    raise InvalidParameterError(f"{parameter.name}: want {wanted}")


def _number(schema: Mapping[str, Any], text: str) -> tuple[int, str]:
    low, high = schema["minimum"], schema["maximum"]
    if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS:
        value = int(text)
        if low <= value <= high:
            return value, ""
    return 0, f"a whole number from {low} to {high:,}"


def _text(schema: Mapping[str, Any], text: str) -> tuple[str, str]:
    if "enum" in schema:
        choices: list[str] = schema["enum"]
        return text, "" if text in choices else f"one of {', '.join(choices)}"
    low, high = schema.get("minLength", 0), schema["maxLength"]
    fits = low <= len(text) <= high
    return text, "" if fits else f"{low} to {high:,} characters"
