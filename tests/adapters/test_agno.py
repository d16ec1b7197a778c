"""What only Agno has: copies of agents, factories of tools, hooks, fallbacks, teams."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agno.agent import Agent
from agno.exceptions import ModelProviderError
from agno.models.fallback import FallbackConfig
from agno.models.message import Message
from agno.models.response import ModelResponse
from agno.run import RunContext
from agno.run.requirement import RunRequirement
from agno.team import Team
from agno.tools import Function, Toolkit, tool
from agno.tools.function import FunctionCall
from pydantic import BaseModel

from satchel import Run, Satchel
from satchel.adapters import agno
from satchel.errors import DuplicateToolError
from satchel.policy import ask
from tests.adapters import driver as suite
from tests.adapters.agno import DRIVER, FakeModel, in_memory
from tests.adapters.desk import (
    ANA,
    BASE,
    NEEDS,
    PAID,
    PAYS,
    REFUNDED,
    TRAVEL,
    WIRE,
    Desk,
    carried,
    load,
    open_desk,
    script,
    setup,
    weather,
    wiring,
)
from tests.adapters.driver import Call, Paused, Seen

SECTION = "If a skill fits"


def plain(model: suite.Model, **more: Any) -> Agent:
    given = {"system_message": BASE, "telemetry": False, **more}
    return Agent(model=FakeModel(model, []), **given)


def attach(skills: Satchel, to: Any, **options: Any) -> Any:
    return agno.attach(skills, to=to, who=ANA, **options)


def seen_by(agent: Any) -> list[Seen]:
    seen: list[Seen] = agent.model.seen
    return seen


async def test_the_agent_that_was_given_stays_as_it_was(packs: Path) -> None:
    given = plain(script("hello"), tools=[weather])
    model = given.model
    attached = attach(open_desk(packs), given)

    await attached.arun("hi")
    await given.arun("hi")

    with_skills, without = seen_by(given)
    assert given.model is model
    assert type(model) is FakeModel
    assert given.tools == [weather]
    assert with_skills.tools == ("weather", "load_skill", "read_skill_file")
    assert (without.tools, without.system) == (("weather",), BASE)


@pytest.mark.row("R09")
async def test_copies_of_an_attached_agent_have_skills_too(packs: Path) -> None:
    """Servers copy an agent for each request; copies share the skills, and no more."""
    attached = attach(open_desk(packs), plain(script([load("refunds")], "done")))

    first, second = attached.deep_copy(), attached.deep_copy()
    await first.arun("hi")
    await second.arun("hi")

    runs = seen_by(attached)
    assert [SECTION in seen.system for seen in runs] == [True] * 4
    assert ["refund" in seen.tools for seen in runs] == [False, True, False, True]


def test_an_agent_has_a_model_and_no_skills_yet(skills: Satchel) -> None:
    with pytest.raises(ValueError, match="give one Satchel all of them"):
        attach(skills, attach(skills, plain(script("hello"))))
    with pytest.raises(ValueError, match="model"):
        attach(skills, Agent(telemetry=False))


def test_names_of_own_tools_are_read_in_all_forms(packs: Path) -> None:
    def refund(order_id: str) -> str:
        """Pay back."""
        return order_id

    async def arefund(order_id: str) -> str:
        """Pay back."""
        return order_id

    forms: list[Any] = [
        tool(name="refund")(weather),
        refund,
        {"name": "refund", "type": "built-in"},
        Toolkit("mine", tools=[refund]),
        Toolkit("mine", async_tools=[(arefund, "refund")]),
    ]
    for form in forms:
        with pytest.raises(DuplicateToolError, match="refund"):
            attach(open_desk(packs), plain(script("hello"), tools=[form]))


def make(run_context: Any) -> list[Any]:
    assert run_context.run_id
    return [weather]


async def amake(agent: Agent) -> list[Any]:
    assert agent.model
    return [weather]


def make_none() -> None:
    return None


@pytest.mark.parametrize(
    ("factory", "own"), [(make, ("weather",)), (amake, ("weather",)), (make_none, ())]
)
async def test_a_factory_of_tools(
    packs: Path, factory: Callable[..., Any], own: tuple[str, ...]
) -> None:
    agent = attach(open_desk(packs), plain(script(*PAYS), tools=factory))

    if factory is make:
        await asyncio.to_thread(agent.run, "hi")
    else:
        await agent.arun("hi")

    before, after, last = seen_by(agent)
    assert before.tools == (*own, "load_skill", "read_skill_file")
    assert after.tools == (*before.tools, "order_status", "refund")
    assert last.results[1] == REFUNDED


async def test_a_made_tool_of_a_skills_name_ends_the_run(packs: Path) -> None:
    def load_skill(name: str) -> str:
        """Load in a way of our own."""
        return name

    agent = attach(open_desk(packs), plain(script("hi"), tools=lambda: [load_skill]))
    run = await agent.arun("hi")

    assert run.status.value == "ERROR"
    assert "load_skill" in run.content
    assert "the agent" in run.content


async def test_a_prompt_of_parts_stays_whole(packs: Path) -> None:
    """Content that is no text stays a message of its own, before ours."""
    parts = Message(role="system", content=[{"type": "text", "text": BASE}])
    agent = attach(open_desk(packs), plain(script("hello"), system_message=parts))

    await agent.arun("hi")

    [seen] = seen_by(agent)
    assert seen.system.index(BASE) < seen.system.index(SECTION)


async def test_what_is_stored_is_the_agents_own_prompt(packs: Path) -> None:
    agent = attach(open_desk(packs), plain(script("hello")))

    run = await agent.arun("hi")

    assert [m.content for m in run.messages if m.role == "system"] == [BASE]


def test_results_are_read_as_the_model_sees_them() -> None:
    messages = [
        Message(role="tool", content="long", compressed_content="short", tool_name="a"),
        Message(role="model", content=None),
        Message(role="user", content=[{"text": "b"}]),
    ]

    for compressed, text in ((False, "long"), (True, "short")):
        seen = [*agno._seen(messages, compressed=compressed)]
        assert [message.role for message in seen] == ["tool", "assistant", "user"]
        assert seen[0].text == text


async def test_responses_are_not_cached(packs: Path) -> None:
    """The key of a cached response would not know for whom it was."""
    given = plain(script("hello"))
    assert isinstance(given.model, FakeModel)
    given.model.cache_response = True
    agent = attach(open_desk(packs), given)

    await agent.arun("hi")
    await agent.arun("hi")

    assert len(seen_by(agent)) == 2
    assert given.model.cache_response


class Broken(FakeModel):
    """A model whose provider does not answer."""

    async def ainvoke(self, *_: Any, **__: Any) -> ModelResponse:
        raise ModelProviderError("no answer", status_code=503)


async def test_a_fallback_has_skills_too(packs: Path) -> None:
    fallback = FakeModel(script(*PAYS), [])
    given = Agent(
        model=Broken(script("unused"), []),
        fallback_config=FallbackConfig(on_error=[fallback]),
        telemetry=False,
    )
    agent = attach(open_desk(packs), given)
    run = await agent.arun("hi")

    first, _, last = agent.fallback_config.on_error[0].seen
    assert run.content == "done"
    assert SECTION in first.system
    assert last.results[1] == REFUNDED


async def test_structured_output_makes_tools_strict(packs: Path) -> None:
    class Answer(BaseModel):
        word: str

    given = plain(script([load("refunds")], '{"word": "yes"}'), output_schema=Answer)
    assert isinstance(given.model, FakeModel)
    given.model.supports_native_structured_outputs = True
    run = await attach(open_desk(packs), given).arun("hi")

    schemas = given.model.seen[1].schemas
    assert run.content == Answer(word="yes")
    assert {schema["additionalProperties"] for schema in schemas.values()} == {False}


async def test_a_model_that_is_used_for_something_else(packs: Path) -> None:
    """Without the run's own tools, as a memory manager calls it, nothing is added."""
    agent = attach(open_desk(packs), plain(script([Call("weather", {"city": "a"})])))
    function = Function.from_callable(weather)
    messages = [Message(role="user", content="hi")]

    await agent.model.aresponse(messages=messages, tools=[function])

    [first, last] = seen_by(agent)
    assert (first.system, first.tools) == ("", ("weather",))
    assert last.results == ["sun in a"]


