"""What every adapter does, through its real framework.

One test is one row of docs/reference/adapters.md, and the first line of its docstring
the row's title. ``mode`` runs it three times: sync, async, streaming.
"""

import asyncio
import json
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from inspect import signature
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, cast

import pytest

from satchel import Satchel
from satchel.errors import SkillNotFoundError
from satchel.policy import ask, deny
from satchel.tools import Run, Tool
from tests.adapters.conftest import REFERENCE, Bench
from tests.adapters.desk import (
    ANA,
    BASE,
    LIMITS,
    PAID,
    PAYROLL,
    PAYS,
    REFUND,
    REFUNDED,
    REFUNDS,
    TRAVEL,
    Desk,
    carried,
    check_is_of,
    load,
    open_desk,
    read,
    script,
    scripts,
    setup,
    transfer,
    user_of,
    user_steps,
    weather,
    write_pack,
)
from tests.adapters.driver import Call, Driver, Mode, Paused, Rig, Say, Seen
from tests.adapters.processes import Effects, careful, in_process
from tests.fakes import FakeSource, pack

LOADS: Final[list[Say]] = [[load("refunds")], "done"]
OPENED: Final = {"order_status", "refund"}


def added(seen: Seen, before: Seen) -> set[str]:
    """Return the tools after those of an earlier step, none of which may move."""
    assert seen.tools[: len(before.tools)] == before.tools
    return set(seen.tools[len(before.tools) :])


async def test_the_catalog_reaches_the_model(bench: Bench, mode: Mode) -> None:
    """The catalog is in the prompt, after the agent's own text."""
    output, [seen] = await bench.say("hello", mode=mode)

    assert output == "hello"
    assert seen.system.index(BASE) < seen.system.index("Use when a customer wants")
    assert seen.system.index("refunds") < seen.system.index("travel")


async def test_only_visible_skills_are_listed(bench: Bench) -> None:
    """The user of a run decides which skills are listed and load."""
    rig = bench.rig(script([load("payroll")], "done"))

    await rig.say("hi", chat="ana", who=ANA)
    await rig.say("hi", chat="bo", who={"user": "bo", "groups": ["hr"]})

    hers, _, his, his_last = rig.seen
    assert ("payroll" in hers.system, "payroll" in his.system) == (False, True)
    assert PAYROLL not in "".join(rig.seen[1].results)
    assert PAYROLL in "".join(his_last.results)


async def test_without_skills_nothing_is_added(driver: Driver, tmp_path: Path) -> None:
    """With no skills the prompt and the tools are the agent's own."""
    (tmp_path / "none").mkdir()
    plain = setup(open_desk(tmp_path / "none"), script("hello"), weather)
    rig = driver.build(plain)

    await rig.say("hi", who=ANA)

    assert rig.seen[0].system.strip() == BASE
    assert "load_skill" not in rig.seen[0].tools
    assert "weather" in rig.seen[0].tools
    assert "read_skill_file" not in rig.seen[0].tools


async def test_pinned_skills_are_always_on(bench: Bench) -> None:
    """An always-on skill is in the prompt, and its tools are open from the start."""
    _, [first, last] = await bench.say([REFUND], "done", always=["refunds"])

    assert REFUNDS in first.system
    assert set(first.tools) >= OPENED
    assert last.results == [REFUNDED]


async def test_options_narrow_what_is_there(bench: Bench) -> None:
    """A pattern hides the other skills from an agent."""
    _, [first, last] = await bench.say([load("travel")], "done", only=["ref*"])

    assert ("refunds" in first.system, "travel" in first.system) == (True, False)
    assert TRAVEL not in "".join(last.results)


async def test_what_fits_the_message_is_suggested(
    driver: Driver, tmp_path: Path
) -> None:
    """With ``suggest`` what fits the user's message comes behind a short catalog."""
    for number in range(400):
        folder = tmp_path / f"s{number:03}"
        folder.mkdir()
        text = pack(folder.name, f"Use when topic{number:03} is asked about.")
        (folder / "SKILL.md").write_text(text)
    skills = Satchel(tmp_path, budget_tokens=250)

    shown = []
    for suggest in (False, True):
        rig = driver.build(setup(skills, script("done"), suggest=suggest))
        await rig.say("tell me about topic037", who=ANA)
        shown.append("- s037: " in f"{rig.seen[0]}")

    assert shown == [False, True]


