"""What an application offers by name, and which of it opens with which skill."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from satchel import Satchel, Skill, SkillDescriptor, SkillRegistry
from satchel.agent import BaseSkill
from satchel.errors import DuplicateToolError, ToolError
from satchel.model import Catalog, Descriptor, Excluded, ExclusionReason, Origin
from satchel.runtime._tool_registry import ToolRegistry
from satchel.tools import Tool, Toolbox
from tests.fakes import in_threads


def tool(name: str) -> Tool:
    return Tool(name, "Does it.", {"type": "object", "properties": {}}, lambda: name)


def entry(id: str, *tools: str, allowed: tuple[str, ...] = ()) -> Descriptor:
    origin = Origin("s", id, f"skills/{id}")
    return Descriptor(
        id, "Use it.", origins=(origin,), tools=tools, allowed_tools=allowed
    )


class Native:
    """A framework's tool object; it can be called, as many of them can."""

    def __init__(self, **attributes: object) -> None:
        self.__dict__.update(attributes)

    def __call__(self) -> str:
        return "called"


A, B, C = tool("a"), tool("b"), tool("c")


def test_tools_and_boxes_are_offered_in_order() -> None:
    offers = ToolRegistry([B, Toolbox("box", (A, C))])

    assert offers.names == ("b", "a", "c")
    assert offers.get("a") is A
    assert offers.get("x") is None
    assert (offers.owner("a"), offers.owner("x")) == ("application", "")


@pytest.mark.parametrize(
    "native",
    [
        Native(name="look_up", description="Looks."),
        Native(tool_name="look_up", description="Looks."),
        Native(metadata=SimpleNamespace(name="look_up", description="Looks.")),
        Native(name="", tool_name="look_up", description="Looks."),
    ],
)
def test_a_frameworks_own_tool_is_kept_as_it_is(native: Native) -> None:
    """It is no plain function, although it can be called."""
    found = ToolRegistry([native]).get("look_up")

    assert found is not None
    assert found.native is native
    assert found.description == "Looks."
    assert found.call({}) == {
        "error": {
            "code": "bad-tool-call",
            "message": "look_up: it belongs to its framework, which has to call it",
        }
    }


class Arguments:
    """Stands for a pydantic model of the arguments."""

    @staticmethod
    def model_json_schema() -> dict[str, object]:
        return SCHEMA


SCHEMA: dict[str, object] = {"type": "object", "properties": {"q": {"type": "string"}}}


class Broken:
    """A pydantic model that has no schema."""

    @staticmethod
    def model_json_schema() -> dict[str, object]:
        raise TypeError


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"params_json_schema": SCHEMA}, SCHEMA),
        ({"parameters": SCHEMA}, SCHEMA),
        ({"input_schema": SCHEMA}, SCHEMA),
        ({"args_schema": Arguments}, SCHEMA),
        ({"parameters": {"q": str}, "inputSchema": SCHEMA}, SCHEMA),
        ({"args_schema": Broken}, {"type": "object", "properties": {}}),
        ({"parameters": lambda: SCHEMA}, {"type": "object", "properties": {}}),
        ({}, {"type": "object", "properties": {}}),
    ],
)
def test_parameters_are_read_where_they_are_easy_to_read(
    attributes: dict[str, object], expected: dict[str, object]
) -> None:
    found = ToolRegistry([Native(name="look_up", **attributes)]).get("look_up")

    assert found is not None
    assert found.parameters == expected


class Desk:
    def close(self, ticket: str) -> str:
        """Close a ticket."""
        return f"closed {ticket}"


async def look_up(order: str) -> str:
    """Look an order up."""
    return order


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (Desk().close, "close"),
        (look_up, "look_up"),
        (partial(look_up), "look_up"),
        ({"find_order": look_up}, "find_order"),
    ],
)
def test_plain_functions_become_tools(function: object, name: str) -> None:
    """Also those that the application and a skill both give."""
    offers = ToolRegistry([function, function])
    found = offers.get(name)

    assert offers.names == (name,)
    assert found is not None
    assert found.native is None
    assert found.description
    parameter = "ticket" if name == "close" else "order"
    assert found.parameters["required"] == [parameter]


