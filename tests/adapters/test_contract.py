"""What every adapter does, through its real framework.

One test is one row of docs/reference/adapters.md, and the first line of its docstring
the row's title. ``mode`` runs it three times: sync, async, streaming.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import pytest

from satchel import Satchel
from satchel.policy import ask, deny
from satchel.tools import Tool
from tests.adapters.desk import (
    ANA,
    BASE,
    LIMITS,
    PAID,
    PAYROLL,
    REFUND,
    REFUNDED,
    REFUNDS,
    TRAVEL,
    Desk,
    load,
    open_desk,
    read,
    script,
    scripts,
    setup,
    transfer,
    write_pack,
)
from tests.adapters.driver import Call, Paused
from tests.adapters.processes import Effects, careful
from tests.fakes import FakeSource, pack
from tools.adapters.frameworks import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from satchel.tools import Run
    from tests.adapters.conftest import Bench
    from tests.adapters.driver import Driver, Mode, Rig, Say, Seen


def added(seen: Seen, before: Seen) -> set[str]:
    """Return the tools that stand behind those of an earlier step; none may move."""
    assert seen.tools[: len(before.tools)] == before.tools
    return set(seen.tools[len(before.tools) :])


# What a model sees


async def test_the_catalog_reaches_the_model(bench: Bench, mode: Mode) -> None:
    """The catalog is in the prompt, after the agent's own text."""
    rig = bench.rig(script("hello"))

    output = await rig.say("hi", who=ANA, mode=mode)

    system = rig.seen[0].system
    assert output == "hello"
    assert system.index(BASE) < system.index("Use when a customer wants money back.")
    assert system.index("refunds") < system.index("travel")
    assert len(rig.seen) == 1


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

    def weather(city: str) -> str:
        """Tell the weather."""
        return f"sun in {city}"

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
    model = script([REFUND], "done")
    rig = bench.rig(model, always=["refunds"])

    await rig.say("hi", who=ANA)

    assert REFUNDS in rig.seen[0].system
    assert {"order_status", "refund"} <= set(rig.seen[0].tools)
    assert rig.seen[1].results == [REFUNDED]


async def test_options_narrow_what_is_there(bench: Bench) -> None:
    """A pattern hides the other skills from an agent."""
    model = script([load("travel")], "done")
    rig = bench.rig(model, only=["ref*"])

    await rig.say("hi", who=ANA)

    assert "refunds" in rig.seen[0].system
    assert "travel" not in rig.seen[0].system
    assert TRAVEL not in "".join(rig.seen[1].results)


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


# Loading and reading


async def test_load_answers(bench: Bench, mode: Mode) -> None:
    """Loading a skill gives its instructions."""
    rig = bench.rig(script([load("refunds")], "done"))

    output = await rig.say("hi", who=ANA, mode=mode)

    [result] = rig.seen[1].results
    assert output == "done"
    assert REFUNDS in result


async def test_a_file_is_read(bench: Bench, mode: Mode) -> None:
    """A file of a skill is read."""
    model = script([load("refunds")], [read("refunds", "limits.md")], "done")
    rig = bench.rig(model)

    await rig.say("hi", who=ANA, mode=mode)

    assert LIMITS in rig.seen[2].results[1]


async def test_parallel_loads(bench: Bench, mode: Mode) -> None:
    """Two skills load side by side in one step; the tools of both open."""
    calls = [load("refunds"), load("travel")]
    rig = bench.rig(script(calls, [REFUND], "done"))

    await rig.say("hi", who=ANA, mode=mode)

    before, after, last = rig.seen
    assert REFUNDS in after.results[0]
    assert TRAVEL in after.results[1]
    assert added(after, before) == {"order_status", "refund", "book", "seat"}
    assert last.results[2] == REFUNDED


async def test_loaded_again_is_a_note(bench: Bench) -> None:
    """A skill loaded again costs one line, but its text once that is gone."""
    model = script([load("refunds")], "done")
    rig = bench.rig(model)

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


# Tools that skills carry


async def test_carried_tools_open_after_the_load(bench: Bench, mode: Mode) -> None:
    """A skill's tools open when it is loaded, after all others, in its order."""

    def weather(city: str) -> str:
        """Tell the weather."""
        return f"sun in {city}"

    model = script([load("refunds")], [REFUND], "done")
    rig = bench.rig(model, weather)

    output = await rig.say("hi", who=ANA, mode=mode)

    before, after, last = rig.seen
    assert "weather" in before.tools
    assert not {"order_status", "refund"} & set(before.tools)
    assert after.tools == (*before.tools, "order_status", "refund")
    assert last.results[1] == REFUNDED
    assert output == "done"


