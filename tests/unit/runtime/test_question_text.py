"""A question as a person reads it: whole where it is short, counted where it is cut."""

import pytest

from satchel.model import Question
from satchel.runtime import question_text
from satchel.runtime._approvals import MAX_ARGUMENTS


@pytest.mark.row("F24")
def test_a_question_names_skill_tool_arguments_and_reason() -> None:
    question = Question(
        "tool", "till", "pay", {"cents": 5}, agent="desk", reason="Money leaves."
    )

    assert question_text(question) == (
        'Call the tool "pay" of the skill "till"?\n'
        '  "cents": 5\n'
        "  (agent: desk)\n"
        "  (because: Money leaves.)"
    )


@pytest.mark.row("F24")
@pytest.mark.parametrize(("over", "line"), [(0, ""), (1, "  and 1 more arguments")])
def test_arguments_beyond_the_most_are_counted(over: int, line: str) -> None:
    arguments = {f"a{n:02}": n for n in range(MAX_ARGUMENTS + over)}

    lines = question_text(Question("tool", "s", "t", arguments)).splitlines()

    assert len(lines) == 1 + MAX_ARGUMENTS + over
    assert [each for each in lines if "more" in each] == ([line] if line else [])