def test_a_mapping_gives_names_and_any_object_can_have_one() -> None:
    native = Native()
    offers = ToolRegistry([{"one": A, "two": native}])

    one, two = offers.get("one"), offers.get("two")
    assert one is not None
    assert (one.name, one.handler) == ("one", A.handler)
    assert two is not None
    assert two.native is native

    class Odd:
        @property
        def name(self) -> str:
            raise RuntimeError

    odd = Odd()
    found = ToolRegistry([{"odd": odd}]).get("odd")

    assert found is not None
    assert (found.native, found.description) == (odd, "")


@pytest.mark.parametrize(
    ("offered", "message"),
    [
        (Native(), "Native: it has no name"),
        (Native, "type: the class Native is no tool"),
        ("look_up", "str: a str is no tool"),
        (Skill("x", description="Use it."), "Skill: a Skill is no tool"),
        (BaseSkill(), "BaseSkill: a BaseSkill is no tool"),
        ({"mine": Native(name="its")}, "mine: its framework knows it as 'its'"),
        ({"mine": "text"}, "mine: a str is no tool"),
    ],
)
def test_what_is_no_tool_is_refused_at_once(offered: object, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        ToolRegistry([offered])


NATIVE = Native(name="n")


@pytest.mark.parametrize("twice", [A, NATIVE, {"x": A}, Toolbox("t", (A, B))])
def test_the_same_object_twice_is_one(twice: object) -> None:
    offers = ToolRegistry([twice])
    before = offers.names

    offers.add(twice, twice)

    assert offers.names == before


@pytest.mark.row("B11")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (A, tool("a")),
        (Native(name="a"), Native(name="a")),
        (A, Native(name="a")),
        (Native(name="a"), A),
        (A, replace(A, description="Does it otherwise.")),
    ],
)
def test_two_tools_of_one_name_are_loud(first: object, second: object) -> None:
    """And nothing of that call is taken in."""
    offers = ToolRegistry([first])

    with pytest.raises(DuplicateToolError) as got:
        offers.add(B, second)

    assert got.value.args == ("a", "application", "application")
    assert offers.names == ("a",)


def carrier(name: str, *tools: Any) -> Skill:  # noqa: ANN401
    return Skill(name, description="Use it.", tools=tools)


@pytest.mark.row("B11")
@pytest.mark.parametrize(
    ("offered", "skills", "owners"),
    [
        ([tool("a")], [carrier("one", A)], ("application", "skill 'one'")),
        (
            [],
            [carrier("one", A), carrier("two", tool("a"))],
            ("skill 'one'", "skill 'two'"),
        ),
    ],
)
def test_both_owners_are_named(
    offered: list[Tool], skills: list[Skill], owners: tuple[str, str]
) -> None:
    with pytest.raises(DuplicateToolError) as got:
        ToolRegistry(offered, skills)

    assert got.value.args == ("a", *owners)


@pytest.mark.row("B11")
@pytest.mark.parametrize(
    ("tools", "skills"),
    [
        ([tool("a"), tool("a")], []),
        ([tool("a")], [carrier("one", A)]),
        ([], [carrier("one", A), carrier("two", tool("a"))]),
    ],
    ids=["tools alone", "both", "skills alone"],
)
def test_a_clash_of_tools_is_an_error_at_once(
    tools: list[Tool], skills: list[Skill]
) -> None:
    """Where the library is opened, and not in the middle of a conversation."""
    given = skills or [Skill("none", description="Use it.")]

    with pytest.raises(DuplicateToolError):
        Satchel(*given, tools=tools, sinks=())


