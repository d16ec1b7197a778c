"""What all adapters share: arguments that are checked, conversations that begin."""

import logging
from pathlib import Path
from typing import Any, cast, get_args

import pytest

from satchel import Satchel
from satchel.adapters._base import SessionFactory, Turn, is_error
from satchel.errors import SkillNotFoundError
from satchel.model import Style
from satchel.runtime import SessionOptions
from tests.fakes import LOADERS, FakeSource, pack


def attached(**options: Any) -> SessionFactory[object]:  # noqa: ANN401 - any option
    source = FakeSource("s", {"a": {"SKILL.md": pack("a")}})
    who, deps = options.pop("who", None), options.pop("deps", None)
    return SessionFactory(Satchel(source), who, deps, cast("SessionOptions", options))


async def later(*_: object) -> dict[str, object]:
    return {}


@pytest.mark.row("F58")
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"whom": {}}, TypeError, "did you mean 'who'"),
        ({"colour": 1}, TypeError, "known: agent, always"),
        ({"style": "pack"}, ValueError, "did you mean 'packs'"),
        ({"style": "x"}, ValueError, "known: lean"),
        ({"style": ["x"]}, ValueError, "known: lean"),
        ({"tools": []}, TypeError, "called 'tools' here; known: agent, always"),
        ({"to": None}, TypeError, "what it returns goes where help.attach. shows"),
        ({"who": "ana"}, TypeError, "got str"),
        ({"who": later}, TypeError, "expected a function; got an async function"),
        ({"deps": {"db": 1}}, TypeError, "deps: expected a function of .* got dict"),
        ({"deps": later}, TypeError, "deps: .*; got an async function"),
        ({"approve": True}, TypeError, "got bool"),
        ({"agent": 5}, TypeError, "agent: expected the agent's name; got int"),
        ({"only": 5}, TypeError, "only: expected patterns over ids; got int"),
        ({"only": [5]}, TypeError, "only: expected patterns over ids; got tuple"),
        ({"always": 5}, TypeError, "always: expected ids of skills, .*; got int"),
        ({"always": [5]}, TypeError, "expected a skill; got int without 'name'"),
        ({"always": [Satchel]}, TypeError, "got the class Satchel"),
        ({"stage": "yes"}, TypeError, "stage: expected True, False .*; got 'yes'"),
        ({"reinject_tokens": "many"}, TypeError, "a count of tokens; got 'many'"),
        ({"reinject_tokens": True}, TypeError, "a count of tokens; got bool"),
        ({"trust_state": "no"}, TypeError, "True or False; got 'no'"),
        ({"only": ["aa"]}, SkillNotFoundError, "'aa' not found"),
        ({"only": "aa"}, SkillNotFoundError, "'aa' not found"),
        ({"always": ["aa"]}, SkillNotFoundError, "'aa' not found"),
    ],
)
def test_a_wrong_argument_fails_at_once(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        attached(**options)


@pytest.mark.row("F58")
@pytest.mark.parametrize(
    ("skills", "got"),
    [
        ("./skills", "'./skills'; write attach(Satchel('./skills'))"),
        (Path("skills"), f"{type(Path()).__name__}; write attach(Satchel('skills'))"),
        ("x" * 99, f"str; write attach(Satchel('{'x' * 99}'))"),
        (["./skills"], "list"),
        (None, "NoneType"),
        (Satchel, "the class Satchel"),
    ],
)
def test_only_a_satchel_is_attached(skills: Any, got: str) -> None:  # noqa: ANN401
    with pytest.raises(TypeError) as caught:
        SessionFactory(skills, None, None, {})

    assert str(caught.value) == f"attach: expected a Satchel; got {got}"


@pytest.mark.row("F58")
@pytest.mark.parametrize("always", ["a", ["a"]])
def test_a_mere_text_is_one_always_on_skill(always: str | list[str]) -> None:
    assert "# Do" in attached(always=always).open(None).session.instructions()


@pytest.mark.row("F58")
def test_options_are_read_once_and_hold_for_every_session() -> None:
    """A generator is empty when the second conversation begins."""
    base = attached(always=iter(["a"]), only=iter(["a"]))

    message = [base.open(None).session.instructions() for _ in range(2)]

    assert message[0] == message[1]
    assert "# Do" in message[0]


@pytest.mark.row("F21")
@pytest.mark.parametrize(
    "stored", [3, "{", ["a"], {"active": 7}, {"schema_version": 99}]
)
def test_a_state_that_cannot_be_read_starts_again(
    stored: object, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "satchel"):
        conversation = attached().open(None, stored)

    assert conversation.session.activations == ()
    assert len(caplog.records) == 1


@pytest.mark.row("F23")
def test_steps_of_one_turn_share_what_they_read() -> None:
    source = FakeSource("s", {"a": {"SKILL.md": pack("a")}})
    base = SessionFactory[object](Satchel(source), None, None, {})
    turn = Turn()

    for _ in range(3):
        base.open(None, turn=turn).session.load("a")
    base.open(None).session.load("a")

    assert (turn.cache.reads, turn.cache.hits) == (1, 2)


@pytest.mark.row("F23")
def test_a_conversation_that_goes_on_begins_a_new_turn() -> None:
    conversation = attached().open(None)
    first = conversation.turn

    conversation.session.load("a")
    conversation.begin_turn()
    conversation.session.load("a")

    assert (first.cache.reads, conversation.turn.cache.reads) == (1, 1)


@pytest.mark.parametrize(
    ("result", "failed"),
    [({"error": {"code": "x"}}, True), ({"error": None}, False), ("error", False)],
)
def test_an_error_is_message_from_a_result(result: object, failed: bool) -> None:
    assert is_error(result) == failed


@pytest.mark.parametrize("style", get_args(Style))
@pytest.mark.parametrize("asked", ["nope", "", 5])
def test_a_load_that_failed_is_an_error(style: Style, asked: object) -> None:
    session = attached(style=style).open(None).session
    tool, key = LOADERS[style]

    # The contract of `agent-skills` is text, without a mark of failure.
    is_text = style == "agent-skills" and isinstance(asked, str)
    assert is_error(session.call(tool, {key: asked})) is not is_text
    assert is_error(session.call(tool, {})) is True
    assert is_error(session.call(tool, {key: "a"})) is False
