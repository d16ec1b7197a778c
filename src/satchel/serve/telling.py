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
    echo,
)
from satchel.model import Catalog
from satchel.text import printable

__all__ = ["INTERNAL", "Told", "is_of_machine", "labels_outside", "tell"]


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
    """Return for each source's label how it is called outside, each by its own name.

    Of a path of the machine that is the last name; where it is taken, with a number.
    """
    names: dict[str, str] = {}
    for state in catalog.sources:
        name = plain = _last_name(state.label)
        number = 1
        while name in names.values():
            number += 1
            name = f"{plain}#{number}"
        names[state.label] = name
    return names


def is_of_machine(path: str) -> bool:
    """Tell whether a path says more of the machine than of what is served.

    It is absolute, or leads up from the folder that the server was started in.
    """
    up = path.replace("\\", "/").startswith("../")
    return up or posixpath.isabs(path) or ntpath.isabs(path)


def _last_name(label: str) -> str:
    if is_of_machine(label):
        label = ntpath.basename(label.rstrip("/\\")) or "skills"
    return printable(label)


def _message(error: SkillError) -> str:
    match error:
        case DuplicateSkillError():
            return (
                f"several packs claim the id {echo(error.skill_name)!r}; the operator "
                "of this server has to choose one"
            )
        case SkillWithheldError():
            return f"skill {echo(error.name)!r} is {error.reason} and is not handed out"
        case SourceUnavailableError():
            return "where this skill comes from does not answer now"
        case SkillManifestError():
            return "the manifest of this skill cannot be used"
        case _:
            return printable(str(error))
