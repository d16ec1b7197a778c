"""Skills in code, and composing them."""

from dataclasses import FrozenInstanceError, replace

import pytest

from satchel.agent import BaseSkill, Skill, compose
from satchel.errors import DuplicateToolError
from satchel.tools import Tool, Toolbox


def tool(name: str) -> Tool:
    return Tool(name, "", {"type": "object", "properties": {}}, lambda: name)


@pytest.mark.row("B05")
def test_loose_tools_are_boxed_under_the_name_of_the_skill_in_order() -> None:
    skill = Skill("refunds", instructions="Check first.", tools=[tool("b"), tool("a")])

    assert skill.tools is not None
    assert skill.tools.name == "refunds"
    assert [each.name for each in skill.tools] == ["b", "a"]


@pytest.mark.row("B05")
def test_a_box_stays_the_one_it_is() -> None:
    box = Toolbox("payments", (tool("a"),))

    assert Skill("refunds", tools=box).tools is box
    assert Skill("refunds", toolbox=box).tools is box
    with pytest.raises(TypeError, match="got both"):
        Skill("refunds", tools=[], toolbox=box)


@pytest.mark.row("B05", "F31")
def test_the_standard_constructor_has_its_earlier_name() -> None:
    from satchel.agent import _skill as skill

    one = tool("a")
    made = skill.new("refunds", instructions="Check first.", tools=[one])

    assert made == Skill("refunds", instructions="Check first.", tools=[one])


@pytest.mark.row("B06")
@pytest.mark.parametrize("skill", [Skill("a"), Skill("a", tools=[]), BaseSkill()])
def test_a_skill_may_have_instructions_alone(skill: Skill | BaseSkill) -> None:
    assert skill.tools is None


@pytest.mark.row("B11")
def test_two_tools_of_one_name_in_one_skill_fail() -> None:
    with pytest.raises(DuplicateToolError, match="'a': offered by both x and x"):
        Skill("x", tools=[tool("a"), tool("a")])


@pytest.mark.row("B15")
@pytest.mark.parametrize(
    "member", ["name", "description", "instructions", "tools", "category"]
)
def test_a_skill_cannot_be_changed(member: str) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(Skill("a"), member, "other")
    with pytest.raises((AttributeError, TypeError)):
        Skill("a").extra = 1  # type: ignore[attr-defined]


@pytest.mark.row("B15")
def test_a_list_that_was_handed_over_can_change_and_the_skill_does_not() -> None:
    tools = [tool("a")]
    skill = Skill("x", tools=tools)
    tools.append(tool("b"))

    assert skill.tools is not None
    assert len(skill.tools) == 1


@pytest.mark.row("B17")
def test_equal_skills_are_one_value() -> None:
    one = tool("a")
    skill = Skill("x", instructions="Do.", tools=[one])

    assert skill == Skill("x", instructions="Do.", tools=[one])
    assert len({skill, Skill("x", instructions="Do.", tools=[one])}) == 1
    assert replace(skill, instructions="Do not.").tools == skill.tools


@pytest.mark.row("E18")
def test_a_skill_says_whether_its_tools_are_raw() -> None:
    assert Skill("a").category == "standard"
    assert Skill("a", category="raw").category == "raw"


@pytest.mark.row("E18")
def test_a_category_that_there_is_not_is_refused() -> None:
    """Taken for standard, a misspelt one would be allowed to act."""
    with pytest.raises(ValueError, match="category"):
        Skill("a", category="Raw")  # type: ignore[arg-type]


def test_the_class_form_takes_a_box() -> None:
    class Refunds(BaseSkill):
        name = "refunds"
        tools = Toolbox.of("refunds", [tool("a")])

    assert [each.name for each in Refunds().tools] == ["a"]


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
