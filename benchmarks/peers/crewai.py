"""CrewAI: what ``Agent(skills=[folder])`` calls; it looks one level deep."""

from pathlib import Path

from crewai.skills.loader import discover_skills, format_skill_context

REQUIRES = ["crewai==1.15.30"]
PYTHON = "3.11"
LARGE = "each"


def discover(folder: str) -> dict[str, str]:
    """Load at the metadata level, which is the cheapest it has."""
    return {skill.name: skill.description for skill in discover_skills(Path(folder))}


def catalog(folder: str) -> str:
    """Return what is put into an agent's prompt for all skills."""
    return "\n".join(map(format_skill_context, discover_skills(Path(folder))))