async def test_prompt_and_tool_order_are_stable(bench: Bench) -> None:
    """Equal runs send equal bytes, and no step changes what earlier ones sent."""
    model = script([load("travel")], [load("refunds")], [REFUND], "done")
    rigs = [bench.rig(model) for _ in range(2)]

    for rig in rigs:
        await rig.say("hi", who=ANA)

    first, second = (rig.seen for rig in rigs)
    assert [s.system for s in first] == [s.system for s in second]
    assert [s.tools for s in first] == [s.tools for s in second]
    assert [s.schemas for s in first] == [s.schemas for s in second]
    assert {s.system for s in first} == {first[0].system}
    for before, after in pairwise(first):
        added(after, before)


async def test_load_answers(bench: Bench, mode: Mode) -> None:
    """Loading a skill gives its instructions."""
    output, seen = await bench.say([load("refunds")], "done", mode=mode)

    [result] = seen[1].results
    assert output == "done"
    assert REFUNDS in result


async def test_a_file_is_read(bench: Bench, mode: Mode) -> None:
    """A file of a skill is read."""
    steps: list[Say] = [[load("refunds")], [read("refunds", "limits.md")], "done"]
    _, seen = await bench.say(*steps, mode=mode)

    assert LIMITS in seen[2].results[1]


async def test_parallel_loads(bench: Bench, mode: Mode) -> None:
    """Two skills load side by side in one step; the tools of both open."""
    calls = [load("refunds"), load("travel")]
    _, [before, after, last] = await bench.say(calls, [REFUND], "done", mode=mode)

    assert REFUNDS in after.results[0]
    assert TRAVEL in after.results[1]
    assert added(after, before) == {*OPENED, "book", "seat"}
    assert last.results[2] == REFUNDED


async def test_loaded_again_is_a_note(bench: Bench) -> None:
    """A skill loaded again costs one line, but its text once that is gone."""
    rig = bench.rig(script([load("refunds")], "done"))

    await rig.say("one", who=ANA)
    await rig.say("two", who=ANA)
    rig.trim()
    await rig.say("three", who=ANA)

    again, afresh = rig.seen[3].results[-1], rig.seen[5].results[-1]
    assert REFUNDS not in again
    assert "unchanged" in again
    assert REFUNDS in afresh or REFUNDS in rig.seen[5].system


class Counting(FakeSource):
    """Counts the reads of one file."""

    reads = 0

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        self.reads += path == "references/a.md"
        return super().read(key, path, limit_bytes)


@pytest.mark.row("F23", "A06", "A07", "A15")
async def test_a_turn_reads_a_file_once(driver: Driver, mode: Mode) -> None:
    """Within a turn each file is read at most once; the next turn reads it again."""
    source = Counting("s", {"a": {"SKILL.md": pack("a"), "references/a.md": "Hop."}})
    step = [read("a", "a.md")]
    rig = driver.build(setup(Satchel(source), script(step, [*step, *step], "done")))

    await rig.say("one", who=ANA, mode=mode)
    first = source.reads
    await rig.say("two", who=ANA, mode=mode)

    assert (first, source.reads) == (1, 2)


async def test_carried_tools_open_after_the_load(bench: Bench, mode: Mode) -> None:
    """A skill's tools open when it is loaded, after all others, in its order."""
    rig = bench.rig(script(*PAYS), weather)

    output = await rig.say("hi", who=ANA, mode=mode)

    before, after, last = rig.seen
    assert "weather" in before.tools
    assert not OPENED & set(before.tools)
    assert after.tools == (*before.tools, "order_status", "refund")
    assert last.results[1] == REFUNDED
    assert output == "done"


async def test_carried_tools_stay_open(bench: Bench) -> None:
    """In the next turn they are still open, and later ones come after them."""
    rig = bench.rig(scripts({"one": [[load("travel")], "done"], "two": PAYS}))

    await rig.say("one", who=ANA)
    await rig.say("two", who=ANA)

    start, opened, next_turn, both, _ = rig.seen
    assert added(opened, start) == {"book", "seat"}
    assert next_turn.tools == opened.tools
    assert both.tools == (*opened.tools, "order_status", "refund")


async def test_an_asynchronous_tool_is_awaited(bench: Bench) -> None:
    """A skill's tool may be asynchronous."""
    _, seen = await bench.say([load("travel")], [Call("seat", {"row": 7})], "done")

    assert seen[2].results[1] == "row 7 is yours"


