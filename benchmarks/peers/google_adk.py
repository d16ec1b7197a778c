"""Google ADK: what feeds ``SkillToolset``; one level deep, one bad pack raises."""

from google.adk.skills import load_skills_from_dir

REQUIRES = ["google-adk==2.13.0"]
PYTHON = "3.11"
LARGE = "each"


def discover(folder: str) -> dict[str, str]:
    """Load all packs, each with its files."""
    return {skill.name: skill.description for skill in load_skills_from_dir(folder)}
