"""The skills that fast-agent finds in a project."""

from pathlib import Path

from fast_agent.skills.registry import SkillRegistry  # type: ignore[import-not-found]


def look(project: str) -> list[tuple[str, str]]:
    """Return the name and the description of each."""
    folder = Path(project, ".fast-agent", "skills")
    found = SkillRegistry(base_dir=Path(project), directories=[folder]).load_manifests()
    return [(each.name, each.description) for each in found]
