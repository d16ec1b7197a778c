"""A place that skills come from, or what says where that is."""

from typing import ClassVar

from satchel.errors.base import SkillError

__all__ = [
    "ConfigError",
    "ExtraMissingError",
    "InvalidReleaseError",
    "MissingPathError",
    "NoSkillsError",
    "NoSources",
    "RevisionError",
    "SourceUnavailableError",
]


class SourceUnavailableError(SkillError):
    """A source gave no answer now; the same call may work later."""

    code: ClassVar[str] = "source-unavailable"

    def __init__(self, source: str, detail: str) -> None:
        """Keep the source's label and what happened."""
        super().__init__(source, detail)
        self.source = source
        self.detail = detail

    def __str__(self) -> str:
        """Return a sentence."""
        return f"source {self.source!r} did not answer: {self.detail}"


class NoSkillsError(SkillError):
    """A source, or all of them together, hold no skill, and some were expected."""

    code: ClassVar[str] = "no-skills"

    def __init__(self, place: str, detail: str) -> None:
        """Keep the place, as the user wrote it, and what is missing there."""
        super().__init__(place, detail)
        self.place = place
        self.detail = detail

    def __str__(self) -> str:
        """Return ``place: detail``."""
        return f"{self.place}: {self.detail}" if self.place else self.detail


class NoSources(SkillError):
    """Nothing says where skills are: no argument, no satchel.toml."""

    code: ClassVar[str] = "no-sources"

    def __init__(self, detail: str) -> None:
        """Keep what lies about and the line to write."""
        super().__init__(detail)
        self.detail = detail


class MissingPathError(SkillError):
    """A file or folder that was named does not exist."""

    code: ClassVar[str] = "path-not-found"

    def __init__(self, path: str) -> None:
        """Keep the path as it was written."""
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        """Return a sentence."""
        return f"{self.path}: no such file or folder"


class ConfigError(SkillError, ValueError):
    """satchel.toml (or its table in pyproject.toml) cannot be used."""

    code: ClassVar[str] = "invalid-config"

    def __init__(self, path: str, detail: str) -> None:
        """Keep the file and what is wrong in it."""
        super().__init__(path, detail)
        self.path = path
        self.detail = detail

    def __str__(self) -> str:
        """Return ``path: detail``."""
        return f"{self.path}: {self.detail}"


class RevisionError(SkillError):
    """An earlier state of a library cannot be read from git's history."""

    code: ClassVar[str] = "no-revision"

    def __init__(self, rev: str, detail: str) -> None:
        """Keep the revision as it was written, and why it cannot be read."""
        super().__init__(rev, detail)
        self.rev = rev
        self.detail = detail

    def __str__(self) -> str:
        """Return a sentence."""
        return f"cannot compare with {self.rev!r}: {self.detail}"


class InvalidReleaseError(SkillError, ValueError):
    """What was taken for a release is none, or not one that this version reads."""

    code: ClassVar[str] = "invalid-release"

    def __init__(self, path: str, detail: str) -> None:
        """Keep the place, as the user wrote it, and what is wrong there."""
        super().__init__(path, detail)
        self.path = path
        self.detail = detail

    def __str__(self) -> str:
        """Return ``path: detail``."""
        return f"{self.path}: {self.detail}"


class ExtraMissingError(SkillError, ImportError):
    """An optional part was used, and what it needs is not installed."""

    code: ClassVar[str] = "extra-missing"

    def __init__(self, what: str, extra: str) -> None:
        """Keep the part and the extra that brings what it needs."""
        super().__init__(what, extra)
        self.what = what
        self.extra = extra

    def __str__(self) -> str:
        """Return a sentence with the command that mends it."""
        return f"{self.what} needs: pip install 'satchel[{self.extra}]'"
