"""What is of crewAI alone: crews, models that call tools in text, prompts, plans."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from crewai import Agent, BaseLLM, Crew, Task
from crewai.agent.planning_config import PlanningConfig
from crewai.hooks import register_before_llm_call_hook, unregister_before_llm_call_hook
from crewai.skills.models import Skill, SkillFrontmatter
from crewai.tools import tool
from pydantic import BaseModel

from satchel.adapters.crewai import attach
from satchel.errors import DuplicateToolError
from satchel.model import Reply
from satchel.policy import ask
from satchel.tools import Tool
from tests.adapters import driver as suite
from tests.adapters.crewai import Fake
from tests.adapters.desk import (
    ANA,
    NEEDS,
    PAID,
    PAYS,
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
from tests.adapters.driver import Call, Seen

DONE = "Final Answer: done"


class Texts(BaseLLM):
    """Says these texts in turn, and calls tools in them."""

    says: Any = ()
    seen: Any = ()

    def call(self, messages: Any, *_: Any, **__: Any) -> str:
        self.seen.append([str(message["content"]) for message in messages])
        return str(next(self.says))


def texts(*says: str) -> Texts:
    llm = Texts(model="texts")
    llm.says, llm.seen = iter(says), []
    return llm


def act(name: str, **arguments: object) -> str:
    return f"Thought: so\nAction: {name}\nAction Input: {json.dumps(arguments)}"


LOAD = act("load_skill", skill_id="refunds")
PAY = act("refund", order_id="A-1", cents=995)
LOADS: list[suite.Say] = [[load("refunds")], "done"]


def calling(model: suite.Model) -> Fake:
    llm = Fake(model="fake", ask=model, seen=[])
    llm.seen = []
    return llm


def desk(llm: BaseLLM, *tools: Any, **more: Any) -> Agent:
    given: dict[str, Any] = {"backstory": "You are the desk.", **more}
    return Agent(role="desk", goal="help", llm=llm, tools=[*tools], **given)


def kickoff(agent: Agent, messages: Any) -> Any:
    return agent.kickoff(messages)


@contextmanager
def hooked(hook: Any) -> Iterator[None]:
    register_before_llm_call_hook(hook)
    try:
        yield
    finally:
        unregister_before_llm_call_hook(hook)


def last(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def crew_of(*agents: Agent, **more: Any) -> Crew:
    tasks = [
        Task(description=f"task {n}", expected_output="help", agent=agent)
        for n, agent in enumerate(agents)
    ]
    return Crew(
        agents=[*{id(each): each for each in agents}.values()], tasks=tasks, **more
    )


@pytest.mark.parametrize("stream", [True, False])
def test_an_agent_of_a_crew_has_skills(packs: Path, *, stream: bool) -> None:
    llm = calling(script(*PAYS))
    agent = attach(open_desk(packs), to=desk(llm), who=ANA)

    output: Any = crew_of(agent, stream=stream).kickoff()
    text = "".join(part.content for part in output) if stream else str(output)

    first, second, third = llm.seen
    assert text == "done"
    assert "wants money back" in first.system
    assert second.tools == (*first.tools, "order_status", "refund")
    assert third.results[1] == REFUNDED


@pytest.mark.parametrize("keeps", [True, False])
def test_each_task_of_a_crew_starts_again(packs: Path, *, keeps: bool) -> None:
    """Its executor is the same; what was loaded is known where state is kept."""
    state: dict[str, Any] = {}
    llm = calling(script(*LOADS))
    kept = (lambda _: state) if keeps else None
    agent = attach(open_desk(packs), to=desk(llm), state=kept)

    crew_of(agent, agent).kickoff()

    assert ("refund" in llm.seen[2].tools) == keeps
    assert (REFUNDS in llm.seen[2].system) == keeps
    assert len(llm.seen) == 4


@pytest.mark.row("R09")
def test_no_result_is_cached(packs: Path) -> None:
    """Its cache knows no who: what one may read, another would be given."""
    user = dict(ANA, groups=["hr"])
    llm = calling(script([load("payroll")], "done"))
    agent = attach(open_desk(packs), to=desk(llm), who=lambda _: user)
    crew = crew_of(agent, cache=True)

    crew.kickoff()
    user["groups"] = []
    crew.kickoff()

    assert "PAYROLL-5530" in llm.seen[1].results[0]
    assert "PAYROLL-5530" not in llm.seen[3].results[0]


def test_a_copy_of_an_agent_has_skills(packs: Path) -> None:
    llm = calling(script("done"))
    agent = attach(open_desk(packs), to=desk(llm))

    crew_of(agent).copy().kickoff()

    assert "wants money back" in llm.seen[0].system


def test_tools_are_called_in_text(packs: Path) -> None:
    llm = texts(LOAD, PAY, f"Thought: I know\n{DONE}")
    agent = attach(open_desk(packs), to=desk(llm), who=ANA)

    output = kickoff(agent, "hi")

    first, second, third = llm.seen
    assert output.raw == "done"
    assert "Tool Name: load_skill" in first[0]
    assert "Tool Name: refund" not in "".join(first)
    assert second[0] == third[0] == first[0]
    assert REFUNDS in "".join(second)
    assert "These tools are open now as well:" in second[2]
    assert "Tool Name: refund" in second[2]
    assert REFUNDED in "".join(third)


@pytest.mark.row("U07")
def test_an_own_tool_waits_for_its_skill_in_text(packs: Path) -> None:
    sent: list[int] = []
    page = open_desk(packs).session().call("load_skill", {"skill_id": "refunds"})

    @tool("fetch_page")
    def fetch_page(number: int) -> str:
        """Fetch a page."""
        return str(page)

    wire = act("wire", cents=5)
    llm = texts(act("fetch_page", number=1), wire, wire, DONE)
    skills = open_desk(packs, None, NEEDS)
    agent = attach(
        skills, to=desk(llm, tool("wire")(wiring(sent)), fetch_page), who=ANA
    )

    assert str(kickoff(agent, "hi").raw) == "done"

    assert sent == [5]
    assert "Not done: wire needs the skill" in "".join(llm.seen[2])
    assert "sent 5" in "".join(llm.seen[3])


@pytest.mark.row("U07")
def test_an_own_tool_waits_in_each_task(packs: Path) -> None:
    """An executor that serves again asks the conversation of its work now."""
    sent: list[int] = []
    llm = calling(script([WIRE], [WIRE], "done"))
    agent = attach(
        open_desk(packs, None, NEEDS), to=desk(llm, tool("wire")(wiring(sent))), who=ANA
    )

    crew_of(agent, agent).kickoff()

    assert sent == [5, 5]
    assert len(llm.seen) == 6


def test_open_tools_are_told_again_in_text(packs: Path) -> None:
    """A resumed conversation lists them, and states their skill again."""
    state: dict[str, Any] = {}
    llm = texts(LOAD, DONE, PAY, DONE)
    agent = attach(open_desk(packs), to=desk(llm), who=ANA, state=lambda _: state)

    kickoff(agent, "one")
    kickoff(agent, "two")

    assert llm.seen[2][0].count("Tool Name: refund") == 1
    assert REFUNDS in llm.seen[2][0]
    assert REFUNDED in "".join(llm.seen[3])


def test_what_a_hook_removes_is_told_again(packs: Path) -> None:
    def forget(context: Any) -> None:
        if len(context.messages) > 3:
            del context.messages[2:]

    llm = texts(LOAD, DONE)
    agent = attach(open_desk(packs), to=desk(llm))
    with hooked(forget):
        kickoff(agent, "hi")

    [_, message] = llm.seen
    assert len(message) == 2
    assert REFUNDS in message[0]
    assert "Tool Name: refund" in message[0]


def test_the_third_miss_in_text_is_final(packs: Path) -> None:
    """That crewAI tells the model to go on is no word of the user's."""
    misses = [act("load_skill", skill_id=skill_id) for skill_id in "abaca"]
    llm = texts(*misses, DONE)

    kickoff(attach(open_desk(packs), to=desk(llm)), "hi")

    assert "final" in llm.seen[5][-2].partition("Observation:")[2]


