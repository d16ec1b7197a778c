"""What is of Anthropic's SDK: its blocks, its cache points, and its tool runner."""

from __future__ import annotations

import asyncio
import json
from inspect import signature
from typing import TYPE_CHECKING, Any, cast

import httpx2
import pytest
from anthropic.lib.tools import (
    BetaAbstractMemoryTool,
    BetaToolRunner,
    ToolError,
    beta_async_tool,
    beta_tool,
)

from satchel import Satchel
from satchel.adapters import anthropic
from satchel.policy import ask, require
from tests.adapters import test_contract as contract
from tests.adapters.anthropic import (
    MODEL,
    AnthropicDriver,
    AnthropicRig,
    FakeApi,
    Run,
    fake_model,
)
from tests.adapters.conftest import Bench
from tests.adapters.desk import (
    ANA,
    NEEDS,
    REFUND,
    REFUNDED,
    REFUNDS,
    TRAVEL,
    WIRE,
    Desk,
    carried,
    load,
    open_desk,
    script,
    wiring,
    write_pack,
)
from tests.adapters.driver import Call
from tests.adapters.providers import message_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from satchel.model import Question
    from tests.adapters.driver import Rig, Setup

POINT = {"type": "ephemeral"}
PAYS = script([load("refunds")], [REFUND], "done")
TWICE = script([load("refunds")], [load("refunds")], "done")


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def talk(
    api: FakeApi,
    chat: anthropic.Chat,
    messages: list[Any],
    ask: Callable[..., Any] | None = None,
) -> str:
    """Go round the loop that the adapter's docstring shows."""
    while True:
        message = (ask or api.client.messages.create)(**MODEL, **chat.request(messages))
        messages.append({"role": "assistant", "content": message.content})
        results = chat.run(message)
        if not results:
            return str(message.content[0].text)
        messages.append({"role": "user", "content": results})


def run(api: FakeApi, chat: anthropic.Chat, **params: Any) -> Any:
    """Go round the SDK's tool runner; return its last message."""
    given = {"messages": [user("hi")], **MODEL, **params}
    return chat.tool_runner(api.client, **given).until_done()


async def arun(api: FakeApi, chat: anthropic.Chat) -> Any:
    given = {"messages": [user("hi")], **MODEL}
    return await chat.tool_runner(api.async_client, **given).until_done()


# Other loops

RUNNERS: dict[str, dict[str, Any]] = {
    "full history": {"thread": False},
    "eager": {"stream": True, "run_tools_eagerly": True},
    "asynchronous": {"asynchronous": True},
}


class RunnerDriver(AnthropicDriver):
    """Drives the tool runner with other parameters than the suite."""

    def __init__(self, how: str) -> None:
        self.params = dict(RUNNERS[how])
        self.is_async = self.params.pop("asynchronous", False)

    def build(self, setup: Setup) -> Rig:
        return cast("Rig", RunnerRig(self, setup))


class RunnerRig(AnthropicRig):
    def __init__(self, driver: RunnerDriver, *setups: Setup) -> None:
        super().__init__(*setups)
        self.driver = driver

    async def run(self, text: str, chat: str, who: Any, mode: Any) -> Any:
        del mode
        run, driver = Run(self, chat, self.stored(chat, text), who), self.driver
        client = run.api.async_client if driver.is_async else run.api.client
        attached, runner = run.runner(client, beta_tool, **driver.params)
        if driver.is_async:
            run.keep(await runner.until_done())
        else:
            run.keep(await asyncio.to_thread(runner.until_done))
        return run.end(attached)


def takes(how: str) -> bool:
    """Tell whether this release of the SDK has such a runner."""
    from anthropic.resources.beta.messages import Messages

    seen_names = signature(Messages.tool_runner).parameters
    return all(key in seen_names or key == "asynchronous" for key in RUNNERS[how])


@pytest.mark.parametrize("how", [how for how in RUNNERS if takes(how)])
@pytest.mark.parametrize(
    "row",
    [
        contract.test_load_answers,
        contract.test_parallel_loads,
        contract.test_a_miss_is_a_result,
        contract.test_a_refusal_is_a_result,
    ],
)
async def test_the_contract_holds_for_other_runners(
    packs: Path, how: str, row: Callable[..., Any]
) -> None:
    driver: Any = RunnerDriver(how)
    given = {"driver": driver, "packs": packs, "bench": Bench(driver, packs)}
    given["mode"] = "async"
    await row(**{name: given[name] for name in signature(row).parameters})


# The system prompt