async def test_a_native_tool_is_carried(driver: Driver, tmp_path: Path) -> None:
    """A tool object of the framework opens like any other."""

    def post(city: str) -> str:
        """Send a card."""
        return f"a card went to {city}"

    skills = carried(tmp_path, "cards", driver.native_tool("post", post))
    model = script([load("cards")], [Call("post", {"city": "Bern"})], "done")
    rig = driver.build(setup(skills, model))

    await rig.say("hi", who=ANA)

    assert added(rig.seen[1], rig.seen[0]) == {"post"}
    assert "a card went to Bern" in rig.seen[2].results[1]


async def test_the_run_is_filled_in(driver: Driver, tmp_path: Path) -> None:
    """A tool gets who it runs for and the application's objects, outside its schema."""
    payments = object()
    got: list[Any] = []

    def pay(order_id: str, run: Run) -> str:
        """Pay."""
        got.extend([order_id, run.who["user"], run.deps])
        return "paid"

    model = script([load("cards")], [Call("pay", {"order_id": "B-2"})], "done")
    skills = carried(tmp_path, "cards", pay)
    rig = driver.build(setup(skills, model, deps=lambda *_: payments))

    await rig.say("hi", who=ANA)

    assert got == ["B-2", "ana", payments]
    assert list(rig.seen[1].schemas["pay"]["properties"]) == ["order_id"]
    assert rig.seen[2].results[1] == "paid"


RESERVED = [
    *("self", "cls", "ctx", "context", "run", "run_context", "tool_context", "runtime"),
    *("state", "config", "name", "arguments", "args", "kwargs", "input", "session"),
    *("tool_call_id", "agent", "store", "callbacks", "run_manager", "deps", "messages"),
    *("function", "func", "model", "class", "from", "async", "lambda", "return"),
    "type",
]


@pytest.mark.row("F25")
async def test_a_parameter_has_any_name(
    driver: Driver, tmp_path: Path, mode: Mode
) -> None:
    """Parameter names that Python or a framework reserves reach a skill's tool."""
    text = {"type": "string"}
    schema: Any = {
        "type": "object",
        "properties": dict.fromkeys(RESERVED, text),
        "required": RESERVED,
    }

    def echo(**given: object) -> str:
        return " ".join(f"{name}={given[name]}" for name in RESERVED)

    tool = Tool("echo", "Say what was given.", schema, echo)
    words = {name: f"{n}" for n, name in enumerate(RESERVED)}
    model = script([load("cards")], [Call("echo", words)], "done")
    rig = driver.build(setup(carried(tmp_path, "cards", tool), model))

    output = await rig.say("hi", who=ANA, mode=mode)

    assert len(RESERVED) == 32
    assert output == "done"
    assert rig.seen[2].results[1] == echo(**words)


@pytest.mark.row("F22")
async def test_a_closed_tool_is_not_called(bench: Bench) -> None:
    """A tool whose skill was not loaded is not called, whichever chat has it open."""
    steps: dict[str, list[Say]] = {"open": LOADS, "try": [[REFUND], "done"]}
    rig = bench.rig(scripts(steps))

    await rig.say("open", chat="ana", who=ANA)
    output = await rig.say("try", chat="bo", who={"user": "bo"})

    assert output == "done"
    assert bench.desk.done == []
    assert "refund" in rig.seen[-1].results[-1]


@pytest.mark.row("F22", "F29")
async def test_an_unknown_tool_is_a_result(bench: Bench, mode: Mode) -> None:
    """A call of an unknown tool is answered, and the run goes on."""
    call = Call("teleport", {"city": "Bern"})
    output, seen = await bench.say([call], "done", mode=mode)

    assert output == "done"
    assert "teleport" in seen[1].results[0]
    assert "try one of []" not in seen[1].results[0]


@pytest.mark.row("F22")
async def test_a_tool_that_is_gone_is_a_result(driver: Driver, packs: Path) -> None:
    """A call of a tool whose skill was removed is answered, and the run goes on."""
    desk = Desk()
    skills = open_desk(packs, desk)
    steps: dict[str, list[Say]] = {"one": LOADS, "two": [[REFUND], "over"]}
    rig = driver.build(setup(skills, scripts(steps)))

    await rig.say("one", who=ANA)
    (packs / "refunds" / "SKILL.md").unlink()
    skills.sync()
    output = await rig.say("two", who=ANA)

    assert output == "over"
    assert desk.done == []
    assert "refund" in rig.seen[-1].results[-1]


