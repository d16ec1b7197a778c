"""Each required act and each script is one event, and says on what it rests."""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from satchel import Options, Policy, Run, Satchel, allow, ask, deny, require
from satchel.model import ActEvent, Job, NeededSkill, Outcome, Reply, SeenMessage
from satchel.runtime import Session
from satchel.usage import ListSink
from tests.fakes import FakeClock

pytestmark = pytest.mark.row("U17", "N14")

BODY: Final = "REFUNDS-1: look the order up first, and only then pay it back. " * 6
SKILL: Final = (
    "---\nname: refunds\ndescription: Use when a customer wants money back.\n"
    "metadata:\n  tools: refund\n---\n"
)
LOAD: Final[dict[str, object]] = {"skill_id": "refunds"}
PAY: Final[dict[str, object]] = {"order": "SECRET-1"}
SCRIPT: Final[dict[str, object]] = {
    **LOAD,
    "path": "scripts/fill.py",
    "args": ["SECRET-2"],
}


class Runner:
    """Runs nothing, and says how it ended."""

    kind = "fake"

    def __init__(self) -> None:
        self.outcome: Outcome | Exception = Outcome(
            ending="exit", exit_code=3, runner="fake"
        )

    def run(self, job: Job) -> Outcome:
        del job
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


class Desk:
    """An application with a tool of a skill, one of its own, and a script."""

    def __init__(self, folder: Path, *rules: object, key: str = "k") -> None:
        self.file = folder / "refunds" / "SKILL.md"
        (self.file.parent / "scripts").mkdir(parents=True, exist_ok=True)
        self.file.write_text(SKILL + BODY, "utf-8")
        (self.file.parent / "scripts" / "fill.py").write_text("print(1)\n")
        self.sink, self.runner = ListSink(), Runner()

        def refund(order: str, run: Run) -> str:
            """Pay an order back."""
            if order == "none":
                raise KeyError(order)
            return f"paid {order}"

        environ = {"SATCHEL_ACTS_KEY": key, "SATCHEL_APPROVALS": "memory"}
        self.skills = Satchel(
            folder,
            tools=[refund],
            policy=Policy(require("refunds", tool="refund"), *rules),  # type: ignore[arg-type]
            sinks=[self.sink],
            runner=self.runner,
            options=Options(environ=environ, clock=FakeClock()),
        )

    @property
    def acts(self) -> list[ActEvent]:
        return self.sink.acts

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        return [(act.outcome, act.approval) for act in self.acts]

    def loaded(self, **options: Any) -> Session:  # noqa: ANN401 - of a session
        """Return a session whose next calls rest on a load."""
        session = self.skills.session(**options)
        session.call("load_skill", LOAD)
        session.tools()
        return session


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "skills"


def test_a_call_of_ones_own_loop_rests_on_its_load(folder: Path) -> None:
    desk = Desk(folder, require("refunds", tool="pay"))
    session = desk.skills.session(agent="desk")
    session.tools()

    @session.requiring
    def pay(cents: int) -> str:
        return f"paid {cents}"

    pay(5)
    session.tools()
    assert pay(5) == "paid 5"

    refused, allowed = desk.acts
    [load] = desk.sink.events
    assert (refused.outcome, refused.skills[0].read) == ("refused", "")
    assert (allowed.outcome, allowed.tool, allowed.agent) == ("allowed", "pay", "desk")
    assert allowed.skills == (NeededSkill("refunds", load.digest, "load"),)
    assert allowed.conversation == load.conversation != ""
    assert allowed.arguments == refused.arguments


def test_an_asynchronous_function_and_names_in_place_of_positions(folder: Path) -> None:
    desk = Desk(folder, require("refunds", tool="pay"))
    session = desk.loaded()

    @session.requiring
    async def pay(cents: int, to: str = "") -> str:
        return f"paid {cents}"

    async def calls() -> None:
        await pay(5, to="b")  # type: ignore[misc]
        await pay(to="b", cents=5)  # type: ignore[misc]

    asyncio.run(calls())

    assert [act.outcome for act in desk.acts] == ["allowed", "allowed"]
    assert len({act.arguments for act in desk.acts}) == 1


def test_a_call_that_does_not_fit_fails_by_itself(folder: Path) -> None:
    desk = Desk(folder, require("refunds", tool="pay"))
    session = desk.skills.session()

    @session.requiring
    def pay(cents: int) -> str:
        return f"paid {cents}"

    assert pay(1, 2).startswith("Not done")  # type: ignore[call-arg]
    session.tools()
    with pytest.raises(TypeError):
        pay(1, 2)  # type: ignore[call-arg]


