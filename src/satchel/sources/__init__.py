"""Places that packs come from; each function here makes a source of one kind."""

import os
from typing import TYPE_CHECKING

from satchel.model import DEFAULT_LIMITS, Limits
from satchel.sources.local import LocalSource
from satchel.sources.memory import MemorySource

if TYPE_CHECKING:
    from satchel.skill import Skill
    from satchel.sources.memory import Packs

__all__ = ["LocalSource", "MemorySource", "folder", "memory"]


def folder(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> LocalSource:
    """Make a source of a folder with packs in it, or of one pack."""
    return LocalSource(path, label=label, limits=limits)


def memory(
    *what: "Skill | Packs", label: str = "memory", limits: Limits = DEFAULT_LIMITS
) -> MemorySource:
    """Make a source of skills written in code, and of packs given as mappings.

    Raises:
        SkillManifestError: A skill has no description.
        DuplicateSkillError: Two of them have one name.
    """
    return MemorySource(*what, label=label, limits=limits)
