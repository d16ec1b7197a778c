"""Pydantic AI's harness: ``Skills.load``; it looks one level deep."""

from pydantic_ai.workspaces import LocalWorkspaceBackend
from pydantic_ai_harness import Skills

REQUIRES = ["pydantic-ai-harness[skills]==0.62.0"]
PYTHON = "3.11"
LARGE = "roots"

_WORKSPACE = LocalWorkspaceBackend("/")


async def discover(folder: str) -> dict[str, str]:
    """Load as each run does at its start."""
    return await discover_roots([folder])


async def discover_roots(folders: list[str]) -> dict[str, str]:
    """Take all folders as libraries; the first of a name wins."""
    skills = Skills(folders, missing_directories="skip", duplicate_names="keep_first")
    catalog = await skills.load(_WORKSPACE)
    return {skill.name: skill.description for skill in catalog.skills}