@pytest.mark.row("F29")
async def test_a_load_and_a_call_in_one_step(bench: Bench) -> None:
    """A tool that opens in a step can be called in the next one, never by chance."""
    output, seen = await bench.say([load("refunds"), REFUND], [REFUND], "done")

    assert output == "done"
    # A framework may give errors first.
    loaded, early = sorted(seen[1].results, key=lambda text: REFUNDS not in text)
    assert REFUNDS in loaded
    assert "refund" in early
    assert REFUNDS not in early
    assert bench.desk.done == [PAID]
    assert seen[2].results[2] == REFUNDED


async def test_a_tool_of_a_skills_name_is_loud(bench: Bench) -> None:
    """An own tool with the name of one of Satchel's is an error that names it."""

    def load_skill(name: str) -> str:
        """Load a skill in a way of our own."""
        return name

    with pytest.raises(Exception, match="load_skill"):
        await _built_and_said(bench, load_skill)


async def test_a_carried_tool_of_an_own_name_is_loud(bench: Bench) -> None:
    """An own tool with the name of a skill's tool is an error that names it."""

    def refund(order_id: str) -> str:
        """Pay back in a way of our own."""
        return order_id

    with pytest.raises(Exception, match="refund"):
        await _built_and_said(bench, refund)


async def _built_and_said(bench: Bench, tool: Callable[..., object]) -> None:
    """Build and say: either may raise; the names are in the text of the error."""
    try:
        await bench.rig(script([load("refunds")], "done"), tool).say("hi", who=ANA)
    except Exception as error:
        raise AssertionError("; ".join(map(str, _causes(error)))) from error


def _causes(error: BaseException) -> list[BaseException]:
    """Return an error and all that led to it; a group may be the context of a part."""
    causes = [error]
    for cause in causes:
        more = [cause.__cause__ or cause.__context__]
        if isinstance(cause, BaseExceptionGroup):
            more += cast("BaseExceptionGroup[BaseException]", cause).exceptions
        causes += [one for one in more if one is not None and one not in causes]
    return causes


@pytest.mark.row("F58")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"style": "nope"}, "style: 'nope' is not known; .*known: "),
        ({"whom": ANA}, "is called 'whom' here; did you mean 'who'"),
        ({"alway": ["refunds"]}, "is called 'alway' here; did you mean 'always'"),
        ({"always": 5}, "always: expected ids of skills, or skills; got int"),
        ({"only": 5}, "only: expected patterns over ids; got int"),
        ({"only": ["refund"]}, "skill 'refund' not found; did you mean refunds"),
        ({"agent": 5}, "agent: expected the agent's name; got int"),
        ({"approve": "yes"}, "approve: expected a function .*; got str"),
        ({"stage": "yes"}, "stage: expected True, False or a Stager; got 'yes'"),
        ({"reinject_tokens": "few"}, "expected a count of tokens; got 'few'"),
        ({"trust_state": "no"}, "trust_state: expected True or False; got 'no'"),
    ],
)
async def test_a_wrong_option_is_refused_at_once(
    bench: Bench, options: Mapping[str, Any], expected: str
) -> None:
    """A wrong option fails in `attach`, which says what it expected and got."""
    with pytest.raises((TypeError, ValueError, SkillNotFoundError), match=expected):
        bench.rig(script("hi"), **options)


@pytest.mark.row("F58")
async def test_a_path_is_no_satchel(driver: Driver) -> None:
    """A path instead of a Satchel fails in `attach`."""
    skills: Any = "./skills"
    with pytest.raises(TypeError, match=r"expected a Satchel; .*Satchel\('./skills'\)"):
        driver.build(setup(skills, script("hi")))


@pytest.mark.row("F58")
async def test_what_is_no_agent_is_refused(driver: Driver, skills: Satchel) -> None:
    """Something else instead of an agent, or an agent too many, fails in `attach`."""
    is_reference = driver.name == REFERENCE
    module = f"satchel.adapters.{driver.name.partition(':')[0]}"
    attach = import_module("examples.litellm_loop" if is_reference else module).attach
    expected = r"called 'to' here; what it returns goes where help\(attach\) shows"
    if "to" in signature(attach).parameters:
        expected = "to: expected an? .+; got 'an agent'"

    with pytest.raises(TypeError, match=expected):
        attach(skills, *([print] if is_reference else ()), to="an agent")


async def test_a_miss_is_a_result(bench: Bench, mode: Mode) -> None:
    """A load of an unknown skill is answered, and the run goes on."""
    output, seen = await bench.say([load("fees")], "done", mode=mode)

    [result] = seen[1].results
    assert output == "done"
    assert "fees" in result
    assert "not found" in result