async def test_carried_tools_stay_open(bench: Bench) -> None:
    """In the next turn they are still open, and later ones come after them."""
    by_text: dict[str, list[Say]] = {
        "one": [[load("travel")], "done"],
        "two": [[load("refunds")], [REFUND], "done"],
    }
    rig = bench.rig(scripts(by_text))

    await rig.say("one", who=ANA)
    await rig.say("two", who=ANA)

    start, opened, next_turn, both, _ = rig.seen
    assert added(opened, start) == {"book", "seat"}
    assert next_turn.tools == opened.tools
    assert both.tools == (*opened.tools, "order_status", "refund")


async def test_an_asynchronous_tool_is_awaited(bench: Bench) -> None:
    """A skill's tool may be asynchronous."""
    model = script([load("travel")], [Call("seat", {"row": 7})], "done")
    rig = bench.rig(model)

    await rig.say("hi", who=ANA)

    assert rig.seen[2].results[1] == "row 7 is yours"


async def test_a_native_tool_is_carried(driver: Driver, tmp_path: Path) -> None:
    """A tool object of the framework opens like any other."""

    def post(city: str) -> str:
        """Send a card."""
        return f"a card went to {city}"

    write_pack(
        tmp_path,
        "cards",
        "Use when a card is due.\nmetadata: {tools: post}",
        "Send it.",
    )
    skills = Satchel(tmp_path, tools=[driver.native_tool("post", post)])
    model = script([load("cards")], [Call("post", {"city": "Bern"})], "done")
    rig = driver.build(setup(skills, model))

    await rig.say("hi", who=ANA)

    assert added(rig.seen[1], rig.seen[0]) == {"post"}
    assert "a card went to Bern" in rig.seen[2].results[1]


async def test_the_run_is_filled_in(driver: Driver, tmp_path: Path) -> None:
    """A tool gets who it runs for and the application's objects, outside its schema."""
    from satchel import Satchel

    payments = object()
    got: list[Any] = []

    def pay(order_id: str, run: Run) -> str:
        """Pay."""
        got.extend([order_id, run.who["user"], run.deps])
        return "paid"

    write_pack(
        tmp_path, "pay", "Use when a bill is due.\nmetadata: {tools: pay}", "Pay it."
    )
    model = script([load("pay")], [Call("pay", {"order_id": "B-2"})], "done")
    skills = Satchel(tmp_path, tools=[pay])
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
    write_pack(tmp_path, "odd", "Use it.\nmetadata: {tools: echo}", "Go.")
    words = {name: f"{n}" for n, name in enumerate(RESERVED)}
    model = script([load("odd")], [Call("echo", words)], "done")
    rig = driver.build(setup(Satchel(tmp_path, tools=[tool]), model))

    output = await rig.say("hi", who=ANA, mode=mode)

    assert len(RESERVED) == 32
    assert output == "done"
    assert rig.seen[2].results[1] == echo(**words)


@pytest.mark.row("F22")
async def test_a_closed_tool_is_not_called(driver: Driver, packs: Path) -> None:
    """A tool whose skill was not loaded is not called, whichever chat has it open."""
    desk = Desk()
    by_text: dict[str, list[Say]] = {
        "open": [[load("refunds")], "done"],
        "try": [[REFUND], "done"],
    }
    rig = driver.build(setup(open_desk(packs, desk), scripts(by_text)))

    await rig.say("open", chat="ana", who=ANA)
    output = await rig.say("try", chat="bo", who={"user": "bo"})

    assert output == "done"
    assert desk.done == []
    assert "refund" in rig.seen[-1].results[-1]


@pytest.mark.row("F22", "F29")
async def test_an_unknown_tool_is_a_result(bench: Bench, mode: Mode) -> None:
    """A call of an unknown tool is answered, and the run goes on."""
    model = script([Call("teleport", {"city": "Bern"})], "done")
    rig = bench.rig(model)

    output = await rig.say("hi", who=ANA, mode=mode)

    assert output == "done"
    assert "teleport" in rig.seen[1].results[0]
    assert "try one of []" not in rig.seen[1].results[0]


