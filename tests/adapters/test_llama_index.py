"""What is LlamaIndex' own: its contexts, retrievers, events, messages of blocks."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import CacheControl, CachePoint, TextBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.objects import ObjectRetriever
from llama_index.core.tools import FunctionTool, ToolOutput
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent

from satchel import Satchel
from satchel.adapters.llama_index import attach
from satchel.policy import ask
from satchel.tools import Run
from tests.adapters.desk import (
    ANA,
    BASE,
    NEEDS,
    PAID,
    PAYS,
    REFUND,
    REFUNDED,
    REFUNDS,
    WIRE,
    Desk,
    carried,
    load,
    open_desk,
    script,
    setup,
    wiring,
    write_pack,
)
from tests.adapters.driver import Call, Model
from tests.adapters.llama_index import DRIVER, FakeLLM, LlamaIndexRig

AGAIN = Call("refund", {"order_id": "A-2", "cents": 5})


def asking(packs: Path, desk: Desk) -> Satchel:
    return open_desk(packs, desk, ask("refunds", tool="refund"))


def agent_with(model: Model, **given: Any) -> FunctionAgent:
    return FunctionAgent(llm=FakeLLM(script=model), system_prompt=BASE, **given)


def llm_of(agent: FunctionAgent) -> FakeLLM:
    assert isinstance(agent.llm, FakeLLM)
    return agent.llm


async def run(agent: FunctionAgent, spoken: str = "hi", **given: Any) -> str:
    return str(await agent.run(user_msg=spoken, **given))


async def last(agent: FunctionAgent, **given: Any) -> list[str]:
    """Run, and return the results that the last model call saw."""
    await run(agent, **given)
    return llm_of(agent).seen[-1].results


class Teller(FunctionAgent):
    """An agent of the application's own class."""


def test_the_copy_is_of_the_same_class_and_the_agent_stays_as_it_was(
    skills: Satchel,
) -> None:
    agent = Teller(llm=FakeLLM(script=script("hi")), tools=[])

    copy = attach(skills, to=agent)
    assert copy.tools is not None
    copy.tools.append(FunctionTool.from_defaults(lambda: "sun", name="weather"))

    assert isinstance(copy, Teller)
    assert copy.workflow_name == agent.workflow_name
    assert (agent.tools, agent.tool_retriever, type(agent)) == ([], None, Teller)


def test_an_agent_is_attached_once_and_calls_tools_natively(skills: Satchel) -> None:
    agent: Any = ReActAgent(llm=FakeLLM(script=script("hi")), name="desk")

    with pytest.raises(ValueError, match="'desk' has skills already"):
        attach(skills, to=attach(skills, to=agent_with(script("hi"), name="desk")))
    with pytest.raises(TypeError, match=r"to: .* FunctionAgent .*; got ReActAgent"):
        attach(skills, to=agent)


class Retriever(ObjectRetriever[Any]):
    """A retriever of the application's own."""

    def __init__(self) -> None:
        self.tool = FunctionTool.from_defaults(lambda: "sun", name="weather")

    def retrieve(self, str_or_query_bundle: Any) -> list[Any]:
        assert str_or_query_bundle
        return [self.tool]

    async def aretrieve(self, str_or_query_bundle: Any) -> list[Any]:
        return self.retrieve(str_or_query_bundle)


async def test_tools_that_the_agent_retrieves_stay_in_front(skills: Satchel) -> None:
    model = script([Call("weather"), load("travel")], "done")
    agent = attach(skills, to=agent_with(model, tool_retriever=Retriever()))

    results = await last(agent)

    assert agent.tool_retriever is not None
    [own] = agent.tool_retriever.retrieve("sun")
    assert llm_of(agent).seen[0].tools[:2] == ("weather", "load_skill")
    assert results[0] == "sun"
    assert own.metadata.name == "weather"


async def test_outside_of_a_run_there_are_the_own_tools(skills: Satchel) -> None:
    agent = attach(skills, to=agent_with(script("hi"), tools=[lambda: "sun"]))

    assert agent.tool_retriever is not None
    assert len(await agent.get_tools()) == 1
    assert agent.tool_retriever.retrieve("sun") == []


async def test_a_tool_is_called_in_a_run_alone(skills: Satchel) -> None:
    offered: list[Any] = []

    class Peeking(FakeLLM):
        def chat(self, messages: Any, tools: Any = (), **more: Any) -> Any:
            offered.extend(tools)
            return super().chat(messages, tools, **more)

    llm = Peeking(script=script("hi"))
    await run(attach(skills, to=FunctionAgent(llm=llm)))

    with pytest.raises(NotImplementedError, match="load_skill: use acall"):
        offered[0].call(skill_id="travel")


async def test_blocks_of_the_system_message_keep_their_cache_points(
    skills: Satchel,
) -> None:
    point = CachePoint(cache_control=CacheControl(type="ephemeral"))
    blocks: list[Any] = [TextBlock(text=BASE), point]
    llm = FakeLLM(script=script("hi"))
    agent = attach(skills, to=FunctionAgent(llm=llm))
    history = [ChatMessage(role="system", blocks=blocks)]

    await agent.run(user_msg="hi", chat_history=history)

    before, stored, added = llm.requests[0][0].blocks
    assert (before, stored) == (TextBlock(text=BASE), point)
    assert isinstance(added, TextBlock)
    assert added.text.startswith("\n\nIf a skill fits")
    assert history[0].blocks == blocks


