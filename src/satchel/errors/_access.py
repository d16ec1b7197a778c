"""The bases, and the errors of using a skill: the skill, its files, its tools."""

from typing import ClassVar, Final

# Characters of a caller's text that a message or a result repeats.
MAX_ECHO: Final = 100

# Files that a message names; the attribute `listed` has them all.
MAX_NAMED: Final = 20


def echo(sent: object) -> str:
    """Return what a caller sent, cut to `MAX_ECHO`, so that a message may repeat it."""
    # Every text from a model or a client that goes back to one goes through this.
    if not isinstance(sent, str):
        return type(sent).__name__
    return sent if len(sent) <= MAX_ECHO else f"{sent[: MAX_ECHO - 3]}..."


def rename_advice(*alternatives: str) -> str:
    """Return what to do about things of one name: rename them, or an alternative."""
    return ", or ".join(("rename all but one", *alternatives))


# Plain classes, not frozen dataclasses: a traceback and notes are set on them later.
class SkillError(Exception):
    """The base of every error that Satchel raises on purpose.

    ``sentence`` is the message of a class, a template that its attributes fill.
    """

    code: ClassVar[str] = "skill-error"
    sentence: ClassVar[str] = ""

    def __str__(self) -> str:
        if self.sentence:
            return self.sentence.format_map(vars(self))
        return " ".join(str(arg) for arg in self.args)


def error_payload(error: SkillError) -> dict[str, dict[str, str]]:
    return {"error": {"code": error.code, "message": str(error)}}


class NamedError(SkillError):
    """The base of errors about one named thing: its ``name``, and the ``detail``."""

    sentence = "{name}: {detail}"

    def __init__(self, name: str, detail: str) -> None:
        super().__init__(name, detail)
        self.name = name
        self.detail = detail


class PathError(SkillError):
    """The base of errors about a file or folder; no ``line`` is the whole file."""

    sentence = "{place}: {detail}"

    def __init__(self, path: str, detail: str, line: int | None = None) -> None:
        super().__init__(path, detail, line)
        self.path = path
        self.detail = detail
        self.line = line

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return self.sentence.format(place=place, detail=self.detail)


class SkillManifestError(PathError, ValueError):
    """A manifest, or several, cannot be used."""

    code: ClassVar[str] = "invalid-manifest"


class SkillNotFoundError(SkillError, KeyError):
    """Every source answered, and none holds a skill of exactly this id.

    A source that did not answer is `SourceUnavailableError`, never this.
    """

    code: ClassVar[str] = "skill-not-found"

    def __init__(
        self, name: str, close: tuple[str, ...] = (), replacement: str = ""
    ) -> None:
        super().__init__(name, close, replacement)
        self.name = name
        self.close = close
        self.replacement = replacement

    def __str__(self) -> str:
        if self.replacement:
            name = echo(self.name)
            return f"skill {name!r} not found; {self.replacement!r} takes its place"
        close = f"; did you mean {', '.join(self.close)}?" if self.close else ""
        return f"skill {echo(self.name)!r} not found{close}"


class SkillExcludedError(SkillError):
    """The skill is known and cannot be loaded: disabled, untrusted, filtered."""

    code: ClassVar[str] = "skill-withheld"

    def __init__(self, name: str, reason: str, fix: str = "") -> None:
        super().__init__(name, reason, fix)
        self.name = name
        self.reason = reason
        self.fix = fix

    def __str__(self) -> str:
        fix = f"; {self.fix}" if self.fix else ""
        name = echo(self.name)
        return f"skill {name!r} is {self.reason} and cannot be loaded{fix}"