@pytest.mark.row("F22")
async def test_a_tool_that_is_gone_is_a_result(driver: Driver, packs: Path) -> None:
    """A call of a tool whose skill was removed is answered, and the run goes on."""
    desk = Desk()
    skills = open_desk(packs, desk)
    by_text: dict[str, list[Say]] = {
        "one": [[load("refunds")], "done"],
        "two": [[REFUND], "over"],
    }
    rig = driver.build(setup(skills, scripts(by_text)))

    await rig.say("one", who=ANA)
    (packs / "refunds" / "SKILL.md").unlink()
    skills.sync()
    output = await rig.say("two", who=ANA)

    assert output == "over"
    assert desk.done == []
    assert "refund" in rig.seen[-1].results[-1]


@pytest.mark.row("F29")
async def test_a_load_and_a_call_in_one_step(driver: Driver, packs: Path) -> None:
    """A tool that opens in a step can be called in the next one, never by chance."""
    desk = Desk()
    model = script([load("refunds"), REFUND], [REFUND], "done")
    rig = driver.build(setup(open_desk(packs, desk), model))

    output = await rig.say("hi", who=ANA)

    assert output == "done"
    # A framework may give errors first.
    loaded, early = sorted(rig.seen[1].results, key=lambda text: REFUNDS not in text)
    assert REFUNDS in loaded
    assert "refund" in early
    assert REFUNDS not in early
    assert desk.done == [PAID]
    assert rig.seen[2].results[2] == REFUNDED


async def test_a_tool_of_a_skills_name_is_loud(driver: Driver, packs: Path) -> None:
    """An own tool with the name of one of Satchel's is an error that names it."""

    def load_skill(name: str) -> str:
        """Load a skill in a way of our own."""
        return name

    with pytest.raises(Exception, match="load_skill"):
        await _built_and_said(driver, setup(open_desk(packs), script("hi"), load_skill))


async def test_a_carried_tool_of_an_own_name_is_loud(
    driver: Driver, packs: Path
) -> None:
    """An own tool with the name of a skill's tool is an error that names it."""

    def refund(order_id: str) -> str:
        """Pay back in a way of our own."""
        return order_id

    model = script([load("refunds")], "done")
    with pytest.raises(Exception, match="refund"):
        await _built_and_said(driver, setup(open_desk(packs), model, refund))


async def _built_and_said(driver: Driver, given: Any) -> None:
    """Build and say: the name may be told at either; as the text of what is raised."""
    try:
        await driver.build(given).say("hi", who=ANA)
    except Exception as error:
        expected = "; ".join(str(each) for each in _causes(error))
        raise AssertionError(expected) from error


def _causes(error: BaseException) -> list[BaseException]:
    """Return an error and all that led to it; a group may be the context of a part."""
    matches = [error]
    for each in matches:
        more = [each.__cause__ or each.__context__]
        if isinstance(each, BaseExceptionGroup):
            more += cast("BaseExceptionGroup[BaseException]", each).exceptions
        matches += [one for one in more if one is not None and one not in matches]
    return matches


@pytest.mark.row("F58")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"style": "nope"}, "nope"),
        ({"whom": ANA}, "who"),
        ({"alway": ["refunds"]}, "always"),
        ({"approve": "yes"}, "approve"),
    ],
)
async def test_a_wrong_option_is_refused_at_once(
    bench: Bench, options: Mapping[str, Any], expected: str
) -> None:
    """A wrong option fails in `attach`."""
    with pytest.raises((TypeError, ValueError), match=expected):
        bench.rig(script("hi"), **options)


@pytest.mark.row("F58")
async def test_a_path_is_no_satchel(driver: Driver) -> None:
    """A path instead of a Satchel fails in `attach`."""
    skills: Any = "./skills"
    with pytest.raises(TypeError, match=r"Satchel\('./skills'\)"):
        driver.build(setup(skills, script("hi")))


# What goes wrong stays inside the loop


async def test_a_miss_is_a_result(bench: Bench, mode: Mode) -> None:
    """A load of an unknown skill is answered, and the run goes on."""
    rig = bench.rig(script([load("fees")], "done"))

    output = await rig.say("hi", who=ANA, mode=mode)

    [result] = rig.seen[1].results
    assert output == "done"
    assert "fees" in result
    assert "not found" in result