@pytest.mark.parametrize(
    ("named", "allowed", "tools", "notes"),
    [
        (("c", "a"), (), (C, A), ()),
        (
            ("b\n", "a"),
            (),
            (A,),
            ("tool 'b\\n' is named by this skill and nobody offers it here",),
        ),
        (
            ("a", "b"),
            ("b(x:*)", "c"),
            (B,),
            ("tool 'a' stays closed: the skill's own allowed-tools does not name it",),
        ),
    ],
)
def test_tools_open_in_order_and_what_closes_them_is_a_note(
    named: tuple[str, ...],
    allowed: tuple[str, ...],
    tools: tuple[Tool, ...],
    notes: tuple[str, ...],
) -> None:
    carried = ToolRegistry([A, B, C]).tools_of(entry("x", *named, allowed=allowed))

    assert (carried.tools, carried.notes) == (tools, notes)


def test_a_tool_that_a_skill_brings_opens_with_that_skill_alone() -> None:
    """Another pack that names it would get around what a policy says of the skill."""
    offers = ToolRegistry((), [carrier("refunds", A)])
    thief = entry("thief", "a")

    assert offers.owner("a") == "skill 'refunds'"
    assert offers.tools_of(entry("refunds", "a")).tools == (A,)
    assert offers.tools_of(thief).tools == ()
    assert offers.tools_of(thief).notes == (
        "tool 'a' belongs to skill 'refunds' and opens with that skill only",
    )
    assert [each.message for each in offers.missing(Catalog((thief,)))] == [
        "skill 'thief' names the tool 'a', and it belongs to skill 'refunds'"
    ]


def test_what_the_application_offers_too_is_for_every_skill() -> None:
    offers = ToolRegistry((), [carrier("refunds", A, look_up)])

    offers.add(A, look_up)

    assert [offers.owner(name) for name in ("a", "look_up")] == ["application"] * 2
    before = ToolRegistry([look_up], [carrier("refunds", look_up)])
    assert before.owner("look_up") == "application"
    assert offers.tools_of(entry("other", "a")).tools == (A,)


def test_a_name_that_nobody_offers_is_an_error_finding() -> None:
    catalog = Catalog((entry("plain"), entry("x", "a", "nope", "no-pe")))

    findings = ToolRegistry([A]).missing(catalog)

    assert {(f.code, f.severity, f.path) for f in findings} == {
        ("tool-not-offered", "error", "skills/x/SKILL.md")
    }
    assert [finding.fix for finding in findings] == [
        "offer it: Satchel(..., tools=[nope])",
        "offer it: Satchel(..., tools=[...])",
    ]
    message = "skill 'x' names the tool 'nope', and nobody offers it"
    assert findings[0].message == message


@pytest.mark.parametrize(
    ("reason", "count"),
    [("hidden", 1), ("deprecated", 1), ("disabled", 0), ("shadowed", 0)],
)
def test_packs_that_load_without_being_listed_count(
    reason: ExclusionReason, count: int
) -> None:
    catalog = Catalog(excluded=(Excluded(entry("x", "nope"), reason),))

    assert len(ToolRegistry().missing(catalog)) == count


def test_offers_may_be_added_by_many_threads() -> None:
    offers = ToolRegistry()
    tools = [tool(f"t{number}") for number in range(64)]
    in_threads(offers.add, tools)

    assert sorted(offers.names) == sorted(each.name for each in tools)


@pytest.mark.row("A38")
@pytest.mark.parametrize("names", [("look_up",), ("look_up", "look up")])
def test_a_registered_skill_opens_the_tools_that_it_names(
    names: tuple[str, ...],
) -> None:
    """A descriptor in code names its tools; the application gives them."""
    registered = SkillRegistry(
        [SkillDescriptor("orders", "Use for orders.", tools=names)]
    )
    others = {"look up": A} if len(names) > 1 else {}
    session = Satchel(registered, tools=[look_up, others]).session()
    before = {each.name for each in session.tools()}

    session.call("load_skill", {"skill_id": "orders"})

    assert {each.name for each in session.tools()} - before == {*names}
