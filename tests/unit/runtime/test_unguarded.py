"""Whether an adapter has to go around the tool calls of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from satchel import Policy, Satchel, Skill, allow, ask, deny
from satchel.tools import Tool
from tests.fakes import FakeSource

if TYPE_CHECKING:
    from satchel.policy import PolicyRule

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


def test_a_native_tool_that_is_worn_is_guarded() -> None:
    always_on = Skill("cards", tools=[NATIVE])

    assert not Satchel(FakeSource("app", {})).session(always=[always_on]).is_unguarded
