"""Every exception that Satchel raises on purpose, and its stable code.

    SkillError
    ├── PathError                              a file or folder: path, detail, line
    │   ├── SkillManifestError (ValueError)    a manifest that cannot be used
    │   ├── ConfigError (ValueError)           satchel.toml, or an argument, is wrong
    │   ├── MissingPathError                   a folder that was named is not there
    │   ├── InvalidReleaseError (ValueError)   not a release, or of a later format
    │   ├── NotEditableError (ValueError)      a SKILL.md that no small change fits
    │   ├── AlreadyThereError                  nothing is written over what is there
    │   ├── NotWrittenError                    a file could not be written
    │   ├── NotInstalledError                  skills that are not put into a project
    │   └── TemplateError (ValueError)         a legacy template that cannot be used
    │       └── TemplateNotFoundError (FileNotFoundError)  there is none
    ├── NamedError                             one named thing: name, detail
    │   ├── SourceUnavailableError             a source gave no answer
    │   ├── NoSkillsError                      no skill where some were expected
    │   ├── NotStagedError                     a skill's files could not be copied
    │   ├── ArchiveError (ValueError)          an archive that is not unpacked
    │   ├── RevisionError                      no earlier state to compare with
    │   ├── CannotRetireError (ValueError)     a skill that is not retired this way
    │   ├── InvalidRoleError (ValueError)      not a name that a role could have
    │   └── ToolError                          a tool call that cannot be run
    ├── PackFileError                          one file of a pack
    │   ├── ReferenceNotFoundError (KeyError)  listed, and missing
    │   ├── ReferenceNotAllowedError           not listed
    │   │   └── ReferenceEscapesError          would leave the pack
    │   ├── AmbiguousReferenceError            a short name with several owners
    │   ├── ReferenceUnreadableError           there, and cannot be read
    │   ├── ChangedSinceSyncError              not the bytes that were catalogued
    │   └── DigestMismatchError                not the bytes that were announced
    ├── DeniedError                            the policy does not allow it
    │   ├── ApprovalNeededError                a person has to be asked, and was not
    │   ├── ApprovalDeclinedError              a person was asked, and said no
    │   └── ApprovalUsedError                  the yes was for a call that was made
    ├── SkillNotFoundError (KeyError)          every source answered, none has it
    ├── SkillExcludedError                     known, and not loaded: with a reason
    ├── DuplicateSkillError (RuntimeError)     two packs claim one id
    ├── DuplicateToolError (RuntimeError)      two tools of one name
    ├── LimitExceededError (ValueError)        more than is accepted
    ├── NoSources                              nothing says where skills are
    ├── RefusedReleaseError                    no release is built of such skills
    ├── RefusedPackError                       no archive is made of such a pack
    ├── UnknownFieldError (ValueError)         a field that no layer may change
    ├── StateError (ValueError)                a state that nothing can resume from
    ├── ExtraMissingError (ImportError)        an optional extra is not installed
    └── ProductMissingError (ImportError)      a part of Satchel is not installed

Each class carries its objects, ``args`` equal to its signature so that it pickles.
``code`` is stable: programs and prompts depend on it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

__all__ = [
    "AmbiguousReferenceError",
    "ApprovalDeclinedError",
    "ApprovalNeededError",
    "ApprovalUsedError",
    "ArchiveError",
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
    "NoSkillsError",
    "NotStagedError",
    "PackFileError",
    "ProductMissingError",
    "ReferenceEscapesError",
    "ReferenceNotAllowedError",
    "ReferenceNotFoundError",
    "ReferenceUnreadableError",
    "ScriptsNotRunWarning",
    "SkillExcludedError",
    "SkillManifestError",
    "SkillNotFoundError",
    "SourceUnavailableError",
    "StateError",
    "ToolError",
]

# Characters of a caller's text that a message or a result repeats.
MAX_ECHO: Final = 100

# Characters of one value that a message has; others may have written it.
MAX_SHOWN: Final = 2_000

# Files that a message names; the attribute `listed` has them all.
MAX_NAMED: Final = 20


def echo(sent: object, most: int = MAX_ECHO) -> str:
    """Return what somebody sent, cut to ``most``, so that a message may repeat it."""
    # Every text from a model or a client that goes back to one goes through this.
    if not isinstance(sent, str):
        return type(sent).__name__
    return sent if len(sent) <= most else f"{sent[: most - 3]}..."


def shown(values: Mapping[str, object]) -> dict[str, object]:
    """Return the values of a message, with each text cut to `MAX_SHOWN`."""
    return {
        name: echo(value, MAX_SHOWN) if isinstance(value, str) else value
        for name, value in values.items()
    }


def rename_advice(*alternatives: str) -> str:
    """Return what to do about things of one name: rename them, or an alternative."""
    return ", or ".join(("rename all but one", *alternatives))


# Not frozen: a traceback and notes are set on them later.
class SkillError(Exception):
    """The base of every error that Satchel raises on purpose.

    ``sentence`` is the message of a class, a template that its attributes fill.
    """

    code: ClassVar[str] = "skill-error"
    sentence: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Keep the fields of a dataclass as ``args``, by which errors pickle."""
        self.args = tuple(vars(self).values())

    def __str__(self) -> str:
        if self.sentence:
            return self.sentence.format_map(shown(vars(self)))
        return " ".join(echo(str(arg), MAX_SHOWN) for arg in self.args)


