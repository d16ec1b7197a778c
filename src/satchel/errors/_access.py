"""The base of every error, and the errors of using a skill: the skill, its files.

Its tools, the policy.
"""

from typing import ClassVar, Final

MAX_ECHO: Final = 100
"""Characters of what somebody sent that a message or a result repeats."""


def echo(sent: object) -> str:
    """Return what somebody sent so that a message or a result may repeat it.

    Text is cut to `MAX_ECHO` characters, the last three of them dots; of anything else
    the type is named. Every text that goes back to a model or a client, and that one
    of them has sent, goes through this.
    """
    if not isinstance(sent, str):
        return type(sent).__name__
    return sent if len(sent) <= MAX_ECHO else f"{sent[: MAX_ECHO - 3]}..."


class SkillError(Exception):
    """The base of every error that Satchel raises on purpose."""

    code: ClassVar[str] = "skill-error"

    def __str__(self) -> str:
        """Return the message; subclasses build theirs from what they carry."""
        return " ".join(str(arg) for arg in self.args)


def error_payload(error: SkillError) -> dict[str, dict[str, str]]:
    """Return the one form in which an edge hands an error to a model or a program."""
    return {"error": {"code": error.code, "message": str(error)}}


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
            name = echo(self.name)
            return f"skill {name!r} not found; {self.heir!r} takes its place"
        close = f"; did you mean {', '.join(self.close)}?" if self.close else ""
        return f"skill {echo(self.name)!r} not found{close}"


class SkillExcludedError(SkillError):
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
        name = echo(self.name)
        return f"skill {name!r} is {self.reason} and cannot be loaded{fix}"


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
            of = f" of skill {echo(self.skill)!r}" if self.skill else ""
            what = f"calling {echo(self.tool)!r}{of}"
        else:
            done = {"load": "loading", "read": "reading a file of"}
            what = f"{done.get(self.action, self.action)} skill {echo(self.skill)!r}"
        return self.sentence.format(what=what)


class ApprovalNeededError(DeniedError):
    """Somebody has to be asked first, and there is nobody who could be."""

    code: ClassVar[str] = "approval-required"
    sentence: ClassVar[str] = "{what} needs an approval; it was not done"


class ApprovalDeclinedError(DeniedError):
    """Somebody was asked and said no; it may be asked again later.

    ``words`` are what they said to the model with it.
    """

    code: ClassVar[str] = "approval-declined"
    sentence: ClassVar[str] = "{what} was declined by the user; it was not done"

    def __init__(
        self,
        action: str,
        skill: str,
        tool: str = "",
        reason: str = "",
        words: str = "",
    ) -> None:
        """Keep what was wanted, why it is not done, and what the user said."""
        super().__init__(action, skill, tool, reason)
        self.args = (*self.args, words)
        self.words = words

    def __str__(self) -> str:
        """Return a sentence without the reason, and with the words."""
        words = f". The user says: {self.words}" if self.words else ""
        return f"{super().__str__()}{words}"


class ApprovalUsedError(DeniedError):
    """The approval was for one call, and that call was made, or begun, before."""

    code: ClassVar[str] = "approval-used"
    sentence: ClassVar[str] = (
        "{what} was approved for one call, and that call was made or begun before; it "
        "was not done again. Find out whether it took effect; if not, make a new call"
    )


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
        return f"{echo(self.tool)}: {self.detail}"


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
