"""skillkit: its manager with one project folder; it looks one level deep."""

from skillkit import SkillManager

REQUIRES = ["skillkit==0.4.0", "aiofiles"]  # which it imports, and does not ask for
PYTHON = "3.11"
LARGE = "each"


def discover(folder: str) -> dict[str, str]:
    """Discover as a program does at its start; the client's folder is left out."""
    manager = SkillManager(project_skill_dir=folder, anthropic_config_dir="")
    manager.discover()
    return {skill.name: skill.description for skill in manager.list_skills()}