async def test_who_calls_the_anchor_learns_that_it_is_nothing(packs: Path) -> None:
    """A model to reason with is given all functions of the agent as they are."""
    skills = open_desk(packs)
    agent = attach(skills, plain(script("hello")))
    [kit] = agent.tools
    [anchor] = kit.get_functions().values()

    assert "nothing to call" in anchor.entrypoint()


def log_of(log: list[str], *, is_async: bool) -> Callable[..., Any]:
    def hook(function_name: str, function_call: Any, arguments: Any) -> Any:
        log.append(function_name)
        return function_call(**arguments)

    async def ahook(function_name: str, function_call: Any, arguments: Any) -> Any:
        log.append(function_name)
        return await function_call(**arguments)

    return ahook if is_async else hook


@pytest.mark.parametrize("is_async", [True, False])
async def test_hooks_see_the_calls_of_skills_tools(
    packs: Path, *, is_async: bool
) -> None:
    log: list[str] = []
    given = plain(script(*PAYS), tool_hooks=[log_of(log, is_async=is_async)])
    agent = attach(open_desk(packs), given)

    run = agent.arun("hi") if is_async else asyncio.to_thread(agent.run, "hi")
    await run

    assert log == ["load_skill", "refund"]
    assert seen_by(agent)[2].results[1] == REFUNDED


