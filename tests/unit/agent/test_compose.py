"""Base, skills and boxes become one prompt and one box."""

from __future__ import annotations

import pytest

from satchel.agent import Skill, compose
from satchel.errors import DuplicateToolError
from satchel.tools import Tool, Toolbox


def tool(name: str) -> Tool:
    return Tool(name, "", {"type": "object", "properties": {}}, lambda: name)


def box(name: str, *tools: str) -> Toolbox:
    return Toolbox(name, tuple(map(tool, tools)))


@pytest.mark.row("B08", "B09")
def test_instructions_follow_the_base_in_the_order_of_attachment() -> None:
    skills = [Skill("b", instructions="Second."), Skill("a", instructions="Third.")]

    assert compose("First.", skills).instructions == "First.\n\nSecond.\n\nThird."


@pytest.mark.row("B09")
@pytest.mark.parametrize(
    ("base", "instructions", "expected"),
    [
        ("", ["A."], "A."),
        ("Base.", [""], "Base."),
        ("Base.", ["A.", "", "B."], "Base.\n\nA.\n\nB."),
        ("Base.", [" \n", "B."], "Base.\n\nB."),
        ("", [""], ""),
        ("Base.\n", ["  A.\n"], "Base.\n\n\n  A.\n"),
    ],
)
def test_nothing_adds_nothing_and_a_text_stays_as_it_is(
    base: str, instructions: list[str], expected: str
) -> None:
    skills = [Skill(f"s{i}", instructions=text) for i, text in enumerate(instructions)]

    assert compose(base, skills).instructions == expected


@pytest.mark.row("X23")
def test_another_separator_can_be_chosen() -> None:
    skills = [Skill("a", instructions="A."), Skill("none")]

    composed = compose("Base.", skills, separator="\n\n---\n")

    assert composed.instructions == "Base.\n\n---\nA."
    assert compose("Base.", skills).instructions == "Base.\n\nA."


@pytest.mark.row("B07", "B10")
def test_tools_of_skills_join_those_of_the_boxes_in_order() -> None:
    skills = [
        Skill("prose", instructions="Only this."),
        Skill("y", tools=[tool("y2"), tool("y1")]),
        Skill("x", tools=[tool("x1")]),
    ]

    composed = compose("", skills, toolboxes=[box("own", "o2", "o1")])

    assert [each.name for each in composed.toolbox] == ["o2", "o1", "y2", "y1", "x1"]
    assert composed.instructions == "Only this."


@pytest.mark.row("B11")
@pytest.mark.parametrize(
    ("boxes", "skills", "owners"),
    [
        ([box("one", "t"), box("two", "t")], [], "one and two"),
        ([box("one", "t")], [Skill("mine", tools=[tool("t")])], "one and mine"),
        (
            [],
            [Skill("mine", tools=box("shared", "t")), Skill("his", tools=[tool("t")])],
            "mine and his",
        ),
    ],
)
def test_a_second_tool_of_one_name_fails_and_names_both_owners(
    boxes: list[Toolbox], skills: list[Skill], owners: str
) -> None:
    with pytest.raises(DuplicateToolError, match=f"'t': offered by both {owners}$"):
        compose("", skills, toolboxes=boxes)


@pytest.mark.row("B14")
def test_the_same_attachments_give_the_same_result() -> None:
    shared = box("own", "o")
    skills = [Skill(name, instructions=name, tools=[tool(name)]) for name in "cab"]

    first, second = (compose("Base.", skills, toolboxes=[shared]) for _ in range(2))

    assert first == second