def error_payload(error: SkillError) -> dict[str, dict[str, str]]:
    return {"error": {"code": error.code, "message": str(error)}}


@dataclass(eq=False, repr=False)
class NamedError(SkillError):
    """The base of errors about one named thing: its ``name``, and the ``detail``."""

    sentence = "{name}: {detail}"

    name: str
    detail: str


@dataclass(eq=False, repr=False)
class PathError(SkillError):
    """The base of errors about a file or folder; no ``line`` is the whole file."""

    sentence = "{place}: {detail}"

    path: str
    detail: str
    line: int | None = None

    def __str__(self) -> str:
        place = echo(self.path, MAX_SHOWN) + (f":{self.line}" if self.line else "")
        return self.sentence.format_map(shown({"place": place, "detail": self.detail}))


class SkillManifestError(PathError, ValueError):
    """A manifest, or several, cannot be used."""

    code = "invalid-manifest"


@dataclass(eq=False, repr=False)
class SkillNotFoundError(SkillError, KeyError):
    """Every source answered, and none holds a skill of exactly this id.

    A source that did not answer is `SourceUnavailableError`, never this.
    """

    code = "skill-not-found"

    name: str
    close: tuple[str, ...] = ()
    replacement: str = ""

    def __str__(self) -> str:
        if self.replacement:
            name = echo(self.name)
            return f"skill {name!r} not found; {self.replacement!r} takes its place"
        close = f"; did you mean {', '.join(self.close)}?" if self.close else ""
        return f"skill {echo(self.name)!r} not found{close}"


@dataclass(eq=False, repr=False)
class SkillExcludedError(SkillError):
    """The skill is known and cannot be loaded: disabled, untrusted, filtered."""

    code = "skill-withheld"

    name: str
    reason: str
    fix: str = ""

    def __str__(self) -> str:
        fix = f"; {self.fix}" if self.fix else ""
        name = echo(self.name)
        return f"skill {name!r} is {self.reason} and cannot be loaded{fix}"


@dataclass(eq=False, repr=False)
class DuplicateSkillError(SkillError, RuntimeError):
    """Two packs claim one id, and no precedence was chosen."""

    code = "duplicate-skill"

    skill_name: str
    first_origin: str
    second_origin: str
    fix: str = ""

    def __str__(self) -> str:
        fix = f"; {self.fix}" if self.fix else ""
        return (
            f"duplicate skill {self.skill_name!r}: defined in both "
            f"{self.first_origin} and {self.second_origin}{fix}"
        )


