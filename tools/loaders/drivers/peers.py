"""Loaders in Python: the files of ``benchmarks/peers``, with their newest releases.

Each library is discovered in a fork of a process that has imported the loader, so that
nothing of one is left for the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tools.loaders.driver import Driver

DRIVERS: Final[tuple[Driver, ...]] = ()
