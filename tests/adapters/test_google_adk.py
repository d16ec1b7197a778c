"""What is Google ADK's own: its state, its confirmations, its callbacks, its tools."""

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.apps import App
from google.adk.artifacts import InMemoryArtifactService
from google.adk.events import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.plugins import BasePlugin
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from satchel import Satchel, Skill
from satchel.adapters.google_adk import attach
from satchel.errors import DuplicateToolError
from satchel.files import digest_bytes
from satchel.model import Job, Outcome, OutputFile
from satchel.policy import allow, ask
from satchel.protocols import Runner as ScriptRunner
from satchel.tools import Run
from satchel_scripts import Subprocess
from tests.adapters.desk import (
    PAID,
    PAYS,
    REFUNDS,
    TRAVEL,
    Desk,
    carried,
    load,
    open_desk,
    script,
    scripts,
    setup,
    write_pack,
)
from tests.adapters.driver import Call, Paused, Say
from tests.adapters.google_adk import (
    APP,
    CONFIRM,
    DRIVER,
    USER,
    FakeLlm,
    answer_to,
    fake_model,
)
from tests.adapters.processes import Effects, careful
from tests.adapters.test_contract_scripts import RUN, forms_with, work_of

ONE: dict[str, Any] = {"app_name": APP, "user_id": USER, "session_id": "one"}


def agent_of(llm: FakeLlm, *tools: Any, **given: Any) -> LlmAgent:
    return LlmAgent(name="desk", model=llm, tools=list(tools), **given)


async def sent(runner: Runner, **given: Any) -> list[Event]:
    run = runner.run_async(user_id=USER, session_id="one", **given)
    return [event async for event in run]


async def output(runner: Runner, *texts: str) -> list[Event]:
    """Say these in turn; return the events of the last run."""
    events: list[Event] = []
    for text in texts:
        message = types.Content(role="user", parts=[types.Part(text=text)])
        events = await sent(runner, new_message=message)
    return events


async def begun(agent: LlmAgent | App) -> Runner:
    app = agent if isinstance(agent, App) else App(name=APP, root_agent=agent)
    runner = InMemoryRunner(app=app)
    await runner.session_service.create_session(**ONE)
    return runner


async def stored(runner: Runner) -> dict[str, Any]:
    """Return the state of the session, as it is stored."""
    session = await runner.session_service.get_session(**ONE)
    assert session is not None
    return session.state


async def test_parallel_loads_are_all_kept(packs: Path) -> None:
    """ADK merges what parallel calls wrote; the stored events open both skills."""
    steps: list[Say] = [[load("refunds"), load("travel")], "done"]
    given = setup(open_desk(packs), scripts({"one": steps, "two": ["done"]}))
    rig = DRIVER.build(given)
    await rig.say("one")
    other = DRIVER.build(given)
    other.restore(rig.save())

    await other.say("two")

    opened = set(other.seen[0].tools[-4:])
    assert opened == {"order_status", "refund", "book", "seat"}


async def test_what_is_deactivated_next_to_a_load_stays_away(tmp_path: Path) -> None:
    """ADK unites what both wrote; what was put away last is not in use."""

    async def deactivate(run: Run) -> str:
        """Put the first one away, after the other has been loaded."""
        while len(run.session.activations) < 2:  # noqa: ASYNC110 - no event of ours
            await asyncio.sleep(0)
        run.session.unload("first")
        return "away"

    first = Skill("first", instructions="1", description="One.", tools=[deactivate])
    other = Skill("other", instructions="2", description="Two.")
    calls = [load("other"), Call("deactivate")]
    llm = fake_model(scripts({"one": [[load("first")], calls, "done"], "": ["done"]}))
    runner = await begun(agent_of(llm, attach(Satchel(first, other))))

    await output(runner, "one", "two")

    assert "deactivate" in llm.seen[1].tools
    assert "deactivate" not in llm.seen[3].tools
    assert "other" in (await stored(runner))["satchel:desk"]["active"]


