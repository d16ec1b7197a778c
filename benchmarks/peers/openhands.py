"""OpenHands SDK: its folder loader; one level deep, a bad pack is skipped.

On its own, its import fails two times in five: a thread of litellm imports what the
main thread is importing. With litellm imported first it did not fail.
"""

import litellm  # noqa: F401 - for its side effect, see above
from openhands.sdk.skills import load_skills_from_dir

REQUIRES = ["openhands-sdk==1.58.0"]
PYTHON = "3.12"
LARGE = "each"


def discover(folder: str) -> dict[str, str]:
    """Load all three kinds it knows; packs are the third."""
    repository, knowledge, packs = load_skills_from_dir(folder)
    found = {**repository, **knowledge, **packs}
    return {name: skill.description or "" for name, skill in found.items()}
