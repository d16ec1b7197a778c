"""Folders with packs, for tests."""

from pathlib import Path

from satchel.model import Finding, Found
from satchel.protocols import SkillSource


def pack(root: Path, key: str = "", *files: str) -> Path:
    """Write a pack with small files next to its SKILL.md; return its folder."""
    folder = root / key
    for path in ("SKILL.md", *files):
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        name = folder.name
        place.write_text(f"---\nname: {name}\ndescription: About {name}.\n---\n")
    return folder


def keys(source: SkillSource) -> list[str]:
    """Return the keys of a scan, in its order."""
    return [each.key for each in source.scan() if isinstance(each, Found)]


def told(source: SkillSource) -> list[tuple[str, str, str]]:
    """Return severity, code and path of each finding of a scan, in its order."""
    return [
        (each.severity, each.code, each.path)
        for each in source.scan()
        if isinstance(each, Finding)
    ]