def test_an_agent_without_a_system_prompt(packs: Path) -> None:
    """Skills come after the agent's own prompt, in the request."""
    llm = calling(script(*LOADS))
    agent = attach(open_desk(packs), to=desk(llm, use_system_prompt=False))

    output = kickoff(agent, "one")
    history = output.messages
    kickoff(agent, [*history, *last("two")])

    first, second, third, _ = (seen.messages for seen in llm.seen)
    assert first[0].role == "user"
    assert first[0].text.index("You are the desk.") < first[0].text.index("money back")
    assert second[0] == first[0]
    assert "money back" in third[-1].text
    assert "Current Task: two" in third[-1].text


def test_braces_of_a_skill_stay(packs: Path) -> None:
    """CrewAI fills its own prompts in; a skill is no part of them."""
    front = "Use to fill in {input} and {tools}."
    write_pack(packs, "forms", front, "Fill {input} in.")
    llm = calling(script([load("forms")], "done"))

    kickoff(attach(open_desk(packs), to=desk(llm)), "hi")

    assert "fill in {input} and {tools}." in llm.seen[0].system
    assert "Fill {input} in." in llm.seen[1].results[0]


def test_a_prompt_that_was_summed_up_has_skills(packs: Path) -> None:
    """Whatever becomes of the messages, one of them has the skills."""

    def sum_up(context: Any) -> None:
        if len(context.messages) > 2:
            context.messages[:] = last("a summary")

    def model(seen: Seen) -> suite.Say:
        return "done" if seen.last_user.startswith("a summary") else [load("refunds")]

    llm = calling(model)
    agent = attach(open_desk(packs), to=desk(llm))
    with hooked(sum_up):
        kickoff(agent, "hi")

    message = llm.seen[1].messages[0].text
    assert message.startswith("a summary")
    assert "money back" in message
    assert REFUNDS in message


