"""Put packs before loaders, each in a library of its own."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from satchel_lab.conformance._cases import write_library

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from satchel_lab.clients import Candidate
    from tools.loaders.driver import Driver, Seen


def look(
    driver: Driver, candidates: Sequence[Candidate], *, with_neighbours: bool
) -> Iterator[Seen]:
    """Yield what a loader finds in a library of each pack, in their order.

    Raises:
        UnavailableError: The loader cannot be run.
    """
    with tempfile.TemporaryDirectory(prefix="loaders-") as home:
        libraries = [Path(home, f"{at:04}") for at in range(len(candidates))]
        for library, candidate in zip(libraries, candidates, strict=True):
            library.mkdir()
            write_library(library, candidate, with_neighbours=with_neighbours)
        for library, seen in zip(libraries, driver.look(libraries), strict=True):
            yield seen
            shutil.rmtree(library, ignore_errors=True)
