"""A skill that is written in code: as a value, or as a class."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

if TYPE_CHECKING:  # it costs start-up time
    from collections.abc import Callable, Iterable, Sequence

    from satchel.tools import Tool, Toolbox

__all__ = ["BaseSkill", "Category", "Skill", "new"]

Category: TypeAlias = Literal["standard", "raw"]
"""``raw`` is for tools that act without asking; a policy has to allow these."""


@dataclass(frozen=True, slots=True, init=False)
class Skill:
    """What an agent gets: a name, instructions, and tools.

    A value: it cannot be changed, and may be used by many agents at once. Handed to
    `Satchel` it is on the shelf, listed by its ``description`` and loaded on demand,
    and must have one. Attached to an agent it is worn: its instructions stand in the
    prompt.
    """

    name: str
    description: str
    instructions: str = field(repr=False)
    tools: "Toolbox | None"
    category: Category

    def __init__(  # noqa: PLR0913 - a skill's parts, all by name
        self,
        name: str,
        *,
        description: str = "",
        instructions: str = "",
        tools: "Toolbox | Iterable[Tool | Callable[..., Any]] | None" = None,
        toolbox: "Toolbox | None" = None,
        category: Category = "standard",
    ) -> None:
        """Make a skill.

        Args:
            name: Its id.
            description: When to use it, in a sentence; for the catalog.
            instructions: What to do, for the model.
            tools: A box of tools, or tools and plain functions, which are boxed under
                the skill's name in their order; none of them is the same as None.
            toolbox: A box of tools, in place of ``tools``.
            category: Whether the tools ask before they act.

        Raises:
            DuplicateToolError: Two tools share a name.
            ExtraMissingError: A plain function is among the tools, and the extra
                ``tools`` is not installed.
            ToolError: No tool can be made from one of the functions.
            TypeError: Both ``tools`` and ``toolbox`` are given.
            ValueError: There is no such category; as standard it would be allowed more.
        """
        if tools is not None and toolbox is not None:
            raise TypeError("want tools or toolbox, not both")
        if category not in get_args(Category):
            raise ValueError(f"want standard or raw as category, got {category!r}")
        for member, value in (
            ("name", name),
            ("description", description),
            ("instructions", instructions),
            ("tools", _boxed(name, tools if toolbox is None else toolbox)),
            ("category", category),
        ):
            object.__setattr__(self, member, value)


new = Skill
"""`Skill` by the name that users of the earlier system know: ``skill.new("calc")``."""


class BaseSkill:
    """The class form of a skill: name and instructions as attributes of a subclass.

    ``instructions`` are always in the prompt of an agent that has the skill, so they
    are short, and name the references that can be loaded. A subclass with tools either
    says so in `get_tools`, or sets ``tools`` to a `Toolbox`.
    """

    name: str = ""
    description: str = ""
    instructions: str = ""

    @property
    def tools(self) -> "Toolbox | None":
        """What `get_tools` gives, boxed under the skill's name; None for no tools.

        Raises:
            DuplicateToolError: Two of them share a name.
            ToolError: No tool can be made of one of them.
        """
        return _boxed(self.name, self.get_tools())

    def get_tools(self) -> "Sequence[Tool | Callable[..., Any]]":
        """Return the tools: `Tool` objects and plain functions, in order."""
        if type(self).tools is BaseSkill.tools:
            return []
        return list(self.tools or ())


def _boxed(
    name: str, tools: "Toolbox | Iterable[Tool | Callable[..., Any]] | None"
) -> "Toolbox | None":
    if tools is None:
        return None
    from satchel.tools import Toolbox

    return tools if isinstance(tools, Toolbox) else Toolbox.of(name, tools) or None
