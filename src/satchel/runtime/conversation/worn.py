"""What an agent wears: skills whose instructions always stand in its prompt."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from satchel.agent import Skill
from satchel.tools import Toolbox

__all__ = ["Worn", "wear"]


@dataclass(frozen=True, slots=True)
class Worn:
    """Ids of packs that are pinned, and anything with a skill's three members."""

    order: tuple[str | Skill, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The packs."""
        return tuple(each for each in self.order if isinstance(each, str))

    @property
    def toolboxes(self) -> tuple[Toolbox, ...]:
        """The tools of the skills that are no packs."""
        return tuple(
            each.tools
            for each in self.order
            if not isinstance(each, str) and each.tools is not None
        )

    def instructions(self, text: Callable[[str], str]) -> list[str]:
        """Return the text of each, in order; ``text`` gives that of a pack.

        Raises:
            SkillError: A pack cannot be loaded now.
        """
        return [
            text(each) if isinstance(each, str) else each.instructions
            for each in self.order
        ]


def wear(always: Iterable[str | Skill]) -> Worn:
    """Return what is worn, each once."""
    return Worn(tuple(dict.fromkeys(always)))
