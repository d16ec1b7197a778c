"""What an application offers as tools: functions, boxes, and a framework's own."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Final, cast

from satchel.agent import BaseSkill, Skill
from satchel.errors import ToolError
from satchel.model import Json
from satchel.tools import Tool, Toolbox, tool_from_function

_FUNCTIONS: Final = (FunctionType, MethodType, BuiltinFunctionType, partial)
# Many frameworks' tool objects can be called too, so `callable` would tell nothing.


def tools_in(item: object) -> Iterator[Tool]:
    """Yield the tools of what was offered: of a box or a mapping several."""
    if isinstance(item, Toolbox):
        yield from item
    elif isinstance(item, Mapping):
        for name, tool in cast("Mapping[Any, object]", item).items():
            yield _tool(tool, str(name))
    else:
        yield _tool(item)


def _tool(item: object, name: str | None = None) -> Tool:
    if isinstance(item, Tool):
        return item if name is None else replace(item, name=name)
    if isinstance(item, _FUNCTIONS):
        return tool_from_function(cast("Callable[..., Any]", item), name=name)
    kind = type(item).__name__
    if isinstance(item, (type, Skill, BaseSkill, str)):
        what = f"the class {item.__name__}" if isinstance(item, type) else f"a {kind}"
        raise ToolError(name or kind, f"{what} is no tool")
    own = foreign_name(item)
    if name and own and own != name:
        detail = f"its framework knows it as {own!r}; offer it under that name"
        raise ToolError(name, detail)
    if not (name or own):
        detail = "it has no name; offer a function, a Tool, or {name: tool}"
        raise ToolError(kind, detail)
    return _foreign_tool(item, name or own)


# Attributes that hold a JSON Schema, or a pydantic model of the arguments: of the
# OpenAI Agents SDK, Haystack and Agno, Claude's SDKs, MCP, LangChain and CrewAI.
_SCHEMAS: Final = (
    *("params_json_schema", "parameters", "input_schema", "inputSchema"),
    *("args_schema", "tool_call_schema"),
)


def foreign_name(tool: object) -> str:
    """Return the name of a framework's tool; empty if there is none."""
    # `tool_name` is of Strands, `metadata.name` of LlamaIndex.
    for owner, attribute in (
        (tool, "name"),
        (tool, "tool_name"),
        (_attribute(tool, "metadata"), "name"),
    ):
        name = _attribute(owner, attribute)
        if isinstance(name, str) and name.strip():
            return name
    return ""


def _foreign_tool(tool: object, name: str) -> Tool:
    """Return a tool that represents ``tool``, which its adapter passes on as it is."""

    def handler(**_: object) -> object:
        detail = "it belongs to its framework, which has to call it"
        raise ToolError(name, detail)

    return Tool(name, _description(tool), _parameters(tool), handler, native=tool)


def _description(tool: object) -> str:
    for owner in (tool, _attribute(tool, "metadata")):
        text = _attribute(owner, "description")
        if isinstance(text, str) and text:
            return text
    return ""


def _parameters(tool: object) -> dict[str, Json]:
    for attribute in _SCHEMAS:
        schema = _schema(_attribute(tool, attribute))
        if schema is not None:
            return schema
    return {"type": "object", "properties": {}}


def _schema(value: object) -> dict[str, Json] | None:
    write = _attribute(value, "model_json_schema")
    if isinstance(value, type) and callable(write):
        try:
            value = write()
        except Exception:  # noqa: BLE001 - a framework's own model may raise anything
            return None
    if not isinstance(value, Mapping):
        return None
    schema = cast("Mapping[str, Json]", value)
    return dict(schema) if isinstance(schema.get("properties"), Mapping) else None


def _attribute(owner: object, name: str) -> Any:  # noqa: ANN401 - anything may be there
    """Return an attribute, None if there is none; reading it may run code."""
    try:
        return getattr(owner, name, None)
    except Exception:  # noqa: BLE001 - a framework's own object may raise anything
        return None
