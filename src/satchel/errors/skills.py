"""A skill, or its manifest, that cannot be had."""

from typing import ClassVar

from satchel.errors.base import SkillError, echo

__all__ = [
    "DuplicateSkillError",
    "SkillManifestError",
    "SkillNotFoundError",
    "SkillWithheldError",
]


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
