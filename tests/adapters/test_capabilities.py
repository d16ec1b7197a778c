"""What adapters do where their framework can: the second tier of the shared suite.

``@pytest.mark.capability("approval")`` names what a test needs. A driver says in
``lacks`` which of these its framework has not, and why; such a test has to fail.
"""

import threading
from pathlib import Path
from typing import Any

import pytest

from satchel import Satchel
from satchel.model import ApprovalAnswer, Reply
from satchel.policy import PolicyRule, ask, deny
from tests.adapters.conftest import Bench
from tests.adapters.desk import (
    ANA,
    LIMITS,
    PAID,
    REFUND,
    REFUNDED,
    REFUNDS,
    Desk,
    carried,
    load,
    open_desk,
    script,
    scripts,
    setup,
    weather,
)
from tests.adapters.driver import Call, Driver, Mode, Paused, Rig, Say
from tests.fakes import FakeSource, pack

STEPS: list[Say] = [[load("cards")], [Call("post", {"city": "Bern"})], "done"]


class Cards:
    """A skill with a tool object of the framework, and what that tool has sent."""

    def __init__(self, driver: Driver, folder: Path, *rules: PolicyRule) -> None:
        self.sent: list[str] = []

        def post(city: str) -> str:
            """Send a card."""
            self.sent.append(city)
            return f"a card went to {city}"

        tool = driver.native_tool("post", post)
        self.skills = carried(folder, "cards", tool, rules=rules)

    def build(self, driver: Driver, **options: Any) -> Rig:
        return driver.build(setup(self.skills, script(*STEPS), **options))


ASK = ask("cards", tool="post")
EDITED = Reply("yes_once", arguments={"city": "Basel"})


@pytest.mark.capability("native")
@pytest.mark.row("E25")
@pytest.mark.capability("approval")
@pytest.mark.parametrize("approve", [True, False])
async def test_a_native_tool_waits(
    driver: Driver, tmp_path: Path, *, approve: bool
) -> None:
    cards = Cards(driver, tmp_path, ASK)
    rig = cards.build(driver)

    paused = await rig.say("hi", who=ANA)
    sent_before = [*cards.sent]
    assert isinstance(paused, Paused)
    output = await rig.decide(paused, approve=approve)

    assert (paused.tool, dict(paused.arguments)) == ("post", {"city": "Bern"})
    assert sent_before == []
    assert output == "done"
    assert cards.sent == (["Bern"] if approve else [])
    assert ("a card went to Bern" in rig.seen[-1].results[-1]) == approve


@pytest.mark.capability("native")
@pytest.mark.row("F24")
@pytest.mark.capability("edits")
async def test_a_person_edits_the_arguments_of_a_native_tool(
    driver: Driver, tmp_path: Path
) -> None:
    cards = Cards(driver, tmp_path, ASK)
    rig = cards.build(driver)

    paused = await rig.say("hi", who=ANA)
    assert isinstance(paused, Paused)
    output = await rig.decide(paused, approve=True, arguments={"city": "Basel"})

    assert output == "done"
    assert cards.sent == ["Basel"]
    assert "a card went to Basel" in rig.seen[-1].results[-1]


@pytest.mark.capability("native")
@pytest.mark.row("E25", "F24")
@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (True, (["Bern"], "a card went to Bern")),
        (False, ([], "approval-declined")),
        (Reply("no", "Not before friday."), ([], "Not before friday.")),
        (EDITED, (["Basel"], "a card went to Basel")),
    ],
)
async def test_a_callback_answers_for_a_native_tool(
    driver: Driver, tmp_path: Path, mode: Mode, reply: Any, expected: tuple[Any, str]
) -> None:
    asked: list[str] = []

    def approve(question: Any) -> Any:
        asked.append(question.tool)
        return reply

    async def approve_later(question: Any) -> Any:
        return approve(question)

    cards = Cards(driver, tmp_path, ASK)
    rig = cards.build(driver, approve=approve if mode == "sync" else approve_later)
    output = await rig.say("hi", who=ANA, mode=mode)

    assert output == "done"
    assert asked == ["post"]
    sent, result = expected
    assert cards.sent == sent
    assert result in rig.seen[-1].results[-1]


@pytest.mark.capability("native")
async def test_a_denied_native_tool_is_not_called(
    driver: Driver, tmp_path: Path, mode: Mode
) -> None:
    cards = Cards(driver, tmp_path, deny("cards", tool="post"))
    rig = cards.build(driver)

    output = await rig.say("hi", who=ANA, mode=mode)

    assert output == "done"
    assert "post" not in rig.seen[1].tools
    assert cards.sent == []


@pytest.mark.row("F22")
@pytest.mark.capability("advice")
async def test_a_closed_tool_is_answered_with_advice(bench: Bench) -> None:
    _, seen = await bench.say([REFUND], "done")

    assert "load the skill 'refunds' first" in seen[1].results[0]


@pytest.mark.row("E25")
@pytest.mark.capability("approval")
@pytest.mark.parametrize("approve", [True, False])
async def test_a_load_waits(bench: Bench, *, approve: bool) -> None:
    rules = [ask("refunds", action="load")]
    rig = bench.rig(script([load("refunds")], "done"), rules=rules)

    paused = await rig.say("hi", who=ANA)
    assert isinstance(paused, Paused)
    output = await rig.decide(paused, approve=approve)

    assert Call(paused.tool, dict(paused.arguments)) == load("refunds")
    assert output == "done"
    assert (REFUNDS in rig.seen[-1].results[-1]) == approve
    assert ("refund" in rig.seen[-1].tools) == approve


