"""Errors of limits, sources, settings and releases, and of what is written."""

from typing import ClassVar

from satchel import _published
from satchel.errors._access import NamedError, PathError, SkillError


def install_command(extra: str = "", *, upgrade: bool = False) -> str:
    """Return the command line that installs Satchel, with an extra."""
    extras = f"[{extra}]" if extra else ""
    option = "-U " if upgrade else ""
    where = "" if _published.NAME else ", in the folder of Satchel's source"
    return f"pip install {option}'{_published.NAME or '.'}{extras}'{where}"


class LimitExceededError(SkillError, ValueError):
    """More than is accepted; a retry cannot help.

    ``limit`` is a field of `satchel.model.Limits`, ``unit`` what it counts.
    """

    code: ClassVar[str] = "limit-exceeded"

    def __init__(
        self, limit: str, maximum: int, actual: int, unit: str, where: str = ""
    ) -> None:
        super().__init__(limit, maximum, actual, unit, where)
        self.limit = limit
        self.maximum = maximum
        self.actual = actual
        self.unit = unit
        self.where = where

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        return (
            f"{where}{self.actual:,} {self.unit} exceed the limit "
            f"{self.limit} = {self.maximum:,} {self.unit}"
        )


class ArchiveError(NamedError, ValueError):
    """An archive is damaged or unsafe, and is not unpacked; ``name`` may be empty."""

    code: ClassVar[str] = "unsafe-archive"

    def __str__(self) -> str:
        name = f" {self.name}" if self.name else ""
        return f"the archive{name} is not unpacked: {self.detail}"


class SourceUnavailableError(NamedError):
    """A source gave no answer now; the same call may work later.

    ``name`` is the source's label.
    """

    code: ClassVar[str] = "source-unavailable"
    sentence: ClassVar[str] = "source {name!r} did not answer: {detail}"


class NoSkillsError(NamedError):
    """A source, or all of them together, hold no skill, and some were expected.

    ``name`` is the place as the user wrote it, empty for all sources.
    """

    code: ClassVar[str] = "no-skills"

    def __str__(self) -> str:
        return super().__str__() if self.name else self.detail


class NoSources(SkillError):
    """Nothing says where skills are: no argument, no satchel.toml."""

    code: ClassVar[str] = "no-sources"

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class MissingPathError(PathError):
    """A file or folder that was named does not exist."""

    code: ClassVar[str] = "path-not-found"

    def __init__(self, path: str) -> None:
        super().__init__(path, "no such file or folder")
        # Equal to the signature, so that it pickles.
        self.args = (path,)


class ConfigError(PathError, ValueError):
    """satchel.toml (or its table in pyproject.toml), or an argument, cannot be used."""

    code: ClassVar[str] = "invalid-config"


class RevisionError(NamedError):
    """An earlier state of a library, ``name``, cannot be read from git's history."""

    code: ClassVar[str] = "no-revision"
    sentence: ClassVar[str] = "cannot compare with {name!r}: {detail}"


class InvalidReleaseError(PathError, ValueError):
    """This is not a release, or not one that this version reads."""

    code: ClassVar[str] = "invalid-release"


class ExtraMissingError(SkillError, ImportError):
    """An optional part was used, and what it needs is not installed."""

    code: ClassVar[str] = "extra-missing"
    sentence: ClassVar[str] = "{what} needs an extra: {command}"

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(what, extra)
        self.what = what
        self.extra = extra
        self.command = install_command(extra)


class RefusedReleaseError(SkillError):
    """No release is built of skills in this state; ``reasons`` are sentences."""

    code: ClassVar[str] = "release-refused"

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__(reasons)
        self.reasons = reasons

    def __str__(self) -> str:
        return f"no release is built: {'; '.join(self.reasons)}"


class RefusedPackError(SkillError):
    """No archive is made of a pack in this state; ``reasons`` are sentences."""

    code: ClassVar[str] = "pack-refused"

    def __init__(self, path: str, reasons: tuple[str, ...]) -> None:
        super().__init__(path, reasons)
        self.path = path
        self.reasons = reasons

    def __str__(self) -> str:
        return f"{self.path}: no archive is made: {'; '.join(self.reasons)}"


class NotEditableError(PathError, ValueError):
    """No small change to the text of a SKILL.md does what was asked."""

    code: ClassVar[str] = "not-editable"
    sentence: ClassVar[str] = "{place}: {detail}; change it by hand"


class UnknownFieldError(SkillError, ValueError):
    """A layer has a field that no rule merges."""

    code: ClassVar[str] = "unknown-field"
    sentence: ClassVar[str] = (
        "layer {layer!r} of skill {name!r}: unknown field {field!r}; fix its spelling, "
        "or move it into metadata"
    )

    def __init__(self, field: str, layer: str, name: str) -> None:
        super().__init__(field, layer, name)
        self.field = field
        self.layer = layer
        self.name = name


class CannotRetireError(NamedError, ValueError):
    """A skill cannot be retired as asked: a circle of replacements, or no folder."""

    code: ClassVar[str] = "cannot-retire"
    sentence: ClassVar[str] = "skill {name!r} is not retired: {detail}"


class AlreadyThereError(PathError):
    """Something is there already, and nothing is written over it."""

    code: ClassVar[str] = "already-there"

    def __init__(self, path: str, detail: str = "") -> None:
        super().__init__(path, detail)
        # Equal to the signature, so that it pickles.
        self.args = (path, detail)

    def __str__(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.path} is there already{detail}; nothing was written"


class NotWrittenError(PathError):
    """A file or a folder could not be written; no half-written one is left."""

    code: ClassVar[str] = "not-written"
    sentence: ClassVar[str] = "{place} was not written: {detail}"


class InvalidRoleError(NamedError, ValueError):
    """A role's name is not valid, so no file was looked for."""

    code: ClassVar[str] = "invalid-role"
    sentence: ClassVar[str] = "{name!r} is not the name of a role: {detail}"


class TemplateError(PathError, ValueError):
    """A role's legacy template exists and cannot be used."""

    code: ClassVar[str] = "template-unusable"


class TemplateNotFoundError(TemplateError, FileNotFoundError):
    """The role has no legacy template."""

    code: ClassVar[str] = "template-not-found"

    def __init__(self, path: str) -> None:
        super().__init__(path, "no such template")
        # Equal to the signature, so that it pickles.
        self.args = (path,)
