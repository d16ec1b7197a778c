"""The tools of a session: named by skills, and next to the agent's own."""

import asyncio
import re
from collections.abc import Callable
from typing import Any, get_args

import pytest

from satchel import Satchel, Skill, allow
from satchel.errors import DuplicateToolError
from satchel.model import Question, SeenMessage, Style
from satchel.policy import Policy, PolicyRule, ask, deny
from satchel.runtime import Session
from satchel.tools import Tool, result_text
from tests.fakes import LOADERS, FakeSource, pack

FILES: dict[str, Any] = {
    "references/a.md": "Text of a.",
    "scripts/b.py": "print('Text of b.')",
    "assets/c.txt": "Text of c.",
}
NAMED = re.compile(
    r"(?:for reading only here, with |^Files \()(.*?)(?:\.$|\): )", re.MULTILINE
)
SUBSETS = [[*FILES], *[[each] for each in FILES]]


def open_session(style: Style, files: list[str], how: str) -> Session:
    more = "disable-model-invocation: true\n" if how == "hidden" else ""
    text = pack("a").replace("---\n", f"---\n{more}", 1)
    packs: Any = {"a": {"SKILL.md": text, **{each: FILES[each] for each in files}}}
    rules = [deny("*", action="list")] if how == "not listed" else []
    skills = Satchel(FakeSource("s", packs), policy=Policy(*rules))
    always = ["a"] if how in ("always", "not listed") else []
    session = skills.session(style=style, always=always)
    if how == "loaded":
        name, key = LOADERS[style]
        session.call(name, {key: "a"})
        session.see([SeenMessage("user", "Go on.")])
    return session


def text_of(session: Session, how: str) -> str:
    return session.invoke("a").text if how == "invoked" else session.instructions()


def readable(session: Session, files: list[str]) -> str:
    """Return what the session's tools give for all these files, however asked."""
    key, said = LOADERS[session.style][1], []
    for tool in session.tools():
        for file in files:
            for parameter in ("path", "reference", "script"):
                if parameter in str(tool.parameters):
                    arguments = {key: "a", parameter: file}
                    said.append(result_text(session.call(tool.name, arguments)))
    return "".join(said)


@pytest.mark.row("F28")
@pytest.mark.parametrize("files", SUBSETS)
@pytest.mark.parametrize("how", ["always", "loaded", "invoked", "not listed"])
@pytest.mark.parametrize("style", get_args(Style))
def test_they_are_offered_and_give_the_files(
    style: Style, how: str, files: list[str]
) -> None:
    session = open_session(style, files, how)

    (named,) = NAMED.findall(text_of(session, how))

    offered = {tool.name for tool in session.tools()}
    assert set(named.split(" and ")) <= offered
    text = readable(session, files)
    assert all(FILES[each].strip("print()'") in text for each in files)


@pytest.mark.row("F28")
@pytest.mark.parametrize("style", get_args(Style))
def test_no_tool_is_named_that_would_refuse_the_files(style: Style) -> None:
    """Those of a skill that only users invoke."""
    session = open_session(style, [*FILES], "hidden")

    assert NAMED.findall(session.invoke("a").text) == []
    assert readable(session, [*FILES]) == ""


@pytest.mark.row("F28")
@pytest.mark.parametrize("style", get_args(Style))
def test_without_files_no_tool_is_named_or_offered(style: Style) -> None:
    session = open_session(style, [], "not listed")

    assert NAMED.findall(session.instructions()) == []
    assert list(session.tools()) == []


class Native:
    """A framework's own tool object."""

    name = "pay"
    description = "Pay."


def refund(order_id: str) -> str:
    """Pay an order back."""
    return f"refunded {order_id}"


def open_skills(*rules: PolicyRule) -> Satchel:
    skill = Skill(
        "refunds",
        description="Use when a customer wants money back.",
        instructions="Look it up.",
        tools=[refund],
    )
    return Satchel(skill, policy=Policy(*rules))


def native(*rules: PolicyRule, approve: Any = None) -> Session:  # noqa: ANN401
    text = pack("bills").replace("---\n", "---\nmetadata: {tools: pay}\n", 1)
    source = FakeSource("s", {"bills": {"SKILL.md": text}})
    skills = Satchel(source, tools=[Native()], policy=Policy(*rules))
    return skills.session(always=["bills"], approve=approve)


@pytest.mark.row("B11")
@pytest.mark.parametrize(
    ("own", "owner"), [("load_skill", "satchel"), ("refund", "skill 'refunds'")]
)
def test_an_own_tool_of_a_skills_name_is_refused_before_the_skill_opens(
    own: str, owner: str
) -> None:
    session = open_skills().session()

    with pytest.raises(DuplicateToolError) as caught:
        session.tools(own_tools=["weather", own])

    assert own in str(caught.value)
    assert "the agent" in str(caught.value)
    assert owner in str(caught.value)


def test_a_name_that_nobody_here_has_stands_next_to() -> None:
    session = open_skills().session(only=["travel*"])

    assert [tool.name for tool in session.tools(own_tools=["refund"])] == []


@pytest.mark.parametrize(
    ("rule", "code"), [(deny, "denied-by-policy"), (ask, "approval-required")]
)
def test_a_native_tool_is_refused_with_a_result(
    rule: Callable[..., PolicyRule], code: str
) -> None:
    refused = native(rule("bills", tool="pay")).permit("pay", {}).refusal

    assert f"'code': '{code}'" in str(refused)


@pytest.mark.parametrize("answer", [True, False])
def test_an_answer_decides_about_a_native_tool(answer: bool) -> None:
    """A framework's own, or that of an asynchronous approver."""
    asked: list[str] = []

    async def approve(question: Question) -> bool:
        asked.append(question.tool)
        return answer

    session = native(ask("bills", tool="pay"), approve=approve)
    refused = asyncio.run(session.apermit("pay", {})).refusal

    assert asked == ["pay"]
    assert (refused is None) == answer
    assert (session.permit("pay", {}, approved=answer).refusal is None) == answer
    assert native().permit("pay", {}).refusal is None


def test_a_session_tells_whether_its_instructions_read_files() -> None:
    """An adapter for an event loop asks before it waits."""
    skills = open_skills()
    fresh, using = skills.session(), skills.session()
    using.call("load_skill", {"skill_id": "refunds"})
    using.see([SeenMessage("user", "hi")])

    assert (fresh.reads_files, using.reads_files, native().reads_files) == (
        False,
        True,
        True,
    )


POST = Tool("post", "Send a card.", {"type": "object"}, dict)
NATIVE = Tool("post", "Send a card.", {"type": "object"}, dict, native=object())


@pytest.mark.parametrize(
    ("tools", "rules", "expected"),
    [
        ([], [], True),
        ([POST], [deny("b"), allow()], True),
        ([NATIVE], [], False),
        ([], [ask("a", action="load")], False),
    ],
)
def test_calls_are_guarded_where_somebody_is_asked_or_a_tool_is_native(
    tools: list[Tool], rules: list[PolicyRule], *, expected: bool
) -> None:
    skills = Satchel(FakeSource("app", {}), tools=tools, policy=Policy(*rules))

    assert skills.session().is_unguarded == expected


def test_a_native_tool_that_is_always_on_is_guarded() -> None:
    always_on = Skill("cards", tools=[NATIVE])

    assert not Satchel(FakeSource("app", {})).session(always=[always_on]).is_unguarded
