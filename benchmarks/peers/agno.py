"""Agno as it comes, validating: it looks one level deep, and one bad pack raises."""

from agno.skills import LocalSkills, Skills

REQUIRES = ["agno==3.1.10"]
PYTHON = "3.11"
LARGE = "each"


def discover(folder: str) -> dict[str, str]:
    """Load as ``Agent(skills=Skills(...))`` does."""
    skills = Skills(loaders=[LocalSkills(folder)])
    return {skill.name: skill.description for skill in skills.get_all_skills()}


def catalog(folder: str) -> str:
    """Return what ``Agent`` adds to its system prompt."""
    return Skills(loaders=[LocalSkills(folder)]).get_system_prompt_snippet()
