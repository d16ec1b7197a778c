"""pydantic-ai-skills: ``SkillsCapability`` in an agent that answers to a fake model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic_ai_skills import SkillsCapability

from benchmarks.attached import pydantic_ai
from benchmarks.attached._script import Setup, load_by

if TYPE_CHECKING:
    from benchmarks.attached._script import Open, Script

PEER = "pydantic_ai_skills"


async def _theirs(folder: str, script: Script) -> Open:
    return pydantic_ai.agent(folder, script, SkillsCapability(folder))


SETUPS = (
    pydantic_ai.SETUPS[0],
    Setup("SkillsCapability", _theirs, load_by("load_capability", "id")),
)
show = pydantic_ai.show
heard = pydantic_ai.heard
