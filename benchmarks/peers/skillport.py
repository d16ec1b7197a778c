"""SkillPort: its index, which its MCP server builds and lists."""

import tempfile
from pathlib import Path

from skillport.modules.indexing import build_index, list_all
from skillport.shared.config import Config

REQUIRES = ["skillport-mcp==1.1.2"]
PYTHON = "3.11"
LARGE = "whole"


def discover(folder: str) -> dict[str, str]:
    """Build the index as the server does at its start, and list what is in it."""
    with tempfile.TemporaryDirectory() as state:
        config = Config(
            skills_dir=Path(folder),
            db_path=Path(state, "db"),
            meta_dir=Path(state, "meta"),
        )
        built = build_index(config=config)
        if not built.success:
            raise RuntimeError(built.message)
        listed = list_all(limit=1_000_000, config=config)
        return {each["name"]: each["description"] for each in listed}
