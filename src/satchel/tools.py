"""Tools: a name, a description, a schema and what to call; and boxes of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from satchel.errors import DuplicateToolError, SkillError, ToolError, error_payload
from satchel.model import Json

__all__ = ["Tool", "Toolbox"]

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (Mapping,),
    "null": (type(None),),
}


@dataclass(frozen=True, slots=True)
class Tool:
    """Something a model can call.

    ``parameters`` is a JSON Schema of type object. Of it only required and additional
    properties and the types of values are checked here; a handler checks the rest.
    """

    name: str
    description: str
    parameters: Mapping[str, Json] = field(hash=False)
    handler: Callable[..., object] = field(repr=False)

    def call(self, /, **arguments: object) -> object:
        """Carry out one call. Never raises: what goes wrong is a result.

        A `SkillError` becomes ``{"error": {"code", "message"}}``; anything else the
        code ``internal-error``, without its message, which may hold paths.
        """
        try:
            self.check(arguments)
            return self.handler(**arguments)
        except SkillError as error:
            return error_payload(error)
        except Exception as error:  # noqa: BLE001 - an agent's loop goes on (R33)
            message = f"{self.name} failed: {type(error).__name__}"
            return {"error": {"code": "internal-error", "message": message}}

    def check(self, arguments: Mapping[str, object]) -> None:
        """Let arguments pass that the schema allows.

        Raises:
            ToolError: One is missing, unknown, or of the wrong type.
        """
        known = cast("Mapping[str, Mapping[str, Json]]", self.parameters["properties"])
        required = cast("Sequence[str]", self.parameters.get("required", ()))
        missing = [name for name in required if name not in arguments]
        if missing:
            raise ToolError(self.name, f"missing argument {missing[0]!r}")
        for name, value in arguments.items():
            if name not in known:
                raise ToolError(self.name, f"unknown argument {name!r}")
            types = known[name].get("type")
            wanted = (
                (types,) if isinstance(types, str) else cast("Sequence[str]", types)
            )
            if wanted and not any(_is_a(value, type_name) for type_name in wanted):
                want = " or ".join(wanted)
                raise ToolError(self.name, f"argument {name!r} is to be of type {want}")


@dataclass(frozen=True, slots=True)
class Toolbox:
    """Tools in order, under the name of their owner; no two share a name.

    Raises:
        DuplicateToolError: Two tools of one name; names both owners.
    """

    name: str
    tools: tuple[Tool, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a second tool of one name."""
        _check_unique((self.name, tool) for tool in self.tools)

    @classmethod
    def joined(cls, name: str, boxes: Iterable["Toolbox"]) -> "Toolbox":
        """Return the tools of all boxes, in order.

        Raises:
            DuplicateToolError: Two boxes have a tool of one name.
        """
        boxes = tuple(boxes)
        _check_unique((box.name, tool) for box in boxes for tool in box.tools)
        return cls(name, tuple(tool for box in boxes for tool in box.tools))

    def __iter__(self) -> Iterator[Tool]:
        """Iterate over the tools, in order."""
        return iter(self.tools)

    def __len__(self) -> int:
        """Return how many tools there are."""
        return len(self.tools)

    def get(self, name: str) -> Tool | None:
        """Return the tool of exactly this name, or None."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def call(self, name: str, arguments: Mapping[str, object]) -> object:
        """Carry out one call by the tool's name. Never raises, as `Tool.call`."""
        tool = self.get(name)
        if tool is None:
            return error_payload(ToolError(name, "there is no such tool"))
        return tool.call(**arguments)


def _check_unique(owned: Iterable[tuple[str, Tool]]) -> None:
    owners: dict[str, str] = {}
    for owner, tool in owned:
        if tool.name in owners:
            raise DuplicateToolError(tool.name, owners[tool.name], owner)
        owners[tool.name] = owner


def _is_a(value: object, type_name: str) -> bool:
    if isinstance(value, bool):  # to Python a bool is an int; to JSON it is not
        return type_name == "boolean"
    return isinstance(value, _TYPES.get(type_name, (object,)))
