"""Tools from plain functions."""

from collections.abc import Callable, Mapping
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Union,
    cast,
    get_args,
    get_origin,
)

from satchel.errors import ToolError, echo
from satchel.tools._tool import Run, Tool

if TYPE_CHECKING:
    from inspect import Parameter

    from pydantic import TypeAdapter, ValidationError

    from satchel.model import Json


# What every provider takes as the name of a tool.
_NAME: Final = r"[A-Za-z0-9_-]{1,64}"

# Characters of the message about one mistake.
_MAX_MESSAGE: Final = 300
# Mistakes in one result: enough to fix a call, and no flood.
_MAX_MISTAKES: Final = 5

_SCHEMAS_BY_NAME: Final = {"$defs", "properties", "patternProperties"}
_VALUES: Final = {"const", "default", "enum", "examples"}


def tool_from_function(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
) -> Tool:
    """Return a tool that calls ``function``, which itself stays as it is.

    The schema is made from the type hints by pydantic, which also turns arguments into
    what the hints say: nested models become instances. A parameter hinted as `Run` is
    filled in and in no schema; nor is what a ``functools.partial`` has bound by name.
    Descriptions of parameters come from ``Annotated[..., Field(description=...)]``,
    else from the docstring, whose style may be Google's, numpy's or Sphinx's.

    Args:
        function: A function, method, partial or object that can be called;
            synchronous or not.
        name: By default the function's own.
        description: For the model; by default what the docstring says before its
            sections.

    Raises:
        ToolError: A parameter cannot be given by name, or has no JSON Schema; a hint
            cannot be resolved; there is no usable name.
    """
    plain = _plain(function)
    name = _name(name or str(getattr(plain, "__name__", type(plain).__name__)))
    text, descriptions = _documented(_docstring(plain))
    parameters = _parameters(name, function, plain)
    runs = [parameter.name for parameter in parameters if _is_run(parameter.annotation)]
    if len(runs) > 1:
        raise ToolError(name, f"several parameters are a Run: {', '.join(runs)}")
    given = [parameter for parameter in parameters if parameter.name not in runs]
    adapters = {parameter.name: _adapter(name, parameter) for parameter in given}
    return Tool(
        name,
        text if description is None else description,
        _schema(name, given, adapters, descriptions),
        function,
        run_parameter=runs[0] if runs else None,
        coerce=lambda arguments: _coerced(name, adapters, arguments),
    )


def _adapter(tool: str, parameter: "Parameter") -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    try:
        adapter = TypeAdapter(parameter.annotation)
        adapter.json_schema()
    except Exception as error:  # for a hint, pydantic raises half a dozen kinds
        detail = str(error).partition("\n")[0]
        raise ToolError(tool, f"parameter {parameter.name!r}: {detail}") from error
    return adapter


def _coerced(
    tool: str, adapters: "Mapping[str, TypeAdapter[Any]]", given: Mapping[str, object]
) -> dict[str, object]:
    """Return the arguments as the hints say; the ToolError names those that are not."""
    from pydantic import ValidationError

    coerced: dict[str, object] = {}
    mistakes: list[str] = []
    for name, value in given.items():
        try:
            coerced[name] = adapters[name].validate_python(value)
        except ValidationError as error:
            mistakes += _mistakes(name, error)
    if mistakes:
        more = len(mistakes) - _MAX_MISTAKES
        also = f"; and {more} more" if more > 0 else ""
        raise ToolError(tool, "; ".join(mistakes[:_MAX_MISTAKES]) + also)
    return coerced


def _mistakes(name: str, error: "ValidationError") -> list[str]:
    """Tell what is wrong, and where; not the value, which the model knows."""
    text: list[str] = []
    for parameter in error.errors(include_url=False, include_input=False):
        path = "".join(
            f"[{part}]" if isinstance(part, int) else f".{part}"
            for part in parameter["loc"]
        )
        message = parameter["msg"][
            :_MAX_MESSAGE
        ]  # a validator may repeat what it was given
        text.append(f"argument {echo(name + path)!r}: {message}")
    return text


def _plain(function: Callable[..., Any]) -> Any:  # noqa: ANN401 - whatever was wrapped
    from functools import partial
    from inspect import unwrap

    plain: Any = function
    while isinstance(plain, partial):
        plain = plain.func  # pyright: ignore[reportUnknownMemberType]
    return unwrap(plain)


def _name(name: str) -> str:
    import re

    if not re.fullmatch(_NAME, name):
        raise ToolError(name, f"a tool's name matches {_NAME}; give one by name=")
    return name


def _docstring(plain: Any) -> str:  # noqa: ANN401 - as `_plain`
    from inspect import cleandoc, getdoc, isroutine

    # Of an object that can be called, the call is documented, or else its class.
    if isroutine(plain):
        return getdoc(plain) or ""
    kind = cast("Any", type(plain))
    return cleandoc(kind.__call__.__doc__ or "") or getdoc(kind) or ""