class DuplicateSkillError(SkillError, RuntimeError):
    """Two packs claim one id, and no precedence was chosen."""

    code: ClassVar[str] = "duplicate-skill"

    def __init__(
        self, skill_name: str, first_origin: str, second_origin: str, fix: str = ""
    ) -> None:
        super().__init__(skill_name, first_origin, second_origin, fix)
        self.skill_name = skill_name
        self.first_origin = first_origin
        self.second_origin = second_origin
        self.fix = fix

    def __str__(self) -> str:
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
        super().__init__(name, file, listed, detail)
        self.name = name
        self.file = file
        self.listed = listed
        self.detail = detail

    def __str__(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        sentence = self.sentence.format(file=echo(self.file), name=echo(self.name))
        if not self.listed:
            return f"{sentence}{detail}"
        # A message, often read by a model, names no thousands.
        more = len(self.listed) - MAX_NAMED
        listed = ", ".join(self.listed[:MAX_NAMED])
        listed += f" and {more} more" if more > 0 else ""
        return f"{sentence}{detail}; listed files: {listed}"


class ReferenceNotFoundError(PackFileError, KeyError):
    """The file is listed and missing."""

    code: ClassVar[str] = "reference-not-found"
    sentence: ClassVar[str] = "{file!r} is listed by skill {name!r} and is missing"


class ReferenceNotAllowedError(PackFileError):
    """The file is not on the skill's list; whether it exists was not looked at."""

    code: ClassVar[str] = "reference-not-allowed"
    sentence: ClassVar[str] = "{file!r} is not a listed file of skill {name!r}"


class ReferenceEscapesError(ReferenceNotAllowedError):
    """The path would leave the pack, or is not a plain relative path."""

    code: ClassVar[str] = "reference-escapes"
    sentence: ClassVar[str] = "{file!r} does not stay inside skill {name!r}"


class AmbiguousReferenceError(PackFileError):
    """A short name that fits several listed files; ``listed`` are the candidates."""

    code: ClassVar[str] = "ambiguous-reference"
    sentence: ClassVar[str] = "{file!r} names several files of skill {name!r}"


class ReferenceUnreadableError(PackFileError):
    """The file is listed and exists, and the system does not let it be read."""

    code: ClassVar[str] = "reference-unreadable"
    sentence: ClassVar[str] = "{file!r} of skill {name!r} cannot be read"


class ChangedSinceSyncError(PackFileError):
    """The bytes are not those that were catalogued.

    A load reads an edited pack again before it raises this: a program goes on writing
    the file, or the pack is one that is not read again.
    """

    code: ClassVar[str] = "changed-since-sync"
    sentence: ClassVar[str] = (
        "{file!r} of skill {name!r} has changed since it was catalogued"
    )


class DigestMismatchError(PackFileError):
    """The bytes are not those that the source, or a pin, announced; none is used.

    ``detail`` says which digest or size was expected and which came.
    """

    code: ClassVar[str] = "digest-mismatch"
    sentence: ClassVar[str] = "{file!r} of skill {name!r} is not what was announced"


class NotStagedError(NamedError):
    """A skill's files could not be copied to where an agent's tools see them."""

    code: ClassVar[str] = "not-staged"
    sentence: ClassVar[str] = "the files of skill {name!r} were not staged: {detail}"


class DeniedError(SkillError):
    """The policy does not allow it.

    ``action`` is what the caller wanted to do with the skill, ``tool`` the tool of a
    call. ``reason`` is for the operator: no model reads it.
    """

    code: ClassVar[str] = "denied-by-policy"
    sentence: ClassVar[str] = "{what} is not allowed here"

    def __init__(
        self, action: str, skill: str, tool: str = "", reason: str = ""
    ) -> None:
        super().__init__(action, skill, tool, reason)
        self.action = action
        self.skill = skill
        self.tool = tool
        self.reason = reason

    def __str__(self) -> str:
        if self.tool:
            owner = f" of skill {echo(self.skill)!r}" if self.skill else ""
            what = f"calling {echo(self.tool)!r}{owner}"
        else:
            verbs = {"load": "loading", "read": "reading a file of"}
            verb = verbs.get(self.action, self.action)
            what = f"{verb} skill {echo(self.skill)!r}"
        return self.sentence.format(what=what)


class ApprovalNeededError(DeniedError):
    """A person has to approve it first, and there is no one to ask."""

    code: ClassVar[str] = "approval-required"
    sentence: ClassVar[str] = "{what} needs an approval; it was not done"


class ApprovalDeclinedError(DeniedError):
    """A person was asked and said no; the question may be asked again later.

    ``words`` are what they said to the model with it.
    """

    code: ClassVar[str] = "approval-declined"
    sentence: ClassVar[str] = "{what} was declined by the user; it was not done"

    def __init__(
        self, action: str, skill: str, tool: str = "", reason: str = "", words: str = ""
    ) -> None:
        super().__init__(action, skill, tool, reason)
        # Equal to the signature, so that it pickles.
        self.args = (*self.args, words)
        self.words = words

    def __str__(self) -> str:
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
    sentence: ClassVar[str] = "this is not the state of a session: {detail}"

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class ToolError(NamedError):
    """A tool call that cannot be run: ``name`` is the tool as it was asked for."""

    code: ClassVar[str] = "bad-tool-call"

    def __str__(self) -> str:
        return f"{echo(self.name)}: {self.detail}"


class DuplicateToolError(SkillError, RuntimeError):
    """Two tools of one name; both owners are named."""

    code: ClassVar[str] = "duplicate-tool"
    sentence: ClassVar[str] = (
        "duplicate tool {tool!r}: offered by both {first_owner} and {second_owner}"
    )

    def __init__(self, tool: str, first_owner: str, second_owner: str) -> None:
        super().__init__(tool, first_owner, second_owner)
        self.tool = tool
        self.first_owner = first_owner
        self.second_owner = second_owner
