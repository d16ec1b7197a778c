"""Parameters of any name: a tool's author does not know what is reserved elsewhere."""

from __future__ import annotations

import asyncio
import keyword
from typing import TYPE_CHECKING, Any, Final

import pytest

from satchel import Satchel, Skill
from satchel.tools import Run, Tool, Toolbox, inline_schema, tool_from_function
from tests.fakes import FakeSource

if TYPE_CHECKING:
    from collections.abc import Callable

RESERVED: Final = """
self cls ctx context run run_context tool_context config args kwargs input name id type
properties description callback state runtime store agent model messages session request
response return class async from import lambda None title default required items schema
arguments handler tool approved call_id parameters path skill_id function result error
additionalProperties $ref $defs
""".split()  # noqa: SIM905 - to be read
WRITABLE: Final = [
    each for each in RESERVED if each.isidentifier() and not keyword.iskeyword(each)
]
# Pydantic takes no name for a parameter's model that begins so; ours is no model.
WRITABLE.extend(["model_config", "model_fields", "copy", "json", "_private", "__x"])


def function_of(name: str, *, is_async: bool = False) -> Callable[..., Any]:
    """Return a function with one parameter of that name, and a Run."""
    head = "async def" if is_async else "def"
    made: dict[str, Any] = {"Run": Run}
    exec(  # noqa: S102 - a name of ours
        f"{head} take({name}: int, the_run: Run = None) -> str:\n"
        f"    'Take it.\\n\\n    Args:\\n        {name}: What.\\n    '\n"
        f"    return f'{{{name} + 1}} {{the_run.agent}}'\n",
        made,
    )
    function: Callable[..., Any] = made["take"]
    return function


@pytest.mark.row("F25")
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("name", WRITABLE)
def test_a_function_may_have_a_parameter_of_any_name(
    name: str, *, is_async: bool
) -> None:
    tool = tool_from_function(function_of(name, is_async=is_async))
    skill = Skill("s", instructions="x", description="Use.", tools=[tool])
    session = Satchel(FakeSource("f", {}), skill).session(always=["s"], agent="desk")
    offered = session.tools().get("take")
    run = Run(agent="desk")

    assert offered is not None
    assert tool.parameters["required"] == [name]
    assert inline_schema(tool.parameters)["properties"] == tool.parameters["properties"]
    asked = [
        tool.acall({name: 1}, run),
        Toolbox("b", (tool,)).acall("take", {name: 1}, run),
        session.acall("take", {name: 1}),
        session.acall("take", f'{{"{name}": 1}}'),
        offered.acall({name: 1}),
    ]

    async def main() -> list[object]:
        return [await each for each in asked]

    assert asyncio.run(main()) == ["2 desk"] * 5
    if not is_async:
        assert tool.call({name: 1}, run) == "2 desk"
        assert session.call("take", {name: 1}) == "2 desk"
        assert offered.call({name: 1}) == "2 desk"


@pytest.mark.row("F25")
@pytest.mark.parametrize("name", RESERVED)
def test_a_tool_by_schema_may_have_a_parameter_of_any_name(name: str) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: {"type": "integer", "description": "What."}},
        "required": [name],
        "additionalProperties": False,
    }
    tool = Tool("take", "Take it.", schema, lambda **given: given[name] + 1)
    skill = Skill("s", instructions="x", description="Use.", tools=[tool])
    session = Satchel(FakeSource("f", {}), skill).session(always=["s"])
    offered = session.tools().get("take")

    assert offered is not None
    assert session.call("take", {name: 1}) == 2
    assert asyncio.run(session.acall("take", {name: 1})) == 2
    assert offered.call({name: 1}) == 2
    assert "missing" in str(session.call("take", {}))
    assert "type integer" in str(session.call("take", {name: "x"}))
    assert inline_schema(schema) == schema


@pytest.mark.row("F25")
def test_there_are_at_least_32_names() -> None:
    assert len(set(RESERVED)) >= 32