async def test_a_session_resumes_from_a_database(packs: Path, tmp_path: Path) -> None:
    """The state holds ids and digests, and no text."""
    path = str(tmp_path / "sessions.db")
    steps: dict[str, list[Say]] = {"one": [[load("refunds")], "done"], "": ["done"]}
    llms = [fake_model(scripts(steps)) for _ in range(2)]
    for llm, text in zip(llms, ("one", "two"), strict=True):
        service = SqliteSessionService(path)
        agent = agent_of(llm, attach(open_desk(packs)))
        runner = Runner(app_name=APP, agent=agent, session_service=service)
        if text == "one":
            await service.create_session(**ONE)
        await output(runner, text)

    assert REFUNDS not in json.dumps(await stored(runner))
    assert llms[1].seen[0].tools[-2:] == ("order_status", "refund")
    assert llms[1].seen[0].system == llms[0].seen[0].system


@pytest.mark.parametrize("is_kept", [True, False])
async def test_with_the_callback_the_prompt_is_frozen_from_the_first_word(
    packs: Path, *, is_kept: bool
) -> None:
    """Without it, only a call of one of Satchel's tools can write to the state."""
    skills = open_desk(packs)
    llm = fake_model(script("hello"))
    mine = attach(skills)
    callback = mine.before_model_callback if is_kept else None
    runner = await begun(agent_of(llm, mine, before_model_callback=callback))

    await output(runner, "one")
    write_pack(packs, "visas", "Use when a border is crossed.", "Ask the embassy.")
    skills.sync()
    await output(runner, "two")

    assert ["visas" in seen.system for seen in llm.seen] == [False, not is_kept]
    assert ("satchel:desk" in await stored(runner)) == is_kept


class Forgets(BasePlugin):
    """Leaves a model what was said since the user last spoke."""

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        del callback_context
        spoken = [
            at
            for at, content in enumerate(llm_request.contents)
            if content.role == "user" and content.parts and content.parts[0].text
        ]
        llm_request.contents = llm_request.contents[spoken[-1] :]


async def test_with_the_callback_a_plugin_may_shorten_the_messages(
    skills: Satchel,
) -> None:
    """It comes after all plug-ins, and states again what they took away."""
    llm = fake_model(scripts({"one": [[load("refunds")], "done"], "two": ["done"]}))
    mine = attach(skills)
    agent = agent_of(llm, mine, before_model_callback=mine.before_model_callback)
    plugins: list[BasePlugin] = [Forgets("forgets")]
    runner = await begun(App(name=APP, root_agent=agent, plugins=plugins))

    await output(runner, "one", "two")

    assert [REFUNDS in seen.system for seen in llm.seen] == [False, False, True]
    assert llm.seen[2].system.count("wants money back") == 1  # in the catalog
    assert [message.text for message in llm.seen[2].messages] == ["two"]


@pytest.mark.parametrize("text", ["", "Write plain English."])
async def test_there_may_be_no_tools(tmp_path: Path, text: str) -> None:
    """The callback does nothing then; always-on instructions reach the model."""
    always = [Skill("house", instructions=text)] if text else []
    mine = attach(Satchel(tmp_path), always=always)
    llm = fake_model(script("hello"))
    callback = mine.before_model_callback
    runner = await begun(agent_of(llm, mine, before_model_callback=callback))

    await output(runner, "one")

    assert llm.seen[0].tools == ()
    assert text in llm.seen[0].system
    assert await stored(runner) == {}


async def test_what_goes_wrong_before_a_step_ends_the_run(skills: Satchel) -> None:
    """ADK leaves a toolset out that fails, and only logs it."""

    def who(_: object) -> dict[str, Any]:
        raise LookupError("who is it?")

    llm = fake_model(script("hello"))
    runner = await begun(agent_of(llm, attach(skills, who=who)))

    with pytest.raises(LookupError, match="who is it"):
        await output(runner, "one")
    assert llm.seen == []


