"""What only Haystack has: hooks, toolsets, state, pipelines, small generators."""

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import pytest
from haystack import Pipeline, component
from haystack.components.agents import Agent
from haystack.components.agents.state import State
from haystack.components.generators.chat import MockChatGenerator
from haystack.core.errors import SerializationError
from haystack.dataclasses import ChatMessage, ChatRole, TextContent, ToolCall
from haystack.hooks.from_function import hook
from haystack.hooks.human_in_the_loop import ConfirmationHook, ToolExecutionDecision
from haystack.tools import AgentTool, ComponentTool, SearchableToolset, Toolset
from haystack.tools.from_function import create_tool_from_function

from satchel import Satchel
from satchel.adapters import haystack
from satchel.errors import DuplicateToolError
from satchel.policy import ask
from tests.adapters import driver as suite
from tests.adapters.desk import (
    ANA,
    BASE,
    NEEDS,
    PAYS,
    REFUND,
    REFUNDED,
    REFUNDS,
    WIRE,
    carried,
    load,
    open_desk,
    script,
    weather,
    wiring,
)
from tests.adapters.driver import Call, Seen
from tests.adapters.haystack import fake

SECTION = "If a skill fits"
HI = [ChatMessage.from_user("hi")]


@pytest.fixture
def asking(packs: Path) -> Satchel:
    return open_desk(packs, None, ask("refunds", tool="refund"))


WEATHER = create_tool_from_function(weather)


class Desked:
    """An agent with skills, and what its model saw."""

    def __init__(
        self, skills: Satchel, model: suite.Model, *, options: Any = None, **more: Any
    ) -> None:
        self.seen: list[Seen] = []
        settings = {"system_prompt": BASE, **more}
        self.given = Agent(chat_generator=fake(model, self.seen), **settings)
        self.agent = haystack.attach(
            skills, to=self.given, **{"who": ANA, **(options or {})}
        )

    def run(self, messages: Any = HI, **given: Any) -> dict[str, Any]:
        return self.agent.run(messages, **given)


def go_on(desk: Desked, result: dict[str, Any], **approvals: bool) -> dict[str, Any]:
    return desk.run(
        own(result["messages"]),
        satchel=result["satchel"],
        hook_context={"approvals": approvals},
    )


def own(messages: list[ChatMessage]) -> list[ChatMessage]:
    return [m for m in messages if not m.is_from(ChatRole.SYSTEM)]


def test_the_agent_that_was_given_stays_as_it_was(skills: Satchel) -> None:
    desk = Desked(skills, script("hello"), tools=[WEATHER])

    desk.run()
    desk.given.run(HI)

    with_skills, without = desk.seen
    assert with_skills.tools == ("weather", "load_skill", "read_skill_file")
    assert (without.tools, without.system) == (("weather",), BASE)
    assert (desk.given.tools, desk.given.hooks) == ([WEATHER], {})


def test_skills_are_attached_once(skills: Satchel) -> None:
    with pytest.raises(ValueError, match="give one Satchel all of them"):
        haystack.attach(skills, to=Desked(skills, script("hello")).agent)


def test_names_in_toolsets_are_read(skills: Satchel) -> None:
    mine = create_tool_from_function(weather, name="refund")

    for tools in (Toolset([mine]), [Toolset([mine])], [mine]):
        with pytest.raises(DuplicateToolError, match="refund"):
            Desked(skills, script("hello"), tools=tools)


def test_a_toolset_that_finds_its_tools_stays_in_front(skills: Satchel) -> None:
    toolset = SearchableToolset([WEATHER], search_threshold=1)
    model = script([Call("search_tools", {"tool_keywords": "weather"})], "done")
    desk = Desked(skills, model, tools=toolset)

    desk.run()

    before, after = desk.seen
    assert before.tools == ("search_tools", "load_skill", "read_skill_file")
    assert after.tools == ("search_tools", "weather", "load_skill", "read_skill_file")


def test_an_agent_with_skills_is_not_written(skills: Satchel) -> None:
    agent = Desked(skills, script("hello")).agent
    [anchored] = agent.hooks["before_llm"]

    for part in (agent.tools[0], anchored):
        with pytest.raises(SerializationError, match="without skills"):
            part.to_dict()
        with pytest.raises(SerializationError, match="was read"):
            type(part).from_dict({})


def test_in_a_pipeline_the_state_is_an_input_and_an_output(skills: Satchel) -> None:
    desk = Desked(skills, script(*PAYS))
    pipeline = Pipeline()
    pipeline.add_component("desk", desk.agent)

    first = pipeline.run({"desk": {"messages": HI}})["desk"]
    given = {"messages": HI, "satchel": first["satchel"]}
    pipeline.run({"desk": given})

    assert first["last_message"].text == "done"
    assert "refund" in desk.seen[3].tools


