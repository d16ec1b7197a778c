"""Satchel, this checkout, in the environment that runs the benchmark."""

import satchel.catalog._descriptor_builder  # noqa: F401 - else imported with the first pack
from satchel import Options, Satchel

REQUIRES: list[str] = []
PYTHON = "3.11"
LARGE = "whole"

# Cold: what an earlier run kept would answer in its place.
_COLD = Options(index=False)


def discover(folder: str) -> dict[str, str]:
    """Sync one folder and read the catalog."""
    catalog = Satchel(folder, options=_COLD).catalog
    return {entry.id: entry.description for entry in catalog.entries}
