"""agentskills-core: the list in XML, the form that it recommends; it has no tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentskills_core import SkillRegistry
from agentskills_fs import LocalFileSystemSkillProvider

from benchmarks.sent._texts import sent

if TYPE_CHECKING:
    from benchmarks.sent._texts import Sent

PEER = "agentskills"
NAME = "get_skills_catalog"


async def send(folder: str, skill: str) -> Sent:
    """Register the folder, and take the list."""
    del skill
    registry = SkillRegistry()
    await registry.register_all(LocalFileSystemSkillProvider(Path(folder)))
    return sent(NAME, await registry.get_skills_catalog())
