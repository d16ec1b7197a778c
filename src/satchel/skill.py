"""A skill that is written in code: as a value, or as a class."""

from dataclasses import dataclass, field

__all__ = ["BaseSkill", "Skill"]


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


class BaseSkill:
    """The class form of a skill: name and instructions as attributes of a subclass.

    ``instructions`` are always in the prompt of an agent that wears the skill, so
    they are short, and name the references that can be loaded.
    """

    name: str = ""
    description: str = ""
    instructions: str = ""
