"""The quick look at a tool's arguments never lets pass what the schema refuses."""

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from satchel import Satchel, Skill
from satchel.model import Style
from satchel_server._mcp._tools import MAX_TEXT_CHARS, ArgumentValidator, bounded_schema

STYLES: list[Style] = ["packs", "agent-skills", "references"]
SCHEMAS = [
    bounded_schema(tool.parameters)
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
@given(
    st.sampled_from(SCHEMAS),
    st.one_of(st.dictionaries(names, values, max_size=4), values),
)
def test_both_judge_alike(schema: dict[str, object], arguments: object) -> None:
    said = ArgumentValidator(schema).problem(arguments)

    assert (said is None) == Draft202012Validator(schema).is_valid(arguments)
