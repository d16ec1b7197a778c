"""Skillz: the registry of its MCP server, which looks at any depth."""

from pathlib import Path

from skillz import SkillRegistry

REQUIRES = ["skillz==0.1.14"]
PYTHON = "3.12"
LARGE = "whole"


def discover(folder: str) -> dict[str, str]:
    """Load as the server does at its start."""
    registry = SkillRegistry(Path(folder))
    registry.load()
    return {each.metadata.name: each.metadata.description for each in registry.skills}
