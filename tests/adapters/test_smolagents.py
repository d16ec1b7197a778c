"""What is of smolagents alone: agents that write code, prompts, copies of agents."""

from __future__ import annotations

import ast
import threading
from copy import copy
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from PIL import Image
from pydantic import BaseModel, Field
from smolagents import (
    ChatMessage,
    CodeAgent,
    LogLevel,
    MessageRole,
    Model,
    ToolCallingAgent,
)
from smolagents.local_python_executor import PythonExecutor
from smolagents.memory import ActionStep
from smolagents.utils import AgentError

from satchel import Satchel
from satchel.adapters.smolagents import _literal, attach
from satchel.errors import DuplicateToolError
from satchel.model import Reply
from satchel.policy import ask
from satchel.tools import Run, Tool
from tests.adapters.desk import (
    ANA,
    BASE,
    NEEDS,
    REFUND,
    REFUNDS,
    Desk,
    carried,
    load,
    open_desk,
    script,
    scripts,
    wiring,
    write_pack,
)
from tests.adapters.driver import Call
from tests.adapters.smolagents import Fake, Native

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.adapters import driver as suite

LOADS = "print(load_skill('refunds'))"
QUIET: Any = {"instructions": BASE, "verbosity_level": LogLevel.OFF}
ONCE: Mapping[str, Any] = {"one": [[load("refunds")], "done"], "": ["done"]}
"""Loads a skill where the user says "one"."""


class Coder(Model):
    """Writes these snippets in turn; keeps the messages of each call as texts."""

    def __init__(self, *snippets: str) -> None:
        super().__init__(model_id="coder")
        self._snippets = iter(snippets)
        self.seen: list[list[str]] = []

    def generate(self, messages: list[ChatMessage], *_: Any, **__: Any) -> ChatMessage:
        contents: Any = [message.content for message in messages]
        self.seen.append([content[0]["text"] for content in contents])
        code = f"Thought: go\n<code>\n{next(self._snippets)}\n</code>"
        return ChatMessage(MessageRole.ASSISTANT, code)


def code_agent(*snippets: str, **more: Any) -> CodeAgent:
    return CodeAgent([], Coder(*snippets), **QUIET, **more)


def coding(
    skills: Satchel, *snippets: str, options: Any = None, **more: Any
) -> tuple[CodeAgent, list[list[str]]]:
    """Return an agent with skills that writes code, and what its model sees."""
    agent = attach(skills, to=code_agent(*snippets, **more), **(options or {}))
    model: Any = agent.model
    return agent, model.seen


def calling(
    skills: Satchel, model: suite.Model, *tools: Any, options: Any = None, **more: Any
) -> tuple[Any, list[suite.Seen]]:
    """Return an agent with skills that calls tools, and what its model sees."""
    seen: list[suite.Seen] = []
    agent = ToolCallingAgent([*tools], Fake(model, seen), **{**QUIET, **more})
    return attach(skills, to=agent, **(options or {})), seen


def after_each_step(agent: Any, callback: Callable[[Any], object]) -> None:
    def call(_: ActionStep, agent: Any) -> None:
        callback(agent)

    agent.step_callbacks.register(ActionStep, call)


# Agents that write code


@pytest.mark.row("U07")
def test_code_calls_an_own_tool_after_its_skill(packs: Path) -> None:
    """The refusal is what the call returns; printed, it is the load."""
    skills = open_desk(packs, None, NEEDS)
    sent: list[int] = []
    own = Native(wiring(sent))
    snippets = (
        "send = wire\nprint(send(5), wire(cents=5))",
        "print(send(5))",
        "final_answer('done')",
    )
    to = CodeAgent([own], Coder(*snippets, "print(send(6))", *snippets[2:]), **QUIET)
    agent = attach(skills, to=to, who=ANA)
    model: Any = agent.model

    assert agent.run("hi") == "done"
    assert sent == [5]
    assert REFUNDS in model.seen[1][-1]
    assert "sent 5" in model.seen[2][-1]

    # The text of a step does not say whose it is: in the next run it is read again.
    agent.run("again", reset=False)
    assert sent == [5]
    assert to.tools["wire"] is own


