"""What a model is told of an error: no path of the machine, no owner's address."""

from satchel.errors import (
    DuplicateSkillError,
    ExtraMissingError,
    SkillError,
    SkillNotFoundError,
    SkillWithheldError,
    SourceUnavailableError,
    echo,
)
from satchel.text import printable

__all__ = ["error_result", "tell"]


def tell(error: SkillError) -> str:
    """Return the error's message as far as a model may read it (R24).

    Origins and sources may be absolute paths or addresses, so that errors about them
    are told without; so is a fix, which is for the user. All others carry
    pack-relative paths only.
    """
    if isinstance(error, SkillNotFoundError):
        return f"skill {echo(error.name)!r} not found"
    if isinstance(error, SkillWithheldError):
        return f"skill {echo(error.name)!r} is {error.reason} and cannot be loaded"
    if isinstance(error, DuplicateSkillError):
        return (
            f"several packs claim the skill {error.skill_name!r}; none of them is "
            "handed out"
        )
    if isinstance(error, SourceUnavailableError):
        return "the source of the skill does not answer now; try again later"
    if isinstance(error, ExtraMissingError):  # what to install is for the user
        return f"{error.what} is not available here"
    return printable(str(error))


def error_result(error: SkillError, advice: str | None = None) -> dict[str, object]:
    """Return the structured result that stands for an error.

    ``advice`` is a further sentence of its message.
    """
    message = f"{tell(error)}. {advice}" if advice else tell(error)
    return {"error": {"code": error.code, "message": message}}