async def test_the_third_miss_is_final(bench: Bench) -> None:
    """A turn's second failed load lists the skills; the third of one id is final."""
    ids = ("fees", "fee", "fees", "fee", "fees")
    rig = bench.rig(script(*[[load(each)] for each in ids], "done"))

    await rig.say("hi", who=ANA)

    results = rig.seen[5].results
    assert ["travel" in each for each in results[:3]] == [False, True, True]
    assert ["final" in each for each in results] == [False] * 4 + [True]


async def test_a_refusal_is_a_result(driver: Driver, packs: Path, mode: Mode) -> None:
    """What the policy denies is answered, and the run goes on."""
    skills = open_desk(packs, None, deny("refunds", action="load"))
    rig = driver.build(setup(skills, script([load("refunds")], "done")))

    output = await rig.say("hi", who=ANA, mode=mode)

    [result] = rig.seen[1].results
    assert output == "done"
    assert REFUNDS not in result
    assert "refunds" in result


async def test_a_denied_tool_is_not_offered(driver: Driver, packs: Path) -> None:
    """A skill's tool that the policy denies does not open."""
    skills = open_desk(packs, None, deny("refunds", tool="refund"))
    rig = driver.build(setup(skills, script([load("refunds")], "done")))

    await rig.say("hi", who=ANA)

    assert added(rig.seen[1], rig.seen[0]) == {"order_status"}


async def test_a_raising_tool_is_a_result(bench: Bench, mode: Mode) -> None:
    """A tool that raises gives an error without its message, and the run goes on."""
    call = Call("order_status", {"order_id": "lost"})
    rig = bench.rig(script([load("refunds")], [call], "end"))

    output = await rig.say("hi", who=ANA, mode=mode)

    result = rig.seen[2].results[1]
    assert output == "end"
    assert "internal-error" in result
    assert "/var/orders.db" not in result


async def test_wrong_arguments_are_a_result(driver: Driver, packs: Path) -> None:
    """A call that does not fit the schema is a result that names the argument."""
    call = Call("refund", {"order_id": "A-1", "cents": "lots"})
    desk = Desk()
    model = script([load("refunds")], [call], "done")
    rig = driver.build(setup(open_desk(packs, desk), model))

    output = await rig.say("hi", who=ANA)

    assert output == "done"
    assert desk.done == []
    assert "cents" in rig.seen[2].results[1]


# A catalog that moves


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
    by_text: dict[str, list[Say]] = {
        "one": [[load("refunds")], "done"],
        "two": [[read("refunds", "limits.md")], "done"],
        "three": [[read("refunds", "limits.md")], [load("visas")], "done"],
    }
    rig = driver.build(setup(skills, scripts(by_text)))

    await rig.say("one", who=ANA)
    write_pack(packs, "visas", "Use when a border is crossed.", "VISAS-3311")
    skills.sync()
    await rig.say("two", who=ANA)
    await rig.say("three", who=ANA)

    results = rig.seen[-1].results
    assert {seen.system for seen in rig.seen} == {rig.seen[0].system}
    assert ["border" in result for result in results[:3]] == [False, True, False]
    assert results[3].count("border") == 1  # in the pack's own description
    assert "VISAS-3311" in results[3]


async def test_active_skills_survive_trimming(bench: Bench) -> None:
    """When the history is trimmed, loaded skills are repeated; tools stay open."""
    by_text: dict[str, list[Say]] = {
        "one": [[load("refunds")], "done"],
        "two": [[REFUND], "done"],
    }
    rig = bench.rig(scripts(by_text))

    await rig.say("one", who=ANA)
    rig.trim()
    await rig.say("two", who=ANA)

    after = rig.seen[2]
    assert not any("one" in m.text for m in after.messages if m.role == "user")
    assert REFUNDS in _all_text(after)
    assert {"order_status", "refund"} <= set(after.tools)
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


# Several users, agents and processes


async def test_fifty_users_at_once(bench: Bench, mode: Mode) -> None:
    """Fifty users of one agent object see, load, open and call only their own."""

    def model(seen: Seen) -> Say:
        number = int(seen.last_user.removeprefix("user "))
        mine = "refunds" if number % 2 else "travel"
        call = (
            Call("refund", {"order_id": f"A-{number}", "cents": number})
            if number % 2
            else Call("book", {"city": f"C-{number}"})
        )
        return ([load(mine)], [call], f"done {number}")[min(seen.since_user, 2)]

    rig = bench.rig(model)

    output = await asyncio.gather(
        *(_user_says(rig, number, mode) for number in range(50))
    )

    assert output == [f"done {number}" for number in range(50)]
    assert len(rig.seen) == 150
    for seen in rig.seen:
        number = int(seen.last_user.removeprefix("user "))
        _check_is_of(seen, number)


