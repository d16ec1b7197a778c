"""A skill that is written in code."""

from dataclasses import dataclass, field

__all__ = ["Skill"]


@dataclass(frozen=True, slots=True)
class Skill:
    """What an agent gets: a name, instructions, and tools.

    A value: it cannot be changed, and may be used by many agents at once. Handed to
    `Satchel` it is on the shelf, listed by its ``description`` and loaded on demand,
    and must have one.
    """

    name: str
    description: str = field(default="", kw_only=True)
    instructions: str = field(default="", kw_only=True, repr=False)

    @property
    def tools(self) -> None:
        """None: a skill made of instructions alone."""
        return
