"""CrewAI: ``Agent(skills=[folder])``, its system prompt and its tool ``load_skill``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crewai import Agent
from crewai.llms.base_llm import BaseLLM
from crewai.skills.tool import create_skill_loader_tool
from crewai.utilities.agent_utils import convert_tools_to_openai_schema
from crewai.utilities.prompts import Prompts

from benchmarks.sent._texts import sent

if TYPE_CHECKING:
    from benchmarks.sent._texts import Sent

PEER = "crewai"
NAME = "Agent(skills=)"


class _Model(BaseLLM):
    def call(self, *_: Any, **__: Any) -> str:  # noqa: ANN401 - theirs
        """Answer nothing: no agent is run here."""
        return ""


def _prompt(agent: Agent) -> str:
    prompts = Prompts(
        agent=agent,
        has_tools=True,
        use_native_tool_calling=True,
        use_system_prompt=agent.use_system_prompt,
    )
    return str(prompts.task_execution().system)


async def send(folder: str, skill: str) -> Sent:
    """Write the prompts and make the tool as an agent does when a task begins."""
    role = {"role": "desk", "goal": "Help.", "backstory": "You help."}
    bare = Agent(**role, llm=_Model(model="fake"))
    agent = Agent(**role, llm=_Model(model="fake"), skills=[folder])
    tool = create_skill_loader_tool(agent.skills, source=agent)
    specs, *_ = convert_tools_to_openai_schema([tool])
    loaded = tool.run(skill_name=skill)
    functions = [spec["function"] for spec in specs]
    return sent(NAME, _prompt(agent), functions, loaded, _prompt(bare))