def test_tools_of_a_run_replace_skills_too(skills: Satchel) -> None:
    desk = Desked(skills, script("hello"), tools=[WEATHER])

    desk.run(tools=[WEATHER])
    desk.run(tools=["weather"])
    desk.run(tools=["weather", "satchel"])
    asyncio.run(desk.agent.run_async(HI, tools=["weather"]))

    assert [SECTION in seen.system for seen in desk.seen] == [False, False, True, False]
    assert [len(seen.tools) for seen in desk.seen] == [1, 1, 3, 1]


@pytest.mark.row("R09")
def test_what_is_kept_is_the_agents_own_prompt(skills: Satchel) -> None:
    """And a run knows nothing of the one before."""
    desk = Desked(skills, script(*PAYS))

    result = desk.run()
    desk.run()

    assert desk.seen[3].tools == desk.seen[0].tools
    [prompt] = [m for m in result["messages"] if m.is_from(ChatRole.SYSTEM)]
    assert prompt.text == BASE
    assert len(result["messages"]) == len(desk.seen[2].messages) + 2


def test_a_prompt_keeps_what_providers_are_told_of_it(skills: Satchel) -> None:
    cached = {"cache_control": {"type": "ephemeral"}}
    got: list[ChatMessage] = []

    def respond(messages: list[ChatMessage]) -> str:
        got.extend(messages)
        return "hello"

    llm = MockChatGenerator(response_fn=respond)
    agent = haystack.attach(skills, to=Agent(chat_generator=llm))
    agent.run([ChatMessage.from_system(BASE, meta=cached, name="desk"), *HI])

    assert (got[0].meta, got[0].name) == (cached, "desk")
    assert (got[0].text or "").startswith(BASE + "\n\n" + SECTION)


def test_hooks_of_the_agent_see_the_messages_as_they_are_kept(skills: Satchel) -> None:
    points = ["before_run", "before_llm", "before_tool", "after_tool"]
    points += ["on_exit", "after_run"]
    seen: list[tuple[str, str, int]] = []

    def look(point: str) -> Any:
        def see(state: State) -> None:
            messages = state.data["messages"]
            seen.append((point, messages[0].text, len(messages)))

        return hook(see)

    hooks = {point: [look(point)] for point in points}
    desk = Desked(skills, script([load("refunds")], "done"), hooks=hooks)

    desk.run()

    order = [*points[:4], "before_llm", "on_exit", "after_run"]
    assert [point for point, _, _ in seen] == order
    assert {text for _, text, _ in seen} == {BASE}
    assert [count for _, _, count in seen] == [2, 2, 3, 4, 4, 5, 5]


def test_a_hook_may_copy_the_tools(skills: Satchel) -> None:
    names: list[list[str]] = []

    @hook
    def copies(state: State) -> None:
        names.append([tool.name for tool in state.get("tools")])

    desk = Desked(skills, script(*PAYS), hooks={"before_llm": [copies]})
    result = desk.run()

    assert names[1][-1] == "refund"
    assert result["messages"][-2].tool_call_result.result == REFUNDED
    assert result["tool_call_counts"] == {"load_skill": 1, "refund": 1}


def test_a_hook_that_shortens_the_messages_makes_a_skill_stated_again(
    skills: Satchel,
) -> None:
    @hook
    def shorten(state: State) -> None:
        messages = state.data["messages"]
        if len(messages) > 3:
            state.data["messages"] = messages[:2]

    model = lambda seen: "done" if REFUNDS in seen.system else [load("refunds")]  # noqa: E731
    desk = Desked(skills, model, hooks={"before_llm": [shorten]})

    result = desk.run()

    assert result["last_message"].text == "done"
    assert len(desk.seen) == 2


def test_a_state_that_a_hook_restores_is_taken_up(skills: Satchel) -> None:
    """As Haystack's users save a run in the middle, and go on with it."""
    saved: list[dict[str, Any]] = []

    @hook
    def save(state: State) -> None:
        saved.append(state.to_dict(["tools", "hook_context"]))

    @hook
    def restore(state: State) -> None:
        state.data.update(State.from_dict(json.loads(json.dumps(saved[0]))).data)

    Desked(skills, script(*PAYS), hooks={"after_tool": [save]}).run()
    desk = Desked(skills, script(*PAYS), hooks={"before_run": [restore]})
    result = desk.run([ChatMessage.from_user("unused")])

    assert "refund" in desk.seen[0].tools
    assert desk.seen[0].messages[0].text == "hi"
    assert desk.seen[1].results[1] == REFUNDED
    assert result["last_message"].text == "done"


