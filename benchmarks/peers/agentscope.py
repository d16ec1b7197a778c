"""AgentScope: its local loader, which looks into all sub-folders."""

from agentscope.skill import LocalSkillLoader

REQUIRES = ["agentscope==2.0.10"]  # 2.0.11 wants a certifi that has no release yet
PYTHON = "3.11"
LARGE = "whole"


async def discover(folder: str) -> dict[str, str]:
    """Load as a toolkit does; a new loader, so that its cache is empty."""
    skills = await LocalSkillLoader(folder, scan_subdir=True).list_skills()
    return {skill.name: skill.description for skill in skills}
