"""Skills in code, and composing them."""

from dataclasses import FrozenInstanceError, replace

import pytest

from satchel.agent import BaseSkill, Skill, compose
from satchel.agent._skill import new
from satchel.errors import DuplicateToolError
from satchel.tools import Tool, Toolbox


def tool(name: str) -> Tool:
    return Tool(name, "", {"type": "object", "properties": {}}, lambda: name)


@pytest.mark.row("B05", "B11")
def test_tools_are_boxed_under_the_name_of_the_skill_or_stay_in_their_box() -> None:
    skill = Skill("refunds", instructions="Check first.", tools=[tool("b"), tool("a")])

    assert skill.tools is not None
    assert skill.tools.name == "refunds"
    assert [each.name for each in skill.tools] == ["b", "a"]

    box = Toolbox("payments", (tool("a"),))

    assert Skill("refunds", tools=box).tools is box
    assert Skill("refunds", toolbox=box).tools is box
    with pytest.raises(TypeError, match="got both"):
        Skill("refunds", tools=[], toolbox=box)

    with pytest.raises(DuplicateToolError, match="'a': offered by both x and x"):
        Skill("x", tools=[tool("a"), tool("a")])

    class Refunds(BaseSkill):
        name = "refunds"
        tools = Toolbox.of("refunds", [tool("a")])

    assert [each.name for each in Refunds().tools] == ["a"]


@pytest.mark.row("B06")
@pytest.mark.parametrize("skill", [Skill("a"), Skill("a", tools=[]), BaseSkill()])
def test_a_skill_may_have_instructions_alone(skill: Skill | BaseSkill) -> None:
    assert skill.tools is None


@pytest.mark.row("B15")
@pytest.mark.parametrize(
    "member", ["name", "description", "instructions", "tools", "category"]
)
def test_a_skill_cannot_be_changed(member: str) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(Skill("a"), member, "other")
    with pytest.raises((AttributeError, TypeError)):
        Skill("a").extra = 1  # type: ignore[attr-defined]


@pytest.mark.row("B17", "B15", "B05", "F31")
def test_a_skill_is_a_value() -> None:
    one = tool("a")
    skill = Skill("x", instructions="Do.", tools=[one])

    assert skill == new("x", instructions="Do.", tools=[one])
    assert len({skill, Skill("x", instructions="Do.", tools=[one])}) == 1
    assert replace(skill, instructions="Do not.").tools == skill.tools

    tools = [tool("a")]
    boxed = Skill("x", tools=tools)
    tools.append(tool("b"))

    assert boxed.tools is not None
    assert len(boxed.tools) == 1


@pytest.mark.row("E18")
def test_a_skill_says_whether_its_tools_are_raw() -> None:
    """Taken for standard, a misspelt one would be allowed to act."""
    assert Skill("a").category == "standard"
    assert Skill("a", category="raw").category == "raw"

    with pytest.raises(ValueError, match="category"):
        Skill("a", category="Raw")  # type: ignore[arg-type]


def box(name: str, *tools: str) -> Toolbox:
    return Toolbox(name, tuple(map(tool, tools)))


@pytest.mark.row("B09")
@pytest.mark.parametrize(
    ("base", "instructions", "expected"),
    [
        ("", ["A."], "A."),
        ("Base.", [""], "Base."),
        ("Base.", ["A.", "", "B."], "Base.\n\nA.\n\nB."),
        ("Base.", [" \n", "B."], "Base.\n\nB."),
        ("", [""], ""),
        ("Base.\n", ["  A.\n"], "Base.\n\n\nA."),
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


@pytest.mark.row("B07", "B10", "B08", "B09", "B14")
def test_tools_and_texts_join_in_order_and_the_same_each_time() -> None:
    skills = [
        Skill("prose", instructions="Only this."),
        Skill("y", tools=[tool("y2"), tool("y1")]),
        Skill("x", tools=[tool("x1")]),
    ]

    composed = compose("", skills, toolboxes=[box("own", "o2", "o1")])

    assert [each.name for each in composed.toolbox] == ["o2", "o1", "y2", "y1", "x1"]
    assert composed.instructions == "Only this."

    skills = [Skill("b", instructions="Second."), Skill("a", instructions="Third.")]

    assert compose("First.", skills).instructions == "First.\n\nSecond.\n\nThird."

    shared = box("own", "o")
    skills = [Skill(name, instructions=name, tools=[tool(name)]) for name in "cab"]

    first, second = (compose("Base.", skills, toolboxes=[shared]) for _ in range(2))

    assert first == second


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


@pytest.mark.row("B22", "F99")
@pytest.mark.parametrize(
    "text", ["Do it.", "\n  Do it.\n\n", "\tDo it.", "Do it.\u2003", "\r\nDo it.\r\n"]
)
def test_texts_of_a_skill_in_code_are_stripped(text: str) -> None:
    skill = Skill("s", description=text, instructions=text)

    assert (skill.description, skill.instructions) == ("Do it.", "Do it.")


def test_a_text_that_is_none_is_refused_where_the_skill_is_made() -> None:
    with pytest.raises(TypeError, match="skill 's': description: expected text; got"):
        Skill("s", description=None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="instructions: expected text; got bytes"):
        Skill("s", instructions=b"x")  # type: ignore[arg-type]


def search(query: str) -> str:
    """Search."""
    return query


@pytest.mark.row("A38", "T12", "F96")
@pytest.mark.parametrize("tools", [[search], (search,), [tool("search")], []])
def test_a_class_may_list_its_tools(tools: object) -> None:
    """As the earlier system's pages write it, and a subclass inherits it."""
    skill_class = type("S", (BaseSkill,), {"name": "s", "tools": tools})
    subclass = type("T", (skill_class,), {"name": "t"})

    for kind in (skill_class, subclass):
        skill = kind()
        names = [] if skill.tools is None else [one.name for one in skill.tools]
        assert names == ["search"] * len(tools)  # type: ignore[arg-type]
        assert skill.tools is None or skill.tools.name == skill.name
        assert list(skill.get_tools()) == list(tools)  # type: ignore[call-overload]
        assert len(compose("", [skill]).toolbox) == len(names)
