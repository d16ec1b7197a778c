"""Google ADK's listing: frontmatter only, and a bad pack is skipped."""

from google.adk.skills import list_skills_in_dir
from google.adk.skills.prompt import format_skills_as_xml

REQUIRES = ["google-adk==2.13.0"]
PYTHON = "3.11"
ENVIRONMENT = "google_adk"
LARGE = "each"


def discover(folder: str) -> dict[str, str]:
    """List the packs; an agent still loads each of them by another call."""
    listed = list_skills_in_dir(folder).values()
    return {each.name: each.description for each in listed}


def catalog(folder: str) -> str:
    """Return the list that the skill toolset puts into the instructions."""
    return format_skills_as_xml([*list_skills_in_dir(folder).values()])