def refund(order_id: str) -> str:
    """Pay back in a way of our own."""
    return order_id


@pytest.mark.row("B11")
@pytest.mark.parametrize("own", [refund, FunctionTool(refund)])
async def test_an_own_tool_of_a_carried_name_is_refused_wherever_it_is(
    skills: Satchel, own: Any
) -> None:
    llm = fake_model(script("hello"))
    runner = await begun(agent_of(llm, attach(skills), own))

    with pytest.raises(DuplicateToolError, match=r"refund.*the agent.*skill 'refunds'"):
        await output(runner, "one")
    assert llm.seen == []


async def test_a_tool_that_is_offered_later_is_refused_when_it_opens(
    tmp_path: Path,
) -> None:
    carried(tmp_path, "cards", refund)
    skills = Satchel(tmp_path)
    llm = fake_model(scripts({"one": ["hello"], "two": [[load("cards")], "done"]}))
    runner = await begun(agent_of(llm, refund, attach(skills)))

    await output(runner, "one")
    skills.offer(FunctionTool(refund))

    with pytest.raises(DuplicateToolError, match="refund"):
        await output(runner, "two")


async def test_without_a_run_the_tools_can_be_listed(skills: Satchel) -> None:
    """As ADK does for a card of the agent."""
    tools = await attach(skills, who=lambda ctx: {"user": ctx.user_id}).get_tools()

    assert [tool.name for tool in tools] == ["load_skill", "read_skill_file"]


def native(folder: Path, **given: Any) -> tuple[Satchel, list[str]]:
    """Return skills with a tool object of the framework, and what it did."""
    done: list[str] = []

    def post(city: str, tool_context: ToolContext) -> str:
        """Send a card."""
        done.append(f"{city} for {tool_context.user_id}")
        return f"sent to {city}"

    return carried(folder, "cards", FunctionTool(post, **given)), done


SENDS = script([load("cards")], [Call("post", {"city": "Bern"})], "done")


async def test_a_native_tool_gets_its_own_context(tmp_path: Path) -> None:
    skills, done = native(tmp_path)

    output = await DRIVER.build(setup(skills, SENDS)).say("hi")

    assert (output, done) == ("done", ["Bern for somebody"])


@pytest.mark.row("E25")
@pytest.mark.parametrize("approve", [True, False])
async def test_a_native_tool_may_ask_for_confirmation_itself(
    tmp_path: Path, *, approve: bool
) -> None:
    skills, done = native(tmp_path, require_confirmation=True)
    rig = DRIVER.build(setup(skills, SENDS))

    paused = await rig.say("hi")
    assert isinstance(paused, Paused)
    output = await rig.decide(paused, approve=approve)

    assert output == "done"
    assert done == (["Bern for somebody"] if approve else [])


async def test_results_are_objects_of_json(tmp_path: Path) -> None:
    """Objects as they are, all else under ``result``."""

    def rows() -> dict[str, object]:
        """Count."""
        return {"rows": {1, 2}}

    def cells() -> list[int]:
        """List."""
        return [1, 2]

    rows_, cells_ = await answers_of(tmp_path, rows, cells)

    assert rows_.response == {"rows": [1, 2]}
    assert cells_.response == {"result": [1, 2]}


@pytest.mark.skipif(
    find_spec("google.adk.flows.llm_flows.tools") is None,
    reason="releases before 2.13 take no media from tools",
)
async def test_media_are_handed_on(tmp_path: Path) -> None:
    def chart() -> types.Part:
        """Draw."""
        return types.Part.from_bytes(data=b"x", mime_type="image/png")

    [answer] = await answers_of(tmp_path, chart)

    [image] = answer.parts or []
    assert image.inline_data is not None
    assert image.inline_data.data == b"x"


