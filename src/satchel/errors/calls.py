"""What is not let be done, and a call or a state that nothing can be done with."""

from typing import ClassVar

from satchel.errors.base import SkillError, echo

__all__ = [
    "ApprovalDeclinedError",
    "ApprovalNeededError",
    "ApprovalUsedError",
    "DeniedError",
    "DuplicateToolError",
    "StateError",
    "ToolError",
]


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
