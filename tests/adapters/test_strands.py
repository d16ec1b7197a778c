"""What only Strands has: prompts of blocks, snapshots, session managers, interrupts."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from strands import Agent, Snapshot, tool
from strands.agent.conversation_manager import SlidingWindowConversationManager
from strands.hooks import AfterToolCallEvent, BeforeModelCallEvent, BeforeToolCallEvent
from strands.session import FileSessionManager
from strands.types.agent import ConcurrentInvocationMode
from strands.types.exceptions import ConcurrencyException

from satchel import Run, Satchel
from satchel.adapters import strands
from satchel.policy import ask
from tests.adapters import driver as suite
from tests.adapters.desk import (
    ANA,
    BASE,
    NEEDS,
    PAID,
    REFUND,
    REFUNDS,
    WIRE,
    Desk,
    carried,
    check_is_of,
    load,
    open_desk,
    script,
    scripts,
    user_of,
    user_steps,
    wiring,
)
from tests.adapters.driver import Call, Say, Seen
from tests.adapters.strands import DRIVER, FakeModel
from tests.adapters.test_contract_scripts import FILL, RUN, Forms

SECTION = "If a skill fits"


def agent_with(plugin: Any, model: suite.Model, **more: Any) -> Agent:
    more = {"system_prompt": BASE, "callback_handler": None, **more}
    return Agent(model=FakeModel(model, []), plugins=[plugin], **more)


def seen_by(agent: Agent) -> list[Seen]:
    assert isinstance(agent.model, FakeModel)
    return agent.model.seen


def prompts_of(agent: Agent) -> list[Any]:
    assert isinstance(agent.model, FakeModel)
    return agent.model.prompts


async def say(agent: Agent, given: Any, who: Any = ANA) -> Any:
    return await agent.invoke_async(given, invocation_state={"who": who})


def attach(skills: Satchel, **options: Any) -> Any:
    return strands.attach(skills, who=lambda state: state["who"], **options)


def yes(result: Any) -> list[Any]:
    """Return a yes to all that a run waits for."""
    ids = (pause.id for pause in result.interrupts)
    return [{"interruptResponse": {"interruptId": id_, "response": "y"}} for id_ in ids]


@pytest.mark.row("R09")
async def test_fifty_agents_share_one_plugin(packs: Path) -> None:
    """With an agent for each user, as Strands has it, nobody sees another's."""
    plugin = attach(open_desk(packs))

    async def user(number: int) -> Agent:
        agent = agent_with(plugin, script(*user_steps(number)))
        await say(agent, "hi", user_of(number))
        return agent

    agents = await asyncio.gather(*map(user, range(50)))

    for number, agent in enumerate(agents):
        assert len(seen_by(agent)) == 3
        for seen in seen_by(agent):
            check_is_of(seen, number)
        [use] = agent.state.get("satchel")["active"]
        assert use["id"] == ("refunds" if number % 2 else "travel")


@pytest.mark.row("R09")
async def test_an_agent_refuses_a_second_run_even_where_strands_would_not(
    packs: Path,
) -> None:
    agent = agent_with(
        attach(open_desk(packs)),
        script("hello"),
        concurrent_invocation_mode=ConcurrentInvocationMode.UNSAFE_REENTRANT,
    )

    output = await asyncio.gather(
        say(agent, "hi"), say(agent, "hi", {"user": "bo"}), return_exceptions=True
    )

    [refused] = [error for error in output if isinstance(error, BaseException)]
    assert type(refused) is ConcurrencyException
    assert agent.system_prompt == BASE
    assert agent.tool_names == []
    assert str(await say(agent, "hi")).strip() == "hello"


async def test_a_run_may_begin_with_no_message(packs: Path) -> None:
    """Strands takes None for a prompt, and then only the system prompt is sent."""
    agent = agent_with(attach(open_desk(packs)), lambda _: "hello")

    assert str(await say(agent, None)).strip() == "hello"
    assert SECTION in seen_by(agent)[0].system