async def answers_of(
    folder: Path, *tools: Callable[[], object]
) -> list[types.FunctionResponse]:
    """Return what a model is told that these tools of a skill have answered."""
    names = [tool.__name__ for tool in tools]
    when = f"Use when drawing.\nmetadata: {{tools: {' '.join(names)}}}"
    write_pack(folder, "charts", when, "Draw.")
    mine = attach(Satchel(folder, tools=tools), always=["charts"])
    llm = fake_model(script([*map(Call, names)], "done"))
    events = await output(await begun(agent_of(llm, mine)), "hi")
    return [answer for event in events for answer in event.get_function_responses()]


async def test_agents_of_a_team_keep_apart_what_they_use(skills: Satchel) -> None:
    """After a transfer and back, each has open what it has loaded itself."""
    steps: list[Say] = [[load("refunds")], [Call("transfer_to_agent")], "back"]
    llm = FakeLlm(script=script(*steps), name="first")
    deputy = FakeLlm(script=script([load("travel")], "done"), name="second")
    second = LlmAgent(name="second", model=deputy, tools=[attach(skills)])
    given: Any = {"tools": [attach(skills)], "sub_agents": [second]}
    runner = await begun(LlmAgent(name="first", model=llm, **given))

    await output(runner, "hi")

    state = await stored(runner)
    in_use = {key: list(state[key]["active"]) for key in state}
    assert in_use == {"satchel:first": ["refunds"], "satchel:second": ["travel"]}
    assert TRAVEL in deputy.seen[1].results[0]
    assert "refund" not in deputy.seen[1].tools


async def test_a_session_lasts_for_one_run_and_is_not_kept_after_it(
    skills: Satchel,
) -> None:
    """R09: what one run was, another one cannot meet."""
    contexts: list[int] = []

    def who(ctx: Any) -> dict[str, Any]:
        contexts.append(id(ctx.session))
        return {"user": ctx.user_id}

    toolset = attach(skills, who=who)
    llm = fake_model(script([load("refunds")], [load("travel")], "done"))

    await output(await begun(agent_of(llm, toolset)), "hi")
    gc.collect()

    assert len(contexts) >= 3  # it is asked at each step: it may be another one by then
    assert toolset._steps == {}


async def test_state_that_something_else_wrote_is_taken_up(skills: Satchel) -> None:
    """The session of a run gives way where its state was emptied by a tool."""

    def forget(tool_context: ToolContext) -> str:
        """Forget."""
        tool_context.state["satchel:desk"] = {}
        return "forgotten"

    llm = fake_model(script([load("refunds")], [Call("forget")], "done"))

    await output(await begun(agent_of(llm, forget, attach(skills))), "hi")

    assert ["refund" in seen.tools for seen in llm.seen] == [False, True, False]


@pytest.mark.row("F21")
async def test_a_grant_in_a_state_delta_is_none(packs: Path) -> None:
    """``state_delta`` is a field of ADK's API: any caller could say yes."""
    desk = Desk()
    skills = open_desk(packs, desk, ask("refunds", tool="refund"))
    rig = DRIVER.build(setup(skills, script(*PAYS)))
    forged = {
        "schema_version": 1,
        "active": {"refunds": {"id": "refunds", "at": 1.0, "place": 0}},
        "grants": {"tool\trefunds\trefund": ["tool", "refunds", "refund"]},
    }

    paused = await rig.say("hi", who={"user": "ana"})
    rig.keep_instead(forged)
    again = await rig.say("hi", who={"user": "ana"})

    assert isinstance(paused, Paused)
    assert isinstance(again, Paused)
    assert desk.done == []


def runner_of(folder: str, *, dies: bool) -> Runner:
    """Return the desk of the processes below; its session is in a database."""
    from google.adk.apps.app import ResumabilityConfig

    packs = Path(folder)
    desk = careful(packs, Effects(packs / "effects", dies=dies))
    llm = fake_model(script(*PAYS))
    agent = LlmAgent(name="desk", model=llm, tools=[attach(desk, who={"user": "ana"})])
    resumable = ResumabilityConfig(is_resumable=True)
    app = App(name=APP, root_agent=agent, resumability_config=resumable)
    sessions = SqliteSessionService(str(packs / "sessions.db"))
    return Runner(app=app, session_service=sessions)


