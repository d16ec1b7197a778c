"""What an agent wears: skills whose instructions always stand in its prompt."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from satchel.agent import Skill
from satchel.compose import check_part, text_of, tools_of
from satchel.model import Descriptor
from satchel.model.pack import Category
from satchel.policy import Decides
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
    def boxes(self) -> tuple[tuple[Descriptor, Toolbox], ...]:
        """The skills that are no packs and have tools, each with its tools."""
        return tuple(
            (_described(each), tools)
            for each in self.order
            if not isinstance(each, str) and (tools := tools_of(each)) is not None
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
            text(each) if isinstance(each, str) else text_of(each, "instructions")
            for each in self.order
        ]


def wear(always: Iterable[str | Skill]) -> Worn:
    """Return what is worn, each once; a mere text is one id.

    Raises:
        TypeError: Something is neither an id nor has a skill's three members.
    """
    order: list[str | Skill] = []
    for each in (always,) if isinstance(always, str) else always:
        if not isinstance(each, str):
            check_part(each)
        if each not in order:  # somebody else's object need not be hashable
            order.append(each)
    return Worn(tuple(order))


def _id(each: str | Skill) -> str:
    return each if isinstance(each, str) else text_of(each, "name")


def _described(skill: Skill) -> Descriptor:
    """Return what a policy is asked about; without a category it is standard."""
    said = text_of(skill, "category") if hasattr(skill, "category") else "standard"
    if said not in get_args(Category):
        kind = type(skill).__name__
        raise ValueError(f"{kind}.category is to be standard or raw, got {said!r}")
    category = cast("Category", said)
    return Descriptor(text_of(skill, "name"), "", category=category)
