"""What a session has to say about the results of its tools."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from satchel.errors import SkillError
from satchel.load.folder import fill_folder
from satchel.load.options import StyleOptions
from satchel.model import Loaded

__all__ = ["NO_HOOKS", "Hooks"]


def _nothing(_: object) -> None:
    """Say nothing."""


def _no_notes(_: object) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """Asked for each result, in this order, each at most once; by default silent.

    ``root`` gives the absolute folder in which the agent finds the skill's files; it
    is asked for instructions only, and filled into them. ``instead`` may give a note
    that stands in place of what was loaded, a file or the instructions. ``notes`` are
    sentences to add. ``misses`` may give a sentence to add to an error; the others
    are not asked then.

    A result that is the mere text of a file has no place for notes, so they are
    not asked for either.
    """

    root: Callable[[Loaded], str | None] = _nothing
    instead: Callable[[Loaded], str | None] = _nothing
    notes: Callable[[Loaded], Sequence[str]] = _no_notes
    misses: Callable[[SkillError], str | None] = _nothing

    def placed(
        self, loaded: Loaded, options: StyleOptions
    ) -> tuple[Loaded, StyleOptions]:
        """Return both with the skill's folder in them, where it has one."""
        root = self.root(loaded) if loaded.is_instructions else None
        if root is None:
            return loaded, options
        return fill_folder(loaded, root), replace(options, root=root)


NO_HOOKS: Final = Hooks()
