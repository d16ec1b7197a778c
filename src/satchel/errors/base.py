"""The base of every error, and the one form in which an edge hands one on."""

from typing import ClassVar

__all__ = [
    "SkillError",
    "error_payload",
]


class SkillError(Exception):
    """The base of every error that Satchel raises on purpose."""

    code: ClassVar[str] = "skill-error"

    def __str__(self) -> str:
        """Return the message; subclasses build theirs from what they carry."""
        return " ".join(str(arg) for arg in self.args)


def error_payload(error: SkillError) -> dict[str, dict[str, str]]:
    """Return the one form in which an edge hands an error to a model or a program."""
    return {"error": {"code": error.code, "message": str(error)}}
