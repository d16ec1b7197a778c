"""The look at a tool's arguments never lets pass what its schema refuses."""

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from satchel import Satchel, Skill
from satchel.errors import ToolError
from satchel.model import Style
from satchel.tools import Tool
from satchel_server._mcp import _tools
from satchel_server._mcp._tools import MAX_TEXT_CHARS, bounded_schema

STYLES: list[Style] = ["packs", "agent-skills", "references"]
TOOLS = [
    tool
    for style in STYLES
    for tool in Satchel(Skill("a", instructions="b", description="c"))
    .view(style=style)
    .tools(find=True)
]
names = st.sampled_from(
    ["name", "skill_id", "skill_name", "reference", "script", "path", "query", "k", "x"]
)
values = st.one_of(
    st.text(max_size=5),
    st.just("x" * MAX_TEXT_CHARS),
    st.just("\U0001f600" * MAX_TEXT_CHARS),
    st.just("x" * (MAX_TEXT_CHARS + 1)),
    st.none(),
    st.booleans(),
    st.integers(-1, 60),
    st.lists(st.text(max_size=1), max_size=2),
)


@pytest.mark.property
@pytest.mark.row("E14")
@given(st.sampled_from(TOOLS), st.dictionaries(names, values, max_size=4))
def test_both_judge_alike(tool: Tool, arguments: dict[str, object]) -> None:
    refused = bool(_tools._bounds_problem(tool, arguments))
    try:
        tool.check(arguments)
    except ToolError:
        refused = True

    schema = Draft202012Validator(bounded_schema(tool.parameters))
    assert refused is not schema.is_valid(arguments)