async def test_the_third_miss_is_final(bench: Bench) -> None:
    """A turn's second failed load lists the skills; the third of one id is final."""
    ids = ("fees", "fee", "fees", "fee", "fees")
    _, seen = await bench.say(*[[load(skill_id)] for skill_id in ids], "done")

    results = seen[5].results
    assert ["travel" in text for text in results[:3]] == [False, True, True]
    assert ["final" in text for text in results] == [False] * 4 + [True]


async def test_a_refusal_is_a_result(bench: Bench, mode: Mode) -> None:
    """What the policy denies is answered, and the run goes on."""
    rules = [deny("refunds", action="load")]
    output, seen = await bench.say([load("refunds")], "done", rules=rules, mode=mode)

    [result] = seen[1].results
    assert output == "done"
    assert REFUNDS not in result
    assert "refunds" in result


async def test_a_denied_tool_is_not_offered(bench: Bench) -> None:
    """A skill's tool that the policy denies does not open."""
    rules = [deny("refunds", tool="refund")]
    _, [before, after] = await bench.say([load("refunds")], "done", rules=rules)

    assert added(after, before) == {"order_status"}


async def test_a_raising_tool_is_a_result(bench: Bench, mode: Mode) -> None:
    """A tool that raises gives an error without its message, and the run goes on."""
    call = Call("order_status", {"order_id": "lost"})
    output, seen = await bench.say([load("refunds")], [call], "end", mode=mode)

    result = seen[2].results[1]
    assert output == "end"
    assert "internal-error" in result
    assert "/var/orders.db" not in result


async def test_wrong_arguments_are_a_result(bench: Bench) -> None:
    """A call that does not fit the schema is a result that names the argument."""
    call = Call("refund", {"order_id": "A-1", "cents": "lots"})
    output, seen = await bench.say([load("refunds")], [call], "done")

    assert output == "done"
    assert bench.desk.done == []
    assert "cents" in seen[2].results[1]


async def test_an_edit_shows_in_the_next_conversation(
    driver: Driver, packs: Path
) -> None:
    """A new skill is in the prompt of the next conversation."""
    skills = open_desk(packs)
    rig = driver.build(setup(skills, script("hello")))

    await rig.say("hi", chat="one", who=ANA)
    write_pack(packs, "visas", "Use when a border is crossed.", "Ask the embassy.")
    skills.sync()
    await rig.say("hi", chat="two", who=ANA)

    assert ["visas" in seen.system for seen in rig.seen] == [False, True]


async def test_an_edit_is_told_once(driver: Driver, packs: Path) -> None:
    """In a conversation the prompt does not change; the model reads once what did."""
    skills = open_desk(packs)
    step = [read("refunds", "limits.md")]
    steps: dict[str, list[Say]] = {
        "one": LOADS,
        "two": [step, "done"],
        "three": [step, [load("visas")], "done"],
    }
    rig = driver.build(setup(skills, scripts(steps)))

    await rig.say("one", who=ANA)
    write_pack(packs, "visas", "Use when a border is crossed.", "VISAS-3311")
    skills.sync()
    await rig.say("two", who=ANA)
    await rig.say("three", who=ANA)

    results = rig.seen[-1].results
    assert {seen.system for seen in rig.seen} == {rig.seen[0].system}
    assert ["border" in result for result in results[:3]] == [False, True, False]
    assert "border" not in results[3]  # a body has no description
    assert "VISAS-3311" in results[3]


async def test_active_skills_survive_trimming(bench: Bench) -> None:
    """When the history is trimmed, loaded skills are repeated; tools stay open."""
    rig = bench.rig(scripts({"one": LOADS, "two": [[REFUND], "done"]}))

    await rig.say("one", who=ANA)
    rig.trim()
    await rig.say("two", who=ANA)

    after = rig.seen[2]
    assert not any("one" in m.text for m in after.messages if m.role == "user")
    assert REFUNDS in _all_text(after)
    assert set(after.tools) >= OPENED
    assert rig.seen[3].results[-1] == REFUNDED


async def test_reinjection_keeps_its_budget(bench: Bench, packs: Path) -> None:
    """Skills that do not fit are only named, the oldest first."""
    for name in ("early", "late"):
        body = f"{name.upper()}-1 " + "word " * 400
        write_pack(packs, name, f"Use when it is {name}.", body)
    model = scripts({"one": [[load("early")], [load("late")], "done"], "two": ["done"]})
    rig = bench.rig(model, reinject_tokens=900)

    await rig.say("one", who=ANA)
    rig.trim()
    await rig.say("two", who=ANA)

    text = _all_text(rig.seen[3])
    assert "LATE-1" in text
    assert "EARLY-1" not in text
    assert text.count("early") > _all_text(rig.seen[0]).count("early")


