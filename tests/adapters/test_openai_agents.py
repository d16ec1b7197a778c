"""What is the OpenAI Agents SDK's own: its contexts, hooks, filters, nested agents."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from agents import (
    Agent,
    AgentHooks,
    RunConfig,
    RunContextWrapper,
    Runner,
    RunState,
    ToolOutputImage,
    WebSearchTool,
    function_tool,
    handoff,
)
from agents.run import CallModelData, ModelInputData
from pydantic import BaseModel

from satchel import Satchel, Skill
from satchel.adapters.openai_agents import attach
from satchel.errors import DuplicateToolError
from satchel.policy import ask
from tests.adapters.desk import (
    ANA,
    BASE,
    REFUND as REFUNDING,
    REFUNDS,
    Desk,
    carried,
    load,
    open_desk,
    script,
)
from tests.adapters.driver import Call
from tests.adapters.openai_agents import FakeModel, call, fake_model, text
from tests.form import ROOT, open_form, run_program

if TYPE_CHECKING:
    from pathlib import Path

QUIET = RunConfig(tracing_disabled=True)
LOAD = call("load_skill", {"skill_id": "refunds"}, id="load")
REFUND = call("refund", {"order_id": "A-1", "cents": 995}, id="pay")
DONE = text("done")


def asking(packs: Path, desk: Desk | None = None) -> Satchel:
    return open_desk(packs, desk, ask("refunds", tool="refund"))


def steps(*outputs: Any) -> FakeModel:
    """Return a model that says these in turn."""
    rest = iter(outputs)
    return FakeModel(lambda _: [next(rest)])


async def run(agent: Agent[Any], output: Any = "hi", **how: Any) -> Any:
    return await Runner.run(agent, output, run_config=how.pop("config", QUIET), **how)


def system(model: FakeModel, at: int = 0) -> str:
    return model.calls[at].system


def names(model: FakeModel, at: int) -> list[str]:
    return [tool.name for tool in model.calls[at].tools]


def results(model: FakeModel, at: int = -1) -> list[Any]:
    items = model.calls[at].messages
    return [each["output"] for each in items if each.get("type", "").endswith("output")]


# The agent


def output(_: RunContextWrapper[Any], agent: Agent[Any]) -> str:
    return f"I am {agent.name}."


async def output_later(given: RunContextWrapper[Any], agent: Agent[Any]) -> str:
    return output(given, agent)


@pytest.mark.parametrize(
    ("own", "begins"),
    [
        (BASE, BASE),
        (output, "I am desk."),
        (output_later, "I am desk."),
        (None, "If a skill fits"),
    ],
)
async def test_own_instructions_of_any_kind_come_first(
    skills: Satchel, own: Any, begins: str
) -> None:
    model = steps(DONE)

    await run(attach(skills, to=Agent("desk", instructions=own, model=model)))

    assert system(model).startswith(begins)
    assert "refunds" in system(model)


class Teller(Agent[Any]):
    """An agent of the application's own class."""


async def test_a_copy_of_the_agent_has_skills_and_so_has_its_clone(
    skills: Satchel,
) -> None:
    model = steps(DONE)
    agent = Teller("desk", instructions=BASE, model=model)

    copy = attach(skills, to=agent)
    copy.tools.append(WebSearchTool())
    await run(copy.clone(instructions="You are new."))

    assert isinstance(copy, Teller)
    assert (agent.tools, agent.hooks, agent.instructions) == ([], None, BASE)
    assert system(model).startswith("You are new.")
    assert "refunds" in system(model)
    with pytest.raises(ValueError, match="'desk' has skills already"):
        attach(skills, to=copy)


class Answer(BaseModel):
    """What the agent is to answer."""

    text: str


async def test_structured_output_is_as_it_was(skills: Satchel) -> None:
    model = steps(LOAD, text('{"text": "hello"}'))
    agent = attach(skills, to=Agent("desk", output_type=Answer, model=model))

    result = await run(agent)

    assert result.final_output == Answer(text="hello")


async def test_a_hand_off_of_a_carried_tools_name_is_loud(skills: Satchel) -> None:
    other: Agent[Any] = Agent("other")
    hand_over = handoff(other, tool_name_override="refund")
    agent = attach(skills, to=Agent("desk", handoffs=[hand_over], model=steps(DONE)))

    with pytest.raises(DuplicateToolError, match="refund"):
        await run(agent)


