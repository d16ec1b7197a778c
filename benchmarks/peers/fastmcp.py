"""FastMCP: the folder provider; it looks one level deep and hashes the files."""

from fastmcp.server.providers.skills import SkillsDirectoryProvider

REQUIRES = ["fastmcp==4.1.2"]
PYTHON = "3.11"
LARGE = "roots"


def discover(folder: str) -> dict[str, str]:
    """Read the packs when the provider is made, as a server does at its start."""
    return discover_roots([folder])


def discover_roots(folders: list[str]) -> dict[str, str]:
    """Take all folders as roots; the first of a name wins."""
    found = SkillsDirectoryProvider(folders).providers
    return {each.skill_info.name: each.skill_info.description for each in found}