POSTS = script([load("cards")], [Call("post", {"city": "Bern"})], "done")


def post(city: str, state: State) -> str:
    """Send a card."""
    return f"{city} for {state.data['hook_context']['user']}"


def test_a_tool_of_its_own_gets_the_state(tmp_path: Path) -> None:
    tool = create_tool_from_function(post)
    desk = Desked(carried(tmp_path, "cards", tool), POSTS)

    desk.run(hook_context={"user": "ana"})

    assert desk.seen[2].results[1] == "Bern for ana"
    assert list(desk.seen[1].schemas["post"]["properties"]) == ["city"]


def test_a_component_is_a_tool(tmp_path: Path) -> None:
    @component
    class Post:
        """Sends cards."""

        @component.output_types(card=str)
        def run(self, city: str) -> dict[str, str]:
            """Send a card."""
            return {"card": f"to {city}"}

    tool = ComponentTool(Post(), name="post", outputs_to_string={"source": "card"})
    desk = Desked(carried(tmp_path, "cards", tool), POSTS)

    desk.run()

    assert desk.seen[2].results[1] == "to Bern"


def test_the_model_is_not_asked_again_for_what_it_said(asking: Satchel) -> None:
    desk = Desked(asking, script(*PAYS))
    paused = desk.run()
    [waiting] = paused["satchel_waiting"]
    assert paused["exit_reason"] == "approval_required"
    assert paused["last_message"].tool_calls[0].id == waiting["id"]
    assert (waiting["tool"], waiting["arguments"]) == ("refund", REFUND.arguments)
    assert waiting["reason"]
    assert paused["messages"][0].text == BASE
    calls = len(desk.seen)

    result = go_on(desk, paused, **{waiting["id"]: True})

    asked = [m for m in result["messages"] if m.tool_calls]
    assert len(desk.seen) - calls == 1
    assert len(asked) == 2
    assert result["messages"][-2].tool_call_result.result == REFUNDED
    assert result["token_usage"]["prompt_tokens"] > 0
    assert not result["satchel_waiting"]


@pytest.mark.parametrize("approvals", [{}, {"other": True}])
def test_without_its_answer_it_waits_on(
    asking: Satchel, approvals: dict[str, bool]
) -> None:
    desk = Desked(asking, script(*PAYS))
    paused = desk.run()

    again = go_on(desk, paused, **approvals)

    assert again["exit_reason"] == "approval_required"
    assert own(again["messages"]) == own(paused["messages"])
    assert again["satchel_waiting"] == paused["satchel_waiting"]


def test_an_answer_is_for_the_calls_that_wait_alone(asking: Satchel) -> None:
    """Not for one that the model makes later, whose id it may have chosen."""
    desk = Desked(asking, script([load("refunds")], [REFUND], [REFUND], "done"))
    paused = desk.run()
    key = paused["satchel_waiting"][0]["id"]
    later = f"c{len(desk.seen[-1].messages) + 3}-0"

    again = go_on(desk, paused, **{key: True, later: True})

    assert again["exit_reason"] == "approval_required"
    assert again["satchel_waiting"][0]["id"] == later


def test_calls_without_ids_are_numbered(asking: Satchel) -> None:
    loads = [ToolCall("load_skill", {"skill_id": "refunds"})]
    pays = [ToolCall("refund", {"order_id": n, "cents": 1}) for n in "ab"]
    called = [ChatMessage.from_assistant(tool_calls=calls) for calls in (loads, pays)]
    says: Any = iter([*called, "done"])
    llm = MockChatGenerator(response_fn=lambda _: next(says))
    agent = haystack.attach(asking, to=Agent(chat_generator=llm), who=ANA)
    paused = agent.run(HI)

    result = agent.run(
        paused["messages"],
        satchel=paused["satchel"],
        hook_context={"approvals": {"0": False, "1": True}},
    )

    assert [call["id"] for call in paused["satchel_waiting"]] == ["0", "1"]
    first, second = (m.tool_call_result.result for m in result["messages"][-3:-1])
    assert "approval-declined" in first
    assert second == "refunded 1 of b by ana"


def test_no_call_is_made_before_all_are_answered(asking: Satchel) -> None:
    model = script([load("refunds")], [Call("weather", {"city": "a"}), REFUND], "done")
    desk = Desked(asking, model, tools=[WEATHER])

    paused = desk.run()

    assert paused["tool_call_counts"]["weather"] == 0
    result = go_on(desk, paused, **{paused["satchel_waiting"][0]["id"]: True})
    assert desk.seen[-1].results[1:] == ["sun in a", REFUNDED]
    assert result["last_message"].text == "done"


