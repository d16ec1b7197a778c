"""agentskills-core with its file provider; one level deep, one bad pack raises."""

from pathlib import Path

from agentskills_core import SkillRegistry
from agentskills_fs import LocalFileSystemSkillProvider

REQUIRES = ["agentskills-core==0.7.0", "agentskills-fs==0.7.0"]
PYTHON = "3.12"
LARGE = "each"


async def discover(folder: str) -> dict[str, str]:
    """Register the folder, then read the metadata from the provider's cache."""
    registry = SkillRegistry()
    await registry.register_all(LocalFileSystemSkillProvider(Path(folder)))
    listed = [await skill.get_metadata() for skill in registry.list_skills()]
    return {each["name"]: each["description"] for each in listed}


async def catalog(folder: str) -> str:
    """Return the XML list, which is the form it recommends."""
    registry = SkillRegistry()
    await registry.register_all(LocalFileSystemSkillProvider(Path(folder)))
    return await registry.get_skills_catalog()