def test_the_agent_itself_stays_as_it_is(packs: Path) -> None:
    class Clerk(Agent):
        floor: int = 0

    llm = calling(script(*LOADS))
    agent = Clerk(role="clerk", goal="help", backstory="", llm=llm, floor=3)

    skilled = attach(open_desk(packs), to=agent)
    crew_of(skilled).kickoff()

    assert isinstance(skilled, Clerk)
    assert type(agent) is Clerk
    assert (skilled.floor, type(skilled).__name__) == (3, "Clerk")
    assert skilled.id != agent.id
    assert (agent.tools, agent.agent_executor, agent.crew) == ([], None, None)
    assert skilled.tools == []


def test_an_agent_has_skills_once(packs: Path) -> None:
    skilled = attach(open_desk(packs), to=desk(calling(script("done"))))

    with pytest.raises(ValueError, match="has skills already"):
        attach(open_desk(packs), to=skilled)


@pytest.mark.row("B11")
def test_crewais_own_skills_take_the_name(packs: Path, tmp_path: Path) -> None:
    """It has a tool called load_skill, too."""
    about = SkillFrontmatter(name="theirs", description="Use theirs.")
    theirs = Skill(frontmatter=about, path=tmp_path)
    agent = attach(open_desk(packs), to=desk(calling(script("done")), skills=[theirs]))

    with pytest.raises(DuplicateToolError, match="load_skill"):
        kickoff(agent, "hi")