NO: Final = Reply("no", "Not today.")


@pytest.mark.parametrize("waits", [False, True], ids=["call", "acall"])
@pytest.mark.parametrize(
    ("rule", "answer", "expected"),
    [
        (allow("*"), None, ("allowed", "rule 1")),
        (None, None, ("allowed", "")),
        (deny("refunds", tool="refund"), None, ("refused", "denied-by-policy")),
        (ask("refunds", tool="refund"), True, ("allowed", "yes_once")),
        (ask("refunds", tool="refund"), NO, ("refused", "approval-declined")),
        (ask("refunds", tool="refund"), None, ("refused", "approval-required")),
        (
            ask("refunds", tool="refund"),
            "yes_in_session",
            ("allowed", "granted for this session"),
        ),
    ],
)
def test_a_call_of_a_skills_tool_is_one_event(
    folder: Path,
    rule: object,
    answer: object,
    expected: tuple[str, str],
    *,
    waits: bool,
) -> None:
    desk = Desk(folder, *([rule] if rule else []))
    session = desk.loaded(approve=(lambda _: answer) if answer else None)

    session.question("refund", PAY)
    session.needs_skill("refund")
    if waits:
        asyncio.run(session.acall("refund", PAY))
    else:
        session.call("refund", PAY)

    assert desk.outcomes == [expected]


def test_a_hook_that_asks_for_every_tool_makes_no_second_event(folder: Path) -> None:
    """Some frameworks call one hook for their own tools and for those of skills."""
    desk = Desk(folder)
    session = desk.skills.session()
    session.tools()

    assert session.required("refund", arguments=PAY)
    session.tools()
    assert session.required("refund", arguments=PAY) is None
    session.call("refund", PAY)

    assert [act.outcome for act in desk.acts] == ["refused", "allowed"]


def test_an_approval_that_is_used_twice_is_one_act(folder: Path) -> None:
    desk = Desk(folder, ask("refunds", tool="refund"))
    session = desk.loaded()

    for _ in range(2):
        session.call("refund", PAY, approved=True, call_id="c1")

    assert desk.outcomes == [("allowed", "yes_once"), ("refused", "approval-used")]


def test_a_tool_that_raises_has_failed(folder: Path) -> None:
    desk = Desk(folder)

    desk.loaded().call("refund", {"order": "none"})

    assert [act.outcome for act in desk.acts] == ["failed"]


def test_a_tool_of_a_toolbox_and_arguments_that_a_person_edited(folder: Path) -> None:
    edited = Reply("yes_once", arguments={"order": "B"})
    desk = Desk(folder, ask("refunds", tool="refund"))
    session = desk.loaded(approve=lambda _: edited)
    tool = session.tools().get("refund")
    assert tool is not None

    assert tool.call(PAY) == "paid B"
    session.call("refund", {"order": "B"})

    assert len(desk.acts) == 2
    assert desk.acts[0].arguments == desk.acts[1].arguments


YES: Final = Outcome(ending="exit", exit_code=0, runner="fake")
SCRIPTS: Final = allow("refunds", "script")
ASKS: Final = ask("refunds", "script")


@pytest.mark.row("U14")
@pytest.mark.parametrize("waits", [False, True], ids=["call", "acall"])
@pytest.mark.parametrize(
    ("rule", "answer", "outcome", "expected"),
    [
        (SCRIPTS, None, YES, ("exit 0", "rule 1")),
        (SCRIPTS, None, Outcome(ending="time-out"), ("time-out", "rule 1")),
        (SCRIPTS, None, Outcome(ending="refused"), ("refused", "rule 1")),
        (SCRIPTS, None, OSError("x"), ("failed", "rule 1")),
        (ASKS, True, YES, ("exit 0", "yes_once")),
        (ASKS, "yes_in_session", YES, ("exit 0", "granted for this session")),
        (ASKS, NO, YES, ("refused", "approval-declined")),
        (ASKS, None, YES, ("refused", "approval-required")),
    ],
)
def test_a_script_is_one_event(  # noqa: PLR0913
    folder: Path,
    rule: object,
    answer: object,
    outcome: Outcome | Exception,
    expected: tuple[str, str],
    *,
    waits: bool,
) -> None:
    desk = Desk(folder, rule)
    desk.runner.outcome = outcome
    session = desk.loaded(approve=(lambda _: answer) if answer else None)

    session.question("run_skill_script", SCRIPT)
    if waits:
        asyncio.run(session.acall("run_skill_script", SCRIPT))
    else:
        session.call("run_skill_script", SCRIPT)

    assert desk.outcomes == [expected]
    [act] = desk.acts
    assert act.script == "scripts/fill.py"
    assert act.script_digest.startswith("sha256:")
    assert act.files_digest.startswith("sha256-tree-v1:")
    assert act.skills[0].read == "load"
    assert act.skills[0].digest == desk.sink.events[0].digest


