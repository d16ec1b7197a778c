"""AgentScope: a toolkit's skill instructions, and its tool ``Skill``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentscope.skill import LocalSkillLoader
from agentscope.state import AgentState
from agentscope.tool import Toolkit

from benchmarks.sent._texts import sent

if TYPE_CHECKING:
    from benchmarks.sent._texts import Sent

PEER = "agentscope"
NAME = "Toolkit"


async def send(folder: str, skill: str) -> Sent:
    """Take the texts that an agent takes from its toolkit."""
    toolkit = Toolkit(skills_or_loaders=[LocalSkillLoader(folder, scan_subdir=True)])
    viewer = toolkit.builtin_skill_viewer.tool
    spec = {
        "name": viewer.name,
        "description": viewer.description,
        "parameters": viewer.input_schema,
    }
    result = await viewer.call(skill, AgentState())
    prompt = await toolkit.get_skill_instructions() or ""
    return sent(NAME, prompt, [spec], "".join(part.text for part in result.content))