@pytest.mark.row("U07")
def test_a_load_in_the_code_of_the_act_does_not_count(packs: Path) -> None:
    skills = open_desk(packs, None, NEEDS)
    sent: list[int] = []
    step = "print(load_skill('refunds'))\nprint(wire(5))"
    coder = Coder(step, "print(wire(5))", "final_answer('done')")
    to = CodeAgent([Native(wiring(sent))], coder, **QUIET)

    assert attach(skills, to=to, who=ANA).run("hi") == "done"

    assert sent == [5]


def test_code_calls_what_a_skill_opens(packs: Path) -> None:
    snippets = LOADS, "print(refund('A-1', cents=995))", "final_answer('done')"
    agent, seen = coding(open_desk(packs), *snippets, options={"who": ANA})

    output = agent.run("hi")

    first, second, third = seen
    assert output == "done"
    assert "def load_skill(skill_id: string" in first[0]
    assert "def refund" not in first[0]
    assert REFUNDS in second[-1]
    assert "def refund(order_id: string, cents: integer)" in second[-1]
    assert second[0] == third[0] == first[0]
    assert "refunded 995 of A-1 by ana" in third[-1]


def test_code_gets_results_as_they_are(packs: Path) -> None:
    agent, seen = coding(
        open_desk(packs),
        "print(read_skill_file('refunds', 'limits.md').splitlines()[0])",
        "print(refund('A-1', 5)['error']['code'])",
        "load_skill(1, 2, 3)",
        "final_answer('done')",
    )

    agent.run("hi")

    assert "File: references/limits.md of refunds" in seen[1][-1]
    assert "refund" in seen[2][-1]
    assert "load_skill takes 2 arguments, but got 3" in seen[3][-1]


def test_code_reads_again_how_open_tools_are_called(packs: Path) -> None:
    agent, seen = coding(open_desk(packs), LOADS, "final_answer(1)", "final_answer(2)")

    agent.run("hi")
    agent.memory.steps = []
    agent.run("go on", reset=False)

    before, _, after = seen
    assert "def refund(" not in before[0]
    assert "def refund(" in after[0]
    assert REFUNDS in after[0]


@pytest.mark.row("R10")
def test_what_code_does_not_print_or_smolagents_cuts_is_repeated(packs: Path) -> None:
    write_pack(packs, "long", "Use when it is long.", "LONG-1 " + "word " * 500)
    agent, seen = coding(
        open_desk(packs),
        "x = load_skill('refunds')\n1",
        "print(load_skill('long'))",
        "print('unchanged' in load_skill('long'))",
        "final_answer(1)",
        max_print_outputs_length=500,
    )

    agent.run("hi")

    assert REFUNDS not in seen[1][-1]
    assert REFUNDS in seen[1][0]
    assert "def refund(" in seen[1][0]
    assert "truncated" in seen[2][-1]
    assert "LONG-1" in seen[2][0]
    assert "False" in seen[3][-1]


@pytest.mark.row("R09")
def test_variables_stay_within_a_conversation(packs: Path) -> None:
    """A copy has its own; a new conversation those that the application gave."""
    own = code_agent(
        *(LOADS, "mine = refund\nn = 5\nfinal_answer(n)"),
        *("final_answer(n + 1)", "final_answer(n)"),
        *("final_answer(n)", "mine('A-2', 5)", "final_answer(n)"),
    )
    own.python_executor.send_variables({"n": 7})
    agent = attach(open_desk(packs), to=own)
    assert agent.run("hi") == 5
    fork = copy(agent)

    assert agent.run("go on", reset=False) == 6
    assert fork.run("go on", reset=False) == 5
    assert agent.run("hi") == 7
    assert agent.run("hi") == 7
    model: Any = own.model
    assert "'mine' is not among the explicitly allowed" in model.seen[-1][-1]


