"""Agno with ``validate=False``: it looks one level deep, and skips a bad pack."""

from agno.skills import LocalSkills, Skills

REQUIRES = ["agno==3.1.10"]
PYTHON = "3.11"
ENVIRONMENT = "agno"
LARGE = "each"


def discover(folder: str) -> dict[str, str]:
    """Load as ``Agent(skills=Skills(...))`` does."""
    return discover_roots([folder])


def discover_roots(folders: list[str]) -> dict[str, str]:
    """Take one loader per folder; a later name replaces an earlier one."""
    skills = Skills(loaders=[LocalSkills(each, validate=False) for each in folders])
    return {skill.name: skill.description for skill in skills.get_all_skills()}


def catalog(folder: str) -> str:
    """Return what ``Agent`` adds to its system prompt."""
    skills = Skills(loaders=[LocalSkills(folder, validate=False)])
    return skills.get_system_prompt_snippet()
