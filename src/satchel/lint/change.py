"""What a change brought to a library: what a reviewer wants to see first."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from satchel.model import Finding

__all__ = ["Change", "Executable", "Likeness", "Twin"]

Likeness: TypeAlias = Literal["name", "files", "description"]


@dataclass(frozen=True, slots=True, order=True)
class Executable:
    """A file that runs, by its mode or by its look; ``new``, or with other bytes.

    ``why`` is what shows that it runs: ``mode``, ``#!``, ``scripts/``, ``.sh``.
    """

    path: str
    new: bool
    why: str


@dataclass(frozen=True, slots=True, order=True)
class Twin:
    """Two packs that are alike: one that is new or changed, and another."""

    path: str
    other: str
    likeness: Likeness


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How a library differs from what it was at ``rev``; paths of packs, sorted.

    ``hidden`` are new findings of text that is made to deceive, whatever the settings
    turn off. ``moved`` are packs that are the same elsewhere, from and to.
    ``skills`` and ``tokens`` are those of the catalog section, before and after.
    """

    rev: str
    hidden: tuple[Finding, ...] = ()
    executables: tuple[Executable, ...] = ()
    twins: tuple[Twin, ...] = ()
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()
    skills: tuple[int, int] = (0, 0)
    tokens: tuple[int, int] = (0, 0)

    @property
    def packs(self) -> str:
        """How many packs were added, changed, moved and removed, in words."""
        counts = (
            (len(self.added), "added"),
            (len(self.changed), "changed"),
            (len(self.moved), "moved"),
            (len(self.removed), "removed"),
        )
        parts = [f"{count:,} {what}" for count, what in counts if count]
        return ", ".join(parts) or "no pack changed"

    @property
    def cost(self) -> str:
        """What the catalog costs every prompt, before and after, in words."""
        before, after = self.tokens
        return (
            f"{self.skills[0]:,} -> {self.skills[1]:,} skills, "
            f"{before:,} -> {after:,} tokens ({after - before:+,})"
        )