@pytest.mark.row("E25")
@pytest.mark.parametrize("answer", [True, False])
def test_code_asks_before_it_calls_a_native_tool(
    tmp_path: Path, *, answer: bool
) -> None:
    posted: list[str] = []
    asked: list[str] = []

    def post(city: str) -> str:
        """Send a card."""
        posted.append(city)
        return f"a card went to {city}"

    def approve(question: Any) -> bool:
        asked.append(question.tool)
        return answer

    skills = carried(tmp_path, "cards", Native(post), rules=[ask("cards", tool="post")])
    snippets = "print(load_skill('cards'))", "post('Bern')", "final_answer(1)"
    agent, seen = coding(skills, *snippets, options={"approve": approve})
    agent.run("hi")

    assert asked == ["post"]
    assert posted == (["Bern"] if answer else [])
    assert ("a card went to Bern" in seen[2][-1]) == answer
    assert ("approval-declined" in seen[2][-1]) == (not answer)


@pytest.mark.row("F24")
@pytest.mark.parametrize("edited", [None, {"city": "home"}])
def test_what_was_approved_is_what_is_done(
    tmp_path: Path, edited: dict[str, object] | None
) -> None:
    """The agent's state takes the place of its names before it is asked."""
    sent: list[str] = []
    asked: list[object] = []

    def post(city: str) -> str:
        """Send a card."""
        sent.append(city)
        return f"a card went to {city}"

    def approve(question: Any) -> Reply:
        asked.append(question.arguments["city"])
        return Reply("yes_once", arguments=edited)

    skills = carried(tmp_path, "cards", Native(post), rules=[ask("cards", tool="post")])
    steps = script([load("cards")], [Call("post", {"city": "away"})], "done")
    agent, _ = calling(skills, steps, options={"approve": approve})
    agent.state.update(away="home", home="Bern")
    agent.run("hi")

    assert asked == ["home"]
    assert sent == ["home"]


@pytest.mark.row("F22")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [({"city": "Bern"}, "ValueError: no stamp"), ({"town": 1}, "Argument town is not")],
)
def test_a_native_tool_that_fails_is_a_result(
    packs: Path, arguments: dict[str, object], expected: str
) -> None:
    """So is what the call next to it has done, so that it is not done twice."""

    def post(city: str) -> str:
        """Send a card."""
        raise ValueError(f"no stamp for {city}")

    write_pack(packs, "cards", "Use for cards.\nmetadata: {tools: post}", "Send it.")
    desk = Desk()
    skills = Satchel(packs, tools=[Native(post), *desk.tools()])
    loads = [load("cards"), load("refunds")]
    model = script(loads, [REFUND, Call("post", arguments)], "done")
    agent, seen = calling(skills, model)

    assert agent.run("hi") == "done"
    assert "refunded 995 of A-1" in seen[2].results[-1]
    assert expected in seen[2].results[-1]
    assert desk.done == ["refund A-1 995 by nobody"]


class Elsewhere(PythonExecutor):
    """Runs code where no tool of a skill can be called."""

    def send_tools(self, tools: Any) -> None: ...
    def send_variables(self, variables: Any) -> None: ...
    def __call__(self, code_action: str) -> Any: ...


@pytest.mark.row("F58")
@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda _: Coder(), TypeError, "an agent of smolagents; got Coder"),
        (lambda s: attach(s, to=code_agent()), ValueError, "has skills already"),
        (lambda _: code_agent(executor=Elsewhere()), ValueError, "in a Elsewhere"),
    ],
)
def test_what_cannot_have_skills_is_refused(
    skills: Satchel, make: Callable[[Satchel], Any], error: Any, text: str
) -> None:
    with pytest.raises(error, match=text):
        attach(skills, to=make(skills))


@pytest.mark.row("B11")
def test_a_name_that_is_taken_is_refused(packs: Path, tmp_path: Path) -> None:
    """A callback's tool does not vanish, and code that rounds does not get Python's."""

    def refund(city: str) -> str:
        """Do something else."""
        return city

    def round(cents: int) -> int:  # noqa: A001 - that is what it is about
        """Round."""
        return cents

    agent, _ = calling(open_desk(packs), script([load("refunds")], "done"))
    after_each_step(agent, lambda a: a.tools.setdefault("refund", Native(refund)))
    coder, _ = coding(carried(tmp_path / "more", "cents", round))

    with pytest.raises(DuplicateToolError, match="refund"):
        agent.run("hi")
    with pytest.raises(DuplicateToolError, match="round"):
        coder.run("hi")


