"""One file of a pack, an archive, or more than was agreed to accept."""

from typing import ClassVar, Final

from satchel.errors.base import SkillError, echo

__all__ = [
    "MAX_NAMED",
    "AmbiguousReferenceError",
    "ArchiveError",
    "ChangedSinceSyncError",
    "DigestMismatchError",
    "LimitExceededError",
    "NotStagedError",
    "PackFileError",
    "ReferenceEscapesError",
    "ReferenceNotAllowedError",
    "ReferenceNotFoundError",
    "ReferenceUnreadableError",
]

MAX_NAMED: Final = 20
"""Files that a message names; the attribute ``listed`` has them all."""


class PackFileError(SkillError):
    """One file of a pack cannot be handed out; the base of the reasons why."""

    code: ClassVar[str] = "file-error"
    sentence: ClassVar[str] = "{file!r} of skill {name!r} cannot be loaded"

    def __init__(
        self, name: str, file: str, listed: tuple[str, ...] = (), detail: str = ""
    ) -> None:
        """Keep the skill, the path as it was asked for, and the listed paths."""
        super().__init__(name, file, listed, detail)
        self.name = name
        self.file = file
        self.listed = listed
        self.detail = detail

    def __str__(self) -> str:
        """Return a sentence, the detail, and what could be asked for instead."""
        detail = f": {self.detail}" if self.detail else ""
        listed = f"; listed files: {_some(self.listed)}" if self.listed else ""
        sentence = self.sentence.format(file=echo(self.file), name=echo(self.name))
        return f"{sentence}{detail}{listed}"


def _some(paths: tuple[str, ...]) -> str:
    """Return the first paths; a message, often read by a model, names no thousands."""
    more = len(paths) - MAX_NAMED
    return ", ".join(paths[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


class ReferenceNotFoundError(PackFileError, KeyError):
    """The file is listed, and is not there any more."""

    code: ClassVar[str] = "reference-not-found"
    sentence: ClassVar[str] = "{file!r} is listed by skill {name!r} and is missing"


class ReferenceNotAllowedError(PackFileError):
    """The file is not on the skill's list; whether it exists was not looked at."""

    code: ClassVar[str] = "reference-not-allowed"
    sentence: ClassVar[str] = "{file!r} is not a listed file of skill {name!r}"


class ReferenceEscapesError(ReferenceNotAllowedError):
    """The path would leave the pack, or is no plain relative path."""

    code: ClassVar[str] = "reference-escapes"
    sentence: ClassVar[str] = "{file!r} does not stay inside skill {name!r}"


class AmbiguousReferenceError(PackFileError):
    """A short name that several listed files bear; ``listed`` are the candidates."""

    code: ClassVar[str] = "ambiguous-reference"
    sentence: ClassVar[str] = "{file!r} names several files of skill {name!r}"


class ReferenceUnreadableError(PackFileError):
    """The file is listed and there, and the system does not let it be read."""

    code: ClassVar[str] = "reference-unreadable"
    sentence: ClassVar[str] = "{file!r} of skill {name!r} cannot be read"


class ChangedSinceSyncError(PackFileError):
    """The bytes are not those that were catalogued.

    A load reads an edited pack again before it raises this: somebody goes on writing
    the file, or the pack is one that is not read again.
    """

    code: ClassVar[str] = "changed-since-sync"
    sentence: ClassVar[str] = (
        "{file!r} of skill {name!r} has changed since it was catalogued"
    )


class DigestMismatchError(PackFileError):
    """The bytes are not those that the source, or a pin, announced; none is used.

    ``detail`` says which digest or size was wanted and which came.
    """

    code: ClassVar[str] = "digest-mismatch"
    sentence: ClassVar[str] = "{file!r} of skill {name!r} is not what was announced"


class LimitExceededError(SkillError, ValueError):
    """More than was agreed to accept; a retry cannot help.

    ``limit`` is a field of `satchel.model.Limits`, ``unit`` what it counts.
    """

    code: ClassVar[str] = "limit-exceeded"

    def __init__(
        self, limit: str, maximum: int, actual: int, unit: str, where: str = ""
    ) -> None:
        """Keep the limit's name, its value, the actual amount and the unit."""
        super().__init__(limit, maximum, actual, unit, where)
        self.limit = limit
        self.maximum = maximum
        self.actual = actual
        self.unit = unit
        self.where = where

    def __str__(self) -> str:
        """Return a sentence with limit, actual and unit."""
        where = f"{self.where}: " if self.where else ""
        return (
            f"{where}{self.actual:,} {self.unit} exceed the limit "
            f"{self.limit} = {self.maximum:,} {self.unit}"
        )


class ArchiveError(SkillError, ValueError):
    """An archive is damaged, or holds what none should; nothing of it is used."""

    code: ClassVar[str] = "unsafe-archive"

    def __init__(self, where: str, detail: str) -> None:
        """Keep which archive, empty where nobody said, and what is wrong with it."""
        super().__init__(where, detail)
        self.where = where
        self.detail = detail

    def __str__(self) -> str:
        """Return a sentence."""
        where = f" {self.where}" if self.where else ""
        return f"the archive{where} is not unpacked: {self.detail}"


class NotStagedError(SkillError):
    """A skill's files could not be put to where an agent's tools see them."""

    code: ClassVar[str] = "not-staged"

    def __init__(self, name: str, detail: str) -> None:
        """Keep the skill, and what the system said."""
        super().__init__(name, detail)
        self.name = name
        self.detail = detail

    def __str__(self) -> str:
        """Return a sentence."""
        return f"the files of skill {self.name!r} were not staged: {self.detail}"