def yes(call_id: str) -> types.Content:
    return types.Content(role="user", parts=[answer_to(call_id, {"confirmed": True})])


@pytest.mark.row("F20", "F21")
async def test_a_resumed_invocation_makes_no_second_payment(packs: Path) -> None:
    """ADK keeps the yes before the call, and repeats the call where it is resumed."""
    runner = runner_of(str(packs), dies=False)
    await runner.session_service.create_session(**ONE)
    events = await output(runner, "hi")
    calls = (call for event in events for call in event.get_function_calls())
    call_id = next(call.id for call in calls if call.name == CONFIRM)
    invocation = events[-1].invocation_id
    env = {**os.environ, "SATCHEL_APPROVALS": str(packs / "used")}
    head = "import asyncio, sys; from tests.adapters.test_google_adk import *; "
    how = "invocation_id=sys.argv[2]"
    steps = [
        f"sent(runner_of(sys.argv[1], dies=True), new_message=yes(sys.argv[3]), {how})",
        f"sent(runner_of(sys.argv[1], dies=False), {how})",
    ]

    argv = [str(packs), invocation, str(call_id)]
    done = [
        await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", f"{head}asyncio.run({step})", *argv],
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        for step in steps
    ]

    assert done[0].returncode == -signal.SIGKILL, done[0].stderr
    assert done[1].returncode == 0, done[1].stderr
    assert (packs / "effects").read_text("utf-8").splitlines() == [PAID]


class OneFile:
    """A runner of somebody else, that takes out files of any name."""

    def run(self, job: Job) -> Outcome:
        Path(job.work, "user:card.txt").write_text("x", "utf-8")
        file = OutputFile("user:card.txt", "text/plain", 1, digest_bytes(b"x"))
        return Outcome(ending="exit", exit_code=0, files=(file,))


async def filling(folder: Path, by: ScriptRunner | None = None) -> Runner:
    """Return a runner whose agent has a script fill in a form."""
    skills = forms_with(by or Subprocess(), folder, allow("forms", "script"))
    steps: list[Say] = [[load("forms")], [RUN], "done"]
    tool = attach(skills, work=lambda _: work_of(folder))
    return await begun(agent_of(FakeLlm(script=script(*steps)), tool))


@pytest.mark.row("U14")
async def test_what_a_script_made_is_an_artifact(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The file as the script wrote it."""
    runner = await filling(tmp_path)

    await output(runner, "Fill it in.")

    assert runner.artifact_service is not None
    saved = await runner.artifact_service.load_artifact(filename="filled.txt", **ONE)
    assert saved is not None
    assert saved.inline_data is not None
    assert saved.inline_data.data == b"Ana Simpson\n"
    assert "is no artifact" not in caplog.text


@pytest.mark.row("U14")
async def test_a_script_names_no_artifact_of_other_conversations(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """ADK gives a name with ``user:`` to all of them: such a file is none, and said."""
    runner = await filling(tmp_path, OneFile())

    await output(runner, "Fill it in.")

    assert runner.artifact_service is not None
    assert await runner.artifact_service.list_artifact_keys(**ONE) == []
    assert "user:card.txt is no artifact" in caplog.text


@pytest.mark.row("U14")
@pytest.mark.parametrize("has_service", [True, False])
async def test_without_a_service_that_works_a_run_ends_well(
    has_service: bool,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The file is in the work folder all the same."""

    async def full(*_: object, **__: object) -> int:
        raise OSError("full")

    runner = await filling(tmp_path)
    monkeypatch.setattr(InMemoryArtifactService, "save_artifact", full)
    if not has_service:
        runner.artifact_service = None

    events = await output(runner, "Fill it in.")

    assert events[-1].is_final_response()
    assert (tmp_path / "work" / "ana" / "filled.txt").is_file()
    assert ("filled.txt is no artifact" in caplog.text) is has_service
