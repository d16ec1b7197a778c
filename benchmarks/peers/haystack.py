"""Haystack: its file-system store; one level deep, one bad pack raises."""

from haystack.skill_stores.file_system import FileSystemSkillStore

REQUIRES = ["haystack-ai==3.4.0"]  # 3.4.1 wants a certifi that has no release yet
PYTHON = "3.11"
LARGE = "each"


def discover(folder: str) -> dict[str, str]:
    """List the skills, which reads them."""
    listed = FileSystemSkillStore(folder).list_skills()
    return {name: info.description for name, info in listed.items()}