@dataclass(eq=False, repr=False)
class PackFileError(SkillError):
    """One file of a pack cannot be handed out; the base of the reasons why."""

    code = "file-error"
    sentence = "{file!r} of skill {name!r} cannot be loaded"

    name: str
    file: str
    listed: tuple[str, ...] = ()
    detail: str = ""

    def __str__(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        sentence = self.sentence.format(file=echo(self.file), name=echo(self.name))
        # Not the file that was asked for: a model would ask for it again.
        others = [path for path in self.listed if path != self.file]
        if not others:
            return f"{sentence}{detail}"
        # A message, often read by a model, names no thousands.
        more = len(others) - MAX_NAMED
        listed = ", ".join(others[:MAX_NAMED])
        listed += f" and {more} more" if more > 0 else ""
        return f"{sentence}{detail}; listed files: {listed}"


class ReferenceNotFoundError(PackFileError, KeyError):
    """The file is listed and missing."""

    code = "reference-not-found"
    sentence = "{file!r} is listed by skill {name!r} and is missing"


class ReferenceNotAllowedError(PackFileError):
    """The file is not on the skill's list; whether it exists was not looked at."""

    code = "reference-not-allowed"
    sentence = "{file!r} is not a listed file of skill {name!r}"


class ReferenceEscapesError(ReferenceNotAllowedError):
    """The path would leave the pack, or is not a plain relative path."""

    code = "reference-escapes"
    sentence = "{file!r} does not stay inside skill {name!r}"


class AmbiguousReferenceError(PackFileError):
    """A short name that fits several listed files; ``listed`` are the candidates."""

    code = "ambiguous-reference"
    sentence = "{file!r} names several files of skill {name!r}"


class ReferenceUnreadableError(PackFileError):
    """The file is listed and exists, and the system does not let it be read."""

    code = "reference-unreadable"
    sentence = "{file!r} of skill {name!r} cannot be read"


class ChangedSinceSyncError(PackFileError):
    """The bytes are not those that were catalogued.

    A load reads an edited pack again before it raises this: a program goes on writing
    the file, or the pack is one that is not read again.
    """

    code = "changed-since-sync"
    sentence = "{file!r} of skill {name!r} has changed since it was catalogued"


class DigestMismatchError(PackFileError):
    """The bytes are not those that the source, or a pin, announced; none is used.

    ``detail`` says which digest or size was expected and which came.
    """

    code = "digest-mismatch"
    sentence = "{file!r} of skill {name!r} is not what was announced"


class NotStagedError(NamedError):
    """A skill's files could not be copied to where an agent's tools see them."""

    code = "not-staged"
    sentence = "the files of skill {name!r} were not staged: {detail}"


@dataclass(eq=False, repr=False)
class DeniedError(SkillError):
    """The policy does not allow it.

    ``action`` is what the caller wanted to do with the skill, ``tool`` the tool of a
    call. ``reason`` is for the operator: no model reads it.
    """

    code = "denied-by-policy"
    sentence = "{what} is not allowed here"

    action: str
    skill: str
    tool: str = ""
    reason: str = ""

    def __str__(self) -> str:
        if self.tool and self.action != "script":
            owner = f" of skill {echo(self.skill)!r}" if self.skill else ""
            what = f"calling {echo(self.tool)!r}{owner}"
        else:
            verbs = {
                "load": "loading",
                "read": "reading a file of",
                "script": "running a script of",
            }
            verb = verbs.get(self.action, self.action)
            what = f"{verb} skill {echo(self.skill)!r}"
        return self.sentence.format(what=what)


class ApprovalNeededError(DeniedError):
    """A person has to approve it first, and there is no one to ask."""

    code = "approval-required"
    sentence = "{what} needs an approval; it was not done"


@dataclass(eq=False, repr=False)
class ApprovalDeclinedError(DeniedError):
    """A person was asked and said no; the question may be asked again later.

    ``words`` are what they said to the model with it.
    """

    code = "approval-declined"
    sentence = "{what} was declined by the user; it was not done"

    words: str = ""

    def __str__(self) -> str:
        words = f". The user says: {self.words}" if self.words else ""
        return f"{super().__str__()}{words}"


class ApprovalUsedError(DeniedError):
    """The approval was for one call, and that call was made, or begun, before."""

    code = "approval-used"
    sentence = (
        "{what} was approved for one call, and that call was made or begun before; it "
        "was not done again. Find out whether it took effect; if not, make a new call"
    )


@dataclass(eq=False, repr=False)
class StateError(SkillError, ValueError):
    """A conversation cannot be resumed from what was given as its state."""

    code = "invalid-state"
    sentence = "this is not the state of a session: {detail}"

    detail: str


class ToolError(NamedError):
    """A tool call that cannot be run: ``name`` is the tool as it was asked for."""

    code = "bad-tool-call"

    def __str__(self) -> str:
        return f"{echo(self.name)}: {self.detail}"


@dataclass(eq=False, repr=False)
class DuplicateToolError(SkillError, RuntimeError):
    """Two tools of one name; both owners are named."""

    code = "duplicate-tool"
    sentence = (
        "duplicate tool {tool!r}: offered by both {first_owner} and {second_owner}"
    )

    tool: str
    first_owner: str
    second_owner: str


# --- Limits, sources, settings and releases, and what is written ----------------------


def install_command(extra: str = "", *, upgrade: bool = False) -> str:
    """Return the command line that installs Satchel, with an extra."""
    from satchel.published import NAME  # most programs miss nothing

    extras = f"[{extra}]" if extra else ""
    option = "-U " if upgrade else ""
    where = "" if NAME else ", in the folder of Satchel's source"
    return f"pip install {option}'{NAME or '.'}{extras}'{where}"


@dataclass(eq=False, repr=False)
class LimitExceededError(SkillError, ValueError):
    """More than is accepted; a retry cannot help.

    ``limit`` is a field of `satchel.model.Limits`, ``unit`` what it counts.
    """

    code = "limit-exceeded"

    limit: str
    maximum: int
    actual: int
    unit: str
    where: str = ""

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        return (
            f"{where}{self.actual:,} {self.unit} exceed the limit "
            f"{self.limit} = {self.maximum:,} {self.unit}"
        )


class ArchiveError(NamedError, ValueError):
    """An archive is damaged or unsafe, and is not unpacked; ``name`` may be empty."""

    code = "unsafe-archive"

    def __str__(self) -> str:
        name = f" {self.name}" if self.name else ""
        return f"the archive{name} is not unpacked: {self.detail}"


class SourceUnavailableError(NamedError):
    """A source gave no answer now; the same call may work later.

    ``name`` is the source's label.
    """

    code = "source-unavailable"
    sentence = "source {name!r} did not answer: {detail}"


class NoSkillsError(NamedError):
    """A source, or all of them together, hold no skill, and some were expected.

    ``name`` is the place as the user wrote it, empty for all sources.
    """

    code = "no-skills"

    def __str__(self) -> str:
        return super().__str__() if self.name else self.detail


@dataclass(eq=False, repr=False)
class NoSources(SkillError):
    """Nothing says where skills are: no argument, no satchel.toml."""

    code = "no-sources"

    detail: str


class MissingPathError(PathError):
    """A file or folder that was named does not exist."""

    code = "path-not-found"

    def __init__(self, path: str) -> None:
        super().__init__(path, "no such file or folder")
        # Equal to the signature, so that it pickles.
        self.args = (path,)


class ConfigError(PathError, ValueError):
    """satchel.toml (or its table in pyproject.toml), or an argument, cannot be used."""

    code = "invalid-config"


class RevisionError(NamedError):
    """An earlier state of a library, ``name``, cannot be read from git's history."""

    code = "no-revision"
    sentence = "cannot compare with {name!r}: {detail}"


class InvalidReleaseError(PathError, ValueError):
    """This is not a release, or not one that this version reads."""

    code = "invalid-release"


@dataclass(eq=False, repr=False)
class ExtraMissingError(SkillError, ImportError):
    """An optional part was used, and what it needs is not installed."""

    code = "extra-missing"
    sentence = "{what} needs an extra: {command}"

    what: str
    extra: str
    command: str = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.command = install_command(self.extra)


@dataclass(eq=False, repr=False)
class ProductMissingError(SkillError, ImportError):
    """A part of Satchel was used that this installation does not have."""

    code = "product-missing"
    sentence = "{what} needs {product}, which is not here: {command}"

    what: str
    product: str
    command: str = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.command = install_command()


@dataclass(eq=False, repr=False)
class RefusedReleaseError(SkillError):
    """No release is built of skills in this state; ``reasons`` are sentences."""

    code = "release-refused"

    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return f"no release is built: {'; '.join(self.reasons)}"


@dataclass(eq=False, repr=False)
class RefusedPackError(SkillError):
    """No archive is made of a pack in this state; ``reasons`` are sentences."""

    code = "pack-refused"

    path: str
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path}: no archive is made: {'; '.join(self.reasons)}"


