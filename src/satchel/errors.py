"""Every exception that Satchel raises, and the one table of their codes.

    SkillError
    ├── SkillManifestError (ValueError)        a manifest that cannot be used
    ├── SkillNotFoundError (KeyError)          every source answered, none has it
    ├── SkillWithheldError                     it is there, and not handed out
    ├── DuplicateSkillError (RuntimeError)     two packs claim one id
    ├── PackFileError                          one file of a pack
    │   ├── ReferenceNotFoundError (KeyError)  listed, and missing
    │   ├── ReferenceNotAllowedError           not listed
    │   │   └── ReferenceEscapesError          would leave the pack
    │   ├── AmbiguousReferenceError            a short name with several owners
    │   ├── ReferenceUnreadableError           there, and cannot be read
    │   ├── ChangedSinceSyncError              not the bytes that were catalogued
    │   └── DigestMismatchError                not the bytes that were announced
    ├── LimitExceededError (ValueError)        more than was agreed to accept
    ├── ArchiveError (ValueError)              an archive that is not unpacked
    ├── SourceUnavailableError                 a source gave no answer
    ├── NoSources                              nothing says where skills are
    ├── MissingPathError                       a folder that was named is not there
    ├── ConfigError (ValueError)               satchel.toml cannot be used
    ├── RevisionError                          no earlier state to compare with
    ├── InvalidReleaseError (ValueError)       no release, or one of a later format
    ├── RefusedReleaseError                    no release is built of skills like these
    ├── RefusedPackError                       no archive is made of a pack like this
    ├── NotEditableError (ValueError)          a SKILL.md that no small change fits
    ├── UnknownFieldError (ValueError)         a field that no layer may change
    ├── CannotRetireError (ValueError)         a skill that is not retired this way
    ├── AlreadyThereError                      nothing is written over what is there
    ├── NotWrittenError                        a file could not be written
    ├── DeniedError                            the policy does not let it be done
    │   ├── ApprovalNeededError                somebody has to be asked, and was not
    │   └── ApprovalDeclinedError              somebody was asked, and said no
    ├── StateError (ValueError)                a state that nothing can resume from
    ├── NotStagedError                         a skill's files could not be copied
    ├── InvalidRoleError (ValueError)          no name that a role could have
    ├── TemplateError (ValueError)             a legacy template that cannot be used
    │   └── TemplateNotFoundError (FileNotFoundError)  there is none
    ├── ToolError                              a tool call that cannot be carried out
    ├── DuplicateToolError (RuntimeError)      two tools of one name
    └── ExtraMissingError (ImportError)        an optional extra is not installed

Each class carries its objects, ``args`` equal to its signature so that it pickles.
``code`` is stable: programs and prompts depend on it.
"""

from typing import ClassVar, Final

__all__ = [
    "AlreadyThereError",
    "AmbiguousReferenceError",
    "ApprovalDeclinedError",
    "ApprovalNeededError",
    "ArchiveError",
    "CannotRetireError",
    "ChangedSinceSyncError",
    "ConfigError",
    "DeniedError",
    "DigestMismatchError",
    "DuplicateSkillError",
    "DuplicateToolError",
    "ExtraMissingError",
    "InvalidReleaseError",
    "InvalidRoleError",
    "LimitExceededError",
    "MissingPathError",
    "NoSources",
    "NotEditableError",
    "NotStagedError",
    "NotWrittenError",
    "PackFileError",
    "ReferenceEscapesError",
    "ReferenceNotAllowedError",
    "ReferenceNotFoundError",
    "ReferenceUnreadableError",
    "RefusedPackError",
    "RefusedReleaseError",
    "RevisionError",
    "SkillError",
    "SkillManifestError",
    "SkillNotFoundError",
    "SkillWithheldError",
    "SourceUnavailableError",
    "StateError",
    "TemplateError",
    "TemplateNotFoundError",
    "ToolError",
    "UnknownFieldError",
    "error_payload",
]


MAX_NAMED: Final = 20
"""Files that a message names; the attribute ``listed`` has them all."""


class SkillError(Exception):
    """The base of every error that Satchel raises on purpose."""

    code: ClassVar[str] = "skill-error"

    def __str__(self) -> str:
        """Return the message; subclasses build theirs from what they carry."""
        return " ".join(str(arg) for arg in self.args)


class SkillManifestError(SkillError, ValueError):
    """A manifest, or several, cannot be used.

    ``path`` is the file as the user wrote it, ``detail`` what is wrong with it.
    """

    code: ClassVar[str] = "invalid-manifest"

    def __init__(self, path: str, detail: str, line: int | None = None) -> None:
        """Keep where it went wrong and what is wrong."""
        super().__init__(path, detail, line)
        self.path = path
        self.detail = detail
        self.line = line

    def __str__(self) -> str:
        """Return ``path[:line]: detail``."""
        line = f":{self.line}" if self.line else ""
        return f"{self.path}{line}: {self.detail}"


