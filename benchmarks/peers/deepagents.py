"""Deep Agents: the middleware's own loading step; it looks one level deep."""

from deepagents.backends import FilesystemBackend
from deepagents.middleware.skills import SkillsMiddleware

REQUIRES = ["deepagents==0.7.32"]
PYTHON = "3.11"
LARGE = "roots"

_BACKEND = FilesystemBackend(root_dir="/", virtual_mode=False)


def discover(folder: str) -> dict[str, str]:
    """Load as the first turn of an agent does."""
    return discover_roots([folder])


def discover_roots(folders: list[str]) -> dict[str, str]:
    """Take each folder as a source; a later name replaces an earlier one."""
    middleware = SkillsMiddleware(backend=_BACKEND, sources=folders)
    update = middleware.before_agent({}, None, {})
    return {skill["name"]: skill["description"] for skill in update["skills_metadata"]}