class Hooks(AgentHooks[Any]):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.message: list[str] = []

    async def on_start(self, *_: Any) -> None:
        self.message.append("start")

    async def on_end(self, *_: Any) -> None:
        self.message.append("end")

    async def on_llm_start(self, *_: Any) -> None:
        self.message.append("model")

    async def on_tool_start(self, *given: Any) -> None:
        self.message.append(given[2].name)


async def test_own_hooks_are_told_everything(skills: Satchel) -> None:
    hooks = Hooks()

    await run(attach(skills, to=Agent("desk", hooks=hooks, model=steps(LOAD, DONE))))

    assert hooks.message == ["start", "model", "load_skill", "model", "end"]


# Tools


async def test_arguments_that_are_no_object_are_a_result(skills: Satchel) -> None:
    model = steps(call("load_skill", [1], id="a"), DONE)

    await run(attach(skills, to=Agent("desk", model=model)))

    assert "have to be an object" in results(model)[0]


async def test_an_image_is_handed_on_as_it_is() -> None:
    def photo() -> object:
        """Take a photo."""
        return [ToolOutputImage(image_url="https://example.org/a.png")]

    skill = Skill("cam", description="Use for photos.", instructions="", tools=[photo])
    model = steps(call("photo", {}, id="a"), DONE)

    await run(attach(Satchel(skill), to=Agent("desk", model=model), always=["cam"]))

    [[part]] = results(model)
    assert part == {"type": "input_image", "image_url": "https://example.org/a.png"}


async def test_a_hosted_tool_is_handed_on(tmp_path: Path) -> None:
    search = WebSearchTool()
    model = steps(DONE)
    skills = carried(tmp_path, "news", search)

    await run(attach(skills, to=Agent("desk", model=model), always=["news"]))

    assert model.calls[0].tools[0] is search


# State


@dataclass
class Context:
    """A context of the application's own class."""

    user: str
    satchel: dict[str, Any] = field(default_factory=dict[str, Any])
    elsewhere: dict[str, Any] = field(default_factory=dict[str, Any])


async def test_an_attribute_of_the_context_keeps_the_state(skills: Satchel) -> None:
    context = Context("ana")
    model = steps(LOAD, DONE, DONE)
    to = Agent[Context]("desk", model=model)
    agent = attach(skills, to=to, who=lambda run: {"user": run.context.user})

    await run(agent, context=context)
    await run(agent, "again", context=context)

    assert [use["id"] for use in context.satchel["desk"]["active"]] == ["refunds"]
    assert "refund" in names(model, 2)
    assert REFUNDS in system(model, 2)


async def test_the_application_can_say_where_the_state_is(skills: Satchel) -> None:
    context = Context("ana")
    agent = attach(
        skills,
        to=Agent[Context]("desk", model=steps(LOAD, DONE)),
        state=lambda run: run.context.elsewhere,
        agent="teller",
    )

    await run(agent, context=context)

    assert context.satchel == {}
    assert list(context.elsewhere) == ["teller"]


async def test_a_wrapper_that_is_used_again_keeps_users_apart(skills: Satchel) -> None:
    model = steps(LOAD, DONE, DONE)
    desk: Agent[Any] = Agent("desk", model=model)
    agent = attach(skills, to=desk, who=lambda run: run.context["who"])
    wrapper = RunContextWrapper[Any]({"who": ANA})

    await run(agent, context=wrapper)
    wrapper.context = {"who": {"user": "bo"}}
    await run(agent, context=wrapper)

    assert "refund" in names(model, 1)
    assert "refund" not in names(model, 2)


# Filters, and conversations that the provider keeps


def newest(data: CallModelData[Any]) -> ModelInputData:
    """Keep the last message alone, as a trimming filter would."""
    given = data.model_data
    return ModelInputData(given.input[-1:], given.instructions)


async def test_what_a_filter_drops_is_stated_again_in_that_very_call(
    skills: Satchel,
) -> None:
    model = steps(LOAD, DONE, DONE)
    agent = attach(skills, to=Agent("desk", model=model))
    first = await run(agent)
    messages = [*first.to_input_list(), {"role": "user", "content": "again"}]

    config = RunConfig(tracing_disabled=True, call_model_input_filter=newest)
    await run(agent, messages, config=config)

    stated, last = model.calls[2].messages
    assert stated["role"] == "developer"
    assert REFUNDS in stated["content"]
    assert last["content"] == "again"
    assert system(model, 2) == system(model, 0)


async def test_what_is_stated_in_the_instructions_is_not_stated_twice(
    skills: Satchel,
) -> None:
    context: dict[str, Any] = {"satchel": {}}
    model = steps(LOAD, DONE, DONE)
    agent = attach(skills, to=Agent("desk", model=model))
    await run(agent, context=context)

    await run(agent, "again", context=context)

    assert REFUNDS in system(model, 2)
    assert [each["role"] for each in model.calls[2].messages] == ["user"]


