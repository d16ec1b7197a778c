"""What a model is told that keeps asking for what is not there."""

from typing import Final

from satchel.errors import (
    ReferenceNotAllowedError,
    SkillError,
    SkillNotFoundError,
    echo,
)
from satchel.model import Catalog
from satchel.text import clean_line

__all__ = ["FINAL_MISS", "advice", "heir_advice", "is_miss", "missed_by"]

FINAL_MISS: Final = 3
"""The miss of one id in a turn that is final (R35)."""
_MISSES: Final = (SkillNotFoundError, ReferenceNotAllowedError)
MAX_NAMED: Final = 20
"""Ids that an advice names; in a longer catalog these are the nearest ones."""


def is_miss(error: SkillError) -> bool:
    """Tell whether an error means that a model asked for something that is not there.

    What is there and not handed out, or not now, is none.
    """
    return isinstance(error, _MISSES)


def heir_advice(error: SkillError, catalog: Catalog) -> str:
    """Return the sentence that names who took the place of a skill that is gone.

    Only what ``catalog`` lists is named: it is that of whoever asked.
    """
    heir = catalog.heir_of(error.name) if isinstance(error, SkillNotFoundError) else ""
    return f"The skill {clean_line(heir)} takes its place: load it." if heir else ""


def missed_by(error: SkillError) -> str:
    """Return what was missed: the same text for the same id and file."""
    name = error.name if isinstance(error, _MISSES) else ""
    file = error.file if isinstance(error, ReferenceNotAllowedError) else ""
    return f"{echo(name)}/{echo(file)}"


def advice(error: SkillError, misses: int, same: int, catalog: Catalog) -> str:
    """Return the sentence behind the error of a miss.

    The first miss of a turn says nothing more, the next ones what could be asked for.
    The third one of the same thing says that it is over. An id whose skill has a
    replacement gets that one's id instead.

    Args:
        error: What was raised.
        misses: How many misses there were in this turn, this one included.
        same: How many of them were of the same id and file.
        catalog: What may be asked for.
    """
    heir = heir_advice(error, catalog)
    if same >= FINAL_MISS:
        return (
            f"This was miss number {same} of the same id: final. Do not call this tool "
            "for it again; go on without it, or tell the user what is missing."
        )
    if misses <= 1:
        return heir
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
