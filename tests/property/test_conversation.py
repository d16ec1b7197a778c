"""Whatever happens in a conversation, its prefix stands and its tools only grow."""

import json
from typing import Any, Final

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from satchel import Options, Satchel
from satchel.model import SeenMessage
from satchel.runtime import Session
from satchel.tools import Tool
from tests.fakes import FakeClock, FakeSource

NAMES: Final = ("ant", "bee", "cat", "dog")
BUDGET: Final = 400
OWN: Final = ["load_skill"]


def text(name: str, version: int) -> str:
    body = f"{name} {version} says what to do, step by step. " * 6
    head = f"name: {name}\ndescription: Use for {name}s.\nmetadata:\n  tools: t-{name}"
    return f"---\n{head}\n---\n{body}\n"


def tool(name: str) -> Tool:
    return Tool(name, name, {"type": "object", "properties": {}}, lambda: "done")


class Conversation(RuleBasedStateMachine):
    """Loads, trims, syncs and resumes in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.source = FakeSource("s", {n: {"SKILL.md": text(n, 0)} for n in NAMES})
        self.clock = FakeClock()
        self.skills = Satchel(
            self.source,
            tools=[tool(f"t-{name}") for name in NAMES],
            options=Options(clock=self.clock),
        )
        self.messages: list[SeenMessage] = [SeenMessage("user", "hi")]
        self.session = self._open(None)
        self.prefix = self.session.instructions("base")
        self.tools = self._tools()
        self.version = 0

    def _open(self, state: Any) -> Session:  # noqa: ANN401 - JSON
        session = self.skills.session(resume=state, reinject_tokens=BUDGET)
        session.see(self.messages)
        return session

    def _tools(self) -> list[str]:
        return [tool.name for tool in self.session.tools()]

    @rule(name=st.sampled_from([*NAMES, "nope"]))
    def load(self, name: str) -> None:
        self.clock.time += 1
        arguments = {"skill_id": name}
        result = str(self.session.call("load_skill", arguments))
        self.messages.append(SeenMessage("tool", result, "load_skill", arguments))
        self.session.see(self.messages)

    @rule(name=st.sampled_from(NAMES))
    def edit(self, name: str) -> None:
        self.version += 1
        self.source.packs[name] = {"SKILL.md": text(name, self.version)}
        self.skills.sync()

    @rule()
    def trim(self) -> None:
        self.messages = [SeenMessage("user", "in short")]
        self.session.see(self.messages)

    @rule()
    def go_on_elsewhere(self) -> None:
        self.session = self._open(json.loads(json.dumps(self.session.dump())))

    @precondition(lambda self: self.session.activations)
    @rule()
    def deactivate(self) -> None:
        gone = self.session.activations[0].id
        self.session.unload(gone)
        self.tools.remove(f"t-{gone}")

    @invariant()
    def the_prefix_stands(self) -> None:
        assert self.session.instructions("base").startswith(self.prefix)

    @invariant()
    def what_is_stated_again_is_within_the_budget(self) -> None:
        stated = self.session.instructions("base").removeprefix(self.prefix)
        tail = stated.partition("In use")[0]

        assert len(tail.encode()) / 4 <= BUDGET + 50  # the head line, and blank lines

    @invariant()
    def tools_are_appended_never_inserted(self) -> None:
        tools = self._tools()

        assert tools[: len(self.tools)] == self.tools
        assert tools == OWN + [f"t-{active.id}" for active in self.session.activations]
        self.tools = tools

    @invariant()
    def every_skill_in_use_is_in_sight_or_named(self) -> None:
        told = self.session.instructions("base") + "".join(
            message.text for message in self.messages
        )

        for active in self.session.activations:
            assert active.id in told


TestConversation = pytest.mark.slow(pytest.mark.property(Conversation.TestCase))
TestConversation.settings = settings(max_examples=60, stateful_step_count=20)