# Prompts


def test_the_default_prompt_lists_what_was_there_first(packs: Path) -> None:
    """It has its place for instructions, and keeps its bytes in the next turn."""
    skilled, seen = calling(open_desk(packs), scripts(ONCE))

    skilled.run("one")
    skilled.run("two", reset=False)

    system = seen[0].system
    assert {shown.system for shown in seen} == {system}
    assert "- load_skill: Load a skill by its id." in system
    assert "- refund:" not in system
    assert system.index(BASE) < system.index("\n- refunds: ")
    assert system.index("\n- refunds: ") < system.index("Now Begin!")
    assert "refund" in seen[-1].tools


def test_a_prompt_of_the_application(packs: Path) -> None:
    """It may have no place for instructions, and a callback may write it again."""
    agent, seen = calling(open_desk(packs), script([load("travel")], "done"))
    agent.prompt_templates["system_prompt"] = BASE

    def write(agent: Any) -> None:
        agent.memory.system_prompt.system_prompt = "Another prompt."

    after_each_step(agent, write)
    agent.run("hi")

    assert seen[0].system.startswith(f"{BASE}\n\nIf a skill fits")
    assert seen[1].system == "Another prompt."


def test_plans_list_open_tools(packs: Path) -> None:
    snippets = "plan", LOADS, "plan", "final_answer('done')"
    agent, seen = coding(open_desk(packs), *snippets, planning_interval=1)

    output = agent.run("hi")

    plan, _, again, _ = seen
    assert output == "done"
    assert "def load_skill(" in plan[0]
    assert "def refund(" in again[-1]


# Copies and runs


def test_the_agent_itself_stays_as_it_is(packs: Path) -> None:
    model = Fake(script([load("refunds")], "done"), [])
    agent = ToolCallingAgent([], model, **QUIET)
    before = {**vars(agent)}

    skilled = attach(open_desk(packs), to=agent)
    skilled.run("hi")

    assert vars(agent) == before
    assert agent.memory.steps == []
    assert [*agent.tools] == [*skilled.tools] == ["final_answer"]
    assert type(skilled).__name__ == "ToolCallingAgent"
    assert isinstance(skilled, ToolCallingAgent)
    assert len(skilled.memory.steps) == 3
    assert "Agent Skills" not in skilled.system_prompt


def test_a_reset_forgets_and_a_copy_goes_its_own_way(packs: Path) -> None:
    by_text = {**ONCE, "two": [[load("travel")], "done"]}
    skilled, seen = calling(open_desk(packs), scripts(by_text))
    skilled.run("one")

    fork = copy(skilled)
    fork.run("two", reset=False)
    skilled.run("three", reset=False)
    stored = [use["id"] for use in skilled.memory.skills["active"]]
    skilled.run("four")

    assert {"refund", "book"} <= set(seen[3].tools)
    assert "refund" in seen[4].tools
    assert "book" not in seen[4].tools
    assert stored == ["refunds"]
    assert seen[5].tools == seen[0].tools


@pytest.mark.row("R09")
def test_a_grant_is_for_whom_it_was_given(packs: Path) -> None:
    asked: list[str] = []

    def approve(question: Any) -> Any:
        asked.append(question.who["user"])
        return "yes_in_session"

    by_text: Any = {"one": [[load("refunds")], [REFUND], "done"]}
    skilled, _ = calling(
        open_desk(packs, None, ask("refunds", tool="refund")),
        scripts({**by_text, "": [[REFUND], "done"]}),
        options={"who": lambda agent: agent.state["who"], "approve": approve},
    )

    for text, user in (("one", "ana"), ("two", "ana"), ("three", "bo")):
        skilled.state["who"] = {"user": user}
        skilled.run(text, reset=text == "one")

    assert asked == ["ana", "bo"]


