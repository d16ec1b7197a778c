"""The contract of a skill, and the reference loop."""

import asyncio
import inspect
import json
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

import satchel
from satchel.agent import (
    Agent,
    AgentResult,
    BaseSkill,
    Call,
    Message,
    Skill,
    SkillLike as SkillContract,
)
from satchel.errors import DuplicateToolError
from satchel.model import Json
from satchel.tools import Run, Tool, Toolbox
from tests.fakes import pack

SRC = Path(satchel.__file__).parent


class Script:
    """A model that says its lines in order, and keeps what it was given."""

    def __init__(self, *lines: str | Exception | Sequence[Call]) -> None:
        self._lines = iter(lines)
        self.systems: list[str] = []
        self.tools: list[list[str]] = []
        self.messages: list[Sequence[Message]] = []

    async def complete(
        self, system: str, messages: Sequence[Message], tools: Toolbox
    ) -> Message:
        self.systems.append(system)
        self.tools.append([tool.name for tool in tools])
        self.messages.append(messages)
        line = next(self._lines)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, str):
            return Message("assistant", line)
        return Message("assistant", calls=tuple(line))


class Foreign:
    """Somebody else's skill: three members, and none of ours behind them."""

    name = "foreign"
    instructions = "Be foreign."
    tools = None


def tool(name: str, handler: Callable[..., object] | None = None) -> Tool:
    schema: dict[str, Json] = {"type": "object", "properties": {}}
    return Tool(name, f"The tool {name}.", schema, handler or (lambda: f"{name} done"))


def results(result: AgentResult) -> list[str]:
    return [message.text for message in result.messages if message.role == "tool"]


@pytest.mark.row("B01", "B12", "B02", "R26")
def test_the_contract_is_a_protocol_of_three_members_and_no_hooks() -> None:
    members = {name for name in vars(SkillContract) if not name.startswith("_")}

    assert members == {"name", "instructions", "tools"}
    assert all(isinstance(vars(SkillContract)[name], property) for name in members)

    assert SkillContract.__module__.startswith("satchel.agent.")
    assert getattr(SkillContract, "_is_protocol", False)

    loops = inspect.getmembers(Agent, inspect.iscoroutinefunction)
    assert [name for name, _ in loops] == ["arun"]


@pytest.mark.row("B02", "B04")
@pytest.mark.parametrize("skill", [Foreign(), Skill("a"), BaseSkill()])
def test_whatever_has_the_members_can_be_always_on(skill: SkillContract) -> None:
    """That these are skills to a type checker is checked with this very file."""
    model = Script("Hello.")

    Agent(model, skills=[skill]).run("Hi.")

    assert model.systems == [skill.instructions]


@pytest.mark.row("B03", "B04")
def test_agent_and_skill_never_meet() -> None:
    """The agent composes any objects; a skill knows no agent, and neither a catalog."""
    texts = [path.read_text("utf-8") for path in (SRC / "agent").glob("*.py")]
    rooms = {room for text in texts for room in re.findall(r"satchel\.(\w+)", text)}
    # The layers see to it that none of these comes to a room above.
    assert rooms - {"Satchel"} == {"lazy", "agent", "model", "tools"}
    assert "satchel.agent" not in (SRC / "agent/_skill.py").read_text("utf-8")
    assert " Skill," not in (SRC / "agent/_agent.py").read_text("utf-8")


@pytest.mark.row("B12")
def test_nothing_but_the_three_members_is_touched() -> None:
    touched: set[str] = set()

    class Nosy:
        name = "nosy"
        instructions = "Be nosy."
        tools = Toolbox("nosy", (tool("t"),))

        def __getattribute__(self, name: str) -> object:
            touched.add(name)
            return super().__getattribute__(name)

    Agent(Script([Call("1", "t")], "Done."), skills=[Nosy()]).run("Hi.")

    assert touched == {"name", "instructions", "tools"}


@pytest.mark.row("B08", "B10", "B13")
def test_skills_are_attached_at_construction_and_later() -> None:
    model = Script("One.", "Two.")
    agent = Agent(
        model,
        "You are the desk.",
        tools=[tool("own")],
        toolboxes=[Toolbox("more", (tool("boxed"),))],
        skills=[Skill("b", instructions="B.", tools=[tool("b")])],
    )

    agent.run("Hi.")
    agent.add_skill(Skill("a", instructions="A.", tools=[tool("a")]))
    agent.run("Hi.")

    assert model.systems == ["You are the desk.\n\nB.", "You are the desk.\n\nB.\n\nA."]
    assert model.tools == [["own", "boxed", "b"], ["own", "boxed", "b", "a"]]


@pytest.mark.row("B07")
def test_tools_without_instructions_and_the_other_way_round() -> None:
    model = Script("Done.")
    skills = [Skill("mute", tools=[tool("t")]), Skill("prose", instructions="P.")]

    Agent(model, skills=skills).run("Hi.")

    assert (model.systems, model.tools) == (["P."], [["t"]])


