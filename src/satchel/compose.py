"""One prompt and one box of tools, out of a base and the skills attached to it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from satchel.tools import Toolbox

__all__ = ["Composed", "Part", "compose"]


class Part(Protocol):
    """What is composed: instructions and tools, and a name to tell whose they are."""

    @property
    def name(self) -> str:
        """Whose tools they are, for the error about two of one name."""
        ...

    @property
    def instructions(self) -> str:
        """What to add to the prompt; empty for nothing."""
        ...

    @property
    def tools(self) -> Toolbox | None:
        """What to add to the tools; None for nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Composed:
    """What a model is given."""

    instructions: str
    toolbox: Toolbox


def compose(
    base: str,
    skills: Iterable[Part],
    *,
    toolboxes: Iterable[Toolbox] = (),
    separator: str = "\n\n",
) -> Composed:
    """Add skills to a prompt and to boxes of tools, in the order given.

    The base stands first, and so do the tools of ``toolboxes``. A text that is empty or
    blank adds nothing, not even a separator; any other stays as it is. Nothing is kept:
    the same parts give the same result.

    Raises:
        DuplicateToolError: Two tools share a name; names the skills or boxes.
    """
    skills = tuple(skills)
    texts = (base, *(skill.instructions for skill in skills))
    # Under the skill's name, whatever its own: that is whom the user knows.
    carried = (
        Toolbox(skill.name, tools.tools)
        for skill in skills
        if (tools := skill.tools) is not None
    )
    return Composed(
        separator.join(text for text in texts if text.strip()),
        Toolbox.joined("composed", (*toolboxes, *carried)),
    )