async def test_the_agent_stays_as_it_was(packs: Path) -> None:
    """Prompt and tools are lent for a model call: nothing piles up over turns."""
    agent = agent_with(attach(open_desk(packs)), script([load("travel")], "done"))

    for _ in range(2):
        await say(agent, "hi")

    assert agent.system_prompt == BASE
    assert agent.tool_names == []
    assert {seen.system.count(SECTION) for seen in seen_by(agent)} == {1}
    assert len({seen.system for seen in seen_by(agent)}) == 1


@pytest.mark.parametrize("is_text_last", [True, False])
async def test_blocks_and_cache_points_are_kept(
    packs: Path, *, is_text_last: bool
) -> None:
    """A last block of text is continued; else the skills have one of their own."""
    point: Any = {"cachePoint": {"type": "default"}}
    blocks = [point, {"text": BASE}] if is_text_last else [{"text": BASE}, point]
    agent = agent_with(attach(open_desk(packs)), script("hello"), system_prompt=blocks)

    await say(agent, "hi")

    [[*before, last]] = prompts_of(agent)
    assert before == ([point] if is_text_last else blocks)
    assert [*last] == ["text"]
    base = f"{BASE}\n\n" if is_text_last else ""
    assert last["text"].strip().startswith(f"{base}{SECTION}")
    assert agent.system_prompt_content == blocks


async def test_a_prompt_that_another_hook_sets_stays(packs: Path) -> None:
    agent = agent_with(attach(open_desk(packs)), script("hello"))

    def replace(event: BeforeModelCallEvent) -> None:
        event.agent.system_prompt = "You are the night desk."

    agent.add_hook(replace, BeforeModelCallEvent)
    await say(agent, "hi")

    assert agent.system_prompt == "You are the night desk."
    assert agent.tool_names == []


async def test_a_model_call_that_fails_leaves_the_agent_as_it_was(packs: Path) -> None:
    def fail(_: Seen) -> Say:
        raise OSError("gone")

    agent = agent_with(attach(open_desk(packs)), fail)
    with pytest.raises(OSError, match="gone"):
        await say(agent, "hi")

    assert (agent.system_prompt, agent.tool_names) == (BASE, [])


async def test_a_model_call_that_is_broken_off_leaves_the_agent_as_it_was(
    packs: Path,
) -> None:
    """Cancelled from outside, a model call has no end that Strands tells of."""
    started = asyncio.Event()

    class Slow(FakeModel):
        async def stream(self, *_: Any, **__: Any) -> Any:
            yield {"messageStart": {"role": "assistant"}}
            started.set()
            await asyncio.Event().wait()

    agent = agent_with(attach(open_desk(packs)), script("hello"))
    model, agent.model = agent.model, Slow(script("never"), [])
    running = asyncio.create_task(say(agent, "hi"))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert (agent.system_prompt, agent.tool_names) == (BASE, [])
    agent.model = model
    assert str(await say(agent, "hi")).strip() == "hello"


async def test_structured_output_is_unaffected(packs: Path) -> None:
    class Order(BaseModel):
        """An order."""

        number: int

    model = script([load("refunds")], [Call("Order", {"number": 7})], "done")
    agent = agent_with(attach(open_desk(packs)), model)

    result = await agent.invoke_async(
        "hi", invocation_state={"who": ANA}, structured_output_model=Order
    )

    assert result.structured_output == Order(number=7)
    before, after = seen_by(agent)
    assert before.tools == ("Order", "load_skill", "read_skill_file")
    assert after.tools == (*before.tools, "order_status", "refund")


async def test_a_run_gets_the_invocation_state(tmp_path: Path) -> None:
    """Without `deps` a tool gets the run's own state; `who` may be a mapping."""
    got: list[Any] = []

    def pay(run: Run) -> str:
        """Pay."""
        got.extend([run.who, run.deps["payments"], run.agent])
        return "paid"

    plugin = strands.attach(carried(tmp_path, "cards", pay), who=ANA)
    model = script([load("cards")], [Call("pay")], "done")
    agent = agent_with(plugin, model, name="cashier")

    await agent.invoke_async("hi", invocation_state={"payments": "p-1"})

    assert got == [ANA, "p-1", "cashier"]


