"""What the budget asks of a format."""

from collections.abc import Sequence
from typing import Protocol

__all__ = ["Layout"]


class Layout(Protocol):
    """One format of the catalog section. All text it is given is clean, on one line.

    It escapes what it is given, so that no skill can end its own element or begin
    another.
    """

    def entry(self, id: str, description: str | None) -> str:
        """Return one skill; None leaves the description out, not the skill."""
        ...

    def section(self, entries: Sequence[str], note: str) -> str:
        """Return the whole section; an empty ``note`` leaves no trace."""
        ...

    def bare(self, note: str) -> str:
        """Return the smallest text that carries ``note``, without any skill."""
        ...
