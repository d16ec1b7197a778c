"""Functions whose hints are texts, and one name that only type checkers import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nowhere import Missing  # type: ignore[import-not-found]

    from satchel.tools import Run


@dataclass
class Node:
    """A node of a tree."""

    label: str
    children: list[Node]


def grow(node: Node, by: int = 1, run: Run | None = None) -> Missing:
    """Grow a tree."""
    return (node, by, run)


def lost(node: Missing) -> None:
    """Take what no one can find."""
