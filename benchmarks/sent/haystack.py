"""Haystack: ``SkillToolset``, which lists the skills in its load tool's description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haystack.skill_stores.file_system import FileSystemSkillStore
from haystack.tools import SkillToolset

from benchmarks.sent._texts import sent

if TYPE_CHECKING:
    from benchmarks.sent._texts import Sent

PEER = "haystack"
NAME = "SkillToolset"


async def send(folder: str, skill: str) -> Sent:
    """Warm the tools up, as an agent does, and call the first."""
    tools = SkillToolset(FileSystemSkillStore(folder))
    tools.warm_up()
    load = next(tool for tool in tools if tool.name == "load_skill")
    specs = [tool.tool_spec for tool in tools]
    return sent(NAME, "", specs, load.invoke(name=skill))
