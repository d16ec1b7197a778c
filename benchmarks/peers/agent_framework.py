"""Microsoft Agent Framework: its file source, which looks two levels deep."""

from agent_framework import FileSkillsSource, SkillsSourceContext

REQUIRES = ["agent-framework-core==1.23.0"]
PYTHON = "3.11"
LARGE = "whole"

_CONTEXT = SkillsSourceContext(agent=None)  # a file source does not look at it


async def discover(folder: str) -> dict[str, str]:
    """Load as ``SkillsProvider.from_paths`` does, but for its cache."""
    return await discover_roots([folder])


async def discover_roots(folders: list[str]) -> dict[str, str]:
    """Take all folders as paths; the first of a name wins."""
    skills = await FileSkillsSource(folders).get_skills(_CONTEXT)
    return {each.frontmatter.name: each.frontmatter.description for each in skills}
