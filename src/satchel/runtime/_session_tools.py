"""The tools of one session: of always-on skills, of the style.

And of loaded skills.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from satchel.errors import DuplicateToolError, ToolError
from satchel.load import ResultHooks, StyleOptions, offer_find, offer_reader, tools_for
from satchel.model import Descriptor, Loaded, Reply, Request
from satchel.runtime._access import SkillAccess
from satchel.runtime._history import READ_TOOL
from satchel.runtime._prompt_snapshot import PromptSnapshot
from satchel.runtime._session_context import SessionSettings
from satchel.tools import Tool, Toolbox

if TYPE_CHECKING:
    from satchel.runtime._session_context import SessionContext


OwnedTool: TypeAlias = tuple[Descriptor | None, Tool]
"""A tool, and the skill that carries it; None for those of the style."""

_OPTIONS: Final = StyleOptions(envelope="extended")  # as R18 has it for sessions
_OURS: Final = "satchel"
"""The owner of the style's tools."""
_AGENT: Final = "the agent"
"""The owner of the tools that an agent has without any skill."""


class LoadForTool(Protocol):
    """Loads for a tool of the style."""

    def __call__(self, request: Request, *, approved: Reply | None) -> Loaded:
        """Load; ``approved`` is the answer of a framework's own approval."""
        ...