def test_blocks_and_their_cache_points_stay(packs: Path) -> None:
    """Skills are one more block; a cache point stands where it was asked for."""
    block = {"type": "text", "text": "Desk.", "cache_control": POINT}
    chat = anthropic.attach(open_desk(packs))

    plain = chat.request([user("hi")], system=[block])["system"]
    pointed = chat.request([user("hi")], system=[block], cache_control=POINT)["system"]

    assert plain[0] == pointed[0] == block
    assert plain[1]["text"].startswith("\n\nIf a skill fits")
    assert [sorted(each) for each in plain[1:]] == [["text", "type"]]
    assert pointed[1] == plain[1] | {"cache_control": POINT}


def test_the_cache_point_stands_in_front_of_what_is_stated_again(packs: Path) -> None:
    """So the prefix holds while skills come back and go."""
    skills = open_desk(packs)
    chat = anthropic.attach(skills)
    before = chat.request([user("hi")], system="Desk.", cache_control=POINT)["system"]
    chat.session.call("load_skill", {"skill_id": "refunds"})

    after = chat.request([user("hi")], system="Desk.", cache_control=POINT)["system"]
    text = chat.request([user("hi")], system="Desk.")["system"]

    assert [before[0]] == after[:1]
    assert before[0]["text"].startswith("Desk.\n\nIf a skill fits")
    assert REFUNDS in after[1]["text"]
    assert "cache_control" not in after[1]
    assert text == after[0]["text"] + after[1]["text"]


# Messages


def test_the_loop_of_the_docstring(packs: Path) -> None:
    """Messages may hold what the SDK returned, as it is."""
    api = fake_model(PAYS)
    chat = anthropic.attach(open_desk(packs), who=ANA)

    assert talk(api, chat, [user("hi")]) == "done"
    assert api.seen[2].results[1] == REFUNDED


@pytest.mark.parametrize("beta", [True, False])
def test_the_loop_may_stream(packs: Path, beta: bool) -> None:
    api = fake_model(PAYS)
    chat = anthropic.attach(open_desk(packs), who=ANA)
    endpoint: Any = api.client.beta.messages if beta else api.client.messages

    def ask(**given: Any) -> Any:
        with endpoint.stream(**given) as stream:
            return stream.get_final_message()

    assert talk(api, chat, [user("hi")], ask) == "done"
    assert api.seen[2].results[1] == REFUNDED


def loaded(packs: Path) -> tuple[Satchel, list[Any]]:
    """Return a conversation in which a skill was loaded, and then another."""
    api = fake_model(script([load("refunds")], [load("travel")]))
    skills = open_desk(packs)
    messages: list[Any] = [user("hi")]
    talk(api, anthropic.attach(skills, who=ANA), messages)
    return skills, [*messages, user("go on")]


@pytest.mark.row("R10")
def test_results_that_the_api_cleared_are_stated_again(packs: Path) -> None:
    """It clears the oldest, and says how many; nothing "stands above" there."""
    skills, messages = loaded(packs)
    api = fake_model(script([load("refunds")], [load("travel")], "done"))
    edit = {
        "type": "clear_tool_uses_20250919",
        "cleared_tool_uses": 1,
        "cleared_input_tokens": 9,
    }
    api.extra["context_management"] = {"applied_edits": [edit]}
    chat = anthropic.attach(skills, who=ANA)

    talk(api, chat, messages, api.client.beta.messages.create)

    assert REFUNDS not in api.seen[0].system
    assert REFUNDS in api.seen[1].system
    assert TRAVEL not in api.seen[1].system
    assert "unchanged" in api.seen[2].results[-1]


def test_what_stands_before_a_compaction_is_gone(packs: Path) -> None:
    skills, messages = loaded(packs)
    assert anthropic.attach(skills).run(messages) == []  # all have results
    summary = {"type": "compaction", "content": "They talked."}
    compacted = [*messages, {"role": "assistant", "content": [summary]}, user("so?")]
    chat = anthropic.attach(skills, resume=anthropic.attach(skills).dump())
    chat.request(messages)

    system = chat.request(compacted)["system"]

    assert REFUNDS in system
    assert TRAVEL in system


def test_what_is_no_call_of_ours_is_left_alone(packs: Path) -> None:
    """Calls of a provider's toolset, of its own tools, and of yours."""

    def weather(city: str) -> str:
        """Tell the weather."""
        return city

    chat = anthropic.attach(open_desk(packs), tools=[beta_tool(weather)])
    content = [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "1", "name": "weather", "input": {"city": "Bern"}},
        {"type": "tool_use", "id": "2", "name": "x", "input": {}, "toolset_name": "b"},
        {"type": "server_tool_use", "id": "3", "name": "web_search", "input": {}},
        {"type": "tool_use", "id": "4", "name": "load_skill", "input": "?"},
    ]

    results = chat.run([user("hi"), {"role": "assistant", "content": content}])

    assert [each["tool_use_id"] for each in results] == ["4"]
    assert results[0]["is_error"] is True
    assert "missing argument" in results[0]["content"]


