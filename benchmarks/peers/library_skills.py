"""library-skills: its scan of the skills that packages bring."""

import json
import tempfile
from pathlib import Path

from library_skills.scanner import scan_node_packages

REQUIRES = ["library-skills==0.0.19"]
PYTHON = "3.11"
LARGE = "each"


def discover(folder: str) -> dict[str, str]:
    """Scan a package whose ``.agents/skills`` is the folder."""
    with tempfile.TemporaryDirectory() as modules:
        package = Path(modules, "node_modules", "packs")
        (package / ".agents").mkdir(parents=True)
        (package / ".agents" / "skills").symlink_to(folder)
        named = json.dumps({"name": "packs", "version": "1.0.0"})
        (package / "package.json").write_text(named, "utf-8")
        found = scan_node_packages(package.parent).skills
        return {skill.name: skill.description for skill in found}