async def test_where_the_provider_keeps_the_messages_nothing_is_put_between(
    skills: Satchel,
) -> None:
    order = call("order_status", {"order_id": "A-1"}, id="order")
    model = steps(LOAD, order, DONE)
    agent = attach(skills, to=Agent("desk", model=model))

    await run(agent, conversation_id="conv_1")

    kinds = [each.get("type", each.get("role")) for each in model.calls[2].messages]
    assert kinds == ["function_call_output"]
    assert system(model, 2) == system(model, 0)


# Agents that are tools


def clerk(skills: Satchel, model: FakeModel) -> Any:
    agent = attach(skills, to=Agent("clerk", model=model), who=ANA)
    return agent.as_tool("clerk", "Asks the clerk.")


async def test_an_agent_that_is_a_tool_starts_again_each_time(skills: Satchel) -> None:
    model = steps(LOAD, DONE, DONE)
    once = call("clerk", {"input": "go"}, id="a")
    again = call("clerk", {"input": "go"}, id="b")
    tools = [clerk(skills, model)]
    desk: Agent[Any] = Agent("desk", tools=tools, model=steps(once, again, DONE))

    await run(desk, context={"satchel": {}})

    assert "refund" in names(model, 1)
    assert "refund" not in names(model, 2)
    assert REFUNDS not in system(model, 2)


async def test_its_approvals_resume_with_other_agents(packs: Path) -> None:
    desk = Desk()

    def build(*outputs: Any, own: Any) -> Agent[Any]:
        tool = clerk(asking(packs, desk), steps(*outputs))
        return Agent("desk", tools=[tool], model=steps(*own))

    ask_clerk = call("clerk", {"input": "go"}, id="a")
    first = build(LOAD, REFUND, own=[ask_clerk])
    paused = await run(first, context={"satchel": {}})
    text = json.dumps(paused.to_state().to_json())

    second = build(DONE, own=[DONE])
    state: RunState[Any] = await RunState.from_json(second, json.loads(text))
    state.approve(state.get_interruptions()[0])
    result = await run(second, state)

    assert result.final_output == "done"
    assert desk.done == ["refund A-1 995 by ana"]


@pytest.mark.row("F22")
@pytest.mark.parametrize("elsewhere", [True, False])
@pytest.mark.parametrize("approve", [True, False])
async def test_a_paused_run_goes_on_without_a_state(
    packs: Path, approve: bool, elsewhere: bool
) -> None:
    """With another agent object too, and a context that keeps nothing of ours."""
    desk = Desk()
    skills = asking(packs, desk)

    def made() -> Agent[Any]:
        model = fake_model(script([load("refunds")], [REFUNDING], "done"))
        return attach(skills, to=Agent("desk", model=model), who=ANA)

    agent = made()
    result = await decided(agent, made() if elsewhere else agent, approve)

    assert result.final_output == "done"
    assert desk.done == (["refund A-1 995 by ana"] if approve else [])


async def decided(first: Agent[Any], second: Agent[Any], approve: bool = True) -> Any:
    """Run until a call waits; answer it, and go on with the second agent."""
    paused = await run(first)
    state = await RunState.from_string(second, paused.to_state().to_string())
    [item] = state.get_interruptions()
    if approve:
        state.approve(item)
    else:
        state.reject(item)
    return await run(second, state)


@pytest.mark.row("F22")
async def test_a_native_tool_waits_for_its_yes_elsewhere(tmp_path: Path) -> None:
    done: list[str] = []

    @function_tool
    def post(city: str) -> str:
        """Send a card."""
        done.append(city)
        return f"a card went to {city}"

    skills = carried(tmp_path, "cards", post, rules=[ask("cards", tool="post")])

    def made() -> Agent[Any]:
        model = fake_model(script([load("cards")], [Call("post", {"city": "B"})], "ok"))
        return attach(skills, to=Agent("desk", model=model))

    result = await decided(made(), made())

    assert (result.final_output, done) == ("ok", ["B"])


@pytest.mark.row("U14")
def test_the_tutorial_ends_with_a_filled_form(tmp_path: Path) -> None:
    open_form(tmp_path / "form")
    shutil.copytree(ROOT / "examples" / "skills", tmp_path / "skills")

    printed = run_program(tmp_path / "form", "openai_agent.py")

    assert "Ana Simpson" in printed
    assert printed.endswith("the signature is yours.\n")