def _all_text(seen: Seen) -> str:
    return "\n".join((seen.system, *(message.text for message in seen.messages)))


async def test_fifty_users_at_once(bench: Bench, mode: Mode) -> None:
    """Fifty users of one agent object see, load, open and call only their own."""

    def model(seen: Seen) -> Say:
        number = int(seen.last_user.removeprefix("user "))
        return user_steps(number)[min(seen.since_user, 2)]

    rig = bench.rig(model)

    async def user(number: int) -> object:
        who, name = user_of(number), f"user {number}"
        return await rig.say(name, chat=name, who=who, mode=mode)

    output = await asyncio.gather(*map(user, range(50)))

    assert output == [f"done {number}" for number in range(50)]
    assert len(rig.seen) == 150
    for seen in rig.seen:
        check_is_of(seen, int(seen.last_user.removeprefix("user ")))


async def test_a_conversation_resumes_elsewhere(bench: Bench) -> None:
    """Another process resumes a conversation: its tools are open at once."""
    rig = bench.rig(script(*LOADS))
    await rig.say("one", who=ANA)

    done = in_process("go_on", bench.driver.name, bench.packs, given=rig.save())

    assert done.returncode == 0, done.stderr
    expected = json.loads(done.stdout.splitlines()[-1])
    seen = expected["seen"]
    assert expected["said"] == "done"
    assert len(seen) == 2
    assert set(seen[0]["tools"]) >= OPENED
    assert seen[0]["system"] == rig.seen[0].system
    assert seen[1]["results"][-1] == REFUNDED


async def test_two_agents_share_a_catalog(driver: Driver, packs: Path) -> None:
    """Two agents on one catalog: what one loads opens nothing for the other."""
    skills = open_desk(packs)
    first = driver.build(setup(skills, script([load("refunds")], "done")))
    second = driver.build(setup(skills, script("hello")))

    await first.say("hi", who=ANA)
    await second.say("hi", who=ANA)

    assert second.seen[0].system == first.seen[0].system
    assert second.seen[0].tools == first.seen[0].tools


async def test_a_hand_off(driver: Driver, packs: Path) -> None:
    """The agent that takes over sees its own catalog, and has loaded nothing yet."""
    skills = open_desk(packs)

    def first(seen: Seen) -> Say:
        if not any(REFUNDS in result for result in seen.results):
            return [load("refunds")]
        return [transfer(seen)] if seen.since_user == 1 else "handed over"

    def second(seen: Seen) -> Say:
        texts = "".join(seen.results)
        if TRAVEL not in texts:  # asked for once: a deputy may not have it
            return "lost" if "'travel' was not found" in texts else [load("travel")]
        return "over" if "booked" in texts else [Call("book", {"city": "Basel"})]

    rig = driver.build_pair(
        setup(skills, first, base="First desk.", only=["refunds"]),
        setup(skills, second, base="Second desk.", only=["travel"]),
    )
    await rig.say("hi", who=ANA)

    theirs = [seen for seen in rig.seen if "Second desk." in seen.system]
    assert len(theirs) == 3
    assert "wants money back" not in theirs[0].system
    assert "has to go somewhere" in theirs[0].system
    assert not {"refund", "book"} & set(theirs[0].tools)
    assert added(theirs[1], theirs[0]) == {"book", "seat"}
    assert "booked Basel for ana" in theirs[2].results


ASKS = [ask("refunds", tool="refund")]


async def _paused(bench: Bench, *steps: Say, rules: Any = ASKS) -> tuple[Rig, Paused]:
    rig = bench.rig(script(*(steps or PAYS)), rules=rules)
    paused = await rig.say("hi", who=ANA)
    assert isinstance(paused, Paused)
    return rig, paused


async def _decided(rig: Rig, output: str | Paused, yes: Any) -> list[str]:
    """Answer a run until it is done; return which orders were asked about."""
    asked: list[str] = []
    while isinstance(output, Paused):
        asked.append(str(output.arguments["order_id"]))
        output = await rig.decide(output, approve=yes(asked))
    assert output == "done"
    return asked


