"""Loaders that run under Node, and native programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tools.loaders.driver import Driver

DRIVERS: Final[tuple[Driver, ...]] = ()