@pytest.mark.row("B11")
def test_two_tools_of_one_name_fail_the_run() -> None:
    skills = [Skill("a", tools=[tool("t")]), Skill("b", tools=[tool("t")])]

    with pytest.raises(DuplicateToolError, match="'t': offered by both a and b"):
        Agent(Script("never said"), skills=skills).run("Hi.")

    agent = Agent(
        Script(), name="desk", tools=[tool("t")], skills=[Skill("a", tools=[tool("t")])]
    )

    with pytest.raises(DuplicateToolError, match="both desk and a"):
        agent.run("Hi.")


@pytest.mark.row("B16", "B17")
def test_one_skill_serves_many_agents_in_many_threads() -> None:
    """All runs are inside the skill's tool at the same time; each gets its own."""
    count = 8
    together = Barrier(count, timeout=30)

    def echo(text: str, run: Run) -> str:
        together.wait()
        return f"{text} for {run.who['user']}"

    schema: dict[str, Json] = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
    }
    shared = Skill(
        "echo",
        instructions="Echo.",
        tools=[Tool("echo", "", schema, echo, run_parameter="run")],
    )

    def one(number: int) -> tuple[list[str], str]:
        model = Script([Call("1", "echo", {"text": f"t{number}"})], "Done.")
        agent = Agent(model, f"Agent {number}.", skills=[shared])
        context = Run(who={"user": f"u{number}"})
        return results(agent.run("Go.", context=context)), model.systems[-1]

    with ThreadPoolExecutor(count) as pool:
        told = list(pool.map(one, range(count)))

    assert told == [([f"t{i} for u{i}"], f"Agent {i}.\n\nEcho.") for i in range(count)]


@pytest.mark.row("B17")
def test_one_agent_can_run_twice_at_once() -> None:
    class Echo:
        async def complete(
            self, system: str, messages: Sequence[Message], tools: Toolbox
        ) -> Message:
            del system, tools
            await asyncio.sleep(0)
            if messages[-1].role == "tool":
                return Message("assistant", messages[-1].text)
            return Message("assistant", calls=(Call("1", messages[-1].text),))

    agent = Agent(Echo(), tools=[tool("a"), tool("b")])

    async def both() -> list[str]:
        done = await asyncio.gather(agent.arun("a"), agent.arun("b"))
        return [result.text for result in done]

    assert asyncio.run(both()) == ["a done", "b done"]


@pytest.mark.row("E21")
def test_from_call_to_answer() -> None:
    model = Script([Call("1", "a"), Call("2", "b")], "All done.")

    result = Agent(model, tools=[tool("a"), tool("b")]).run("Go.")

    assert (result.text, result.stopped, result.steps) == ("All done.", "answered", 2)
    assert result.messages == (
        Message("user", "Go."),
        Message("assistant", calls=(Call("1", "a"), Call("2", "b"))),
        Message("tool", "a done", call_id="1", tool="a"),
        Message("tool", "b done", call_id="2", tool="b"),
        Message("assistant", "All done."),
    )


@pytest.mark.row("E21")
def test_calls_of_one_step_are_carried_out_one_by_one_in_order() -> None:
    log: list[str] = []

    async def slow() -> None:
        log.append("slow begins")
        await asyncio.sleep(0.01)
        log.append("slow ends")

    model = Script([Call("1", "slow"), Call("2", "fast")], "Done.")
    tools = [tool("slow", slow), tool("fast", lambda: log.append("fast"))]

    Agent(model, tools=tools).run("Go.")

    assert log == ["slow begins", "slow ends", "fast"]


@pytest.mark.row("B26", "E21")
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_what_goes_wrong_with_a_tool_is_a_result_that_the_model_sees(mode: str) -> None:
    def fails() -> None:
        raise RuntimeError("/home/me/secret")

    async def afails() -> None:
        raise RuntimeError("/home/me/secret")

    calls = [Call("1", "nope"), Call("2", "fails"), Call("3", "fails", {"x": 1})]
    model = Script(calls, "Sorry.")
    handler = fails if mode == "sync" else afails

    result = Agent(model, tools=[tool("fails", handler)]).run("Go.")

    codes = [json.loads(text)["error"] for text in results(result)]
    assert result.text == "Sorry."
    assert [message.text for message in model.messages[1][2:]] == results(result)
    assert codes == [
        {"code": "bad-tool-call", "message": "nope: there is no such tool"},
        {"code": "internal-error", "message": "fails failed: RuntimeError"},
        {"code": "bad-tool-call", "message": "fails: unknown argument 'x'"},
    ]


@pytest.mark.row("B26")
def test_a_result_that_cannot_be_written_is_told() -> None:
    circle: list[object] = []
    circle.append(circle)
    model = Script([Call("1", "circle")], "Sorry.")

    result = Agent(model, tools=[tool("circle", lambda: circle)]).run("Go.")

    assert json.loads(results(result)[0])["error"]["code"] == "internal-error"
    assert result.stopped == "answered"


