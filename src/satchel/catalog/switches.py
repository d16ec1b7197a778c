"""What an operator switched off: skills by id, and whole sources (E24)."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

__all__ = ["Switch"]


@dataclass(frozen=True, slots=True)
class Switch:
    """One line of what is off: a shell pattern over ids, or over labels of sources.

    ``detail`` is why a skill is off that fits, ``fix`` where to take the pattern off.
    """

    pattern: str
    kind: Literal["skill", "source"] = "skill"
    fix: str = "take it off `disabled`"

    @property
    def detail(self) -> str:
        """Why a skill that fits is off."""
        off = "it" if self.kind == "skill" else "its source"
        return f"{off} is switched off"

    def turns_off(self, skill_id: str, source: str) -> bool:
        """Tell whether a skill of a source is off; its very id always fits."""
        name = skill_id if self.kind == "skill" else source
        return name == self.pattern or fnmatchcase(name, self.pattern)