# Approval


@pytest.mark.row("E25")
def test_in_the_tool_runner_a_call_that_nobody_approved_is_an_error(
    packs: Path,
) -> None:
    desk, api = Desk(), fake_model(PAYS)
    skills = open_desk(packs, desk, ask("refunds", tool="refund"))

    last = run(api, anthropic.attach(skills, who=ANA))

    assert desk.done == []
    assert last.stop_reason == "end_turn"
    result = api.bodies[-1]["messages"][-1]["content"][-1]
    assert result["is_error"] is True
    assert "approval-required" in result["content"]


async def test_a_callback_is_asked_in_the_tool_runner(packs: Path) -> None:
    asked: list[str] = []

    async def approve(question: Question) -> bool:
        asked.append(question.tool)
        return True

    desk, api = Desk(), fake_model(PAYS)
    skills = open_desk(packs, desk, ask("refunds", tool="refund"))

    await arun(api, anthropic.attach(skills, who=ANA, approve=approve))

    assert asked == ["refund"]
    assert desk.done == ["refund A-1 995 by ana"]


# The tool runner


def test_tools_that_open_leave_the_cached_prefix_alone(packs: Path) -> None:
    """They come in a message; no request changes what earlier ones sent in front."""
    api = fake_model(PAYS)
    chat = anthropic.attach(open_desk(packs), who=ANA)
    params: Any = {"thread": False} if takes("full history") else {}

    run(api, chat, system="Desk.", **params)

    first, second, third = api.bodies
    assert first["tools"] == second["tools"] == third["tools"]
    assert first["system"] == second["system"] == third["system"]
    assert second["messages"] == third["messages"][: len(second["messages"])]
    added = [block["type"] for block in second["messages"][-1]["content"]]
    assert added == ["tool_addition", "tool_addition"]
    assert all(anthropic.INLINE_TOOLS in betas for betas in api.betas)


def test_the_beta_is_asked_for_where_tools_may_open(tmp_path: Path) -> None:
    write_pack(tmp_path, "plain", "Use it.", "Go.")
    api = fake_model(script("done"))

    run(api, anthropic.attach(Satchel(tmp_path)), betas=["mine-2026-01-01"])

    assert anthropic.INLINE_TOOLS not in api.betas[0]
    assert "mine-2026-01-01" in api.betas[0]


def test_a_skill_loaded_again_is_a_note_unless_the_api_may_have_cleared_it(
    packs: Path,
) -> None:
    """The runner does not say in time what was cleared."""
    api, edited = fake_model(TWICE), fake_model(TWICE)
    edits = {"edits": [{"type": "clear_tool_uses_20250919"}]}

    run(api, anthropic.attach(open_desk(packs)))
    run(edited, anthropic.attach(open_desk(packs)), context_management=edits)

    assert [REFUNDS in result for result in api.seen[2].results] == [True, False]
    assert "unchanged" in api.seen[2].results[1]
    assert [REFUNDS in result for result in edited.seen[2].results] == [True, True]


@pytest.mark.row("R10")
@pytest.mark.skipif(
    not hasattr(BetaToolRunner, "compact_before_next_turn"),
    reason="this release of the SDK does not compact in a run",
)
def test_after_a_compaction_in_a_run_the_text_is_given_again(packs: Path) -> None:
    def model(seen: Any) -> Any:
        steps: list[Any] = [[load("refunds")], [load("refunds")], "done"]
        return steps[len(api.seen) - 1]

    compactions: list[Any] = []
    api = FakeApi(model)
    answer = api._answer

    def compacting(request: Any) -> Any:
        if not json.loads(request.content).get("compaction"):
            return answer(request)
        compactions.append(request)
        summary = {"type": "compaction", "content": "They talked."}
        message = message_of([summary], "c", stop="compaction")
        return httpx2.Response(200, json=message)

    api.client._client._transport.handler = compacting  # type: ignore[attr-defined]
    chat = anthropic.attach(open_desk(packs))
    runner = chat.tool_runner(api.client, messages=[user("hi")], **MODEL)
    for message in runner:
        if message.stop_reason == "tool_use" and not compactions:
            runner.compact_before_next_turn()

    texts = json.dumps([body["messages"] for body in api.bodies[1:]])
    assert len(compactions) == 1
    assert "unchanged" not in texts
    assert REFUNDS in texts


# Native tools


@beta_tool(name="stamp", strict=True, cache_control={"type": "ephemeral"})
def stamp(city: str) -> Any:
    """Stamp a card."""
    if city == "Atlantis":
        raise ToolError([{"type": "text", "text": "no such city"}])
    if city == "Rome":
        raise RuntimeError("cannot open /var/stamps.db")
    return [{"type": "text", "text": f"stamped {city}"}]