@pytest.mark.row("U14")
def test_a_script_that_a_loop_runs_by_its_tool_is_asked_about_too(
    folder: Path,
) -> None:
    desk = Desk(folder, ASKS)
    answers = ["yes_once", "no"]
    session = desk.loaded(approve=lambda _: answers.pop(0))
    tool = session.tools().get("run_skill_script")
    assert tool is not None

    tool.call(SCRIPT)
    asyncio.run(tool.acall(SCRIPT))

    assert desk.outcomes == [("exit 3", "yes_once"), ("refused", "approval-declined")]


@pytest.mark.parametrize("form", [dict, json.dumps])
def test_a_script_that_the_policy_denies_is_one_event(
    folder: Path, form: Callable[[object], Any]
) -> None:
    desk = Desk(folder)

    desk.loaded().call("run_skill_script", form(SCRIPT))

    assert desk.outcomes == [("refused", "denied-by-policy")]
    [skill] = desk.acts[0].skills
    assert (skill.name, skill.read) == ("refunds", "load")
    assert skill.digest == desk.sink.events[0].digest


def test_what_is_no_run_is_no_act(folder: Path) -> None:
    """Neither a script that is not there, nor one of a skill that was not loaded."""
    desk = Desk(folder, SCRIPTS)
    session = desk.skills.session()

    session.call("run_skill_script", SCRIPT)
    session.call("load_skill", LOAD)
    session.call("run_skill_script", {**SCRIPT, "path": "gone.py"})

    assert desk.acts == []


def test_a_required_script_rests_on_both_skills(folder: Path) -> None:
    desk = Desk(folder, SCRIPTS, require("refunds", tool="run_skill_script"))
    session = desk.loaded()

    session.call("run_skill_script", SCRIPT)

    assert [skill.name for skill in desk.acts[0].skills] == ["refunds"]


def test_every_skill_that_a_tool_needs_is_named(folder: Path) -> None:
    (folder / "tax").mkdir(parents=True)
    (folder / "tax" / "SKILL.md").write_text(
        "---\nname: tax\ndescription: Use for tax.\n---\nT."
    )
    desk = Desk(folder, require("tax", tool="ref*"))

    desk.loaded().call("refund", PAY)

    skills = {skill.name: skill.read for skill in desk.acts[0].skills}
    assert (desk.acts[0].outcome, skills) == ("refused", {"refunds": "load", "tax": ""})


def test_what_the_prompt_shows_needs_no_load(folder: Path) -> None:
    desk = Desk(folder)
    session = desk.skills.session(always=["refunds"])
    session.tools()

    session.call("refund", PAY)

    assert desk.sink.events == []
    assert [act.skills[0].read for act in desk.acts] == ["shown"]


def test_a_load_of_another_version_is_none(folder: Path) -> None:
    desk = Desk(folder)
    session = desk.loaded()
    desk.file.write_text(SKILL + BODY + "More.", "utf-8")
    desk.skills.sync()

    session.call("refund", PAY)
    session.tools()
    session.call("refund", PAY)

    first, second = desk.acts
    assert (first.outcome, second.outcome) == ("refused", "allowed")
    assert second.skills[0].digest == desk.sink.events[-1].digest
    assert second.skills[0].digest != desk.sink.events[0].digest


def resumed(desk: Desk, state: object, **options: Any) -> Session:  # noqa: ANN401
    return desk.skills.session(resume=json.dumps(state), **options)


def test_a_conversation_keeps_its_id_in_another_process(folder: Path) -> None:
    desk = Desk(folder)
    session = resumed(desk, desk.loaded().dump())

    session.call("refund", PAY)
    desk.loaded().call("refund", PAY)

    here, elsewhere = desk.acts
    assert here.conversation == desk.sink.events[0].conversation
    assert elsewhere.conversation == desk.sink.events[1].conversation
    assert here.conversation != elsewhere.conversation


