"""A skill's three members, as each of the earlier systems writes them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from satchel import BaseSkill, Satchel, Skill
from satchel.agent import (
    Agent,
    Call,
    Message,
    SkillLike,
    check_skill,
    compose,
    text_of,
    tools_of,
)
from satchel.errors import DuplicateToolError, ToolError
from satchel.tools import Tool, Toolbox
from tests.fakes import FakeSource, pack

pytestmark = pytest.mark.row("F31", "T12")


def ping() -> str:
    """Answer a ping."""
    return "pong"


PING = Tool("ping", "Ping.", {"type": "object", "properties": {}}, ping)


class Methods:
    """The contract of majordomo, letter by letter."""

    def name(self) -> str:
        return "pinger"

    def instructions(self) -> str:
        return "Ping first."

    def tools(self) -> Toolbox | None:
        return Toolbox("box", (PING,))


class Attributes:
    name = "pinger"
    instructions = "Ping first."
    tools = Toolbox("box", (PING,))


class Listed:
    name = "pinger"
    instructions = "Ping first."

    def get_tools(self) -> list[Tool]:
        return [PING]


class Properties(BaseSkill):
    @property
    def name(self) -> str:  # type: ignore[override]
        return "pinger"

    @property
    def instructions(self) -> str:  # type: ignore[override]
        return "Ping first."

    def get_tools(self) -> list[Any]:
        return [ping]


@dataclass
class Unhashable:
    name: str = "pinger"
    instructions: str = "Ping first."
    tools: list[Tool] = field(default_factory=lambda: [PING])


SHAPES = [Methods(), Attributes(), Listed(), Properties(), Unhashable()]
by_shape = pytest.mark.parametrize("skill", SHAPES, ids=lambda s: type(s).__name__)


@pytest.mark.row("B02", "B04", "R11")
@by_shape
def test_each_shape_is_composed(skill: SkillLike) -> None:
    given = compose("Base.", [skill])

    assert given.instructions == "Base.\n\nPing first."
    assert [tool.name for tool in given.toolbox] == ["ping"]
    assert given.toolbox.call("ping", {}) == "pong"


@pytest.mark.row("B04", "B13")
@by_shape
def test_an_agent_takes_each_shape(skill: SkillLike) -> None:
    class Model:
        async def complete(
            self, system: str, messages: Sequence[Message], tools: Toolbox
        ) -> Message:
            assert len(tools) == 1
            if messages[-1].role == "tool":
                return Message("assistant", f"{system} {messages[-1].text}")
            return Message("assistant", calls=(Call("1", "ping", {}),))

    agent = Agent(Model())
    agent.add_skill(skill)

    assert agent.run("Go.").text == "Ping first. pong"


@pytest.mark.row("B13")
@by_shape
def test_a_session_takes_each_shape(skill: SkillLike) -> None:
    library = Satchel(FakeSource("s", {"a": {"SKILL.md": pack("a")}}))
    session = library.session(always=[skill, skill])

    assert session.instructions().startswith("Ping first.\n\n")
    assert session.call("ping", {}) == "pong"


@pytest.mark.row("B11")
@by_shape
def test_a_second_tool_of_one_name_names_both_owners(skill: SkillLike) -> None:
    with pytest.raises(DuplicateToolError, match=r"other.*pinger"):
        compose("", [Skill("other", tools=[PING]), skill])


@pytest.mark.row("B07")
def test_methods_may_give_nothing() -> None:
    class Silent(Methods):
        def instructions(self) -> str:
            return ""

        def tools(self) -> None:
            return None

    given = compose("Base.", [Silent()])

    assert (given.instructions, len(given.toolbox)) == ("Base.", 0)


def test_the_tools_of_a_base_skill_are_one_thing_by_either_name() -> None:
    class Boxed(BaseSkill):
        name = "boxed"
        tools = Toolbox("boxed", (PING,))

    listed = Properties()

    assert list(Boxed().get_tools()) == [PING]
    assert (BaseSkill().get_tools(), BaseSkill().tools) == ([], None)
    assert listed.tools is not None
    assert listed.tools.name == "pinger"
    assert [tool.name for tool in listed.tools] == ["ping"]


@pytest.mark.parametrize(
    ("member", "value", "reason"),
    [
        ("instructions", None, "Attributes.instructions: expected text; got NoneType"),
        ("instructions", lambda: 3, "Attributes.instructions: expected text; got int"),
        ("name", b"x", "Attributes.name: expected text; got bytes"),
        ("tools", "ping", "Attributes.tools: expected a Toolbox or a list of tools"),
        (
            "tools",
            3,
            "Attributes.tools: expected a Toolbox or a list of tools; got int",
        ),
    ],
)
def test_a_member_of_another_type_is_reported(
    member: str, value: object, reason: str
) -> None:
    skill: Any = Attributes()
    setattr(skill, member, value)

    with pytest.raises(TypeError, match=reason):
        compose("", [skill])


def test_a_list_of_what_are_no_tools_is_reported() -> None:
    skill: Any = Attributes()
    skill.tools = [3]

    with pytest.raises(ToolError):
        tools_of(skill)


@pytest.mark.parametrize("missing", ["name", "instructions", "tools"])
def test_what_lacks_a_member_is_refused_where_it_is_attached(missing: str) -> None:
    held = {"name": "a", "instructions": "b", "tools": None}
    del held[missing]
    skill: Any = type("Half", (), held)()
    reason = f"expected a skill; got Half without {missing!r}"
    library = Satchel(FakeSource("s", {}))

    with pytest.raises(TypeError, match=reason):
        check_skill(skill)
    with pytest.raises(TypeError, match=reason):
        Agent(None, skills=[skill])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=reason):
        library.session(always=[skill])


def test_a_class_in_the_place_of_its_object_is_refused() -> None:
    library = Satchel(FakeSource("s", {}))

    with pytest.raises(TypeError, match=r"got the class Listed: write Listed\(\)"):
        library.session(always=[Listed])  # type: ignore[list-item]


@pytest.mark.row("E18")
def test_a_category_is_a_method_too_and_never_a_third_thing() -> None:
    library = Satchel(FakeSource("s", {}))

    class Raw(Methods):
        def category(self) -> str:
            return "raw"

    class Odd(Methods):
        category = "Raw"

    refused: Any = library.session(always=[Raw()]).call("ping", {})

    assert refused["error"]["code"] == "denied-by-policy"
    with pytest.raises(ValueError, match="expected standard or raw; got 'Raw'"):
        library.session(always=[Odd()]).tools()


def test_a_text_may_be_a_subclass() -> None:
    class Text(str):
        __slots__ = ()

    skill: Any = Attributes()
    skill.instructions = Text("Ping.")

    assert text_of(skill, "instructions") == "Ping."
