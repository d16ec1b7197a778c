"""What a model is told that keeps asking for what is not there."""

from typing import Final

from satchel.errors import (
    ReferenceNotAllowedError,
    SkillError,
    SkillNotFoundError,
)
from satchel.model import Catalog
from satchel.text import clean_line

__all__ = ["FINAL_MISS", "advice", "heir_advice", "is_miss"]

FINAL_MISS: Final = 3
"""The miss of a turn that is final (R35)."""
MAX_NAMED: Final = 20
"""Ids that an advice names; in a longer catalog these are the nearest ones."""


def is_miss(error: SkillError) -> bool:
    """Tell whether an error means that a model asked for something that is not there.

    What is there and not handed out, or not now, is none.
    """
    return isinstance(error, (SkillNotFoundError, ReferenceNotAllowedError))


def heir_advice(error: SkillError, catalog: Catalog) -> str:
    """Return the sentence that names who took the place of a skill that is gone.

    Only what ``catalog`` lists is named: it is that of whoever asked.
    """
    heir = catalog.heir_of(error.name) if isinstance(error, SkillNotFoundError) else ""
    return f"The skill {clean_line(heir)} takes its place: load it." if heir else ""


def advice(error: SkillError, misses: int, catalog: Catalog) -> str:
    """Return the sentence behind the error of a turn's miss number ``misses``.

    The first says nothing more, the second what could be asked for, the third that it
    is over. Who took the place of a skill that is gone, the first two say.
    """
    heir = heir_advice(error, catalog)
    if misses <= 1:
        return heir
    if misses >= FINAL_MISS:
        return (
            f"This was miss number {misses}: final. Do not call this tool again for "
            "it; go on without, or tell the user what is missing."
        )
    if heir or isinstance(error, ReferenceNotAllowedError):
        return heir  # its message lists the files
    wanted = error.name if isinstance(error, SkillNotFoundError) else ""
    ids = _nearest(wanted, [entry.id for entry in catalog.entries])
    more = len(catalog) - len(ids)
    rest = f", and {more} more" if more > 0 else ""
    return f"Valid ids: {', '.join(map(clean_line, ids))}{rest}."


def _nearest(wanted: str, ids: list[str]) -> list[str]:
    if len(ids) <= MAX_NAMED:
        return ids
    from satchel.text.nearest import nearest

    return nearest(wanted[:64], ids, MAX_NAMED, 0.3) or ids[:MAX_NAMED]