async def test_an_unknown_tool_is_left_to_strands(packs: Path) -> None:
    agent = agent_with(attach(open_desk(packs)), script([Call("fly")], "done"))

    await say(agent, "hi")

    assert seen_by(agent)[1].results == ["Unknown tool: fly"]


async def test_an_error_is_marked_as_one(packs: Path) -> None:
    wrong = Call("refund", {"order_id": "A-1"})
    model = script([load("refunds")], [wrong], "done")
    agent = agent_with(attach(open_desk(packs)), model)

    await say(agent, "hi")

    blocks = [block for m in agent.messages for block in m["content"]]
    results = [block["toolResult"] for block in blocks if "toolResult" in block]
    assert [result["status"] for result in results] == ["success", "error"]


async def test_hooks_of_others_see_the_call(packs: Path) -> None:
    seen: list[Any] = []

    def before(event: BeforeToolCallEvent) -> None:
        seen.append(event.selected_tool and event.selected_tool.tool_name)

    def after(event: AfterToolCallEvent) -> None:
        seen.append(event.result["status"])

    agent = agent_with(attach(open_desk(packs)), script([load("refunds")], "done"))
    agent.add_hook(before, BeforeToolCallEvent)
    agent.add_hook(after, AfterToolCallEvent)

    await say(agent, "hi")

    assert seen == ["load_skill", "success"]


async def test_input_that_is_no_object_is_a_result(packs: Path) -> None:
    class Odd(FakeModel):
        async def stream(self, *given: Any, **more: Any) -> Any:
            async for event in super().stream(*given, **more):
                delta = event.get("contentBlockDelta", {}).get("delta", {})
                if "toolUse" in delta:
                    delta["toolUse"]["input"] = '"refunds"'
                yield event

    agent = agent_with(attach(open_desk(packs)), script("unused"))
    agent.model = Odd(script([load("refunds")], "done"), [])

    await say(agent, "hi")

    [result] = seen_by(agent)[1].results
    assert "skill_id" in result


async def test_results_of_other_forms_are_read(packs: Path) -> None:
    """JSON in a result, and a result whose call was trimmed away, hurt nobody."""
    content = [{"json": {"a": 1}}, {"image": {}}]
    result = {"toolUseId": "gone", "status": "success", "content": content}
    messages: Any = [
        {"role": "user", "content": [{"toolResult": result}]},
        {"role": "assistant", "content": [{"reasoningContent": {}}, {"text": "so"}]},
    ]

    seen = [(message.role, message.text) for message in strands._seen(messages)]

    assert seen == [("tool", '{"a": 1}'), ("assistant", "so")]


async def test_two_calls_wait_and_are_answered_together(packs: Path) -> None:
    desk = Desk()
    skills = open_desk(packs, desk, ask("refunds", tool="refund"))
    other = Call("refund", {"order_id": "A-2", "cents": 5})
    model = script([load("refunds")], [REFUND, other], "done")
    agent = agent_with(attach(skills), model)

    paused = await say(agent, "hi")
    stored = agent.take_snapshot(preset="session").to_dict()
    agent = agent_with(attach(skills), model)  # as in another process
    agent.load_snapshot(Snapshot.from_dict(stored))
    output = await say(agent, yes(paused))

    assert str(output).strip() == "done"
    assert sorted(desk.done) == [PAID, "refund A-2 5 by ana"]


