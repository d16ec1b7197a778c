"""What a session is given when it is opened: its options and its always-on skills."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypedDict, cast, get_args

from satchel.agent import SkillLike, check_skill, text_of, tools_of
from satchel.model import Category, Descriptor, Style
from satchel.protocols import Approver
from satchel.tools import Tool

if TYPE_CHECKING:
    from satchel.runtime._staging import Stager

# Tokens of skills whose text is repeated after a compaction: as in Claude Code.
REINJECT_TOKENS: Final = 25_000


class SessionOptions(TypedDict, total=False):
    """What a session can be given by name, and what adapters pass on to it."""

    agent: str
    always: "Iterable[str | SkillLike]"
    only: Iterable[str] | None
    style: Style | None
    approve: Approver | None
    stage: "Stager | bool"
    reinject_tokens: int
    suggest: bool
    trust_state: bool


@dataclass(frozen=True, slots=True)
class AlwaysOn:
    """The skills whose instructions are always in the prompt, in order.

    Each is the id of a pack, or any object with the members of a skill.
    """

    order: tuple[str | SkillLike, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(skill for skill in self.order if isinstance(skill, str))

    @classmethod
    def of(cls, always: Iterable[str | SkillLike]) -> "AlwaysOn":
        """Return these skills, each once; a mere text is one id."""
        order: list[str | SkillLike] = []
        for skill in (always,) if isinstance(always, str) else always:
            if not isinstance(skill, str):
                check_skill(skill)
            if skill not in order:  # somebody else's object need not be hashable
                order.append(skill)
        return cls(tuple(order))

    def allowed(self, may_load: Callable[[Descriptor], bool]) -> "AlwaysOn":
        """Return those that may be loaded; no person is asked."""

        def name(skill: str | SkillLike) -> str:
            return skill if isinstance(skill, str) else text_of(skill, "name")

        allowed = (
            skill for skill in self.order if may_load(Descriptor(name(skill), ""))
        )
        return AlwaysOn(tuple(allowed))

    def instructions(self, text: Callable[[str], str]) -> list[str]:
        """Return the text of each, in order; ``text`` gives that of a pack."""
        return [
            text(skill) if isinstance(skill, str) else text_of(skill, "instructions")
            for skill in self.order
        ]

    def tools(self) -> Iterator[tuple[Descriptor, Tool]]:
        """Yield the tools of the skills that are no packs, as they are now."""
        for skill in self.order:
            if not isinstance(skill, str):
                # Asked each time: an object may open more tools as it goes.
                toolbox = tools_of(skill)
                if toolbox is not None:
                    owner = _described(skill)
                    yield from ((owner, tool) for tool in toolbox)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """What does not change while a session lasts.

    ``only`` are groups of patterns; a skill is here if each group has one that fits.
    ``client`` is the program that asks, for events. ``suggest`` adds what fits the
    user's last message to the instructions. ``trust_state`` says that only
    the application can write the state that it resumes from.
    """

    agent: str = ""
    client: str = ""
    who: Mapping[str, Any] = field(default_factory=dict[str, Any])
    style: Style = "lean"
    always_on: AlwaysOn = field(default_factory=AlwaysOn)
    only: tuple[tuple[str, ...], ...] = ()
    approve: Approver | None = None
    stager: "Stager | None" = None
    reinject_tokens: int | None = None
    suggest: bool = False
    trust_state: bool = True


def _described(skill: SkillLike) -> Descriptor:
    """Return what a policy is asked about; without a category it is standard."""
    category = text_of(skill, "category") if hasattr(skill, "category") else "standard"
    if category not in get_args(Category):
        kind = type(skill).__name__
        raise ValueError(f"{kind}.category: expected standard or raw; got {category!r}")
    return Descriptor(text_of(skill, "name"), "", category=cast("Category", category))
