"""pydantic-ai-skills: the skills of its capability at the start of a run."""

from pydantic_ai import RunContext
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage
from pydantic_ai_skills import SkillsCapability

REQUIRES = ["pydantic-ai-skills==2.1.0"]
PYTHON = "3.11"
LARGE = "each"

_CONTEXT = RunContext(deps=None, model=TestModel(), usage=RunUsage())


async def discover(folder: str) -> dict[str, str]:
    """Make the capability, and take what it has for a run."""
    run = await SkillsCapability(folder).for_run(_CONTEXT)
    found: dict[str, str] = {}

    def take(leaf: object) -> None:
        if getattr(leaf, "id", None) and getattr(leaf, "description", None):
            found[leaf.id] = leaf.description

    run.apply(take)
    return found