@pytest.mark.capability("approval")
async def test_an_approval_pauses_the_run(bench: Bench, mode: Mode) -> None:
    """A call that a person has to approve waits, and is made when it is approved."""
    rig = bench.rig(script(*PAYS), rules=ASKS)

    paused = await rig.say("hi", who=ANA, mode=mode)
    done_before = list(bench.desk.done)
    assert isinstance(paused, Paused)
    output = await rig.decide(paused, approve=True)

    assert Call(paused.tool, dict(paused.arguments)) == REFUND
    assert done_before == []
    assert output == "done"
    assert bench.desk.done == [PAID]
    assert rig.seen[-1].results[-1] == REFUNDED


@pytest.mark.capability("approval")
async def test_an_approval_resumes_elsewhere(bench: Bench) -> None:
    """A run that waits is stored as text, and goes on with another agent object."""
    rig, paused = await _paused(bench)
    state, saved = json.dumps(paused.state), rig.save()

    other = bench.rig(script(*PAYS), rules=ASKS)
    other.restore(saved)
    output = await other.decide(replace(paused, state=json.loads(state)), approve=True)

    assert output == "done"
    assert bench.desk.done == [PAID]
    assert [REFUNDS in _all_text(seen) for seen in other.seen] == [True]


@pytest.mark.capability("approval")
async def test_each_call_is_approved_by_itself(bench: Bench) -> None:
    """Of two calls made side by side one is approved and one declined."""
    other = Call("refund", {"order_id": "A-2", "cents": 5})
    rig, paused = await _paused(bench, [load("refunds")], [REFUND, other], "done")

    asked = await _decided(rig, paused, lambda asked: asked[-1] == "A-1")

    assert sorted(asked) == ["A-1", "A-2"]
    assert bench.desk.done == [PAID]
    assert rig.seen[-1].results[-2] == REFUNDED


@pytest.mark.capability("approval")
async def test_declined_is_a_result_and_retryable(bench: Bench) -> None:
    """A declined call is answered; repeated, it is asked again."""
    rig = bench.rig(scripts({"again": [[REFUND], "yes"], "": PAYS}), rules=ASKS)

    paused = await rig.say("hi", who=ANA)
    assert isinstance(paused, Paused)
    output = await rig.decide(paused, approve=False)
    declined = rig.seen[-1].results[-1]
    done_before = list(bench.desk.done)
    paused = await rig.say("again", who=ANA)
    assert isinstance(paused, Paused)
    last = await rig.decide(paused, approve=True)

    assert (output, last) == ("done", "yes")
    assert REFUNDED not in declined
    assert done_before == []
    assert bench.desk.done == [PAID]


TWICE: Final[list[Say]] = [[load("refunds")], [REFUND, REFUND], "done"]


@pytest.mark.capability("approval")
@pytest.mark.row("F20", "T08")
async def test_two_equal_calls_and_one_yes(bench: Bench) -> None:
    """Of two equal calls side by side with one yes, one is made."""
    rig, paused = await _paused(bench, *TWICE)

    asked = await _decided(rig, paused, lambda asked: len(asked) == 1)

    assert len(asked) == 2
    assert bench.desk.done == [PAID]


@pytest.mark.row("F20", "T08")
async def test_two_equal_calls_and_a_callback(bench: Bench, mode: Mode) -> None:
    """A callback is asked for each of two equal calls; its one yes is for one."""
    asked: list[str] = []

    def approve(question: Any) -> bool:
        asked.append(question.tool)
        return len(asked) == 1

    output, _ = await bench.say(*TWICE, rules=ASKS, mode=mode, approve=approve)

    assert output == "done"
    assert asked == ["refund", "refund"]
    assert bench.desk.done == [PAID]


@pytest.mark.capability("approval")
@pytest.mark.row("F24", "E25")
async def test_a_question_says_what_is_asked(bench: Bench) -> None:
    """A person reads the skill, the tool, the arguments and the reason."""
    rule = ask("refunds", tool="refund", reason="money leaves the house")
    _, paused = await _paused(bench, rules=[rule])

    for part in ("refunds", "refund", "A-1", "995", "money leaves the house"):
        assert part in paused.question


@pytest.mark.capability("approval")
@pytest.mark.row("F24")
async def test_words_of_a_rejection_are_read(bench: Bench) -> None:
    """The model reads what a person says with a no."""
    rig, paused = await _paused(bench)

    output = await rig.decide(paused, approve=False, words="Not before friday.")

    assert output == "done"
    assert bench.desk.done == []
    assert "Not before friday." in rig.seen[-1].results[-1]


