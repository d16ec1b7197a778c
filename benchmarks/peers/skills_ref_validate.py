"""skills-ref: ``skills-ref validate``; a pack without a problem is found."""

from pathlib import Path

from skills_ref import find_skill_md, validate

REQUIRES = ["skills-ref==0.1.1"]
PYTHON = "3.11"
ENVIRONMENT = "skills_ref"
LARGE = "each"


def discover(folder: str) -> dict[str, None]:
    """Validate each pack; it tells no description, and no crash costs another."""
    found: dict[str, None] = {}
    for pack in sorted(Path(folder).iterdir()):
        if pack.is_dir() and find_skill_md(pack) is not None:
            try:
                problems = validate(pack)
            except Exception:  # noqa: BLE001, S112 - the loop is ours
                continue
            if not problems:
                found[pack.name] = None
    return found
