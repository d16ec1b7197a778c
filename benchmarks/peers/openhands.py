"""OpenHands SDK: its folder loader; one level deep, a bad pack is skipped."""

from openhands.sdk.skills import load_skills_from_dir, to_prompt

REQUIRES = ["openhands-sdk==1.58.0"]
PYTHON = "3.12"
LARGE = "each"


def discover(folder: str) -> dict[str, str]:
    """Load all three kinds it knows; packs are the third."""
    repository, knowledge, packs = load_skills_from_dir(folder)
    found = {**repository, **knowledge, **packs}
    return {name: skill.description or "" for name, skill in found.items()}


def catalog(folder: str) -> str:
    """Return the list of packs that goes into the system prompt."""
    return to_prompt([*load_skills_from_dir(folder)[2].values()])
