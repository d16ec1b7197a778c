"""The skills that Deep Agents Code finds in a project."""

from pathlib import Path

from deepagents_code.skills.load import list_skills  # type: ignore[import-not-found]


def look(project: str) -> list[tuple[str, str]]:
    """Return the name and the description of each."""
    folder = Path(project, ".deepagents", "skills")
    found = list_skills(project_skills_dir=folder)
    return [(each["name"], each["description"]) for each in found]
