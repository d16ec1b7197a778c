"""OpenHands SDK: the list of its agent context, and its tool ``invoke_skill``."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from openhands.sdk import AgentContext
from openhands.sdk.skills import load_skills_from_dir
from openhands.sdk.tool.builtins import InvokeSkillAction, InvokeSkillTool

from benchmarks.sent._texts import sent

if TYPE_CHECKING:
    from benchmarks.sent._texts import Sent

PEER = "openhands"
NAME = "AgentContext"


async def send(folder: str, skill: str) -> Sent:
    """Write the end of the system message, and call the tool on a conversation."""
    packs = [*load_skills_from_dir(folder)[2].values()]
    context = AgentContext(skills=packs, current_datetime=None)
    bare = AgentContext(skills=[], current_datetime=None)
    (tool,) = InvokeSkillTool.create()
    state = SimpleNamespace(
        agent=SimpleNamespace(agent_context=context),
        workspace=SimpleNamespace(working_dir=folder),
        invoked_skills=[],
    )
    conversation = SimpleNamespace(state=state)
    result = tool.executor(InvokeSkillAction(name=skill), conversation)
    return sent(
        NAME,
        context.get_system_message_suffix() or "",
        [tool.to_openai_tool()["function"]],
        result.text,
        bare.get_system_message_suffix() or "",
    )