async def test_a_session_manager_stores_it(packs: Path, tmp_path: Path) -> None:
    """A conversation, and a run that waits, go on from a session manager's files."""
    desk = Desk()
    plugin = attach(open_desk(packs, desk, ask("refunds", tool="refund")))
    by_text: dict[str, list[Say]] = {"one": [[load("refunds")], "ok"], "": [[REFUND]]}

    def make() -> Agent:
        manager = FileSessionManager("s-1", storage_dir=str(tmp_path / "sessions"))
        return agent_with(plugin, scripts(by_text), session_manager=manager)

    await say(make(), "one")
    paused = await say(second := make(), "two")
    output = await say(make(), yes(paused))

    assert {"order_status", "refund"} <= set(seen_by(second)[0].tools)
    assert str(output).strip() == "That is all."
    assert desk.done == [PAID]


@pytest.mark.row("U14")
async def test_a_stored_yes_is_for_the_bytes_that_were_shown(tmp_path: Path) -> None:
    """Others are asked about again; the answer comes to an agent object of its own."""
    forms = Forms(tmp_path)
    steps: list[Say] = [[load("forms")], [RUN], [RUN], "done"]
    asking, answered = (
        forms.rig(DRIVER, ask("forms", "script"), steps=steps) for _ in range(2)
    )

    first: Any = await asking.say("hi", who=ANA)
    forms.rig(DRIVER, code=f"{FILL}# edited\n")
    answered.restore(asking.save())
    second: Any = await answered.decide(first, approve=True)
    assert forms.runner.jobs == []
    assert "have changed since this call was decided" in answered.seen[-1].results[-1]
    output = await answered.decide(second, approve=True)

    assert output == "done"
    assert forms.filled == ["Ana Simpson\n"]


async def test_a_window_that_slides_within_a_run(packs: Path) -> None:
    """What the manager drops between two model calls is stated again in the next."""
    status: Say = [Call("order_status", {"order_id": "A-1"})]
    steps = ["done", status, status, [load("refunds")]]
    manager = SlidingWindowConversationManager(window_size=2, per_turn=True)
    plugin = attach(open_desk(packs))
    agent = agent_with(plugin, lambda _: steps.pop(), conversation_manager=manager)

    await say(agent, "hi")

    _, loaded, _, last = seen_by(agent)
    assert REFUNDS in loaded.results[0]
    assert REFUNDS not in "".join(last.results)
    assert REFUNDS in last.system
    assert "refund" in last.tools
    assert agent.system_prompt == BASE


@tool
def note(text: str) -> str:
    """Note something."""
    return f"noted {text}"


JOT = Call("note", {"text": "it"})


async def test_a_load_that_is_shortened_in_place_is_stated_again(packs: Path) -> None:
    """As conversation managers do it, in the very message."""
    model = script([load("refunds")], [JOT], [JOT], "done")
    agent = agent_with(attach(open_desk(packs)), model, tools=[note])

    def shorten(event: Any) -> None:
        if len(messages := event.agent.messages) == 6:
            messages[2]["content"][0]["toolResult"]["content"] = [{"text": "gone"}]

    agent.add_hook(shorten, AfterToolCallEvent)

    await say(agent, "hi")

    shown = [REFUNDS in seen.system for seen in seen_by(agent)]
    assert shown == [False, False, False, True]


@pytest.mark.row("U07")
async def test_a_call_of_the_application_waits_for_no_skill(packs: Path) -> None:
    """``agent.tool.wire()`` is no call of a model, and begins no run."""
    done: list[int] = []
    skills = open_desk(packs, None, NEEDS)
    model = script([WIRE], [WIRE], "done")
    agent = agent_with(attach(skills), model, tools=[tool(wiring(done))])

    await asyncio.to_thread(agent.tool.wire, cents=7, record_direct_tool_call=False)
    result = await say(agent, "hi")

    assert str(result).strip() == "done"
    assert done == [7, 5]


@pytest.mark.row("U07")
async def test_an_act_that_needs_no_skill_is_called(packs: Path) -> None:
    model = script([Call("note", {"text": "it"})], "done")
    agent = agent_with(attach(open_desk(packs, None, NEEDS)), model, tools=[note])

    await say(agent, "hi")

    assert "it" in seen_by(agent)[1].results[0]
