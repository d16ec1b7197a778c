"""Half a model: it makes one call, and answers with what came back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from satchel.agent import Agent, AgentResult, Call, Message, Skill
from satchel.tools import Toolbox

__all__ = ["ask"]


@dataclass
class OneCall:
    call: Call
    system: str = ""

    async def complete(
        self, system: str, messages: Sequence[Message], tools: Toolbox
    ) -> Message:
        assert tools.get(self.call.name) is not None
        self.system = system
        last = messages[-1]
        if last.role == "tool":
            assert last.call_id == self.call.id
            return Message("assistant", f"It is {last.text}.")
        return Message("assistant", calls=(self.call,))


def ask(skill: Skill, tool: str, arguments: Mapping[str, object]) -> AgentResult:
    """Run an agent with ``skill`` always on from a question to an answer."""
    model = OneCall(Call("1", tool, arguments))
    result = Agent(model, "Be brief.", skills=[skill]).run("Go on.")

    assert model.system == f"Be brief.\n\n{skill.instructions}"
    assert [each.role for each in result.messages] == [
        *("user", "assistant", "tool", "assistant"),
    ]
    return result
