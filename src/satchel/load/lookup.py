"""Which pack an id means, and whether it is handed out."""

from typing import Final

from satchel.errors import (
    DuplicateSkillError,
    ReferenceUnreadableError,
    SkillError,
    SkillNotFoundError,
    SkillWithheldError,
    SourceUnavailableError,
)
from satchel.model import SKILL_FILE, Catalog, Descriptor

__all__ = ["look_up"]

_STILL_LOADS: Final = frozenset({"deprecated", "hidden"})
_UNREADABLE: Final = "unreadable-folder"
_CLOSE_NAMES: Final = 3
_LONGEST_GUESSED: Final = 64
"""Characters of an id for which close ones are sought: the longest valid name."""


def look_up(catalog: Catalog, id: str) -> tuple[Descriptor, tuple[str, ...]]:
    """Return the pack of exactly this id, and what its reader should be told.

    Raises:
        DuplicateSkillError: Several packs claim the id, and none was preferred.
        SkillWithheldError: It is known, and is not handed out.
        SourceUnavailableError: None is known, and a source has never answered in full.
        ReferenceUnreadableError: A folder of that name cannot be read.
        SkillNotFoundError: There is none; carries close ids, and who took its place.
    """
    entry = catalog.get(id)
    if entry is not None:
        return entry, ()
    conflict = catalog.conflict_of(id)
    if conflict is not None:
        first, second = (owner.origin.location for owner in conflict.owners[:2])
        raise DuplicateSkillError(id, first, second, conflict.fix)
    held = catalog.withheld_as(id)
    if held is None:
        raise _not_found(catalog, id)
    if held.reason not in _STILL_LOADS:
        raise SkillWithheldError(id, held.reason, held.fix)
    if held.reason == "hidden":
        return held.descriptor, ()
    heir = held.descriptor.replaced_by
    use = f"; {heir!r} takes its place" if heir else ""
    return held.descriptor, (f"Skill {id!r} is deprecated{use}.",)


def _not_found(catalog: Catalog, id: str) -> SkillError:
    if len(id) > _LONGEST_GUESSED:
        return SkillNotFoundError(id)
    heir = catalog.heir_of(id)
    away = catalog.away
    if away is not None and not heir:
        return SourceUnavailableError(away.label, away.error)
    for finding in catalog.findings:
        if finding.code == _UNREADABLE and finding.path.rpartition("/")[2] == id:
            return ReferenceUnreadableError(id, SKILL_FILE, detail=finding.message)
    from satchel.text.nearest import nearest

    listed = [entry.id for entry in catalog.entries]
    return SkillNotFoundError(id, tuple(nearest(id, listed, _CLOSE_NAMES)), heir)