@pytest.mark.row("E21")
@pytest.mark.parametrize("bound", [None, 3])
def test_steps_are_bounded_and_what_there_is_comes_back(bound: int | None) -> None:
    model = Script(*[[Call(str(i), "a")] for i in range(20)])
    agent = Agent(model, tools=[tool("a")])
    if bound is not None:
        agent = Agent(model, tools=[tool("a")], max_steps=bound)

    result = agent.run("Go.")

    steps = bound or 10
    assert (result.stopped, result.steps) == ("max-steps", steps)
    assert len(model.systems) == steps
    assert [message.role for message in result.messages] == [
        "user",
        *["assistant", "tool"] * steps,
    ]


@pytest.mark.row("E21")
def test_a_model_that_fails_leaves_the_transcript() -> None:
    failure = ConnectionError("no line")

    result = Agent(Script([Call("1", "a")], failure), tools=[tool("a")]).run("Go.")

    assert (result.stopped, result.error, result.steps) == ("model-error", failure, 2)
    assert [message.role for message in result.messages] == [
        "user",
        "assistant",
        "tool",
    ]


@pytest.mark.row("E21")
def test_an_observer_is_told_each_step_and_cannot_break_it() -> None:
    told: list[tuple[Message, ...]] = []

    def watch(step: tuple[Message, ...]) -> None:
        told.append(step)
        raise RuntimeError

    model = Script([Call("1", "a")], "Done.")
    result = Agent(model, tools=[tool("a")], on_step=watch).run("Go.")

    assert result.text == "Done."
    assert [[message.role for message in step] for step in told] == [
        ["assistant", "tool"],
        ["assistant"],
    ]


@pytest.mark.row("E21")
@pytest.mark.parametrize(
    "lines",
    [([Call("1", "a", {})], "Done."), ([Call("1", "a")] * 2,), (OSError(),)],
    ids=["answered", "max-steps", "model-error"],
)
def test_history_goes_through_json_and_into_the_next_run(
    lines: tuple[str | Exception | Sequence[Call], ...],
) -> None:
    first = Agent(Script(*lines), tools=[tool("a")], max_steps=len(lines)).run("Go.")
    kept = json.dumps([message.to_dict() for message in first.messages])
    history = [Message.from_dict(each) for each in json.loads(kept)]
    model = Script("Again.")

    second = Agent(model).run("More.", history=history)

    assert tuple(history) == first.messages
    assert model.messages == [(*first.messages, Message("user", "More."))]
    assert second.messages[: len(first.messages)] == first.messages


@pytest.mark.row("X17")
def test_a_skill_may_change_what_it_gives_while_a_run_goes_on() -> None:
    class Opening:
        name = "opening"
        is_open = False

        @property
        def instructions(self) -> str:
            return "Open." if self.is_open else "Closed."

        @property
        def tools(self) -> Toolbox:
            tools = (tool("open", self.open), tool("inside"))
            return Toolbox("opening", tools if self.is_open else tools[:1])

        def open(self) -> None:
            self.is_open = True

    model = Script(
        [Call("1", "open"), Call("2", "inside")], [Call("3", "inside")], "Done."
    )

    result = Agent(model, skills=[Opening()]).run("Go.")

    assert model.tools[:2] == [["open"], ["open", "inside"]]
    assert model.systems[:2] == ["Closed.", "Open."]
    assert results(result)[0] == "open was called, and gave no result."
    assert "no such tool" in results(result)[1], "it was not offered in that step"
    assert results(result)[2] == "inside done"


@pytest.mark.row("X17")
def test_a_library_of_packs_is_always_on_as_a_plain_skill() -> None:
    """Its instructions are the catalog, its tools those of the style."""
    open_skills = satchel.Satchel(
        satchel.sources.memory({"knots": {"SKILL.md": pack("knots", body="Tie it.")}})
    )
    session = open_skills.session()

    class AlwaysOn:
        name = "skills"

        @property
        def instructions(self) -> str:
            return session.instructions()

        @property
        def tools(self) -> Toolbox:
            return session.tools()

    model = Script([Call("1", "load_skill", {"skill_id": "knots"})], "Done.")
    result = Agent(model, "You are the desk.", skills=[AlwaysOn()]).run("Go.")

    assert model.systems[0].startswith("You are the desk.\n\n")
    assert "- knots: " in model.systems[0]
    assert "Tie it." not in model.systems[0]
    assert "Tie it." in results(result)[0]


@pytest.mark.row("E21")
def test_arguments_that_are_no_object_come_back_from_history_too() -> None:
    """A model may write any JSON; the call failed, and stands in the transcript."""
    call = Call("1", "go", ["x"])  # type: ignore[arg-type]
    message = Message("assistant", "", (call,))

    assert Message.from_dict(json.loads(json.dumps(message.to_dict()))) == message


def test_a_result_is_short_to_look_at() -> None:
    """The transcript may be long: it is no part of the text of a result."""
    result = AgentResult("done", (Message("user", "a long story"),), "answered", 1)

    assert "a long story" not in repr(result)
