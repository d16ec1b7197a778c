"""One prompt and one box of tools, out of a base and the skills attached to it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast

from satchel.tools import Tool, Toolbox

__all__ = [
    "Composed",
    "Part",
    "Text",
    "Tools",
    "check_part",
    "compose",
    "text_of",
    "tools_of",
]

Text: TypeAlias = str | Callable[[], str]
"""A text, or a method that returns it."""
Tools: TypeAlias = Iterable[Tool | Callable[..., Any]] | None
"""A `Toolbox`, or tools and plain functions; None for none."""


class Part(Protocol):
    """What is composed: instructions and tools, and a name to tell whose they are.

    Each of the three is an attribute, a property, or a method without arguments.
    """

    @property
    def name(self) -> Text:
        """Whose tools they are, for the error about two of one name."""
        ...

    @property
    def instructions(self) -> Text:
        """What to add to the prompt; empty for nothing."""
        ...

    @property
    def tools(self) -> Tools | Callable[[], Tools]:
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
        TypeError: A skill has a member of the wrong type.
    """
    skills = tuple(skills)
    texts = (base, *(text_of(skill, "instructions") for skill in skills))
    # Under the skill's name, whatever its own: that is whom the user knows.
    carried = (
        Toolbox(text_of(skill, "name"), tools.tools)
        for skill in skills
        if (tools := tools_of(skill)) is not None
    )
    return Composed(
        separator.join(text for text in texts if text.strip()),
        Toolbox.joined("composed", (*toolboxes, *carried)),
    )


def text_of(skill: Part, member: str) -> str:
    """Return the text of a member, which may be a method.

    Raises:
        TypeError: It is no text.
    """
    value: object = getattr(skill, member)
    if callable(value):
        value = value()
    if not isinstance(value, str):
        kind, got = type(skill).__name__, type(value).__name__
        raise TypeError(f"{kind}.{member} is to be text, got {got}")
    return value


def tools_of(skill: Part) -> Toolbox | None:
    """Return the tools of a skill as a box; None where it has none.

    They are those of ``tools``, which may be a method, or of ``get_tools()`` where
    ``tools`` is missing or None: a box, or tools and plain functions.

    Raises:
        DuplicateToolError: Two tools share a name.
        ToolError: No tool can be made of one of them.
        TypeError: They are neither a box nor several tools.
    """
    value: object = getattr(skill, "tools", None)
    if value is None:
        value = getattr(skill, "get_tools", None)
    if callable(value):
        value = value()
    if value is None or isinstance(value, Toolbox):
        return value
    if not isinstance(value, Iterable) or isinstance(value, str):
        kind, got = type(skill).__name__, type(value).__name__
        raise TypeError(f"{kind}.tools is to be a box or a list of tools, got {got}")
    tools = cast("Iterable[Tool | Callable[..., Any]]", value)
    return Toolbox.of(text_of(skill, "name"), tools) or None


def check_part(skill: Part) -> None:
    """Let an object pass that has the three members; their values are not looked at.

    Raises:
        TypeError: It is a class, or lacks a member; names it.
    """
    kind = type(skill)  # not isinstance: it reads an attribute more of the object
    if issubclass(kind, type):
        name: str = getattr(skill, "__name__", "")
        raise TypeError(f"want a skill, got the class {name}; write {name}()")
    for member, others in (
        ("name", ()),
        ("instructions", ()),
        ("tools", ("get_tools",)),
    ):
        if not any(hasattr(skill, each) for each in (member, *others)):
            raise TypeError(f"a {kind.__name__} is no skill: it has no {member!r}")
