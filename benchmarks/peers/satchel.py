"""Satchel, this checkout, in the environment that runs the benchmark."""

import satchel.catalog._descriptor_builder  # noqa: F401 - else imported with the first pack
from satchel import Satchel

REQUIRES: list[str] = []
PYTHON = "3.11"
LARGE = "whole"


def discover(folder: str) -> dict[str, str]:
    """Sync one folder and read the catalog."""
    return {entry.id: entry.description for entry in Satchel(folder).catalog.entries}
