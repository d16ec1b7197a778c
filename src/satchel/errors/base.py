"""The base of every error, and the one form in which an edge hands one on."""

from typing import ClassVar, Final

__all__ = [
    "MAX_ECHO",
    "SkillError",
    "echo",
    "error_payload",
]

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