async def _user_says(rig: Rig, number: int, mode: Mode) -> object:
    groups = ["hr"] if number % 3 == 0 else []
    who = {"user": f"u{number}", "groups": groups}
    return await rig.say(f"user {number}", chat=f"c{number}", who=who, mode=mode)


def _check_is_of(seen: Seen, number: int) -> None:
    texts = "".join(seen.results)
    refunds = {"order_status", "refund"} & set(seen.tools)
    travel = {"book", "seat"} & set(seen.tools)
    mine, others = (refunds, travel) if number % 2 else (travel, refunds)
    foreign = TRAVEL if number % 2 else REFUNDS
    assert ("payroll" in seen.system) == (number % 3 == 0)
    assert not others
    assert len(mine) == (2 if seen.since_user else 0)
    assert foreign not in texts
    if seen.since_user == 2:
        assert seen.results[1].endswith(f" u{number}")


async def test_a_conversation_resumes_elsewhere(
    bench: Bench, driver: Driver, packs: Path
) -> None:
    """Another process resumes a conversation: its tools are open at once."""
    rig = bench.rig(script([load("refunds")], "done"))
    await rig.say("one", who=ANA)

    seen, output = _elsewhere(driver, packs, rig.save())

    assert output == "done"
    assert len(seen) == 2
    assert {"order_status", "refund"} <= set(seen[0]["tools"])
    assert seen[0]["system"] == rig.seen[0].system
    assert seen[1]["results"][-1] == REFUNDED