def planned(
    packs: Path,
    model: suite.Model,
    *steps: str,
    rules: Any = (),
    tools: Any = (),
    **options: Any,
) -> tuple[Fake, Any]:
    """Work by a plan with these steps; return what the model saw, and the output."""
    plan = [
        {"step_number": n, "description": step, "depends_on": [*range(1, n)]}
        for n, step in enumerate(steps, 1)
    ]

    def plans(seen: Seen) -> suite.Say:
        if "create_reasoning_plan" in seen.tools:
            return json.dumps({"plan": "Refund.", "steps": plan, "ready": True})
        return model(seen)

    llm = calling(plans)
    config = PlanningConfig(reasoning_effort="low", max_attempts=1)
    skills = open_desk(packs, None, *rules)
    agent = attach(skills, to=desk(llm, *tools, planning_config=config), **options)
    return llm, kickoff(agent, "hi")


def test_planned_steps_have_skills(packs: Path) -> None:
    """Each is made from messages of its own, which no hook sees."""

    def model(seen: Seen) -> suite.Say:
        done = "refund" in seen.tools or not seen.tools
        return "done" if done else [load("refunds")]

    llm, _ = planned(packs, model, "Look.", "Pay.")

    first, opened, second = [s for s in llm.seen if "load_skill" in s.tools][:3]
    assert "wants money back" in first.system
    assert opened.tools == (*first.tools, "order_status", "refund")
    assert REFUNDS in opened.results[0]
    assert REFUNDS in second.system


@pytest.mark.row("U07")
def test_an_act_waits_in_every_step_of_a_plan(packs: Path) -> None:
    """Nobody sees what its model calls see: a load there never counts."""
    sent: list[int] = []

    def model(seen: Seen) -> suite.Say:
        says = [load("refunds"), WIRE], [WIRE]
        at = len(seen.results) // 2
        return says[at] if seen.tools and at < len(says) else "done"

    own = [tool("wire")(wiring(sent))]
    more: Any = {"rules": [NEEDS], "tools": own}
    llm, _ = planned(packs, model, "Look.", "Pay.", **more)

    assert sent == []
    planned(packs, model, "Pay.", **more, always=["refunds"])
    assert sent
    assert any("Not done: wire" in text for s in llm.seen for text in s.results)


@pytest.mark.row("F22")
def test_a_call_of_no_tool_in_a_step_of_a_plan_is_answered(packs: Path) -> None:
    def model(seen: Seen) -> suite.Say:
        return "done" if seen.results or not seen.tools else [Call("teleport")]

    llm, output = planned(packs, model, "Look.")

    assert "done" in output.raw
    assert any(seen.results for seen in llm.seen)


@pytest.mark.row("F24")
def test_a_refusal_is_never_the_final_answer(tmp_path: Path) -> None:
    """The model reads it, though results of the tool end the work; a yes is kept."""

    @tool("post", result_as_answer=True)
    def post(city: str) -> str:
        """Send a card."""
        return f"a card went to {city}"

    answers = iter([Reply("no", "Not before friday."), Reply("yes_in_session")])
    call = [Call("post", {"city": "Bern"})]
    llm = calling(script([load("cards")], call, call, "done"))
    chat: dict[str, Any] = {}
    agent = attach(
        carried(tmp_path, "cards", post, rules=[ask("cards", tool="post")]),
        to=desk(llm),
        approve=lambda _: next(answers),
        state=lambda _: chat,
    )

    output = kickoff(agent, "hi")

    assert len(llm.seen) == 3
    assert "Not before friday." in llm.seen[2].results[1]
    assert output.raw == "a card went to Bern"
    assert chat["desk"]["grants"]


@pytest.mark.row("F24")
async def test_an_asynchronous_approver_is_waited_for_in_text(packs: Path) -> None:
    async def wait(_: object) -> bool:
        await asyncio.sleep(0)
        return True

    done = Desk()
    skills = open_desk(packs, done, ask("refunds", tool="refund"))
    llm = texts(LOAD, PAY, DONE)

    await attach(skills, to=desk(llm), who=ANA, approve=wait).akickoff("hi")

    assert done.done == [PAID]


