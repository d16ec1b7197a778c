"""What adapters translate alike: tools, answers, arguments and texts."""

from types import SimpleNamespace

import pytest

from satchel.adapters._translation import (
    ResultReader,
    ToolForms,
    arguments_or_empty,
    reply_of,
    text_of,
)
from satchel.model import Reply, SeenMessage
from satchel.tools import tool_from_function


def test_a_tool_is_made_again_only_when_it_changes() -> None:
    """An application may offer another tool of the same name after a sync."""

    def one(city: str) -> str:
        """Do one thing."""
        return city

    def other(town: str) -> str:
        """Do another."""
        return town

    forms = ToolForms(lambda tool: [tool.description])
    tools = [tool_from_function(each, name="one") for each in (one, one, other)]
    made = [forms.of(tool) for tool in tools]

    assert made[0] is made[1]
    assert made == [["Do one thing."], ["Do one thing."], ["Do another."]]
    assert made[2] in forms
    assert ["Do another."] not in forms


NO = Reply("no")
YES = Reply("yes_once")


@pytest.mark.row("E25", "F24")
@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        (True, YES),
        (" Yes ", YES),
        ({"arguments": {"a": 1}}, Reply("yes_once", arguments={"a": 1})),
        (Reply("yes_in_session"), Reply("yes_in_session")),
        (False, NO),
        (None, NO),
        (1, NO),
        ("n", NO),
        ({"arguments": "x"}, NO),
        ("Not today.", Reply("no", "Not today.")),
        ({"message": "Not today."}, Reply("no", "Not today.")),
    ],
)
def test_only_a_clear_yes_is_one(answer: object, reply: Reply) -> None:
    assert reply_of(answer) == reply


@pytest.mark.parametrize(
    ("given", "arguments"),
    [({"a": 1}, {"a": 1}), ('{"a": 1}', {"a": 1}), ("[1]", {}), ("{", {}), (None, {})],
)
def test_arguments_that_are_no_object_are_none(
    given: object, arguments: dict[str, object]
) -> None:
    assert arguments_or_empty(given) == arguments


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("one", "one"),
        (None, ""),
        (7, ""),
        ([{"text": "one"}, {"image": "x"}, SimpleNamespace(text="two")], "one\ntwo"),
        ([{"text": 3}, SimpleNamespace(text=None)], ""),
    ],
)
def test_texts_of_parts_are_joined(content: object, text: str) -> None:
    assert text_of(content) == text


def test_a_result_has_the_name_and_the_arguments_of_its_call() -> None:
    reader = ResultReader()
    reader.add_call("c1", "load_skill", '{"skill_id": "a"}')

    assert reader.result("c1", "A", "other") == SeenMessage(
        "tool", "A", "load_skill", {"skill_id": "a"}
    )
    assert reader.result("c2", "B", "other") == SeenMessage("tool", "B", "other")