def _elsewhere(driver: Driver, packs: Path, saved: str) -> tuple[list[Any], str]:
    """Go on in another process, with the tool of the skill that is in use."""
    command = [
        sys.executable,
        "-m",
        "tests.adapters.processes",
        "go_on",
        driver.name,
        str(packs),
    ]
    done = subprocess.run(
        command, input=saved, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    expected = json.loads(done.stdout.splitlines()[-1])
    return expected["seen"], expected["said"]


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
        if TRAVEL not in texts:
            return [load("travel")]
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


# Approval


def asking(packs: Path, desk: Desk) -> Any:
    return open_desk(packs, desk, ask("refunds", tool="refund"))


PAYS = script([load("refunds")], [REFUND], "done")


@pytest.mark.capability("approval")
async def test_an_approval_pauses_the_run(
    driver: Driver, packs: Path, mode: Mode
) -> None:
    """A call that a person has to approve waits, and is made when it is approved."""
    desk = Desk()
    rig = driver.build(setup(asking(packs, desk), PAYS))

    paused = await rig.say("hi", who=ANA, mode=mode)
    done_before = list(desk.done)
    assert isinstance(paused, Paused)
    output = await rig.decide(paused, approve=True)

    assert (paused.tool, dict(paused.arguments)) == (
        REFUND.name,
        dict(REFUND.arguments),
    )
    assert done_before == []
    assert output == "done"
    assert desk.done == [PAID]
    assert rig.seen[-1].results[-1] == REFUNDED


@pytest.mark.capability("approval")
async def test_an_approval_resumes_elsewhere(driver: Driver, packs: Path) -> None:
    """A run that waits is stored as text, and goes on with another agent object."""
    desk = Desk()
    rig = driver.build(setup(asking(packs, desk), PAYS))
    paused = await rig.say("hi", who=ANA)
    assert isinstance(paused, Paused)
    state, saved = json.dumps(paused.state), rig.save()

    other = driver.build(setup(asking(packs, desk), PAYS))
    other.restore(saved)
    output = await other.decide(replace(paused, state=json.loads(state)), approve=True)

    assert output == "done"
    assert desk.done == [PAID]
    assert [REFUNDS in _all_text(seen) for seen in other.seen] == [True]


@pytest.mark.capability("approval")
async def test_each_call_is_approved_by_itself(driver: Driver, packs: Path) -> None:
    """Of two calls made side by side one is approved and one declined."""
    desk = Desk()
    other = Call("refund", {"order_id": "A-2", "cents": 5})
    model = script([load("refunds")], [REFUND, other], "done")
    rig = driver.build(setup(asking(packs, desk), model))

    asked: list[object] = []
    output = await rig.say("hi", who=ANA)
    while isinstance(output, Paused):
        asked.append(output.arguments["order_id"])
        output = await rig.decide(output, approve=asked[-1] == "A-1")

    assert output == "done"
    assert sorted(map(str, asked)) == ["A-1", "A-2"]
    assert desk.done == [PAID]
    assert rig.seen[-1].results[-2] == REFUNDED


@pytest.mark.capability("approval")
async def test_declined_is_a_result_and_retryable(driver: Driver, packs: Path) -> None:
    """A declined call is answered; repeated, it is asked again."""
    desk = Desk()
    rig = driver.build(
        setup(asking(packs, desk), scripts({"again": [[REFUND], "yes"], "": _steps()}))
    )

    paused = await rig.say("hi", who=ANA)
    assert isinstance(paused, Paused)
    output = await rig.decide(paused, approve=False)
    declined = rig.seen[-1].results[-1]
    done_before = list(desk.done)
    paused = await rig.say("again", who=ANA)
    assert isinstance(paused, Paused)
    last = await rig.decide(paused, approve=True)

    assert (output, last) == ("done", "yes")
    assert REFUNDED not in declined
    assert done_before == []
    assert desk.done == [PAID]


def _steps() -> list[Say]:
    return [[load("refunds")], [REFUND], "done"]


TWICE = script([load("refunds")], [REFUND, REFUND], "done")


@pytest.mark.capability("approval")
@pytest.mark.row("F20", "T08")
async def test_two_equal_calls_and_one_yes(driver: Driver, packs: Path) -> None:
    """Of two equal calls side by side with one yes, one is made."""
    desk = Desk()
    rig = driver.build(setup(asking(packs, desk), TWICE))

    asked = 0
    output = await rig.say("hi", who=ANA)
    while isinstance(output, Paused):
        asked += 1
        output = await rig.decide(output, approve=asked == 1)

    assert output == "done"
    assert asked == 2
    assert desk.done == [PAID]


@pytest.mark.row("F20", "T08")
async def test_two_equal_calls_and_a_callback(
    driver: Driver, packs: Path, mode: Mode
) -> None:
    """A callback is asked for each of two equal calls; its one yes is for one."""
    desk = Desk()
    asked: list[str] = []

    def approve(question: Any) -> bool:
        asked.append(question.tool)
        return len(asked) == 1

    rig = driver.build(setup(asking(packs, desk), TWICE, approve=approve))
    output = await rig.say("hi", who=ANA, mode=mode)

    assert output == "done"
    assert asked == ["refund", "refund"]
    assert desk.done == [PAID]


@pytest.mark.capability("approval")
@pytest.mark.row("F24", "E25")
async def test_a_question_says_what_is_asked(driver: Driver, packs: Path) -> None:
    """A person reads the skill, the tool, the arguments and the reason."""
    rule = ask("refunds", tool="refund", reason="money leaves the house")
    rig = driver.build(setup(open_desk(packs, None, rule), PAYS))

    paused = await rig.say("hi", who=ANA)

    assert isinstance(paused, Paused)
    for part in ("refunds", "refund", "A-1", "995", "money leaves the house"):
        assert part in paused.question


@pytest.mark.capability("approval")
@pytest.mark.row("F24")
async def test_words_of_a_rejection_are_read(driver: Driver, packs: Path) -> None:
    """The model reads what a person says with a no."""
    desk = Desk()
    rig = driver.build(setup(asking(packs, desk), PAYS))

    paused = await rig.say("hi", who=ANA)
    assert isinstance(paused, Paused)
    output = await rig.decide(paused, approve=False, words="Not before friday.")

    assert output == "done"
    assert desk.done == []
    assert "Not before friday." in rig.seen[-1].results[-1]


@pytest.mark.capability("edits")
@pytest.mark.row("F24")
async def test_edited_arguments_are_used(driver: Driver, packs: Path) -> None:
    """A call is made with the arguments that a person changed."""
    desk = Desk()
    rig = driver.build(setup(asking(packs, desk), PAYS))

    paused = await rig.say("hi", who=ANA)
    assert isinstance(paused, Paused)
    less = {"order_id": "A-1", "cents": 5}
    output = await rig.decide(paused, approve=True, arguments=less)

    assert output == "done"
    assert desk.done == ["refund A-1 5 by ana"]
    assert "refunded 5 of A-1 by ana" in rig.seen[-1].results[-1]


@pytest.mark.capability("approval")
@pytest.mark.row("F20", "F22")
async def test_payments_never_exceed_yeses(driver: Driver, packs: Path) -> None:
    """A paused run that is resumed three times, with two yeses, pays once."""
    desk = Desk()
    skills = asking(packs, desk)
    rig = driver.build(setup(skills, PAYS))
    paused = await rig.say("hi", who=ANA)
    assert isinstance(paused, Paused)
    state, saved = json.dumps(paused.state), rig.save()

    for approve in (True, False, True):
        other = driver.build(setup(skills, PAYS))
        other.restore(saved)
        again = replace(paused, state=json.loads(state))
        output = await other.decide(again, approve=approve)
        assert output == "done"

    assert desk.done == [PAID]


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
    rig = driver.build(setup(careful(packs, Effects(file)), PAYS))
    paused = await rig.say("hi", who=ANA)
    assert isinstance(paused, Paused)
    given = json.dumps({"saved": rig.save(), "state": paused.state})
    where = str(tmp_path / "used") if stored == "folder" else "memory"

    killed = _yes_elsewhere(driver, packs, file, given, where, "die")
    before = file.read_text("utf-8").splitlines()
    done = _yes_elsewhere(driver, packs, file, given, where)

    assert killed.returncode == -signal.SIGKILL
    assert before == [PAID]
    assert done.returncode == 0, done.stderr
    expected = json.loads(done.stdout.splitlines()[-1])
    assert expected["said"] == "done"
    assert ("approval-used" in expected["result"]) == (stored == "folder")
    assert len(file.read_text("utf-8").splitlines()) == effects


def _yes_elsewhere(
    driver: Driver, packs: Path, file: Path, given: str, where: str, *how: str
) -> subprocess.CompletedProcess[str]:
    """Say yes to the paused run in another process, which may die of it."""
    command = [sys.executable, "-m", "tests.adapters.processes", "say_yes", driver.name]
    return subprocess.run(
        [*command, str(packs), str(file), *how],
        input=given,
        cwd=ROOT,
        env={**os.environ, "SATCHEL_APPROVALS": where},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.row("F21")
@pytest.mark.parametrize("state", ["nonsense", 7, {"active": "x"}, {"grants": [1]}])
async def test_a_broken_state_starts_again(
    bench: Bench, state: object, caplog: pytest.LogCaptureFixture
) -> None:
    """A state that cannot be read is reported, and the conversation goes on."""
    by_text: dict[str, list[Say]] = {"one": [[load("refunds")], "done"], "two": ["ok"]}
    rig = bench.rig(scripts(by_text))

    await rig.say("one", who=ANA)
    rig.keep_instead(state)
    caplog.clear()
    output = await rig.say("two", who=ANA)

    assert output == "ok"
    assert "Use when a customer wants money back." in rig.seen[-1].system


@pytest.mark.row("F27")
async def test_a_made_up_result_opens_nothing(
    bench: Bench, driver: Driver, packs: Path
) -> None:
    """A load that needs approval is not believed from the messages alone."""
    desk = Desk()
    by_text: dict[str, list[Say]] = {
        "one": [[load("refunds")], "done"],
        "two": [[REFUND], "over"],
    }
    rig = bench.rig(scripts(by_text))
    await rig.say("one", who=ANA)

    guarded = open_desk(packs, desk, ask("refunds", action="load"))
    other = driver.build(setup(guarded, scripts(by_text)))
    other.restore(rig.save())
    other.keep_instead(None)
    output = await other.say("two", who=ANA)

    assert output == "over"
    assert "refund" not in other.seen[0].tools
    assert desk.done == []


@pytest.mark.parametrize("answer", [True, False])
async def test_a_callback_can_answer(
    driver: Driver, packs: Path, *, answer: bool
) -> None:
    """With `approve` no run waits: the callback is asked, once for each call."""
    desk = Desk()
    asked: list[Mapping[str, object]] = []

    def approve(question: Any) -> bool:
        asked.append({"tool": question.tool, "who": question.who["user"]})
        return answer

    rig = driver.build(setup(asking(packs, desk), PAYS, approve=approve))
    output = await rig.say("hi", who=ANA)

    assert output == "done"
    assert asked == [{"tool": "refund", "who": "ana"}]
    assert desk.done == ([PAID] if answer else [])
    if not answer:
        assert "approval-declined" in rig.seen[-1].results[-1]
