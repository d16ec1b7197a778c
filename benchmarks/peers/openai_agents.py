"""OpenAI Agents: the lazy source of its sandbox capability; one level deep.

It has no YAML parser: it cuts lines at their colon, and checks nothing.
"""

from pathlib import Path

from agents.sandbox import SandboxPathGrant
from agents.sandbox.capabilities import LocalDirLazySkillSource
from agents.sandbox.entries import LocalDir

REQUIRES = ["openai-agents==0.24.0"]
PYTHON = "3.11"
LARGE = "each"
YAML = False


def discover(folder: str) -> dict[str, str]:
    """List the metadata that goes into the instructions."""
    source = LocalDirLazySkillSource(source=LocalDir(src=Path(folder)))
    grants = (SandboxPathGrant(path=folder, read_only=True),)
    listed = source.list_skill_metadata(skills_path="skills", source_grants=grants)
    return {each.name: each.description for each in listed}
