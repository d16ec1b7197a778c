"""What a session is given: what all sessions share, its own settings.

And its always-on skills.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypedDict, cast, get_args

from satchel.agent import AgentSkill, check_skill, text_of, tools_of
from satchel.model import (
    Catalog,
    Category,
    Descriptor,
    Hit,
    Loaded,
    Manifest,
    Rendered,
    Style,
)
from satchel.policy import Decides, Policy
from satchel.protocols import Approver, Clock, TokenCounter, UsedApprovals
from satchel.runtime._load_service import LoadService
from satchel.runtime._prompt_snapshot import PromptSnapshots
from satchel.runtime._tool_registry import ToolRegistry
from satchel.tools import Toolbox

if TYPE_CHECKING:
    from satchel.runtime._local_copy import LocalStager
    from satchel.runtime._staging import Stager


@dataclass(frozen=True, slots=True)
class AlwaysOn:
    """Ids of packs that are pinned, and anything with a skill's three members."""

    order: tuple[str | AgentSkill, ...] = ()

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

    def permitted(self, policy: Decides, who: Mapping[str, Any]) -> "AlwaysOn":
        """Return what of it may be loaded for this ``who``; the rest is not worn."""
        return AlwaysOn(
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


def parse_always_on(always: Iterable[str | AgentSkill]) -> AlwaysOn:
    """Return what is worn, each once; a mere text is one id.

    Raises:
        TypeError: Something is neither an id nor has a skill's three members.
    """
    order: list[str | AgentSkill] = []
    for each in (always,) if isinstance(always, str) else always:
        if not isinstance(each, str):
            check_skill(each)
        if each not in order:  # somebody else's object need not be hashable
            order.append(each)
    return AlwaysOn(tuple(order))


def _id(each: str | AgentSkill) -> str:
    return each if isinstance(each, str) else text_of(each, "name")


def _described(skill: AgentSkill) -> Descriptor:
    """Return what a policy is asked about; without a category it is standard."""
    said = text_of(skill, "category") if hasattr(skill, "category") else "standard"
    if said not in get_args(Category):
        kind = type(skill).__name__
        raise ValueError(f"{kind}.category is to be standard or raw, got {said!r}")
    category = cast("Category", said)
    return Descriptor(text_of(skill, "name"), "", category=category)


REINJECT_TOKENS: Final = 25_000
"""Tokens of skills that are stated again after a compaction: as Claude Code has it."""


class SessionOptions(TypedDict, total=False):
    """What a session can be given by name, and what adapters hand on to it."""

    agent: str
    always: "Iterable[str | AgentSkill]"
    only: Iterable[str] | None
    style: Style | None
    approve: Approver | None
    stage: "Stager | bool"
    reinject_tokens: int
    trust_state: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """What does not change while a session lasts.

    ``only`` are groups of patterns; a skill is here if each group has one that fits.
    ``client`` is the program that asks, for events. ``trust_state`` tells that nobody
    but the application can write the state that it resumes from.
    """

    agent: str = ""
    client: str = ""
    who: Mapping[str, Any] = field(default_factory=dict[str, Any])
    style: Style = "agent-skills"
    always_on: AlwaysOn = field(default_factory=AlwaysOn)
    only: tuple[tuple[str, ...], ...] = ()
    approve: Approver | None = None
    stager: "Stager | None" = None
    reinject_tokens: int = REINJECT_TOKENS
    trust_state: bool = True


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The parts of a `satchel.Satchel` that its sessions stand on.

    ``catalog`` gives the catalog in use, which a sync replaces; ``render`` its section
    within the budget; ``find`` ranks it. ``used`` is where approvals are noted once
    they are used, ``may_exist`` tells whether an id may be that of a skill.
    """

    catalog: Callable[[], Catalog]
    render: Callable[[Catalog, Style], Rendered]
    load: LoadService
    find: Callable[[str, int], Sequence[Hit]]
    manifest: Callable[[Loaded], Manifest]
    offers: ToolRegistry
    policy: Policy
    editions: PromptSnapshots
    counter: TokenCounter
    clock: Clock
    local_stager: "Callable[[], LocalStager]"
    used: Callable[[], UsedApprovals]
    may_exist: Callable[[str], bool]