class SkillNotFoundError(SkillError, KeyError):
    """Every source answered, and none holds a skill of exactly this id.

    A source that did not answer is `SourceUnavailableError`, never this.
    """

    code: ClassVar[str] = "skill-not-found"

    def __init__(self, name: str, close: tuple[str, ...] = (), heir: str = "") -> None:
        """Keep the id as it was asked for, close ones, and the one in its place now."""
        super().__init__(name, close, heir)
        self.name = name
        self.close = close
        self.heir = heir

    def __str__(self) -> str:
        """Return a sentence, with its heir, else close names where there are any."""
        if self.heir:
            return f"skill {self.name!r} not found; {self.heir!r} takes its place"
        close = f"; did you mean {', '.join(self.close)}?" if self.close else ""
        return f"skill {self.name!r} not found{close}"


class SkillWithheldError(SkillError):
    """The skill is known, and is not handed out: disabled, untrusted, filtered."""

    code: ClassVar[str] = "skill-withheld"

    def __init__(self, name: str, reason: str, fix: str = "") -> None:
        """Keep the id, the reason's name, and what would change it."""
        super().__init__(name, reason, fix)
        self.name = name
        self.reason = reason
        self.fix = fix

    def __str__(self) -> str:
        """Return a sentence that names the reason."""
        fix = f"; {self.fix}" if self.fix else ""
        return f"skill {self.name!r} is {self.reason} and cannot be loaded{fix}"


class DuplicateSkillError(SkillError, RuntimeError):
    """Two packs claim one id, and no precedence was chosen."""

    code: ClassVar[str] = "duplicate-skill"

    def __init__(
        self, skill_name: str, first_origin: str, second_origin: str, fix: str = ""
    ) -> None:
        """Keep the id and both owners."""
        super().__init__(skill_name, first_origin, second_origin, fix)
        self.skill_name = skill_name
        self.first_origin = first_origin
        self.second_origin = second_origin
        self.fix = fix

    def __str__(self) -> str:
        """Return a sentence that names both owners."""
        fix = f"; {self.fix}" if self.fix else ""
        return (
            f"duplicate skill {self.skill_name!r}: defined in both "
            f"{self.first_origin} and {self.second_origin}{fix}"
        )


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
        sentence = self.sentence.format(file=self.file, name=self.name)
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
    """The bytes are not those that were catalogued; a new sync takes them in."""

    code: ClassVar[str] = "changed-since-sync"
    sentence: ClassVar[str] = (
        "{file!r} of skill {name!r} has changed since the last sync; sync again"
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


class DeniedError(SkillError):
    """The policy does not let it be done.

    ``action`` is what was wanted with the skill, ``tool`` the tool where it was a call,
    ``reason`` for the operator: it is not told to a model.
    """

    code: ClassVar[str] = "denied-by-policy"
    sentence: ClassVar[str] = "{what} is not allowed here"

    def __init__(
        self, action: str, skill: str, tool: str = "", reason: str = ""
    ) -> None:
        """Keep what was wanted, and why it is not done."""
        super().__init__(action, skill, tool, reason)
        self.action = action
        self.skill = skill
        self.tool = tool
        self.reason = reason

    def __str__(self) -> str:
        """Return a sentence without the reason."""
        if self.tool:
            what = f"calling {self.tool!r} of skill {self.skill!r}"
        else:
            done = {"load": "loading", "read": "reading a file of"}
            what = f"{done.get(self.action, self.action)} skill {self.skill!r}"
        return self.sentence.format(what=what)


class ApprovalNeededError(DeniedError):
    """Somebody has to be asked first, and there is nobody who could be."""

    code: ClassVar[str] = "approval-required"
    sentence: ClassVar[str] = "{what} needs an approval; it was not done"


class ApprovalDeclinedError(DeniedError):
    """Somebody was asked and said no; it may be asked again later."""

    code: ClassVar[str] = "approval-declined"
    sentence: ClassVar[str] = "{what} was declined by the user; it was not done"


class StateError(SkillError, ValueError):
    """A conversation cannot be resumed from what was given as its state."""

    code: ClassVar[str] = "invalid-state"

    def __init__(self, detail: str) -> None:
        """Keep what is wrong with it."""
        super().__init__(detail)
        self.detail = detail

    def __str__(self) -> str:
        """Return a sentence."""
        return f"not the state of a session: {self.detail}"


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


class ToolError(SkillError):
    """A tool call that cannot be carried out: unknown tool, wrong arguments."""

    code: ClassVar[str] = "bad-tool-call"

    def __init__(self, tool: str, detail: str) -> None:
        """Keep the tool's name and what is wrong with the call."""
        super().__init__(tool, detail)
        self.tool = tool
        self.detail = detail

    def __str__(self) -> str:
        """Return ``tool: detail``."""
        return f"{self.tool}: {self.detail}"


class DuplicateToolError(SkillError, RuntimeError):
    """Two tools of one name; both owners are named."""

    code: ClassVar[str] = "duplicate-tool"

    def __init__(self, tool: str, first_owner: str, second_owner: str) -> None:
        """Keep the tool and both owners."""
        super().__init__(tool, first_owner, second_owner)
        self.tool = tool
        self.first_owner = first_owner
        self.second_owner = second_owner

    def __str__(self) -> str:
        """Return a sentence that names both owners."""
        return (
            f"duplicate tool {self.tool!r}: offered by both "
            f"{self.first_owner} and {self.second_owner}"
        )


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


def error_payload(error: SkillError) -> dict[str, dict[str, str]]:
    """Return the one form in which an edge hands an error to a model or a program."""
    return {"error": {"code": error.code, "message": str(error)}}