def test_a_run_may_wait_in_its_last_step(asking: Satchel) -> None:
    paused = Desked(asking, script(*PAYS), max_agent_steps=2).run()

    assert paused["exit_reason"] == "approval_required"


class Modify:
    """A strategy that changes what was approved."""

    def run(self, *, tool_name: str, **given: Any) -> ToolExecutionDecision:
        changed = {**given["tool_params"], "cents": 99500}
        return ToolExecutionDecision(tool_name, execute=True, final_tool_params=changed)


def test_an_approval_is_for_the_arguments_that_were_shown(asking: Satchel) -> None:
    confirm: Any = ConfirmationHook({"refund": cast("Any", Modify())})
    desk = Desked(asking, script(*PAYS), hooks={"before_tool": [confirm]})
    paused = desk.run()

    go_on(desk, paused, **{paused["satchel_waiting"][0]["id"]: True})

    assert "approval-required" in desk.seen[2].results[-1]


def test_an_agent_that_is_a_tool_cannot_make_its_caller_wait(asking: Satchel) -> None:
    inner = Desked(asking, script(*PAYS))
    tool = AgentTool(agent=inner.agent, name="pay", description="Pay.")
    task = {"role": "user", "content": "pay"}
    model = script([Call("pay", {"messages": [task]})], "done")
    outer = Desked(asking, model, tools=[tool])

    result = outer.run()

    assert result["exit_reason"] == "text"
    assert "refund" in outer.seen[1].results[0]


class Plain:
    """A generator as small as one can be: no ``run_async``, no streaming."""

    model = "plain"

    def run(self, messages: list[ChatMessage], tools: Any = None) -> dict[str, Any]:
        assert tools
        text = messages[-1].tool_call_result
        if text is not None:
            return {"replies": [ChatMessage.from_assistant("done")]}
        call = ToolCall("load_skill", {"skill_id": "refunds"})
        return {"replies": [ChatMessage.from_assistant(tool_calls=[call])]}


async def test_a_generator_that_is_synchronous(skills: Satchel) -> None:
    agent = haystack.attach(skills, to=Agent(chat_generator=cast("Any", Plain())))

    result = await agent.run_async(HI)

    assert result["last_message"].text == "done"
    assert cast("Any", agent.chat_generator).model == "plain"


def test_a_generator_that_takes_no_tools(skills: Satchel) -> None:
    class Deaf:
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
            return {"replies": messages}

    with pytest.raises(TypeError, match="tools"):
        haystack.attach(skills, to=Agent(chat_generator=Deaf()))


def test_results_of_parts_are_read() -> None:
    call = ToolCall("a", {"b": 1})
    result = ChatMessage.from_tool([TextContent("x"), TextContent("y")], origin=call)

    [seen] = haystack._seen([result])

    assert (seen.text, seen.tool, seen.arguments) == ("x\ny", "a", {"b": 1})


@pytest.mark.row("U07")
@pytest.mark.parametrize("is_last", [True, False])
def test_an_act_that_waits_next_to_other_calls(packs: Path, *, is_last: bool) -> None:
    """One message has all calls, with a result for each; no exit is taken for it."""
    done: list[int] = []
    calls = [load("refunds"), Call("weather", {"city": "Bern"})]
    calls.insert(len(calls) if is_last else 0, WIRE)
    desk = Desked(
        open_desk(packs, None, NEEDS),
        script(calls, [WIRE], "never"),
        tools=[create_tool_from_function(wiring(done)), WEATHER],
        exit_conditions=["wire"],
    )

    result = desk.run()

    assert done == [5]
    assert result["exit_reason"] == "wire"
    asked = [m for m in result["messages"] if m.tool_calls]
    assert [len(message.tool_calls) for message in asked] == [3, 1]
    texts = desk.seen[1].results
    assert any(REFUNDS in text for text in texts)
    assert "Not done: wire" in texts[2]


@pytest.mark.row("U07")
def test_an_act_waits_while_another_call_is_asked_about(packs: Path) -> None:
    done: list[int] = []
    rules = ask("refunds", tool="refund"), NEEDS
    steps = script([load("refunds")], [REFUND, WIRE], "done")
    own_tool = create_tool_from_function(wiring(done))
    desk = Desked(open_desk(packs, None, *rules), steps, tools=[own_tool])

    paused = desk.run()
    [waiting] = paused["satchel_waiting"]
    result = go_on(desk, paused, **{waiting["id"]: True})

    assert waiting["tool"] == "refund"
    assert result["last_message"].text == "done"
    assert done == [5]
