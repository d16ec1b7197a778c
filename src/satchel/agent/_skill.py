"""A skill: written in code as a value or a class, or any object with its members."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, cast, get_args

from satchel.model import Category

if TYPE_CHECKING:  # a program that lists skills needs no tools, and waits for imports
    from collections.abc import Sequence

    from satchel.tools import Tool, Toolbox


@dataclass(frozen=True, slots=True, init=False)
class Skill:
    """What an agent gets: a name, instructions, and tools.

    A value: it cannot be changed, and may be used by many agents at once. Handed to
    `Satchel` it is listed by its ``description``, which it must have, and loaded on
    demand. Attached to an agent it is always on: its instructions are in the prompt.
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
            instructions: What to do, for the model. White space around this and the
                description is left out.
            tools: A box of tools, or tools and plain functions, which are boxed under
                the skill's name in their order; none of them is the same as None.
            toolbox: A box of tools, in place of ``tools``.
            category: ``raw`` is for tools that act without asking; a policy has to
                allow these.

        Raises:
            DuplicateToolError: Two tools share a name.
            ToolError: No tool can be made from one of the functions.
            TypeError: Both ``tools`` and ``toolbox`` are given, or a text is none.
            ValueError: There is no such category; as standard it would be allowed more.
        """
        if tools is not None and toolbox is not None:
            raise TypeError("expected tools or toolbox; got both")
        if category not in get_args(Category):
            raise ValueError(f"expected standard or raw as category; got {category!r}")
        for member, value in (
            ("name", name),
            ("description", _stripped(name, "description", description)),
            ("instructions", _stripped(name, "instructions", instructions)),
            ("tools", _boxed(name, tools if toolbox is None else toolbox)),
            ("category", category),
        ):
            # A frozen dataclass allows no plain assignment.
            object.__setattr__(self, member, value)


def _stripped(name: str, member: str, value: object) -> str:
    if not isinstance(value, str):  # a caller may have no type checker
        got = type(value).__name__
        raise TypeError(f"skill {name!r}: {member}: expected text; got {got}")
    return value.strip()


# `Skill` by the name that users of the earlier system know: `skill.new("calc")`.
new = Skill


class BaseSkill:
    """The class form of a skill: name and instructions as attributes of a subclass.

    ``instructions`` are always in the prompt of an agent that has the skill, so they
    are short, and name the references that can be loaded. A subclass with tools either
    says so in `get_tools`, or sets ``tools`` to a list of them or to a `Toolbox`.
    """

    name: str = ""
    description: str = ""
    instructions: str = ""
    _listed: "ClassVar[tuple[Tool | Callable[..., Any], ...]]" = ()

    def __init_subclass__(cls, **options: object) -> None:
        """Read ``tools = [search]`` in a class as what `get_tools` gives."""
        super().__init_subclass__(**options)
        declared: object = vars(cls).get("tools")
        if isinstance(declared, (list, tuple)):
            cls._listed = tuple(cast("Sequence[Tool | Callable[..., Any]]", declared))
            delattr(cls, "tools")  # not `del`: a type checker sees the property

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
        # Otherwise `tools` and this would call each other without end.
        if type(self).tools is BaseSkill.tools:
            return [*self._listed]
        return list(self.tools or ())


def _boxed(
    name: str, tools: "Toolbox | Iterable[Tool | Callable[..., Any]] | None"
) -> "Toolbox | None":
    if tools is None:
        return None
    from satchel.tools import Toolbox

    # An empty box is the same as none.
    return tools if isinstance(tools, Toolbox) else Toolbox.of(name, tools) or None


# A text, or a method that returns it.
Text: TypeAlias = str | Callable[[], str]
# A `Toolbox`, or tools and plain functions; None for none.
Tools: TypeAlias = "Iterable[Tool | Callable[..., Any]] | None"


class SkillLike(Protocol):
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
    def tools(self) -> "Tools | Callable[[], Tools]":
        """What to add to the tools; None for nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Composed:
    """What a model is given."""

    instructions: str
    toolbox: "Toolbox"


def compose(
    base: str,
    skills: Iterable[SkillLike],
    *,
    toolboxes: "Iterable[Toolbox]" = (),
    separator: str = "\n\n",
) -> Composed:
    """Add skills to a prompt and to boxes of tools, in the order given.

    The base is first, and so are the tools of ``toolboxes``. A text that is empty or
    blank adds nothing, not even a separator; any other stays as it is. Nothing is kept:
    the same parts give the same result.

    Raises:
        DuplicateToolError: Two tools share a name; names the skills or boxes.
        TypeError: A skill has a member of the wrong type.
    """
    from satchel.tools import Toolbox

    skills = tuple(skills)
    texts = (base, *(text_of(skill, "instructions") for skill in skills))
    # Under the skill's name, whatever the box's own: the user knows the skill.
    carried = (
        Toolbox(text_of(skill, "name"), tools.tools)
        for skill in skills
        if (tools := tools_of(skill)) is not None
    )
    return Composed(
        separator.join(text for text in texts if text.strip()),
        Toolbox.joined("composed", (*toolboxes, *carried)),
    )


def text_of(skill: SkillLike, member: str) -> str:
    """Return the text of a member, which may be a method.

    Raises:
        TypeError: It is no text.
    """
    value: object = getattr(skill, member)
    if callable(value):
        value = value()
    if not isinstance(value, str):
        kind, got = type(skill).__name__, type(value).__name__
        raise TypeError(f"{kind}.{member}: expected text; got {got}")
    return value


def tools_of(skill: SkillLike) -> "Toolbox | None":
    """Return a skill's ``tools``, or its ``get_tools()``, as a box; None for none."""
    from satchel.tools import Toolbox

    value: object = getattr(skill, "tools", None)
    if value is None:
        value = getattr(skill, "get_tools", None)
    if callable(value):
        value = value()
    if value is None or isinstance(value, Toolbox):
        return value
    # A text can be iterated over too, but it is no list of tools.
    if not isinstance(value, Iterable) or isinstance(value, str):
        kind, got = type(skill).__name__, type(value).__name__
        raise TypeError(
            f"{kind}.tools: expected a Toolbox or a list of tools; got {got}"
        )
    tools = cast("Iterable[Tool | Callable[..., Any]]", value)
    return Toolbox.of(text_of(skill, "name"), tools) or None


def check_skill(skill: SkillLike) -> None:
    """Let an object pass that has the three members; TypeError names what it lacks."""
    kind = type(skill)  # not isinstance: it reads an attribute more of the object
    if issubclass(kind, type):
        name: str = getattr(skill, "__name__", "")
        raise TypeError(f"expected a skill; got the class {name}: write {name}()")
    for member in ("name", "instructions", "tools"):
        other = "get_tools" if member == "tools" else member
        if not (hasattr(skill, member) or hasattr(skill, other)):
            raise TypeError(f"expected a skill; got {kind.__name__} without {member!r}")