@pytest.mark.row("F24")
async def test_an_asynchronous_callback_is_awaited(bench: Bench, mode: Mode) -> None:
    replies = [Reply("no", "Not today."), Reply("yes_once")]

    async def approve(_: object) -> Reply:
        return replies.pop(0)

    output, seen = await bench.say(
        *([load("refunds")], [REFUND], [REFUND], "done"),
        rules=[ask("refunds", tool="refund")],
        mode=mode,
        approve=approve,
    )

    assert output == "done"
    assert bench.desk.done == [PAID]
    assert "Not today." in seen[2].results[1]
    assert seen[3].results[2] == REFUNDED


async def test_an_agent_without_a_prompt(bench: Bench, mode: Mode) -> None:
    output, [seen] = await bench.say("hello", base="", mode=mode)

    assert output == "hello"
    assert seen.system.strip().startswith("If a skill fits the task")


@pytest.mark.row("F21")
async def test_a_grant_of_an_approver_holds(bench: Bench) -> None:
    asked: list[str] = []

    def approve(question: Any) -> ApprovalAnswer:
        asked.append(question.tool)
        return "yes_in_session"

    model = script([load("refunds")], [REFUND], [REFUND], "done")
    rig = bench.rig(model, rules=[ask("refunds", tool="refund")], approve=approve)

    await rig.say("hi", who=ANA)
    await rig.say("hi", who=ANA)

    assert asked == ["refund"]
    assert bench.desk.done == [PAID] * 4


@pytest.mark.parametrize("has_rules", [True, False])
async def test_results_of_own_tools_change_nothing(
    driver: Driver, packs: Path, *, has_rules: bool
) -> None:
    """A load after them still knows what they have shown."""
    calls = [[Call("weather", {"city": city})] for city in ("Basel", "Bern")]
    model = script([load("refunds")], *calls, [load("refunds")], calls[0], "done")
    skills = open_desk(packs) if has_rules else Satchel(packs, tools=Desk().tools())
    rig = driver.build(setup(skills, model, weather))

    await rig.say("hi", who=ANA)

    first, *later = rig.seen
    assert {seen.system for seen in later} == {first.system}
    assert {seen.tools for seen in later} == {(*first.tools, "order_status", "refund")}
    assert REFUNDS in later[0].results[0]
    assert "unchanged" in later[-1].results[3]


@pytest.mark.capability("history")
async def test_without_a_state_the_messages_tell_what_was_loaded(bench: Bench) -> None:
    model = scripts({"one": [[load("refunds")], "done"], "two": [[REFUND], "done"]})
    rig = bench.rig(model)

    await rig.say("one", who=ANA)
    rig.keep_instead(None)
    await rig.say("two", who=ANA)

    assert {"order_status", "refund"} <= set(rig.seen[2].tools)
    assert REFUNDS not in rig.seen[2].system
    assert rig.seen[3].results[-1] == REFUNDED


class Watched(FakeSource):
    """Notes for each read whether it is on the thread of the event loop."""

    def __init__(self) -> None:
        super().__init__("s", {name: {"SKILL.md": pack(name)} for name in ("a", "b")})
        self.on_main: list[bool] = []

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        self.on_main.append(threading.current_thread() is threading.main_thread())
        return super().read(key, path, limit_bytes)


@pytest.mark.capability("threads")
@pytest.mark.parametrize("always", [["a"], []])
async def test_the_event_loop_does_not_wait_for_files(
    driver: Driver, always: list[str]
) -> None:
    """Neither for always-on skills nor for skills that are repeated."""
    source = Watched()
    model = scripts({"one": [[load("b")], "done"], "two": ["ok"]})
    rig = driver.build(setup(Satchel(source), model, always=always))
    source.on_main.clear()

    await rig.say("one", who=ANA)
    reads = len(source.on_main)
    rig.trim()
    await rig.say("two", who=ANA)

    assert len(source.on_main) > reads > 0
    assert not any(source.on_main)


@pytest.mark.row("T01", "X10")
async def test_an_argument_called_name_is_understood(bench: Bench, mode: Mode) -> None:
    """Models that know other systems write it, though no schema has it."""
    by_name = Call("load_skill", {"name": "refunds"})
    file = Call("read_skill_file", {"name": "refunds", "path": "limits.md"})
    _, seen = await bench.say([by_name], [file], [REFUND], "done", mode=mode)

    [loaded, read_text, refunded] = seen[3].results
    assert REFUNDS in loaded
    assert LIMITS.strip() in read_text
    assert refunded == REFUNDED


@pytest.mark.row("R18", "X10")
@pytest.mark.parametrize(
    ("style", "key", "in_prompt", "in_result"),
    [
        ("lean", "skill_id", "- refunds: ", "Skill: refunds\n"),
        ("agent-skills", "skill_id", "## Agent Skills\n", "<execution_directive>"),
        ("packs", "name", "load_skill with name tool", "available_references"),
    ],
)
async def test_one_word_chooses_the_style(
    bench: Bench, style: str, key: str, in_prompt: str, in_result: str
) -> None:
    call = Call("load_skill", {key: "refunds"})
    _, seen = await bench.say([call], "done", style=style)

    assert in_prompt in seen[0].system
    assert in_result in seen[1].results[0].replace("\\n", "\n")
    assert REFUNDS in seen[1].results[0]