def _documented(docstring: str) -> tuple[str, dict[str, str]]:
    from docstring_parser import ParseError, parse

    try:
        parsed = parse(docstring)
    except ParseError:
        return docstring, {}
    # numpy's style may describe several at once: ``x, y : int``.
    descriptions = {
        name.strip(): parameter.description
        for parameter in parsed.params
        for name in parameter.arg_name.split(",")
        if parameter.description
    }
    return (parsed.description or "").strip(), descriptions


def _parameters(
    tool: str,
    function: Callable[..., Any],
    plain: Any,  # noqa: ANN401 - as `_plain`
) -> "list[Parameter]":
    from functools import partial
    from inspect import signature

    try:
        parameters = signature(function).parameters
    except ValueError as error:
        raise ToolError(tool, str(error)) from error
    body = plain if hasattr(plain, "__globals__") else type(plain).__call__
    names = getattr(body, "__globals__", {})
    bound = function.keywords if isinstance(function, partial) else {}
    return [
        parameter.replace(annotation=_hint(tool, parameter, names))
        for name, parameter in parameters.items()
        if name not in bound
    ]


def _hint(tool: str, parameter: "Parameter", names: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a hint is anything
    from types import SimpleNamespace
    from typing import get_type_hints

    name = parameter.name
    if parameter.kind not in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}:
        detail = f"parameter {str(parameter).partition(':')[0]!r} is"
        raise ToolError(
            tool,
            f"{detail} {parameter.kind.description}; a model gives each by its name",
        )
    if parameter.annotation is parameter.empty:
        return Any
    # `Run` is often imported for type checkers alone; a module's own goes first.
    names_in_hint = {"Run": Run, **names}
    holder = SimpleNamespace(__annotations__={name: parameter.annotation})
    try:
        return get_type_hints(holder, names_in_hint, include_extras=True)[name]
    # Evaluating a hint runs code of the module it is in.
    except Exception as error:  # a hint may hold any expression
        detail = f"parameter {name!r}: its hint cannot be resolved: {error}"
        raise ToolError(tool, detail) from error


def _is_run(hint: Any) -> bool:  # noqa: ANN401 - a hint is anything
    from types import NoneType, UnionType

    if get_origin(hint) is Annotated:
        return _is_run(get_args(hint)[0])
    if get_origin(hint) in {Union, UnionType}:
        return all(
            parameter is NoneType or _is_run(parameter) for parameter in get_args(hint)
        )
    return hint is Run


def _schema(
    tool: str,
    parameters: "list[Parameter]",
    adapters: "Mapping[str, TypeAdapter[Any]]",
    descriptions: Mapping[str, str],
) -> dict[str, "Json"]:
    from pydantic import TypeAdapter

    made, definitions = TypeAdapter.json_schemas(
        [(name, "validation", adapter) for name, adapter in adapters.items()]
    )
    properties: dict[str, Any] = {}
    for parameter in parameters:
        schema = dict(made[parameter.name, "validation"])
        if parameter.name in descriptions:
            schema.setdefault("description", descriptions[parameter.name])
        if parameter.default is not parameter.empty:
            schema |= _default(tool, parameter)
        properties[parameter.name] = schema
    whole: dict[str, Any] = {"type": "object", "properties": properties}
    required = [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty
    ]
    if required:
        whole["required"] = required
    whole["additionalProperties"] = False
    return cast("dict[str, Json]", _untitled(whole | definitions))


def _default(tool: str, parameter: "Parameter") -> dict[str, Any]:
    """Return the default for the schema, or nothing where JSON has no form for it."""
    import json

    from pydantic.fields import FieldInfo
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    if isinstance(parameter.default, FieldInfo):
        detail = "write Annotated[..., Field(...)] and a plain default, so that the"
        detail = f"parameter {parameter.name!r}: {detail} function can be called"
        raise ToolError(tool, detail)
    try:
        value = to_jsonable_python(parameter.default)
        json.dumps(value, allow_nan=False)
    except (PydanticSerializationError, TypeError, ValueError):
        return {}
    return {"default": value}


def _untitled(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """Drop the titles: they repeat names, and every call pays for them."""
    if isinstance(schema, list):
        return [_untitled(parameter) for parameter in schema]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(schema, dict):
        return schema
    untitled: dict[str, Any] = {}
    for key, value in cast("dict[str, Any]", schema).items():
        # The keys are names here: a parameter may be called `title`.
        if key in _SCHEMAS_BY_NAME:
            untitled[key] = {
                name: _untitled(parameter) for name, parameter in value.items()
            }
        # A value may have a key `title` too, which is no title of a schema.
        elif key in _VALUES:
            untitled[key] = value
        elif key != "title":
            untitled[key] = _untitled(value)
    return untitled
