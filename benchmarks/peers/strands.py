"""Strands Agents: its call for a folder of packs; it looks one level deep."""

from strands import Skill

REQUIRES = ["strands-agents==1.62.0"]
PYTHON = "3.11"
LARGE = "each"


def discover(folder: str) -> dict[str, str]:
    """Load without ``strict``, as ``AgentSkills`` does unless asked to."""
    return {skill.name: skill.description for skill in Skill.from_directory(folder)}
