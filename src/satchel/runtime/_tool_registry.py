"""The tools that an application offers to skills by name, and who may open which."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from satchel.catalog import is_tool_allowed
from satchel.errors import DuplicateToolError
from satchel.load import STILL_LOADS, wording
from satchel.model import SKILL_FILE, Catalog, Descriptor, Finding
from satchel.tools import Tool

if TYPE_CHECKING:
    from satchel.agent import Skill

# The owner of a tool that no skill brought.
APPLICATION: Final = "application"


@dataclass(frozen=True, slots=True)
class SkillTools:
    """The tools that open with a skill, in order, and what to say of the others."""

    tools: tuple[Tool, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _RegisteredTool:
    tool: Tool
    skill: str | None = None

    @property
    def owner(self) -> str:
        return APPLICATION if self.skill is None else f"skill {self.skill!r}"

    def serves(self, descriptor: Descriptor) -> bool:
        return self.skill in (None, descriptor.id)

    def is_same(self, other: "_RegisteredTool") -> bool:
        """Return whether both are one thing that was offered twice."""
        mine, its = self.tool, other.tool
        if mine.native is not None or its.native is not None:
            return mine.native is its.native
        return mine == its  # one function makes equal tools


class ToolRegistry:
    """Tools by name: those of the application, and those that skills in code bring.

    A tool of the application opens with any skill that names it. One that a skill
    brings opens with that skill alone: another pack that names it would get around what
    a policy says of the skill. Safe across threads.
    """

    def __init__(
        self, offered: Iterable[object] = (), skills: "Iterable[Skill]" = ()
    ) -> None:
        self._lock = threading.Lock()
        self._offers: Mapping[str, _RegisteredTool] = MappingProxyType({})
        if offered := tuple(offered):
            self.add(*offered)
        self._put(
            _RegisteredTool(tool, skill.name)
            for skill in skills
            for tool in skill.tools or ()
        )

    def add(self, *offered: object) -> None:
        """Offer more; all of it or, where an error is raised, nothing."""
        from satchel.runtime._offered_tools import tools_in

        tools = [tool for item in offered for tool in tools_in(item)]
        self._put(map(_RegisteredTool, tools))

    @property
    def version(self) -> object:
        """Something that is another object after each change."""
        return self._offers

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._offers)

    def get(self, name: str) -> Tool | None:
        offer = self._offers.get(name)
        return None if offer is None else offer.tool

    def owner(self, name: str) -> str:
        offer = self._offers.get(name)
        return "" if offer is None else offer.owner

    def tools_of(self, descriptor: Descriptor) -> SkillTools:
        """Return the tools that open with a skill, in the order it names them."""
        tools: list[Tool] = []
        notes: list[str] = []
        # Its own allowed-tools may close some, and never opens one.
        for name, offer in self._named(descriptor):
            if not is_tool_allowed(name, descriptor.allowed_tools):
                notes.append(wording.TOOL_CLOSED.format(name))
            elif offer is None:
                notes.append(wording.TOOL_MISSING.format(name))
            elif not offer.serves(descriptor):
                notes.append(wording.TOOL_OF_OTHER.format(name, offer.owner))
            else:
                tools.append(offer.tool)
        return SkillTools(tuple(tools), tuple(notes))

    def missing(self, catalog: Catalog) -> tuple[Finding, ...]:
        """Return an error for each tool that a skill names and cannot open."""
        loadable = (e for e in catalog.excluded if e.reason in STILL_LOADS)
        excluded = (exclusion.descriptor for exclusion in loadable)
        return tuple(
            _tool_not_offered(descriptor, name, offer)
            for descriptor in (*catalog.entries, *excluded)
            if descriptor.tools
            for name, offer in self._named(descriptor)
            if offer is None or not offer.serves(descriptor)
        )

    def _named(
        self, descriptor: Descriptor
    ) -> list[tuple[str, _RegisteredTool | None]]:
        offers = self._offers  # one snapshot for one answer
        return [(name, offers.get(name)) for name in descriptor.tools]

    def _put(self, more: Iterable[_RegisteredTool]) -> None:
        # A new mapping each time: readers need no lock, and an error changes nothing.
        with self._lock:
            offers = dict(self._offers)
            for offer in more:
                name = offer.tool.name
                there = offers.get(name)
                if there is None:
                    offers[name] = offer
                elif not there.is_same(offer):
                    raise DuplicateToolError(name, there.owner, offer.owner)
                elif offer.skill is None:  # the application offers it to every skill
                    offers[name] = offer
            self._offers = MappingProxyType(offers)


def _tool_not_offered(
    descriptor: Descriptor, name: str, offer: _RegisteredTool | None
) -> Finding:
    why = "nobody offers it" if offer is None else f"it belongs to {offer.owner}"
    return Finding.of(
        "tool-not-offered",
        f"{descriptor.origin.location}/{SKILL_FILE}",
        id=descriptor.id,
        name=name,
        why=why,
        example=name if name.isidentifier() else "...",
    )
