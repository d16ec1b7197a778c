"""What adapters ask of a session: tools beside the agent's own, and native ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from satchel import Satchel, Skill
from satchel.errors import DuplicateToolError
from satchel.policy import Policy, PolicyRule, ask, deny

if TYPE_CHECKING:
    from collections.abc import Callable

    from satchel.model import Question
    from satchel.runtime import Session


class Native:
    """A framework's own tool object."""

    name = "pay"
    description = "Pay."


def refund(order_id: str) -> str:
    """Pay an order back."""
    return f"refunded {order_id}"


def shelf(*rules: PolicyRule) -> Satchel:
    skill = Skill(
        "refunds",
        description="Use when a customer wants money back.",
        instructions="Look it up.",
        tools=[refund],
    )
    return Satchel(skill, policy=Policy(*rules))


def native(*rules: PolicyRule, approve: Any = None) -> Session:  # noqa: ANN401
    from tests.fakes import FakeSource, pack

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
    session = shelf().session()

    with pytest.raises(DuplicateToolError) as caught:
        session.tools(own_tools=["weather", own])

    assert own in str(caught.value)
    assert "the agent" in str(caught.value)
    assert owner in str(caught.value)


def test_a_name_that_nobody_here_has_stands_beside() -> None:
    session = shelf().session(only=["travel*"])

    assert [tool.name for tool in session.tools(own_tools=["refund"])] == []


def test_a_native_tool_may_be_called_where_nothing_refuses_it() -> None:
    assert native().refusal("pay", {}) is None


@pytest.mark.parametrize(
    ("rule", "code"), [(deny, "denied-by-policy"), (ask, "approval-required")]
)
def test_a_native_tool_is_refused_with_a_result(
    rule: Callable[..., PolicyRule], code: str
) -> None:
    refused = native(rule("bills", tool="pay")).refusal("pay", {})

    assert f"'code': '{code}'" in str(refused)


@pytest.mark.parametrize("answer", [True, False])
def test_the_answer_of_a_framework_decides_about_a_native_tool(answer: bool) -> None:
    session = native(ask("bills", tool="pay"))

    assert (session.refusal("pay", {}, approved=answer) is None) == answer


async def _refused(answer: bool) -> tuple[object, list[str]]:
    asked: list[str] = []

    async def approve(question: Question) -> bool:
        asked.append(question.tool)
        return answer

    session = native(ask("bills", tool="pay"), approve=approve)
    return await session.arefusal("pay", {}), asked


@pytest.mark.parametrize("answer", [True, False])
def test_an_asynchronous_approver_is_asked_about_a_native_tool(answer: bool) -> None:
    import asyncio

    refused, asked = asyncio.run(_refused(answer))

    assert asked == ["pay"]
    assert (refused is None) == answer


def test_a_session_tells_whether_its_instructions_read_files() -> None:
    """An adapter for an event loop asks before it waits."""
    from satchel.model import SeenMessage

    skills = shelf()
    fresh, using = skills.session(), skills.session()
    using.call("load_skill", {"skill_id": "refunds"})
    using.see([SeenMessage("user", "hi")])

    assert (fresh.reads_files, using.reads_files, native().reads_files) == (
        False,
        True,
        True,
    )
