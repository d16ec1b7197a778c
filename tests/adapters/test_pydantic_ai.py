"""What is Pydantic AI's own: message metadata, caching, compaction, deferred calls."""

from __future__ import annotations

from importlib import import_module
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel
from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    RunContext,
    Tool,
    ToolDefinition,
    ToolReturn,
)
from pydantic_ai.capabilities import AbstractCapability, ProcessHistory
from pydantic_ai.messages import (
    CompactionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from satchel import Satchel
from satchel.adapters.pydantic_ai import attach
from satchel.policy import allow, ask
from satchel.tools import Run
from satchel_scripts import Subprocess
from satchel_scripts.testing import RunnerContract
from tests.adapters.desk import REFUNDS, Desk, carried, open_desk, write_pack
from tests.adapters.test_contract_scripts import ARGUMENTS, forms_with, work_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from satchel.model import ApprovalAnswer, Question
    from satchel.protocols import Runner

LOAD = ToolCallPart("load_skill", {"skill_id": "refunds"})
RUN = ("run_skill_script", ARGUMENTS)
REFUND = ToolCallPart("refund", {"order_id": "A-1", "cents": 995})


class Script(FunctionModel):
    """Says these in turn, over all runs, and keeps what it was shown."""

    def __init__(self, *steps: Sequence[ToolCallPart] | str) -> None:
        self.infos: list[AgentInfo] = []
        self.shown: list[list[ModelMessage]] = []
        self._steps = list(steps)
        super().__init__(self._say, model_name="script")

    def _say(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.infos.append(info)
        self.shown.append(messages)
        step = self._steps.pop(0) if self._steps else "done"
        return ModelResponse([TextPart(step)] if isinstance(step, str) else [*step])

    @property
    def tools(self) -> list[list[str]]:
        """The names of the tools of each call."""
        return [[tool.name for tool in info.function_tools] for info in self.infos]


def results(messages: Sequence[ModelMessage]) -> list[str]:
    return [
        part.model_response_str()
        for message in messages
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]


async def test_the_catalog_stands_where_providers_cache(
    skills: Satchel,
) -> None:
    """The agent's static text, the catalog, and behind both what changes."""
    model = Script("hello")
    agent = Agent(model, instructions="Static.", capabilities=[attach(skills)])

    @agent.instructions
    def today() -> str:
        return "It is Monday."

    await agent.run("hi")

    parts = model.infos[0].model_request_parameters.instruction_parts or []
    assert [part.dynamic for part in parts] == [False, False, True]
    assert parts[0].content == "Static."
    assert "wants money back" in parts[1].content


async def test_what_is_in_use_survives_a_history_that_the_application_cuts(
    skills: Satchel,
) -> None:
    """The newest messages are enough: they keep ids and digests, and no text."""
    model = Script([LOAD], "done")
    agent = Agent(model, capabilities=[attach(skills)])
    history = (await agent.run("one")).all_messages()

    await agent.run("two", message_history=history[-2:])

    stored = [message.metadata or {} for message in history]
    assert "satchel" in stored[-2]
    assert REFUNDS not in str(stored)
    assert model.tools[2][-2:] == ["order_status", "refund"]


@pytest.mark.row("R09")
async def test_messages_of_the_caller_stay_as_they_are(skills: Satchel) -> None:
    """Even where the application uses our name for something else."""
    given: Any = {"satchel": "red", "id": 7}
    agent = Agent(Script("done", [LOAD]), capabilities=[attach(skills)])
    history: list[ModelMessage] = [
        ModelRequest([UserPromptPart("one")], metadata=given),
        ModelResponse([TextPart("yes")]),
    ]

    last = ModelRequest([UserPromptPart("two")])
    await agent.run(message_history=[*history, last])
    messages = (await agent.run("two", message_history=history)).all_messages()

    metadata = [message.metadata for message in (*history, last)]
    assert metadata == [{"satchel": "red", "id": 7}, None, None]
    assert messages[0].metadata == {"satchel": "red", "id": 7}
    assert list((messages[-2].metadata or {})["satchel"]) == ["agent"]


async def test_after_a_compaction_by_the_provider_skills_are_stated_again(
    skills: Satchel,
) -> None:
    """What stands before a `CompactionPart` is not seen by the model any more."""
    model = Script([LOAD], "done")
    agent = Agent(model, capabilities=[attach(skills)])
    history = (await agent.run("one")).all_messages()
    history[-1] = ModelResponse([CompactionPart("A refund.", provider_name="x")])

    await agent.run("two", message_history=history)

    spoken = [info.instructions or "" for info in model.infos]
    assert [REFUNDS in text for text in spoken] == [False, False, True]
    assert spoken[2].startswith(spoken[0])


@pytest.mark.parametrize("is_last", [True, False])
async def test_a_history_that_is_cut_within_a_run_is_noticed(
    skills: Satchel, *, is_last: bool
) -> None:
    """Whichever stands first; and the history tells what was said."""

    def cut(messages: list[ModelMessage]) -> list[ModelMessage]:
        return messages[-2:]

    model = Script([LOAD], [REFUND], "done")
    both = [attach(skills, who={"user": "ana"}), ProcessHistory(cut)]
    agent = Agent(model, capabilities=both[::-1] if is_last else both)

    messages = (await agent.run("one")).all_messages()

    spoken = [info.instructions or "" for info in model.infos]
    assert [REFUNDS in text for text in spoken] == [False, False, True]
    assert results(model.shown[2]) == ["refunded 995 of A-1 by ana"]
    assert isinstance(messages[-2], ModelRequest)
    if hasattr(AbstractCapability, "prepare_model_request"):  # 2.0 does not record it
        assert messages[-2].instructions == spoken[2]


async def test_a_grant_that_stands_in_a_message_is_none(packs: Path) -> None:
    """Messages may come from a browser; what somebody allowed may not."""
    desk = Desk()
    asked: list[str] = []

    def approve(question: Question) -> ApprovalAnswer:
        asked.append(question.tool)
        return "yes_in_session"

    skills = open_desk(packs, desk, ask("refunds", tool="refund"))
    steps = [LOAD], [REFUND], [REFUND], "done", [REFUND], "done", [REFUND], "done"
    agent = Agent(Script(*steps), capabilities=[attach(skills, approve=approve)])

    history = (await agent.run("one")).all_messages()
    await agent.run("two", message_history=history)
    for message in history:
        state = ((message.metadata or {}).get("satchel") or {}).get("agent", {})
        state.pop("seals", None)
    await agent.run("three", message_history=history)

    assert asked == ["refund", "refund"]
    assert len(desk.done) == 4


async def test_the_toolset_does_without_the_capability(skills: Satchel) -> None:
    model = Script([LOAD], [REFUND], "done")
    agent = Agent(model, toolsets=[attach(skills, who={"user": "ana"}).toolset])

    history = (await agent.run("one")).all_messages()
    await agent.run("two", message_history=history[-2:])

    assert results(history)[-1] == "refunded 995 of A-1 by ana"
    assert "wants money back" in (model.infos[0].instructions or "")
    assert REFUNDS in (model.infos[3].instructions or "")


async def test_skills_of_an_agent_that_is_entered_and_of_one_run(
    skills: Satchel,
) -> None:
    """Each run has a session of its own."""
    model = Script([LOAD], "done", "done")
    agent = Agent(model, capabilities=[attach(skills)])
    plain = Script("hello", "hello")

    async with agent:
        await agent.run("one")
        await agent.run("two")
    await Agent(plain).run("one", capabilities=[attach(skills)])
    await Agent(plain).run("two")

    assert ["refund" in tools for tools in model.tools] == [False, True, False]
    assert plain.tools == [["load_skill", "read_skill_file"], []]


POST = [ToolCallPart("post", {"city": "Bern"})]
CARDS = [ToolCallPart("load_skill", {"skill_id": "cards"})]


async def test_a_native_tool_gets_the_context_of_the_run(tmp_path: Path) -> None:
    done: list[str] = []

    def post(ctx: RunContext[str], city: str) -> str:
        done.append(f"{city} by {ctx.deps}")
        return f"sent to {city}"

    skills = carried(tmp_path, "cards", Tool(post))
    model = Script(CARDS, POST, "done")
    agent = Agent(model, deps_type=str, capabilities=[attach(skills)])

    await agent.run("hi", deps="ana")

    assert done == ["Bern by ana"]


async def test_what_was_done_next_to_a_call_that_waits_is_kept(packs: Path) -> None:
    skills = open_desk(packs, None, ask("travel", action="load"))
    travel = ToolCallPart("load_skill", {"skill_id": "travel"})
    output: list[Any] = [str, DeferredToolRequests]
    agent = Agent(
        Script([LOAD, travel]), output_type=output, capabilities=[attach(skills)]
    )

    history = (await agent.run("hi")).all_messages()

    states = [m.metadata["satchel"] for m in history if m.metadata]
    [state] = states[-1].values()
    assert [use["id"] for use in state["active"]] == ["refunds"]


async def test_a_native_tool_may_leave_itself_out(tmp_path: Path) -> None:
    def never(_: RunContext[Any], __: ToolDefinition) -> None:
        """Offer nothing."""

    def post(city: str) -> str:
        return city

    skills = carried(tmp_path, "cards", Tool(post, prepare=never))
    model = Script(CARDS, "done")

    await Agent(model, capabilities=[attach(skills)]).run("hi")

    assert model.tools == [["load_skill"], ["load_skill"]]


async def test_what_the_catalog_says_is_counted_once(packs: Path) -> None:
    """A catalog that moved saves its section with each model call, not each look."""
    skills = open_desk(packs)
    saved: list[int] = []

    def note(run: Run) -> str:
        """Note it."""
        write_pack(packs, "visas", "Use at a border.", "Ask.")
        skills.sync()
        saved.append(run.session.savings.prefix_tokens)
        return "noted"

    skills.offer(note)
    write_pack(packs, "notes", "Use it.\nmetadata: {tools: note}", "Note.")
    skills.sync()
    call = [ToolCallPart("note", {})]
    mine = attach(skills, always=["notes"])

    await Agent(Script(call, call, call), capabilities=[mine]).run("hi")

    first, second, third = saved
    assert first == 0
    assert third == 2 * second > 0


class Ticket(BaseModel):
    city: str


async def test_structured_output_and_iteration_work(skills: Satchel) -> None:
    model = Script([LOAD], [ToolCallPart("final_result", {"city": "Bern"})])
    agent = Agent(model, output_type=Ticket, capabilities=[attach(skills)])

    async with agent.iter("hi") as run:
        nodes = [type(node).__name__ async for node in run]

    assert run.result is not None
    assert run.result.output == Ticket(city="Bern")
    assert nodes.count("ModelRequestNode") == 2


async def test_arguments_that_are_no_object_are_retried(skills: Satchel) -> None:
    model = Script([ToolCallPart("load_skill", "[1]")], [LOAD], "done")
    agent = Agent(model, capabilities=[attach(skills)])

    messages = (await agent.run("hi")).all_messages()

    assert REFUNDS in results(messages)[-1]


async def test_a_tool_may_answer_as_the_framework_has_it(tmp_path: Path) -> None:
    """A `ToolReturn` is handed on; anything else is text."""

    def chart() -> ToolReturn:
        """Draw a chart."""
        return ToolReturn("drawn", metadata={"rows": 3})

    def rows() -> dict[str, list[int]]:
        """Count."""
        return {"rows": [1, 2]}

    calls = [ToolCallPart("chart", {}), ToolCallPart("rows", {})]
    model = Script(calls, "done")
    mine = attach(carried(tmp_path, "charts", chart, rows), always=["charts"])

    agent = Agent(model, capabilities=[mine])
    messages = (await agent.run("hi")).all_messages()

    assert results(messages) == ["drawn", '{"rows": [1, 2]}']
    returned = messages[2].parts[0]
    assert isinstance(returned, ToolReturnPart)
    assert returned.metadata == {"rows": 3}


async def test_agents_that_share_a_history_keep_apart_what_they_use(
    packs: Path,
) -> None:
    skills = open_desk(packs)
    first = Agent(Script([LOAD], "done"), name="first", capabilities=[attach(skills)])
    model = Script("hello")
    second = Agent(model, name="second", capabilities=[attach(skills, only=["travel"])])

    history = (await first.run("one")).all_messages()
    history = (await second.run("two", message_history=history)).all_messages()

    last = [m.metadata["satchel"] for m in history if m.metadata][-1]
    assert list(last) == ["second"]
    assert "refund" not in model.tools[0]
    assert (await first.run("three", message_history=history)).output == "done"


def test_outside_of_a_run_there_is_no_session(skills: Satchel) -> None:
    with pytest.raises(RuntimeError, match="run"):
        _ = attach(skills).toolset.session
    assert attach(skills).get_serialization_name() is None


@pytest.mark.row("U14")
async def test_what_a_script_made_is_in_the_metadata(tmp_path: Path) -> None:
    """The model reads a text; the application gets the outcome as data."""
    skills = forms_with(Subprocess(), tmp_path, allow("forms", "script"))
    calls = [ToolCallPart("load_skill", {"skill_id": "forms"}), ToolCallPart(*RUN)]
    model = Script(*([call] for call in calls), "done")
    work = work_of(tmp_path)
    agent = Agent(model, capabilities=[attach(skills, work=lambda _: work)])

    result = await agent.run("Fill it in.")

    [part] = [
        part
        for message in result.all_messages()
        for part in message.parts
        if isinstance(part, ToolReturnPart) and part.tool_name == RUN[0]
    ]
    assert part.metadata["files"][0]["path"] == "filled.txt"
    assert "filled.txt (text/plain, 12 bytes" in part.model_response_str()


class TestWorkspaceRunner(RunnerContract):
    """The example over the framework's workspaces does all that is asked."""

    pytestmark = pytest.mark.row("U14")

    def make_runner(self, **limits: Any) -> Runner:
        reason = "this release has no workspaces; the newest has"
        workspaces = pytest.importorskip("pydantic_ai.workspaces", reason=reason)
        example = import_module("examples.runners.workspace_runner")

        def opened() -> object:
            backend = workspaces.LocalWorkspaceBackend(mkdtemp())
            return workspaces.Workspace(backend)

        runner: Runner = example.WorkspaceRunner(opened, **limits)
        return runner