class NotEditableError(PathError, ValueError):
    """No small change to the text of a SKILL.md does what was asked."""

    code = "not-editable"
    sentence = "{place}: {detail}; change it by hand"


@dataclass(eq=False, repr=False)
class UnknownFieldError(SkillError, ValueError):
    """A layer has a field that no rule merges."""

    code = "unknown-field"
    sentence = (
        "layer {layer!r} of skill {name!r}: unknown field {field!r}; fix its spelling, "
        "or move it into metadata"
    )

    field: str
    layer: str
    name: str


class CannotRetireError(NamedError, ValueError):
    """A skill cannot be retired as asked: a circle of replacements, or no folder."""

    code = "cannot-retire"
    sentence = "skill {name!r} is not retired: {detail}"


class ScriptsNotRunWarning(UserWarning):
    """Skills ask the model to run scripts, and no tool of Satchel runs any."""


class AlreadyThereError(PathError):
    """Something is there already, and nothing is written over it."""

    code = "already-there"

    def __init__(self, path: str, detail: str = "") -> None:
        super().__init__(path, detail)
        # Equal to the signature, so that it pickles.
        self.args = (path, detail)

    def __str__(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.path} is there already{detail}; nothing was written"


class NotWrittenError(PathError):
    """A file or a folder could not be written; no half-written one is left."""

    code = "not-written"
    sentence = "{place} was not written: {detail}"


class NotInstalledError(PathError):
    """Skills are not put into a project; nothing of it was changed."""

    code = "not-installed"


class InvalidRoleError(NamedError, ValueError):
    """A role's name is not valid, so no file was looked for."""

    code = "invalid-role"
    sentence = "{name!r} is not the name of a role: {detail}"


class TemplateError(PathError, ValueError):
    """A role's legacy template exists and cannot be used."""

    code = "template-unusable"


class TemplateNotFoundError(TemplateError, FileNotFoundError):
    """The role has no legacy template."""

    code = "template-not-found"

    def __init__(self, path: str) -> None:
        super().__init__(path, "no such template")
        # Equal to the signature, so that it pickles.
        self.args = (path,)
