"""What a model sends comes back short, in every style, tool and error."""

import asyncio
import inspect
import re
from collections.abc import Sequence
from typing import Any, Literal, cast, get_args

import pytest
from pydantic import BaseModel, ConfigDict

import satchel.errors
from satchel import Satchel, Skill
from satchel.agent import Agent, Call, Message
from satchel.errors import (
    MAX_ECHO,
    DeniedError,
    PackFileError,
    SkillError,
    SkillNotFoundError,
    echo,
)
from satchel.model import Style
from satchel.policy import Policy, ask, deny
from satchel.runtime import Session
from satchel.tools import Toolbox, result_text, tool_from_function
from tests.fakes import LOADERS, FakeSource, pack

pytestmark = [pytest.mark.slow, pytest.mark.row("F26")]

JUNK = "x" * 200_000
KEY = {style: key for style, (_, key) in LOADERS.items()}


class Order(BaseModel):
    model_config = ConfigDict(extra="forbid")
    number: int


def place(order: Order, kind: Literal["a", "b"] = "a") -> str:
    """Place an order."""
    return f"{order.number} {kind}"


def session_of(style: Style, *rules: Any) -> Session:  # noqa: ANN401
    packs: Any = {
        "real": {"SKILL.md": pack("real"), "references/a.md": "text"},
        "shut": {"SKILL.md": pack("shut")},
        "asks": {"SKILL.md": pack("asks")},
    }
    skill = Skill("orders", instructions="Order.", description="Use.", tools=[place])
    policy = Policy(*rules, deny("shut", action="load"), ask("asks", action="load"))
    open_skills = Satchel(FakeSource("s", packs), skill, policy=policy)
    return open_skills.session(style=style, always=["orders"])


def longest(text: str) -> int:
    """Return the length of the longest piece of junk."""
    return max(map(len, re.findall("x{20,}", text)), default=0)


def calls(style: Style) -> list[tuple[Any, Any]]:
    """Return calls with junk in every place that a model can fill."""
    tools = [each.name for each in session_of(style).tools()]
    found: list[tuple[Any, Any]] = [
        (JUNK, {}),
        ([JUNK], {}),
        ({JUNK: JUNK}, {}),
        ("place", {"order": JUNK}),
        ("place", {"order": {"number": JUNK}}),
        ("place", {"order": {"number": 1, JUNK: 1}}),
        ("place", {"order": {"number": 1}, "kind": JUNK}),
    ]
    values: tuple[Any, ...] = (JUNK, [JUNK], {JUNK: JUNK}, "real", 5)
    for name in (*tools, "place", "no-such-tool"):
        found += [(name, each) for each in (JUNK, [JUNK], f'"{JUNK}"', {JUNK: JUNK})]
        for key in ("query", "path", "reference", "script", "k", KEY[style]):
            for value in values:
                found.append((name, {key: value}))
                for skill in ("real", "shut", "asks", "orders", "nope", JUNK):
                    found.append((name, {KEY[style]: skill, key: value}))
    return found


@pytest.mark.parametrize("style", get_args(Style))
def test_every_result_of_a_session_is_short(style: Style) -> None:
    session = session_of(style)

    for name, arguments in calls(style):
        results = [session.call(name, arguments)]
        if name in ("place", JUNK):
            results.append(asyncio.run(session.acall(name, arguments)))
            results.append(session.permit(name, arguments, approved=False).refusal)
        for result in results:
            text = result_text(result)
            assert longest(text) <= MAX_ECHO, (name, arguments)
            assert len(text) < 3_000, (name, arguments)
    assert longest(session.instructions()) <= MAX_ECHO
    assert len(str(session.dump())) < 20_000


@pytest.mark.parametrize("style", get_args(Style))
def test_what_a_state_says_is_in_use_is_repeated_short(style: Style) -> None:
    state = session_of(style).dump()
    state["active"] = [{"id": f"{n}{JUNK[:5_000]}"} for n in range(500)]
    session = session_of(style)
    resumed = Satchel(FakeSource("s", {"real": {"SKILL.md": pack("real")}})).session(
        style=style, resume=state
    )
    resumed.see([])
    session.see([])

    assert len(resumed.instructions()) < len(session.instructions()) + 5_000


def test_a_toolbox_and_the_agent_are_short_too() -> None:
    box = Toolbox("desk", (tool_from_function(place),))
    names: list[Any] = [JUNK, [JUNK], None]
    said: list[str] = []

    class Model:
        async def complete(
            self, system: str, messages: Sequence[Message], tools: Toolbox
        ) -> Message:
            del system, tools
            said.extend(each.text for each in messages if each.role == "tool")
            wanted = tuple(Call("1", each, {JUNK: 1}) for each in names)
            return Message("assistant", calls=() if said else wanted)

    Agent(Model(), toolboxes=[box]).run("hi")
    said += [result_text(box.call(each, {JUNK: 1})) for each in (*names, "place")]

    assert len(said) == 7
    assert all(longest(each) <= MAX_ECHO and len(each) < 1_000 for each in said)


def test_what_is_echoed_has_a_hundred_characters() -> None:
    assert echo("x" * 100) == "x" * 100
    assert echo("x" * 101) == "x" * 97 + "..."
    assert echo([1]) == "list"


def _errors() -> list[type[SkillError]]:
    """Return those that a model's or client's own words can get into."""
    kinds = (DeniedError, PackFileError, SkillNotFoundError)
    known = cast("list[object]", [*vars(satchel.errors).values()])
    found = [each for each in known if inspect.isclass(each)]
    return [each for each in found if issubclass(each, kinds)]


@pytest.mark.parametrize("kind", _errors())
def test_an_error_keeps_all_and_says_little(kind: type[SkillError]) -> None:
    given: tuple[str, ...] = (
        ("load", JUNK, JUNK) if issubclass(kind, DeniedError) else (JUNK, JUNK)
    )
    if issubclass(kind, SkillNotFoundError):
        given = (JUNK,)
    error = kind(*given)

    assert JUNK in error.args
    assert longest(str(error)) <= MAX_ECHO