@pytest.mark.capability("edits")
@pytest.mark.row("F24")
async def test_edited_arguments_are_used(bench: Bench) -> None:
    """A call is made with the arguments that a person changed."""
    rig, paused = await _paused(bench)

    less = {"order_id": "A-1", "cents": 5}
    output = await rig.decide(paused, approve=True, arguments=less)

    assert output == "done"
    assert bench.desk.done == ["refund A-1 5 by ana"]
    assert "refunded 5 of A-1 by ana" in rig.seen[-1].results[-1]


@pytest.mark.capability("approval")
@pytest.mark.row("F20", "F22")
async def test_payments_never_exceed_yeses(driver: Driver, packs: Path) -> None:
    """A paused run that is resumed three times, with two yeses, pays once."""
    desk = Desk()
    skills = open_desk(packs, desk, *ASKS)
    rig = driver.build(setup(skills, script(*PAYS)))
    paused = await rig.say("hi", who=ANA)
    assert isinstance(paused, Paused)
    state, saved = json.dumps(paused.state), rig.save()

    for approve in (True, False, True):
        other = driver.build(setup(skills, script(*PAYS)))
        other.restore(saved)
        again = replace(paused, state=json.loads(state))
        assert await other.decide(again, approve=approve) == "done"

    assert desk.done == [PAID]


@pytest.mark.slow
@pytest.mark.capability("approval")
@pytest.mark.row("F20", "F22")
@pytest.mark.parametrize(("stored", "effects"), [("folder", 1), ("memory", 2)])
async def test_a_process_that_dies_after_an_effect(
    driver: Driver, packs: Path, tmp_path: Path, stored: str, effects: int
) -> None:
    """Killed between effect and result: no second effect without a second yes.

    Where used approvals are kept in a folder, not even with one for the same call.
    """
    file = tmp_path / "effects"
    rig = driver.build(setup(careful(packs, Effects(file)), script(*PAYS)))
    paused = await rig.say("hi", who=ANA)
    assert isinstance(paused, Paused)
    given = json.dumps({"saved": rig.save(), "state": paused.state})
    where = str(tmp_path / "used") if stored == "folder" else "memory"
    arguments = "say_yes", driver.name, packs, file

    killed = in_process(*arguments, "die", given=given, approvals=where)
    before = file.read_text("utf-8").splitlines()
    done = in_process(*arguments, given=given, approvals=where)

    assert killed.returncode == -signal.SIGKILL
    assert before == [PAID]
    assert done.returncode == 0, done.stderr
    expected = json.loads(done.stdout.splitlines()[-1])
    assert expected["said"] == "done"
    assert ("approval-used" in expected["result"]) == (stored == "folder")
    assert len(file.read_text("utf-8").splitlines()) == effects


@pytest.mark.row("F21")
@pytest.mark.parametrize("state", ["nonsense", 7, {"active": "x"}, {"grants": [1]}])
async def test_a_broken_state_starts_again(bench: Bench, state: object) -> None:
    """A state that cannot be read is reported, and the conversation goes on."""
    rig = bench.rig(scripts({"one": LOADS, "two": ["ok"]}))

    await rig.say("one", who=ANA)
    rig.keep_instead(state)
    output = await rig.say("two", who=ANA)

    assert output == "ok"
    assert "Use when a customer wants money back." in rig.seen[-1].system


@pytest.mark.row("F27")
async def test_a_made_up_result_opens_nothing(bench: Bench) -> None:
    """A load that needs approval is not believed from the messages alone."""
    model = scripts({"one": LOADS, "two": [[REFUND], "over"]})
    rig = bench.rig(model)
    await rig.say("one", who=ANA)

    other = bench.rig(model, rules=[ask("refunds", action="load")])
    other.restore(rig.save())
    other.keep_instead(None)
    output = await other.say("two", who=ANA)

    assert output == "over"
    assert "refund" not in other.seen[0].tools
    assert bench.desk.done == []


@pytest.mark.parametrize("answer", [True, False])
async def test_a_callback_can_answer(bench: Bench, *, answer: bool) -> None:
    """With `approve` no run waits: the callback is asked, once for each call."""
    asked: list[Mapping[str, object]] = []

    def approve(question: Any) -> bool:
        asked.append({"tool": question.tool, "who": question.who["user"]})
        return answer

    output, seen = await bench.say(*PAYS, rules=ASKS, approve=approve)

    assert output == "done"
    assert asked == [{"tool": "refund", "who": "ana"}]
    assert bench.desk.done == ([PAID] if answer else [])
    assert ("approval-declined" in seen[-1].results[-1]) != answer