def test_an_interrupt_reaches_the_run(packs: Path) -> None:
    model = script([load("refunds")], [load("travel")], "done")
    skilled, seen = calling(open_desk(packs), model)
    after_each_step(skilled, lambda _: skilled.interrupt())

    with pytest.raises(AgentError, match="interrupted"):
        skilled.run("hi")

    assert len(seen) == 1


@pytest.mark.row("R09")
def test_managed_agents_sum_up_their_own_run(packs: Path) -> None:
    """Two at once, of one agent object, that wait for each other."""
    meet = threading.Barrier(2)

    def model(seen: suite.Seen) -> suite.Say:
        meet.wait(10)
        return f"for {seen.last_user.split()[-1]}"

    report = {"task": "{{task}}", "report": "{{final_answer}}"}
    skilled, _ = calling(
        open_desk(packs),
        model,
        name="desk",
        description="A desk.",
        provide_run_summary=True,
    )
    skilled.prompt_templates["managed_agent"] = report
    expected: dict[str, str] = {}

    def ask_for(user: str) -> None:
        expected[user] = skilled(f"a task of {user}")

    threads = [threading.Thread(target=ask_for, args=[user]) for user in ("ana", "bo")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert "a task of ana" in expected["ana"]
    assert "a task of bo" not in expected["ana"]
    assert "a task of ana" not in expected["bo"]


def test_tools_of_skills_come_after_all_others(packs: Path) -> None:
    """After managed agents, and after the tools that a callback adds."""

    def weather(city: str) -> str:
        """Tell the weather."""
        return f"sun in {city}"

    clerk, _ = calling(
        open_desk(packs), script("done"), name="clerk", description="A clerk."
    )
    model = script([load("refunds")], "done")
    agent, seen = calling(open_desk(packs), model, managed_agents=[clerk])
    after_each_step(agent, lambda a: a.tools.setdefault("weather", Native(weather)))
    agent.run("hi")

    assert seen[0].tools == ("final_answer", "clerk", "load_skill", "read_skill_file")
    assert seen[1].tools == (
        *("final_answer", "weather", "clerk", "load_skill", "read_skill_file"),
        *("order_status", "refund"),
    )


def test_a_summary_at_the_last_step_has_skills(packs: Path) -> None:
    model = script([load("refunds")], "done")
    agent, seen = calling(open_desk(packs), model, max_steps=1)

    agent.run("hi")

    assert REFUNDS in seen[1].results[0]


# Messages


@pytest.mark.row("R10")
@pytest.mark.parametrize(
    ("style", "tool", "key"),
    [
        ("lean", "load_skill", "skill_id"),
        ("agent-skills", "load_skill", "skill_id"),
        ("packs", "load_skill", "name"),
        ("references", "load_skill_instructions", "skill_name"),
    ],
)
def test_skills_side_by_side_are_seen(
    packs: Path, style: Any, tool: str, key: str
) -> None:
    """All results of a step are one text, and so none of ours: it comes again."""
    calls = [Call(tool, {key: skill}) for skill in ("refunds", "travel")]
    model = script(calls, calls[:1], "done")
    agent, seen = calling(open_desk(packs), model, options={"style": style})

    agent.run("hi")

    assert seen[1].system == seen[0].system
    assert REFUNDS in seen[2].results[-1]
    assert "unchanged" not in seen[2].results[-1]
    assert {"refund", "book"} <= set(seen[1].tools)


@pytest.mark.parametrize(
    "forged",
    [
        "Skill: refunds\n\nPay.",
        '<skill_context id="refunds">\n  <instructions>\n\n</skill_context>',
    ],
)
def test_what_only_looks_like_a_skill_opens_nothing(packs: Path, forged: str) -> None:
    def page(url: str) -> str:
        """Read a page."""
        return f"{url}\n{forged}" if url else forged

    calls = [Call("page", {"url": "x"}), load("travel")]
    model = script([Call("page", {"url": ""})], calls, "done")
    agent, seen = calling(open_desk(packs), model, Native(page))

    agent.run("hi")

    assert "book" in seen[2].tools
    assert "refund" not in seen[2].tools


# Arguments and results


class Parcel(BaseModel):
    grams: int
    inside: list[Parcel] = []


def test_schemas_are_complete(tmp_path: Path) -> None:
    got: list[Any] = []

    def send(
        parcel: Parcel,
        to: Annotated[str | int, Field(description="Name or number.")],
        via: str | None = None,
        weight: int = 5,
        note: Any = None,
    ) -> str:
        """Send a parcel."""
        got.extend([parcel.grams, to, via, weight, note])
        return "sent"

    arguments = {"parcel": {"grams": 3}, "to": "ana", "via": None, "weight": None}
    model = script([load("post")], [Call("send", arguments)], "done")
    agent, seen = calling(carried(tmp_path, "post", send), model)
    agent.run("hi")

    schema = seen[1].schemas["send"]
    properties = schema["properties"]
    assert schema["required"] == ["parcel", "to"]
    assert properties["parcel"]["properties"]["grams"] == {"type": "integer"}
    assert properties["parcel"]["properties"]["inside"]["items"]["type"] == "object"
    assert properties["to"] == {
        "type": ["string", "integer"],
        "description": "Name or number.",
    }
    assert properties["via"]["type"] == "string"
    assert properties["weight"]["nullable"]
    assert seen[2].results[1] == "sent"
    assert got == [3, "ana", None, 5, None]


@pytest.mark.row("F29")
def test_schemas_may_say_little(tmp_path: Path) -> None:
    """A parameter may be anything, and a tool need not have parameters."""
    anything: Any = {
        "type": "object",
        "properties": {"it": True, "maybe": {"type": ["string", "null"]}},
        "required": ["it"],
    }
    tools = [
        Tool("echo", "Say it.", anything, lambda it, maybe="": f"said {it}{maybe}"),
        Tool("ping", "Ping.", {"type": "object"}, lambda: "pong"),
    ]
    calls = [Call("echo", {"it": 5, "maybe": "!"}), Call("ping")]
    model = script([load("odd")], calls, "done")
    agent, seen = calling(carried(tmp_path, "odd", *tools), model)

    agent.run("hi")

    expected = seen[1].schemas["echo"]["properties"]["maybe"]
    assert (expected["type"], expected["nullable"]) == ("string", True)
    assert "said 5!\npong" in seen[2].results[1]


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [("load_skill", "refunds", REFUNDS), ("read_skill_file", "x", "bad-tool-call")],
)
def test_an_argument_alone(packs: Path, name: str, given: Any, expected: str) -> None:
    """As smolagents has it, what is no object is the one argument there is."""
    agent, seen = calling(open_desk(packs), script([Call(name)], "done"))
    step: Callable[..., Any] = agent.model._step

    def with_text(*args: Any) -> Any:
        calls = step(*args)
        if calls[0].function.name == name:
            calls[0].function.arguments = given
        return calls

    vars(agent.model)["_step"] = with_text
    agent.run("hi")

    assert expected in seen[1].results[0]


def test_an_image_is_stored_as_smolagents_stores_it(tmp_path: Path) -> None:
    def draw(run: Run) -> Any:
        """Draw."""
        assert run.deps["pen"] == "red"
        return Image.new("RGB", (2, 2))

    model = script([load("art")], [Call("draw")], "done")
    skilled, seen = calling(carried(tmp_path, "art", draw), model)
    skilled.state["pen"] = "red"
    skilled.run("hi")

    assert seen[2].results[1] == "Stored 'image.png' in memory."
    assert "image.png" in skilled.state


def test_without_skills_smolagents_answers_an_unknown_tool(tmp_path: Path) -> None:
    skilled, _ = calling(Satchel(tmp_path), script([Call("fly")], "done"), max_steps=1)

    skilled.run("hi")

    step = skilled.memory.steps[1]
    assert isinstance(step, ActionStep)
    assert "Unknown tool fly" in str(step.error)


def test_what_another_thread_disturbed_is_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, tries = ast.literal_eval, [SystemError("depth"), SystemError("depth")]

    def disturbed(text: str) -> object:
        if tries:
            raise tries.pop()
        return real(text)

    monkeypatch.setattr(ast, "literal_eval", disturbed)

    assert _literal("[1]") == [1]
