"""The read path, and the styles in which what was read is handed to a model."""

from satchel.load.loading import load
from satchel.load.paths import resolve
from satchel.load.turn import TurnCache
from satchel.model import Style

__all__ = ["Style", "TurnCache", "load", "resolve"]
