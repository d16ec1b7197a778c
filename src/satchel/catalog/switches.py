"""What an operator switched off: skills by id, and whole sources (E24)."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Literal

__all__ = ["Switch", "is_pattern"]

_SIGNS: Final = frozenset("*?[")


def is_pattern(name: str) -> bool:
    """Tell whether a name is a shell pattern, which may fit what is not there yet."""
    return not _SIGNS.isdisjoint(name)


@dataclass(frozen=True, slots=True)
class Switch:
    """One line of what is off: a shell pattern over ids, or over labels of sources.

    ``where`` is what it is a line of; ``detail`` is why a skill is off that fits.
    """

    pattern: str
    kind: Literal["skill", "source"] = "skill"
    where: str = "`disabled`"

    @property
    def fix(self) -> str:
        """Where to take the pattern off."""
        return f"take it off {self.where}"

    @property
    def detail(self) -> str:
        """Why a skill that fits is off."""
        off = "it" if self.kind == "skill" else "its source"
        return f"{off} is switched off"

    def turns_off(self, skill_id: str, source: str) -> bool:
        """Tell whether a skill of a source is off; its very id always fits."""
        name = skill_id if self.kind == "skill" else source
        return name == self.pattern or fnmatchcase(name, self.pattern)