def test_a_state_that_others_write_names_no_other_conversation(folder: Path) -> None:
    desk = Desk(folder)
    untrusted: Any = {"trust_state": False}
    state = desk.loaded(**untrusted).dump()
    mine = state["conversation"]

    again = resumed(desk, state, **untrusted).dump()["conversation"]
    forged = {**state, "conversation": "0" * 32}

    assert again == mine
    assert resumed(desk, forged, **untrusted).dump()["conversation"] != "0" * 32
    assert resumed(desk, {**state, "conversation": "x"}).dump()["conversation"] != "x"


def test_two_states_as_one_are_one_conversation(folder: Path) -> None:
    from satchel.runtime import merge_states, parse_state

    desk = Desk(folder)
    state = parse_state(json.dumps(desk.loaded().dump()))
    empty = parse_state({})

    assert merge_states(state, empty).conversation == state.conversation != ""
    assert merge_states(empty, state).conversation == state.conversation


def test_messages_that_show_it_are_said_where_the_load_is_elsewhere(
    folder: Path,
) -> None:
    desk = Desk(folder)
    text = str(desk.skills.session().call("load_skill", LOAD))
    session = desk.skills.session()
    session.see([SeenMessage("tool", text, "load_skill", LOAD)])

    session.call("refund", PAY)

    assert [act.skills[0].read for act in desk.acts] == ["shown"]


def digests(desk: Desk, *calls: Mapping[str, object]) -> list[str]:
    session = desk.loaded()
    for call in calls:
        session.call("refund", call)
    return [act.arguments for act in desk.acts]


def test_equal_arguments_have_equal_digests_with_one_key(folder: Path) -> None:
    one, other = {"order": "A"}, {"order": "B"}

    first, second = digests(Desk(folder, key="a"), one, other)

    assert first != second
    assert digests(Desk(folder, key="a"), one) == [first]
    assert digests(Desk(folder, key="b"), one) != [first]
    assert digests(Desk(folder, key=""), one) == digests(Desk(folder, key=""), one)


def test_no_argument_is_in_an_event(folder: Path) -> None:
    desk = Desk(folder, SCRIPTS)
    session = desk.loaded()

    session.call("refund", PAY)
    session.call("run_skill_script", SCRIPT)

    text = repr([*desk.acts, *(act.as_dict() for act in desk.acts)])
    assert "SECRET" not in text
    assert len(desk.acts) == 2


@pytest.mark.parametrize("odd", [{"order": object()}, {1: {2}}, None, [float("nan")]])
def test_arguments_of_any_kind_break_nothing(folder: Path, odd: Any) -> None:  # noqa: ANN401
    desk = Desk(folder, require("refunds", tool="mine"))
    session = desk.loaded()

    assert session.required("mine", arguments=odd) is None
    assert len(desk.acts[0].arguments) == 64


def test_a_name_that_a_model_makes_up_is_not_in_the_log(folder: Path) -> None:
    desk = Desk(folder, require("refunds", tool="*"))
    session = desk.loaded()

    session.call("please pay Ana", {})
    session.call({"x": 1}, {})  # type: ignore[arg-type]

    assert [act.tool for act in desk.acts] == ["<invalid>"]


class BrokenSink:
    """Fails with every event."""

    def record(self, event: object) -> None:
        raise OSError(repr(event))

    acted = record


def satchel(folder: Path, sinks: list[Any]) -> Satchel:
    Desk(folder)
    policy = Policy(require("refunds", tool="pay"))
    return Satchel(folder, policy=policy, sinks=sinks)


def paying(session: Session) -> Callable[[int], str]:
    session.call("load_skill", LOAD)
    session.tools()

    def pay(cents: int) -> str:
        return f"paid {cents}"

    return session.requiring(pay)


def test_a_sink_that_fails_breaks_no_call(folder: Path) -> None:
    skills = satchel(folder, [BrokenSink()])

    assert paying(skills.session())(5) == "paid 5"
    assert skills.sink_failures == {"BrokenSink": 2}


def test_without_a_sink_there_is_no_event_and_no_id(folder: Path) -> None:
    skills = satchel(folder, [])
    session = skills.session()

    assert paying(session)(5) == "paid 5"
    assert "conversation" not in session.dump()