@dataclass(frozen=True, slots=True)
class SessionTools:
    """Which tools there are, given an edition and the skills in use.

    ``load`` is what the style's tools call, with the answer of a framework's approval
    where there is one; ``hooks`` decide about their results.
    """

    shelf: "SessionContext"
    settings: SessionSettings
    reading: SkillAccess
    load: "LoadForTool"
    hooks: ResultHooks
    _made: dict[tuple[str, bool], Toolbox] = field(
        default_factory=dict[tuple[str, bool], Toolbox], init=False, compare=False
    )

    def offered(
        self, edition: PromptSnapshot, in_use: Iterable[str]
    ) -> Iterator[OwnedTool]:
        """Yield every tool once with the skill that carries it, in their order.

        Worn ones, those of the style, then those of the skills in use, so that what
        comes later is always behind. Denied ones are left out.
        """
        seen: set[str] = set()
        for owner, tool in self._all(edition, in_use):
            if tool.name not in seen:
                seen.add(tool.name)
                yield owner, tool

    def find(
        self,
        name: str,
        edition: PromptSnapshot,
        in_use: Iterable[str],
        *,
        approved: Reply | None,
    ) -> OwnedTool:
        """Return the tool of that name, and who carries it.

        It is the one that is offered; else a denied one, so that this can be said.

        Raises:
            ToolError: There is none, or its skill has to be loaded first.
        """
        found = [
            (owner, tool)
            for owner, tool in self._every(edition, in_use, approved=approved)
            if tool.name == name
        ]
        if not found:
            raise ToolError(name, self._advice(name))
        may_call = self.reading.may_call
        return next(
            (each for each in found if each[0] is None or may_call(each[0], name)),
            found[0],
        )

    def opened_by(self, owner: Descriptor) -> list[Tool]:
        """Return the tools that a skill opens, without those that are denied."""
        carried = self.shelf.offers.carried(owner).tools
        return [t for t in carried if self.reading.may_call(owner, t.name)]

    def check(self, edition: PromptSnapshot) -> None:
        """Refuse to begin where two different tools of one name could meet.

        Raises:
            DuplicateToolError: Names the tool and both owners.
        """
        offers = self.shelf.offers
        snapshot = offers.snapshot
        plain = not self.settings.always_on.order
        if plain and edition.checked and edition.checked[0] is snapshot:
            return  # a session is opened for each call of a model, so this counts
        owners = {tool.name: _OURS for tool in self._of_style(edition)}
        always_on: dict[str, Tool] = {}
        for owner, tool in self._worn():
            first = owners.setdefault(tool.name, owner.id)
            if first != owner.id:
                raise DuplicateToolError(tool.name, first, owner.id)
            always_on[tool.name] = tool
        for name in offers.names:
            if name in owners and offers.get(name) != always_on.get(name):
                raise DuplicateToolError(name, owners[name], offers.owner(name))
        if plain:
            edition.checked[:] = [snapshot]

    def check_beside(self, names: Iterable[str], offered: Iterable[OwnedTool]) -> None:
        """Refuse names of an agent's own tools that skills have too, open or closed.

        Raises:
            DuplicateToolError: Names the tool and both owners.
        """
        owners = {
            tool.name: _OURS if owner is None else f"skill {owner.id!r}"
            for owner, tool in offered
        }
        for name in names:
            if name in owners:
                raise DuplicateToolError(name, _AGENT, owners[name])
            if self.shelf.offers.get(name) is None:
                continue
            for entry in self.reading.listed.entries:
                if name in entry.tools:
                    raise DuplicateToolError(name, _AGENT, f"skill {entry.id!r}")

    def _every(
        self, edition: PromptSnapshot, in_use: Iterable[str], *, approved: Reply | None
    ) -> Iterator[OwnedTool]:
        """Yield what can be called in the order of `offered`, denied tools too."""
        carried = self.shelf.offers.carried
        always_on, loaded = (
            [
                (owner, tool)
                for skill_id in ids
                if (owner := self.reading.in_use(skill_id)) is not None
                for tool in carried(owner).tools
            ]
            for ids in (self.settings.always_on.ids, in_use)
        )
        yield from self._worn()
        yield from always_on
        for tool in self._of_style(edition, approved=approved):
            yield None, tool
        yield from loaded

    def _all(
        self, edition: PromptSnapshot, in_use: Iterable[str]
    ) -> Iterator[OwnedTool]:
        for skill, tool in self._worn():
            if self.reading.may_call(skill, tool.name):
                yield skill, tool
        for skill_id in self.settings.always_on.ids:
            yield from self._carried(skill_id)
        later = None
        style = self.settings.style
        needed = offer_reader(style, [*edition.catalog.entries, *self._worn_packs()])
        for tool in self._of_style(edition):
            if tool.name == READ_TOOL and not needed:
                later = tool
            else:
                yield None, tool
        for skill_id in in_use:
            owner = self.reading.in_use(skill_id)
            if later is not None and owner is not None and offer_reader(style, [owner]):
                yield None, later
            yield from self._carried(skill_id)

    def _carried(self, skill_id: str) -> Iterator[OwnedTool]:
        owner = self.reading.in_use(skill_id)
        if owner is not None:
            yield from ((owner, tool) for tool in self.opened_by(owner))

    def _worn_packs(self) -> list[Descriptor]:
        """Return the always-on packs, listed or not: their text names the tools."""
        found = map(self.reading.in_use, self.settings.always_on.ids)
        return [each for each in found if each is not None]

    def _worn(self) -> Iterator[tuple[Descriptor, Tool]]:
        for owner, box in self.settings.always_on.boxes:
            yield from ((owner, tool) for tool in box)

    def _of_style(
        self, edition: PromptSnapshot, *, approved: Reply | None = None
    ) -> Toolbox:
        """Return the style's tools; those that nobody approved are made once."""
        with_files = any(
            each.resources and each.model_invocable for each in self._worn_packs()
        )
        told = bool(edition.catalog.entries) or with_files
        place = edition.key, told or bool(self.reading.listed.entries)
        known = self._made.get(place) if approved is None else None
        if known is not None:
            return known
        find = offer_find(edition.catalog, edition.section)
        tools = tools_for(
            self.settings.style,
            partial(self.load, approved=approved),
            catalog=lambda: self.reading.listed,
            find=self.reading.find if find else None,
            options=_OPTIONS,
            hooks=self.hooks,
            even_empty=told,
        )
        if approved is None:
            self._made[place] = tools
        return tools

    def _advice(self, name: str) -> str:
        """Say why there is no such tool, and what to call instead."""
        listed = self.reading.listed
        if name in listed:
            return "it is a skill, not a tool; load it by its id"
        for entry in listed.entries:
            if name in entry.tools:
                return f"load the skill {entry.id!r} first; that opens it"
        return "there is no such tool"