async def test_a_structured_output_is_made_of_the_same_messages(
    skills: Satchel,
) -> None:
    def structured(messages: list[ChatMessage]) -> Any:
        return {"said": messages[-1].content}

    model = script([load("travel")], "done")
    agent = attach(skills, to=agent_with(model, structured_output_fn=structured))

    output: Any = await agent.run(user_msg="hi")

    assert output.structured_response == {"said": "done"}


async def test_without_streaming_it_is_the_same(skills: Satchel) -> None:
    given = agent_with(script(*PAYS), streaming=False)

    assert (await last(attach(skills, to=given, who=ANA)))[1] == REFUNDED


async def test_who_may_be_told_by_a_plain_function(skills: Satchel) -> None:
    model = script([load("travel")], [Call("book", {"city": "Bern"})], "done")
    agent = attach(skills, to=agent_with(model), who=lambda _: {"user": "bo"})

    assert (await last(agent))[1] == "booked Bern for bo"


async def test_another_who_has_another_session_in_the_same_run(skills: Satchel) -> None:
    """What a tool of the application changes holds from the next step on."""

    async def sign_in(ctx: Context[Any]) -> str:
        await ctx.store.set("groups", ["hr"])
        return "signed in"

    async def who(ctx: Context[Any]) -> Mapping[str, Any]:
        return {"groups": await ctx.store.get("groups", default=[])}

    model = script([load("payroll")], [Call("sign_in")], [load("payroll")], "done")
    agent = attach(skills, to=agent_with(model, tools=[sign_in]), who=who)

    refused, _, given_now = await last(agent)

    assert "not allowed" in refused
    assert "PAYROLL-5530" in given_now


async def test_the_context_is_what_tools_get_by_default(tmp_path: Path) -> None:
    got: list[Any] = []

    def keep(run: Run) -> str:
        got.append(run.deps)
        return "kept"

    model = script([load("cards")], [Call("keep")], "done")
    agent = attach(carried(tmp_path, "cards", keep), to=agent_with(model))

    await run(agent)

    assert isinstance(got[0], Context)


async def test_the_section_stays_where_no_skill_was_loaded(packs: Path) -> None:
    """What the first run of a context listed, its later runs list."""
    skills = open_desk(packs)
    agent = attach(skills, to=agent_with(script("hello")))
    ctx: Context[Any] = Context(agent)

    await run(agent, ctx=ctx)
    write_pack(packs, "visas", "Use when a border is crossed.", "Ask the embassy.")
    skills.sync()
    await run(agent, ctx=ctx)

    first, second = llm_of(agent).seen
    assert second.system == first.system


async def test_a_run_that_ended_holds_no_session(skills: Satchel) -> None:
    agent = attach(skills, to=agent_with(script([load("travel")], "done")))
    handler = agent.run(user_msg="hi")

    await handler

    attached: Any = agent.tool_retriever
    assert handler.ctx.store is not None
    assert len(attached._runs) == 0


async def test_results_are_in_the_order_of_their_calls(skills: Satchel) -> None:
    """LlamaIndex takes them as they are done: two runs would not be the same."""
    second_done = asyncio.Event()

    async def slow() -> str:
        await second_done.wait()
        return "slow"

    async def quick() -> str:
        second_done.set()
        return "quick"

    model = script([Call("slow"), Call("quick")], "done")
    agent = attach(skills, to=agent_with(model, tools=[slow, quick]))

    assert await last(agent) == ["slow", "quick"]


def posting(tmp_path: Path, tool: Any, *rules: Any) -> FunctionAgent:
    skills = carried(tmp_path, "cards", tool, rules=rules)
    return attach(skills, to=agent_with(POSTS))


POSTS = script([load("cards")], [Call("post", {"city": "Bern"})], "done")


async def test_a_tool_of_its_own_gets_the_context(tmp_path: Path) -> None:
    async def post(ctx: Context[Any], city: str) -> str:
        return f"{city} for {await ctx.store.get('who')}"

    agent = posting(tmp_path, FunctionTool.from_defaults(async_fn=post))
    ctx: Context[Any] = Context(agent)
    await ctx.store.set("who", "ana")

    assert (await last(agent, ctx=ctx))[1] == "Bern for ana"
    assert list(llm_of(agent).seen[1].schemas["post"]["properties"]) == ["city"]


async def test_a_tool_of_its_own_fails_as_llama_index_has_it(tmp_path: Path) -> None:
    def post(city: str) -> str:
        raise ValueError(f"no post to {city}")

    agent = posting(tmp_path, FunctionTool.from_defaults(post))

    assert (await last(agent))[1] == "no post to Bern"


