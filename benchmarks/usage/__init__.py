"""What events of use cost, and whether any is lost: ``python -m benchmarks usage``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.usage import cost, many

if TYPE_CHECKING:
    from benchmarks.library import Library
    from benchmarks.measure import Bar

__all__ = ["run"]


def run(library: Library, rounds: int) -> list[Bar]:
    """Measure both, print the tables, return the bars."""
    return [*cost.run(library, rounds), *many.run()]