@pytest.mark.row("F25")
def test_an_argument_is_called_self_in_text(tmp_path: Path) -> None:
    schema: Any = {"type": "object", "properties": {"self": {"type": "string"}}}
    echo = Tool("echo", "Say it.", schema, lambda **given: f"got {given}")
    load_cards = act("load_skill", skill_id="cards")
    llm = texts(load_cards, act("echo", self="me"), DONE)

    kickoff(attach(carried(tmp_path, "cards", echo), to=desk(llm)), "hi")

    assert "got {'self': 'me'}" in "".join(llm.seen[2])


@pytest.mark.row("F22")
@pytest.mark.parametrize("name", ["", "tele port!", "x" * 5000, "refund", "__class__"])
def test_a_call_of_no_tool_is_answered_in_a_crew(packs: Path, name: str) -> None:
    """Whatever its name is, and next to others; crewAI says which arguments it has."""
    call = Call(name, {"self": 1, "order_id": "A-1"})
    llm = calling(script([load("travel"), call, call], [call], "done"))
    agent = attach(open_desk(packs), to=desk(llm))

    assert str(crew_of(agent).kickoff()) == "done"

    results = llm.seen[2].results
    assert len(results) == 4
    assert TRAVEL in results[0]
    assert all("bad-tool-call" in result for result in results[1:])
    assert max(map(len, results[1:])) < 1000


@pytest.mark.row("F27")
def test_an_observation_that_was_made_up_opens_nothing(packs: Path) -> None:
    output = kickoff(attach(open_desk(packs), to=desk(texts(LOAD, DONE))), "one")
    history = [m for m in output.messages if m["role"] != "system"]
    desk_ = Desk()
    guarded = open_desk(packs, desk_, ask("refunds", action="load"))
    llm = texts(act("refund", order_id="A-1", cents=5), DONE)

    output = kickoff(attach(guarded, to=desk(llm)), [*history, *last("two")])

    assert output.raw == "done"
    assert desk_.done == []
    assert "Tool Name: refund" not in llm.seen[0][0]


class Parcel(BaseModel):
    grams: int
    label: str = ""


def test_schemas_are_told_whole(tmp_path: Path) -> None:
    got: list[Any] = []

    def send(parcel: Parcel, to: str | int, weight: int = 5) -> str:
        """Send a parcel."""
        got.extend([parcel.grams, to, weight])
        return "sent"

    arguments: dict[str, object] = {"parcel": {"grams": 3}, "to": 7}
    llm = calling(script([load("cards")], [Call("send", arguments)], "done"))

    kickoff(attach(carried(tmp_path, "cards", send), to=desk(llm)), "hi")

    properties = llm.seen[1].schemas["send"]["properties"]
    assert [*properties] == ["parcel", "to", "weight"]
    assert properties["parcel"]["properties"]["grams"] == {"type": "integer"}
    assert properties["weight"]["default"] == 5
    assert llm.seen[2].results[1] == "sent"
    assert got == [3, 7, 5]


def test_calls_that_make_no_sense_stay_in_the_loop(packs: Path) -> None:
    llm = calling(script([Call("nothing")], "done"))
    agent = attach(open_desk(packs), to=desk(llm))
    calls = [
        {"id": given, "function": {"name": "load_skill", "arguments": given}}
        for given in ("{", "[]")
    ]
    results = [
        {"role": "tool", "tool_call_id": given, "name": "load_skill", "content": "?"}
        for given in ("{", "[]")
    ]
    asked = {"role": "assistant", "content": None, "tool_calls": calls}

    output = kickoff(agent, [*last("hi"), asked, *results, *last("go on")])

    assert output.raw == "done"
    assert "nothing: there is no such tool" in llm.seen[1].results[-1]


async def test_two_desks_at_once(packs: Path) -> None:
    """One agent object in two crews at once is crewAI's own error, and no mixture."""
    done = Desk()

    agent = attach(open_desk(packs, done), to=desk(calling(script(*PAYS))), who=ANA)

    output = await asyncio.gather(*(agent.akickoff("hi") for _ in range(2)))

    assert [result.raw for result in output] == ["done", "done"]
    assert done.done == [PAID] * 2
