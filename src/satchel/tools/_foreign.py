"""A framework's own tool object, as a `Tool`."""

from collections.abc import Mapping
from typing import Any, Final, cast

from satchel.errors import ToolError
from satchel.model import Json
from satchel.tools._tool import Tool

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


def foreign_tool(tool: object, name: str) -> Tool:
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
