"""agentskills-tools: ``agentskills validate``; a pack without an error is found."""

from pathlib import Path

from agentskills_tools.discovery import CliError, discover as locate
from agentskills_tools.validate import validate_locations

REQUIRES = [
    "agentskills-core==0.7.0",
    "agentskills-fs==0.7.0",
    "agentskills-tools==0.7.0",
]
PYTHON = "3.12"
ENVIRONMENT = "agentskills"
LARGE = "each"


async def discover(folder: str) -> dict[str, None]:
    """Validate what it locates; it tells no description."""
    try:
        root, locations = locate(Path(folder))
    except CliError:
        return {}
    reports = await validate_locations(root, locations)
    return {each.skill_id: None for each in reports if not each.findings}