async def test_a_run_gets_the_dependencies(tmp_path: Path) -> None:
    got: list[Any] = []

    def pay(run: Run) -> str:
        """Pay."""
        got.extend([run.deps, run.agent])
        return "paid"

    model = script([load("cards")], [Call("pay")], "done")
    skills = carried(tmp_path, "cards", pay)
    agent = attach(skills, plain(model, name="cashier"))

    await agent.arun("hi", dependencies={"payments": "p-1"})

    assert got == [{"payments": "p-1"}, "cashier"]


def asking(packs: Path, desk: Desk | None = None) -> Satchel:
    return open_desk(packs, desk, ask("refunds", tool="refund"))


async def approve(agent: Any, run: Any, requirement: Any = None) -> Any:
    """Say yes to the call that a run waits for, or give an answer; go on with it."""
    if requirement is None:
        [requirement] = run.active_requirements
        requirement.confirm()
    return await agent.acontinue_run(
        run_id=run.run_id, session_id="s", requirements=[requirement]
    )


@pytest.mark.row("F20")
async def test_a_call_that_was_edited_is_made_once(packs: Path) -> None:
    """A run that is resumed twice pays once, whatever is edited the second time."""
    desk = Desk()
    skills = asking(packs, desk)
    rig = DRIVER.build(setup(skills, script(*PAYS)))
    paused = await rig.say("hi", who=ANA)
    assert isinstance(paused, Paused)
    state, saved = json.dumps(paused.state), rig.save()

    for cents in (5, 6):
        other = DRIVER.build(setup(skills, script(*PAYS)))
        other.restore(saved)
        again = Paused(paused.tool, paused.arguments, json.loads(state))
        less = {"order_id": "A-1", "cents": cents}
        assert await other.decide(again, approve=True, arguments=less) == "done"

    assert desk.done == ["refund A-1 5 by ana"]
    assert "approval-used" in other.seen[-1].results[-1]


@pytest.mark.row("F20")
async def test_a_hook_cannot_change_what_was_approved(packs: Path) -> None:
    """Where an own hook puts other arguments in place, the answer is not about them."""

    async def doubles(function_call: Any, arguments: dict[str, Any]) -> Any:
        if "cents" in arguments:
            arguments = {**arguments, "cents": 2 * arguments["cents"]}
        return await function_call(**arguments)

    desk = Desk()
    skills = asking(packs, desk)
    given = plain(script(*PAYS), db=in_memory(), tool_hooks=[doubles])
    agent = attach(skills, given)

    run = await agent.arun("hi", session_id="s")
    run = await approve(agent, run)

    assert run.content == "done"
    assert desk.done == []
    assert "approval" in seen_by(agent)[-1].results[-1]


@pytest.mark.row("F24")
async def test_a_no_without_words_says_nothing_of_the_question(packs: Path) -> None:
    """The question is in the field for the person's words; it is not among them."""
    skills = asking(packs)
    agent = attach(skills, plain(script(*PAYS), db=in_memory()))

    run = await agent.arun("hi", session_id="s")
    [waiting] = run.active_requirements
    question = waiting.tool_execution.confirmation_note
    declined = {**waiting.to_dict(), "confirmation": False}  # as a browser may send it
    run = await approve(agent, run, RunRequirement.from_dict(declined))

    assert "Call the tool" in question
    assert run.content == "done"
    assert "Call the tool" not in seen_by(agent)[-1].results[-1]


@pytest.mark.parametrize(
    "stored", ["nonsense", 7, "[7]", '{"s/r/c1": 7}', "[" * 100_000, None]
)
def test_what_is_kept_of_calls_that_wait_may_be_broken(stored: Any) -> None:
    """Then what was approved counts as what the model gave."""
    context = RunContext(
        run_id="r", session_id="s", session_state={"satchel-waiting:desk": stored}
    )
    talk: Any = None
    run = agno._Run(talk, context, "satchel:desk")
    function = Function(name="refund")
    call = FunctionCall(function=function, call_id="c1", arguments={"cents": 5})

    assert run.given(call) == {"cents": 5}
    assert context.session_state == {}


@pytest.mark.parametrize("answer", [True, False])
async def test_nothing_is_kept_of_calls_that_do_not_wait_any_more(
    packs: Path, *, answer: bool
) -> None:
    agent = attach(asking(packs), plain(script(*PAYS), db=in_memory()))

    run = await agent.arun("hi", session_id="s")
    before = {*agent.get_session_state(session_id="s")}
    [waiting] = run.active_requirements
    (waiting.confirm if answer else waiting.reject)()
    await approve(agent, run, waiting)

    assert before == {"satchel", "satchel-waiting"}
    assert {*agent.get_session_state(session_id="s")} == {"satchel"}