@beta_async_tool(name="stamp")
async def later(city: str) -> str:
    """Stamp a card later."""
    await asyncio.sleep(0)
    return f"stamped {city}"


def stamping(*cities: str) -> Any:
    calls = [Call("stamp", {"city": city}) for city in cities]
    return script([load("cards")], calls, "done")


def by_loop(api: FakeApi, skills: Satchel) -> None:
    talk(api, anthropic.attach(skills), [user("hi")])


def by_runner(api: FakeApi, skills: Satchel) -> None:
    run(api, anthropic.attach(skills))


LOOPS = pytest.mark.parametrize("loop", [by_loop, by_runner])


@LOOPS
def test_a_native_tool_defines_itself_and_says_how_it_fails(
    tmp_path: Path, loop: Callable[..., None]
) -> None:
    """With its cache point, and the blocks that it returns.

    The SDK's own error is made for the model; any other may have secrets.
    """
    api = fake_model(stamping("Bern", "Atlantis", "Rome"))

    loop(api, carried(tmp_path, "cards", stamp))

    assert json.dumps(stamp.to_dict()) in json.dumps(api.bodies[1])
    _, bern, atlantis, rome = api.seen[2].results
    assert bern == "stamped Bern"
    assert "no such city" in atlantis
    assert "stamp failed: RuntimeError" in rome
    assert "/var" not in rome
    contents = [message["content"] for message in api.bodies[2]["messages"]]
    blocks = [block for content in contents for block in content if "is_error" in block]
    assert [block["is_error"] for block in blocks[-2:]] == [True, True]


@pytest.mark.parametrize("native", [later, stamp])
async def test_a_native_tool_of_either_kind_is_awaited(
    tmp_path: Path, native: Any
) -> None:
    api = fake_model(stamping("Bern"))
    chat = anthropic.attach(carried(tmp_path, "cards", native))
    await arun(api, chat)
    call = anthropic.Call("1", "stamp", {"city": "Bern"})

    assert api.seen[2].results[1] == "stamped Bern"
    if native is later:
        assert await chat.acall(call) == "stamped Bern"
        assert "asynchronous" in str(chat.call(call))


@LOOPS
def test_a_tool_that_the_provider_runs_opens_too(
    tmp_path: Path, loop: Callable[..., None]
) -> None:
    """It is handed on as it is, and the API carries out its calls."""
    search = {"type": "web_search_20250305", "name": "stamp"}
    api = fake_model(script([load("cards")], "done"))

    loop(api, carried(tmp_path, "cards", {"stamp": search}))

    assert api.seen[1].tools[-1] == "stamp"
    assert json.dumps(search) in json.dumps(api.bodies[1])


def test_one_of_the_sdks_built_in_tools_is_carried(tmp_path: Path) -> None:
    class Memory(BetaAbstractMemoryTool):
        def call(self, input: object) -> Any:  # noqa: A002 - as the SDK names it
            return f"did {cast('Any', input)['command']}"

        view = create = str_replace = insert = delete = rename = cast("Any", None)

    view = Call("memory", {"command": "view"})
    api = fake_model(script([load("notes")], [view], "done"))

    by_loop(api, carried(tmp_path, "notes", Memory()))

    assert api.bodies[1]["tools"][-1]["name"] == "memory"
    assert api.seen[2].results[1] == "did view"


def test_own_tools_of_either_form_stand_first(packs: Path) -> None:
    own = {"name": "mine", "input_schema": {"type": "object"}}
    chat = anthropic.attach(open_desk(packs), tools=[own, stamp])

    tools: Iterable[Any] = chat.tools()

    names = [tool["name"] for tool in tools]
    assert names == ["mine", "stamp", "load_skill", "read_skill_file"]


@pytest.mark.row("U07")
def test_the_runner_holds_own_tools_that_need_a_skill_alone(packs: Path) -> None:
    """Others, and definitions, which older runners leave out, stay as they are."""
    done: list[int] = []
    api = fake_model(script([WIRE], [WIRE], "done"))
    plain = {"name": "wire2", "input_schema": {"type": "object", "properties": {}}}
    own = [beta_tool(cast("Any", wiring(done))), beta_tool(stamp_own), plain]
    skills = open_desk(packs, None, NEEDS, require("refunds", tool="wire2"))
    chat = anthropic.attach(skills, tools=own, who=ANA)

    run(api, chat)

    assert done == [5]
    assert api.seen[0].tools[:2] == ("wire", "stamp_own")
    assert api.seen[0].schemas["wire"]["required"] == ["cents"]


def stamp_own(city: str) -> str:
    """Stamp a card."""
    return city
