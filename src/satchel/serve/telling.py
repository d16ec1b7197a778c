"""An error as whoever is outside may read it: a status, a code, a sentence.

A message of the library names paths and labels for its operator. What leaves the
process names neither.
"""

import ntpath
import posixpath
from dataclasses import dataclass
from typing import Final

from satchel.errors import (
    ChangedSinceSyncError,
    DeniedError,
    DigestMismatchError,
    DuplicateSkillError,
    LimitExceededError,
    PackFileError,
    ReferenceUnreadableError,
    SkillError,
    SkillManifestError,
    SkillNotFoundError,
    SkillWithheldError,
    SourceUnavailableError,
)
from satchel.model import Catalog

__all__ = ["INTERNAL", "Told", "labels_outside", "tell"]


@dataclass(frozen=True, slots=True)
class Told:
    """What is answered: an HTTP status, a code in kebab case, a sentence."""

    status: int
    code: str
    message: str

    def as_dict(self) -> dict[str, dict[str, str]]:
        """Return the shape of every error: ``{"error": {"code", "message"}}``."""
        return {"error": {"code": self.code, "message": self.message}}


INTERNAL: Final = Told(500, "internal-error", "the server could not answer this")

# The first class that fits; the more special ones stand first.
_STATUS: Final[tuple[tuple[type[SkillError], int], ...]] = (
    (SkillNotFoundError, 404),
    (ReferenceUnreadableError, 503),
    (ChangedSinceSyncError, 503),
    (DigestMismatchError, 502),
    (PackFileError, 404),
    (SkillWithheldError, 403),
    (DeniedError, 403),
    (LimitExceededError, 403),
    (DuplicateSkillError, 503),
    (SourceUnavailableError, 503),
    (SkillManifestError, 503),
)


def tell(error: SkillError) -> Told:
    """Return what is said of an error outside; no path of this machine, no label."""
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 0)
    if not status:
        return INTERNAL
    return Told(status, error.code, _message(error))


def labels_outside(catalog: Catalog) -> dict[str, str]:
    """Return for each source's label how it is called outside.

    Of an absolute path that is the last name; a second one of a name is ``name#2``.
    """
    names: dict[str, str] = {}
    for state in catalog.sources:
        name = _last_name(state.label)
        taken = sum(each.partition("#")[0] == name for each in names.values())
        names[state.label] = f"{name}#{taken + 1}" if taken else name
    return names


def _last_name(label: str) -> str:
    if posixpath.isabs(label) or ntpath.isabs(label):
        return ntpath.basename(label.rstrip("/\\")) or "skills"
    return label


def _message(error: SkillError) -> str:
    match error:
        case DuplicateSkillError():
            return (
                f"several packs claim the id {error.skill_name!r}; whoever runs this "
                "server has to choose one"
            )
        case SkillWithheldError():
            return f"skill {error.name!r} is {error.reason} and is not handed out"
        case SourceUnavailableError():
            return "where this skill comes from does not answer now"
        case SkillManifestError():
            return "the manifest of this skill cannot be used"
        case _:
            return str(error)