async def test_a_tool_of_its_own_may_wait_after_it_was_approved(tmp_path: Path) -> None:
    """It is asked about once, though its step starts again with each answer."""

    async def post(ctx: Context[Any], city: str) -> str:
        given: dict[str, Any] = {"prefix": "Stamp?", "call_id": "stamp"}
        stamp = await ctx.wait_for_event(
            HumanResponseEvent,
            waiter_event=InputRequiredEvent(**given),
            waiter_id="stamp",
            requirements={"call_id": "stamp"},
        )
        return f"{city}, {stamp.response}"

    tool = FunctionTool.from_defaults(async_fn=post)
    agent = posting(tmp_path, tool, ask("cards", tool="post"))

    asked = await answered(agent, {"c4-0": "yes", "stamp": "red"})

    assert asked == ["c4-0", "stamp"]
    assert llm_of(agent).seen[-1].results[1] == "Bern, red"


async def test_an_output_of_llama_index_is_handed_on(tmp_path: Path) -> None:
    def post(city: str) -> ToolOutput:
        """Send a card."""
        return ToolOutput("post", content=f"to {city}", raw_input={}, raw_output=None)

    assert (await last(posting(tmp_path, post)))[1] == "to Bern"


async def answered(
    agent: FunctionAgent, answers: Mapping[str, str], *before: str
) -> list[str]:
    """Run, answer each question as it comes, and return what was asked about.

    ``before`` each answer there are some to other questions.
    """
    asked: list[str] = []
    handler = agent.run(user_msg="hi")
    async for event in handler.stream_events():
        if isinstance(event, InputRequiredEvent):
            asked.append(event.call_id)
            for call_id in (*before, event.call_id):
                response = answers.get(call_id, "yes")
                given: Any = {"response": response, "call_id": call_id}
                handler.ctx.send_event(HumanResponseEvent(**given))
    await handler
    return asked


async def test_an_answer_to_another_question_is_none(packs: Path) -> None:
    """One is sent before each answer: it is not taken for it, nothing runs twice."""
    desk = Desk()
    model = script([load("refunds")], [REFUND, AGAIN], "done")
    agent = attach(asking(packs, desk), to=agent_with(model), who=ANA)

    asked = await answered(agent, {"c4-1": "no"}, "another")

    assert asked == ["c4-0", "c4-1"]
    assert desk.done == [PAID]


async def test_equal_calls_are_each_made_once(packs: Path) -> None:
    """Also when they are answered in processes of their own, one after the other."""
    desk = Desk()
    calls = [REFUND, AGAIN, AGAIN, Call("order_status", {"order_id": "A-3"})]
    model = script([load("refunds")], [*calls, AGAIN], "done")
    rig: Any = DRIVER.build(setup(asking(packs, desk), model))

    spoken = await rig.say("hi", who=ANA)
    asked: list[Any] = []
    while not isinstance(spoken, str):
        asked.append(spoken.state["waiting"][0][0])
        other: Any = DRIVER.build(setup(asking(packs, desk), model))
        other.restore(rig.save())
        rig = other
        spoken = await rig.decide(spoken, approve=True)

    assert isinstance(rig, LlamaIndexRig)
    assert asked == ["c4-0", "c4-1", "c4-2", "c4-4"]
    assert desk.done == [PAID, *["refund A-2 5 by ana"] * 3]
    assert [text[:8] for text in rig.seen[-1].results[1:]] == [
        *("refunded", "refunded", "refunded"),
        *("A-3 is o", "refunded"),
    ]
    assert REFUNDS in rig.seen[-1].results[0]


async def test_a_run_that_failed_leaves_no_question_behind(packs: Path) -> None:
    desk = Desk()
    steps = [load("refunds")], [REFUND], [AGAIN], "done"
    rig: Any = DRIVER.build(setup(asking(packs, desk), script(*steps)))
    await rig.say("hi", who=ANA)
    stored = json.loads(rig.stored["one"])
    state = stored["state"]
    rig.stored["one"] = json.dumps({"version": 1, "state": state, "is_running": False})

    paused = await rig.say("again", who=ANA)
    spoken = await rig.decide(paused, approve=True)

    assert spoken == "done"
    assert desk.done == ["refund A-2 5 by ana"]


@pytest.mark.row("U07")
async def test_a_refusal_is_never_the_answer(packs: Path) -> None:
    """A tool whose result ends the run does so only when it is called."""
    done: list[int] = []
    wire = FunctionTool.from_defaults(wiring(done), name="wire", return_direct=True)
    skills = open_desk(packs, None, NEEDS)
    agent = attach(skills, to=agent_with(script([WIRE], [WIRE], "no"), tools=[wire]))

    assert await run(agent) == "sent 5"

    assert done == [5]
    assert REFUNDS in llm_of(agent).seen[1].results[0]


@pytest.mark.row("U07")
async def test_an_act_waits_in_a_workflow_of_agents(packs: Path) -> None:
    done: list[int] = []
    own = setup(
        open_desk(packs, None, NEEDS), script([WIRE], [WIRE], "x"), wiring(done)
    )
    rig = DRIVER.build_pair(own, own)

    await rig.say("hi", who=ANA)

    assert done == [5]
