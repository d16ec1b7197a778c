"""What an agent wears: skills whose instructions always stand in its prompt."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from satchel.agent import Skill
from satchel.model import Descriptor
from satchel.policy import Decides
from satchel.tools import Toolbox

if TYPE_CHECKING:
    from satchel.model.pack import Category

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
    def boxes(self) -> tuple[tuple[Descriptor, Toolbox], ...]:
        """The skills that are no packs and have tools, each with its tools."""
        return tuple(
            (_described(each), each.tools)
            for each in self.order
            if not isinstance(each, str) and each.tools is not None
        )

    def permitted(self, policy: Decides, who: Mapping[str, Any]) -> "Worn":
        """Return what of it may be loaded for this ``who``; the rest is not worn."""
        return Worn(
            tuple(
                each
                for each in self.order
                if policy.decide("load", _id(each), who).verdict != "deny"
            )
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
    """Return what is worn, each once; a mere text is one id."""
    each = (always,) if isinstance(always, str) else always
    return Worn(tuple(dict.fromkeys(each)))


def _id(each: str | Skill) -> str:
    return each if isinstance(each, str) else each.name


def _described(skill: Skill) -> Descriptor:
    """Return what a policy is asked about; a foreign object is a standard skill."""
    category: Category = getattr(skill, "category", "standard")
    return Descriptor(skill.name, "", category=category)
