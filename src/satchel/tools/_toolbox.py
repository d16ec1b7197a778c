"""Boxes of tools: named, ordered, loud about a name that is there twice."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from satchel.errors import DuplicateToolError, ToolError, error_payload
from satchel.tools._tool import Run, Tool

# Characters of an object that is no tool in the error about it.
_SHOWN: Final = 120


@dataclass(frozen=True, slots=True)
class Toolbox:
    """Tools in order, under the name of their owner; no two share a name.

    Raises:
        DuplicateToolError: Two tools of one name; names both owners.
    """

    name: str
    tools: tuple[Tool, ...] = ()

    def __post_init__(self) -> None:
        _check_unique((self.name, tool) for tool in self.tools)

    @classmethod
    def of(cls, name: str, tools: Iterable[Tool | Callable[..., Any]]) -> "Toolbox":
        """Return a box of tools and of plain functions, in their order.

        Raises:
            DuplicateToolError: Two of them share a name.
            ToolError: No tool can be made from one of the functions.
        """
        return cls(name, tuple(map(_tool, tools)))

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
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    def get(self, name: str) -> Tool | None:
        """Return the tool of exactly this name, or None."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def call(
        self, name: str, arguments: Mapping[str, object] | str, run: Run | None = None
    ) -> object:
        """Make one call by the tool's name. Never raises, as `Tool.call`."""
        tool = self.get(name)
        return _unknown(name) if tool is None else tool.call(arguments, run)

    async def acall(
        self, name: str, arguments: Mapping[str, object] | str, run: Run | None = None
    ) -> object:
        """Do as `call` does; takes tools with asynchronous handlers, too."""
        tool = self.get(name)
        return _unknown(name) if tool is None else await tool.acall(arguments, run)


def _tool(tool: object) -> Tool:
    if isinstance(tool, Tool):
        return tool
    if not callable(tool):
        kind = type(tool).__name__
        raise ToolError(kind, f"expected a function or a Tool; got {tool!r}"[:_SHOWN])
    # Its libraries take time to import, and most tools are made without them.
    from satchel.tools._from_function import tool_from_function

    return tool_from_function(tool)


def _check_unique(owned: Iterable[tuple[str, Tool]]) -> None:
    owners: dict[str, str] = {}
    for owner, tool in owned:
        if tool.name in owners:
            raise DuplicateToolError(tool.name, owners[tool.name], owner)
        owners[tool.name] = owner


def _unknown(name: str) -> object:
    return error_payload(ToolError(name, "there is no such tool"))
