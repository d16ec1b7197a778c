"""Errors of sources, settings and releases, and of what is written: packs.

Archives, role prompts.
"""

from typing import ClassVar

from satchel.errors._access import SkillError


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


class RefusedReleaseError(SkillError):
    """No release is built of skills in this state; ``reasons`` are sentences."""

    code: ClassVar[str] = "release-refused"

    def __init__(self, reasons: tuple[str, ...]) -> None:
        """Keep every reason, the findings and conflicts as they are shown."""
        super().__init__(reasons)
        self.reasons = reasons

    def __str__(self) -> str:
        """Return a sentence with every reason."""
        return f"no release is built: {'; '.join(self.reasons)}"


class RefusedPackError(SkillError):
    """No archive is made of a pack in this state; ``reasons`` are sentences."""

    code: ClassVar[str] = "pack-refused"

    def __init__(self, path: str, reasons: tuple[str, ...]) -> None:
        """Keep the pack, as the user wrote it, and every reason."""
        super().__init__(path, reasons)
        self.path = path
        self.reasons = reasons

    def __str__(self) -> str:
        """Return a sentence with every reason."""
        return f"{self.path}: no archive is made: {'; '.join(self.reasons)}"


class NotEditableError(SkillError, ValueError):
    """A SKILL.md cannot be changed by a small change to its text; nothing was."""

    code: ClassVar[str] = "not-editable"

    def __init__(self, path: str, detail: str, line: int | None = None) -> None:
        """Keep the file, why not, and the line."""
        super().__init__(path, detail, line)
        self.path = path
        self.detail = detail
        self.line = line

    def __str__(self) -> str:
        """Return ``path[:line]: detail`` and what to do."""
        line = f":{self.line}" if self.line else ""
        return f"{self.path}{line}: {self.detail}; change it by hand"


class UnknownFieldError(SkillError, ValueError):
    """A layer says something of a skill that no rule merges."""

    code: ClassVar[str] = "unknown-field"

    def __init__(self, field: str, layer: str, name: str) -> None:
        """Keep the field, the layer that has it, and the skill."""
        super().__init__(field, layer, name)
        self.field = field
        self.layer = layer
        self.name = name

    def __str__(self) -> str:
        """Return a sentence, and what to do."""
        return (
            f"layer {self.layer!r} of skill {self.name!r}: unknown field "
            f"{self.field!r}; mend its spelling, or move it into metadata"
        )


class CannotRetireError(SkillError, ValueError):
    """A skill is not marked as retired the way it was asked for; nothing was written.

    Its heir is itself, or leads back to it; or it is not kept in a folder.
    """

    code: ClassVar[str] = "cannot-retire"

    def __init__(self, name: str, detail: str) -> None:
        """Keep the skill and why not."""
        super().__init__(name, detail)
        self.name = name
        self.detail = detail

    def __str__(self) -> str:
        """Return a sentence."""
        return f"skill {self.name!r} is not retired: {self.detail}"


class AlreadyThereError(SkillError):
    """Something is there already, and nothing is written over it."""

    code: ClassVar[str] = "already-there"

    def __init__(self, path: str, detail: str = "") -> None:
        """Keep the path, and what is there."""
        super().__init__(path, detail)
        self.path = path
        self.detail = detail

    def __str__(self) -> str:
        """Return a sentence."""
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.path} is there already{detail}; nothing was written"


class NotWrittenError(SkillError):
    """A file or a folder could not be written; nothing half-made is left."""

    code: ClassVar[str] = "not-written"

    def __init__(self, path: str, detail: str) -> None:
        """Keep the path, and what the system said."""
        super().__init__(path, detail)
        self.path = path
        self.detail = detail

    def __str__(self) -> str:
        """Return a sentence."""
        return f"{self.path} was not written: {self.detail}"


class InvalidRoleError(SkillError, ValueError):
    """A role's name is none, so that no file was looked for by it."""

    code: ClassVar[str] = "invalid-role"

    def __init__(self, role: str, detail: str) -> None:
        """Keep the name as it was given, and what is wrong with it."""
        super().__init__(role, detail)
        self.role = role
        self.detail = detail

    def __str__(self) -> str:
        """Return a sentence."""
        return f"{self.role!r} is no name of a role: {self.detail}"


class TemplateError(SkillError, ValueError):
    """A role's legacy template is there, and cannot be used."""

    code: ClassVar[str] = "template-unusable"

    def __init__(self, path: str, detail: str) -> None:
        """Keep the file, as the user wrote its folder, and what is wrong with it."""
        super().__init__(path, detail)
        self.path = path
        self.detail = detail

    def __str__(self) -> str:
        """Return ``path: detail``."""
        return f"{self.path}: {self.detail}"


class TemplateNotFoundError(TemplateError, FileNotFoundError):
    """The role has no legacy template."""

    code: ClassVar[str] = "template-not-found"

    def __init__(self, path: str) -> None:
        """Keep where it was looked for."""
        super().__init__(path, "no such template")
        self.args = (path,)