@pytest.mark.row("F21")
async def test_a_grant_in_the_session_state_is_none(packs: Path) -> None:
    """Who calls Agno's own API may write the state, and a model with agentic state."""
    desk = Desk()
    skills = asking(packs, desk)
    agent = attach(skills, plain(script(*PAYS), db=in_memory()))
    first = await agent.arun("hi", session_id="s")
    stored = json.loads(agent.get_session_state(session_id="s")["satchel"])
    forged = {**stored, "grants": [["tool", "refunds", "refund"]]}

    again = await agent.arun(
        "hi", session_id="s", session_state={"satchel": json.dumps(forged)}
    )

    assert first.is_paused
    assert again.is_paused
    assert desk.done == []


async def test_a_grant_of_an_approver_holds_with_agentic_state(packs: Path) -> None:
    asked: list[object] = []

    def approve(question: Any) -> Any:
        asked.append(question.tool)
        return "yes_in_session"

    given = plain(script(*PAYS), db=in_memory(), enable_agentic_state=True)
    agent = attach(asking(packs), given, approve=approve)

    for _ in range(2):
        await agent.arun("hi", session_id="s")

    assert asked == ["refund"]


def team_of(model: suite.Model, *members: Any) -> Team:
    given: Any = {"name": "first", "db": in_memory(), "telemetry": False}
    return Team(model=FakeModel(model, []), members=[*members], **given)


async def test_members_of_a_team_keep_apart_what_they_use(packs: Path) -> None:
    """They share a session state, and each has its own part of it."""

    def leads(seen: Seen) -> suite.Say:
        order = Call("delegate_task_to_member", {"task": "book"})
        steps: list[suite.Say] = [[load("refunds")], [order], "done"]
        return steps[seen.since_user]

    skills = open_desk(packs)
    books = script([load("travel")], [Call("book", {"city": "Basel"})], "booked")
    member = attach(skills, plain(books, name="second", id="second"))
    team = attach(skills, team_of(leads, member))

    run = await team.arun("hi", session_id="s")

    state = team.get_session_state(session_id="s")
    stored = {key: json.loads(state[key]) for key in state if key.startswith("satchel")}
    used = {key: [use["id"] for use in stored[key]["active"]] for key in stored}
    assert run.content == "done"
    assert used == {"satchel:first": ["refunds"], "satchel:second": ["travel"]}
    assert TRAVEL not in "".join(seen_by(team)[-1].results)


async def test_a_call_of_a_team_is_approved(packs: Path) -> None:
    desk = Desk()
    skills = asking(packs, desk)
    team = attach(skills, team_of(script(*PAYS)))

    run = await team.arun("hi", session_id="s")
    run = await approve(team, run)

    assert run.content == "done"
    assert desk.done == [PAID]


@pytest.mark.row("F22")
async def test_a_call_of_a_member_that_waited_is_not_made_unseen(packs: Path) -> None:
    """What the member had in use is gone then: nobody pays, whatever Agno does next."""
    desk = Desk()
    skills = asking(packs, desk)
    member = attach(skills, plain(script(*PAYS), name="second", id="second"))
    order = Call("delegate_task_to_member", {"task": "pay", "member_id": "second"})
    team = team_of(script([order], "done"), member)

    run = await team.arun("hi", session_id="s")
    [waiting] = run.active_requirements
    assert waiting.tool_execution is not None
    question = waiting.tool_execution.confirmation_note
    await approve(team, run)

    assert "995" in (question or "")
    assert desk.done == []


@pytest.mark.row("U07")
@pytest.mark.parametrize("form", ["requires_confirmation", "external_execution"])
async def test_nobody_is_asked_about_an_act_that_waits(packs: Path, form: str) -> None:
    """A call that comes before its skill is answered; the next one pauses the run."""
    done: list[int] = []
    steps = script([WIRE], [WIRE], "done")
    wire: Any = tool(**{form: True})(wiring(done))
    to = plain(steps, tools=[wire], db=in_memory())
    agent = attach(open_desk(packs, None, NEEDS), to)

    run = await agent.arun("hi", session_id="s")

    assert run.is_paused
    assert len(seen_by(agent)) == 2
    [requirement] = run.active_requirements
    if form == "external_execution":
        requirement.set_external_execution_result("sent elsewhere")
    else:
        requirement.confirm()
    run = await approve(agent, run, requirement)
    assert run.content == "done"
    assert done == ([5] if form == "requires_confirmation" else [])
