"""A tool: what a model can call, its schema, its run and its result."""

import re
from collections import deque
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    MappingView,
    Sequence,
)
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import islice
from typing import Any, Final, cast

from satchel.errors import SkillError, ToolError, echo, error_payload
from satchel.model import Json, Reply
from satchel.text import decode, is_text, printable


class Turn:
    """One turn of an agent: each turn is another object."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, slots=True)
class Run:
    """For whom and with what a tool runs; filled in by Satchel, seen by no model.

    ``who`` is the user that the run acts for, ``deps`` what the application handed
    over with the session; both are the application's own, so their types are its to
    know. ``session`` is the `satchel.Session`, None outside of one. ``turn`` is one
    object in every call of one turn and another one in the next, for what is kept that
    long; None where it is unknown when a turn ends. ``approved`` is the answer to a
    question about this very call, for Satchel's own tools.
    """

    who: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    deps: Any = field(default=None, repr=False)
    session: Any = field(default=None, repr=False)
    agent: str = ""
    turn: object = field(default=None, repr=False, compare=False)
    approved: Reply | None = field(default=None, repr=False, compare=False)


class ErrorText(str):
    """A result in plain words that says why a call failed; it is text in all else."""

    __slots__ = ()


def with_text(result: str, text: str) -> str:
    """Return another text as the same kind of result."""
    make: Callable[[str], str] = getattr(result, "with_text", type(result))
    return make(text)


_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (Mapping,),
    "null": (type(None),),
}

# What a handler raises and an agent's loop outlives. Functions that parse a command
# line exit; a keyboard interrupt and a cancelled task are no failure.
_FAILURES: Final = (Exception, SystemExit)


# What a handler may give that is no text and that JSON does not have.
_UNREADABLE: Final = (
    *(bytes, bytearray, memoryview, Iterator, MappingView, deque, range),
)
# Items of what may have no end.
_MAX_ITEMS: Final = 10_000
# What Python writes of an object that has no text.
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+>")


@dataclass(frozen=True, slots=True)
class Tool:
    """Something a model can call.

    ``parameters`` is a JSON Schema of type object. Of it only required and additional
    properties and the types of values are checked here; a handler checks the rest.
    Additional ones are refused unless the schema says that they are welcome.
    ``handler`` takes them by name and may be asynchronous; the parameter that
    ``run_parameter`` names is filled in with the `Run` and is in no schema. ``native``
    is a framework's own tool object, which its adapter passes on as it is. ``coerce``
    is a library's check in place of ours of the types: it returns what the handler
    takes, or raises a `ToolError`. ``refused`` is called for a call that is refused for
    its form: the arguments, whatever they are, and the error; what it returns is the
    result, unless it is None. ``aliases`` are pairs: a name that is understood as well,
    and the parameter that it stands for.
    """

    name: str
    description: str
    parameters: Mapping[str, Json] = field(hash=False)
    handler: Callable[..., object] = field(repr=False)
    run_parameter: str | None = None
    native: object = field(default=None, repr=False, hash=False)
    coerce: Callable[[Mapping[str, object]], dict[str, object]] | None = field(
        default=None, repr=False, compare=False
    )
    refused: Callable[[object, SkillError], object] | None = field(
        default=None, repr=False, compare=False
    )
    aliases: tuple[tuple[str, str], ...] = ()

    @property
    def is_async(self) -> bool:
        """Whether the handler has to be awaited."""
        from inspect import iscoroutinefunction

        called = type(self.handler).__call__  # of an object with a method for it
        return iscoroutinefunction(self.handler) or iscoroutinefunction(called)

    def call(
        self, arguments: Mapping[str, object] | str, run: Run | None = None
    ) -> object:
        """Make one call. Never raises: what goes wrong is a result.

        The arguments are an object, or its JSON text, as a model's API gives it.
        A `SkillError` becomes ``{"error": {"code", "message"}}``; anything else, an
        exit of the program included, the code ``internal-error``, without its message,
        which may hold paths. So does an asynchronous handler: only `acall` can wait
        for it.
        """
        result = self._called(arguments, run)
        if isinstance(result, (Awaitable, AsyncIterator)):
            # One that nobody awaits would warn when it is collected.
            if isinstance(result, Coroutine):
                result.close()
            detail = "it is asynchronous; call it with acall"
            return error_payload(ToolError(self.name, detail))
        return result

    async def acall(
        self, arguments: Mapping[str, object] | str, run: Run | None = None
    ) -> object:
        """Do as `call` does; a synchronous handler runs in a thread."""
        if self.is_async:
            result = self._called(arguments, run)
        else:
            import asyncio

            # A handler that blocks would stop the event loop, and with it all other
            # runs.
            result = await asyncio.to_thread(self._called, arguments, run)
        if not isinstance(result, (Awaitable, AsyncIterator)):
            return result
        try:
            if isinstance(result, Awaitable):
                result = await cast("Awaitable[object]", result)
            if isinstance(result, AsyncIterator):
                result = await _first_items(cast("AsyncIterator[object]", result))
            return _readable(result, self.name)
        except _FAILURES as error:
            return self._failed(error)

    def _called(self, arguments: Mapping[str, object] | str, run: Run | None) -> object:
        try:
            filled = self._filled(arguments, run)
        except _FAILURES as error:
            # What the handler itself raises is no refusal of the call.
            if self.refused is not None and isinstance(error, SkillError):
                answer = self.refused(arguments, error)
                if answer is not None:
                    return answer
            return self._failed(error)
        try:
            return _readable(self.handler(**filled), self.name)
        except _FAILURES as error:
            return self._failed(error)

    def _filled(
        self, arguments: Mapping[str, object] | str, run: Run | None
    ) -> dict[str, object]:
        given = self.renamed(arguments_of(self.name, arguments))
        self._check_form(given)
        filled = given if self.coerce is None else self.coerce(given)
        if self.run_parameter is not None:
            filled[self.run_parameter] = run or Run()
        return filled

    def renamed(self, arguments: dict[str, object]) -> dict[str, object]:
        """Return the arguments under the names of the schema."""
        for alias, name in self.aliases:
            if alias in arguments and name not in arguments:
                arguments = {name: arguments[alias], **arguments}
                del arguments[alias]
        return arguments

    def _failed(self, error: BaseException) -> object:
        if isinstance(error, SkillError):
            return {"error": {"code": error.code, "message": printable(str(error))}}
        # Not the text of the error, which may hold paths.
        message = f"{self.name} failed: {type(error).__name__}"
        return {"error": {"code": "internal-error", "message": message}}

    def check(self, arguments: Mapping[str, object] | str) -> None:
        """Let arguments pass that the schema allows.

        Raises:
            ToolError: One is missing, unknown, or of the wrong type.
        """
        self._filled(arguments, None)

    def _check_form(self, arguments: Mapping[str, object]) -> None:
        schema = self.parameters
        for name in cast("Sequence[str]", schema.get("required", ())):
            if name not in arguments:
                raise ToolError(self.name, f"missing argument {name!r}")
        properties = cast("Mapping[str, Json]", schema.get("properties", {}))
        is_closed = schema.get("additionalProperties", False) is False
        for name in arguments:
            if is_closed and name not in properties:
                raise ToolError(self.name, f"unknown argument {echo(name)!r}")
        for name, value in arguments.items() if self.coerce is None else ():
            described = properties.get(name)
            types = described.get("type") if isinstance(described, Mapping) else None
            if types is None:
                continue
            names = (types,) if isinstance(types, str) else cast("Sequence[str]", types)
            # To Python a bool is an int; to JSON it is not.
            of_bool = ("boolean",) if isinstance(value, bool) else names
            if names and not any(
                type_name in names and isinstance(value, _TYPES.get(type_name, object))
                for type_name in of_bool
            ):
                expected = " or ".join(names)
                detail = f"argument {echo(name)!r} has to be of type {expected}"
                raise ToolError(self.name, detail)


def arguments_of(tool: str, given: object) -> dict[str, object]:
    if isinstance(given, str):
        import json

        try:
            given = json.loads(given) if given.strip() else {}
        # Deeply nested JSON ends in a RecursionError.
        except (ValueError, RecursionError):
            raise ToolError(tool, "the arguments are no valid JSON") from None
    if not isinstance(given, Mapping):
        raise ToolError(tool, "the arguments have to be an object")
    return dict(cast("Mapping[str, object]", given))


def result_text(result: object) -> str:
    """Return text as it is, and anything else as JSON on one line.

    Dataclasses and pydantic models are written as objects, sets as arrays in the
    order of their texts; whatever else JSON has no form for, as ``str`` writes it.
    A lone surrogate, which no request could be sent with, becomes a question mark.
    Never raises: what cannot be written is an error with the code ``internal-error``.
    """
    if isinstance(result, str):
        return _sendable(str(result))  # of no other class: not every store takes one
    import json

    try:
        return _sendable(json.dumps(result, ensure_ascii=False, default=_plain))
    except Exception as error:  # noqa: BLE001 - a tool's own value
        message = f"the result cannot be written: {type(error).__name__}"
        return json.dumps({"error": {"code": "internal-error", "message": message}})


def _readable(result: object, tool: str) -> object:
    """Return what a handler gave, in a form that is text or that JSON has."""
    if result is None:
        return f"{tool} was called, and gave no result."
    return _read_out(result)


def _read_out(value: Any) -> object:  # noqa: ANN401 - a handler gives anything
    """Return a value with what can be read but once, at any depth, as a list."""
    if isinstance(value, _UNREADABLE):
        value = _plain(value)
    if type(value) is list:
        return [_read_out(item) for item in cast("list[object]", value)]
    if type(value) is dict:
        items = cast("dict[object, object]", value).items()
        return {key: _read_out(item) for key, item in items}
    return value


async def _first_items(items: AsyncIterator[object]) -> object:
    first: list[object] = []
    async for item in items:
        first.append(item)
        if len(first) > _MAX_ITEMS:
            break
    return iter(first)


def _plain(value: Any) -> object:  # noqa: ANN401 - json asks about anything
    if isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(cast("bytes", value))
        return decode(data).text if is_text(data) else f"{len(data):,} bytes, no text"
    if isinstance(value, _UNREADABLE):
        items = list(islice(cast("Iterable[object]", value), _MAX_ITEMS + 1))
        more = [f"the first {_MAX_ITEMS:,} items; there are more"]
        return items if len(items) <= _MAX_ITEMS else items[:-1] + more
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in fields(value)}
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(mode="json")
    if isinstance(value, (set, frozenset)):
        return sorted(cast("set[object]", value), key=str)
    text = str(value)
    return f"a {type(value).__name__}, no text" if _ADDRESS.search(text) else text


def _sendable(text: str) -> str:
    """Return text that UTF-8 can carry: names of files may come with surrogates."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
