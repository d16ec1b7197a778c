"""A session: one conversation's view of the catalog."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from satchel.errors import SkillError
from satchel.load import Style, StyleOptions, TurnCache, offer_find, tools_for
from satchel.load.telling import error_result
from satchel.model import Catalog, Hit, Loaded, Rendered
from satchel.tools import Toolbox

if TYPE_CHECKING:
    from satchel.model import Request

__all__ = ["Session", "Shelf"]


class Shelf(Protocol):
    """What a session needs of the object that opened it."""

    @property
    def catalog(self) -> Catalog:
        """The catalog in use."""
        ...

    def prompt(self, *, style: Style | None = None) -> Rendered:
        """Render the catalog section within the budget."""
        ...

    def load(
        self,
        skill_id: str,
        file: str | None = None,
        *,
        who: Mapping[str, object] | None = None,
        via: str = "python",
        turn: TurnCache | None = None,
    ) -> Loaded:
        """Load a skill or one file of it."""
        ...

    def find(self, query: str, k: int = 10) -> list[Hit]:
        """Find skills that match a query."""
        ...


class Session:
    """Instructions and tools for one conversation, and the turns in it.

    Within a `turn` each file is read at most once; the next turn reads anew. One
    session serves one conversation; open as many as there are.
    """

    def __init__(
        self, shelf: Shelf, *, agent: str, who: Mapping[str, object], style: Style
    ) -> None:
        self.agent = agent
        self.who = who
        self.style: Style = style
        self._shelf = shelf
        self._turn: TurnCache | None = None

    def instructions(self, base: str = "") -> str:
        """Return ``base`` and the catalog section, a blank line between them.

        With no skills it is ``base`` alone.
        """
        section = str(self._shelf.prompt(style=self.style))
        return "\n\n".join(text for text in (base, section) if text)

    def tools(self) -> Toolbox:
        """Return the tools of this session's style, in a stable order.

        With no skills there are none. The tool that finds skills is among them where
        the catalog does not fit its budget or is long.
        """
        catalog = self._shelf.catalog
        if not catalog.entries:
            return Toolbox("satchel")
        find = None
        if offer_find(catalog, self._shelf.prompt(style=self.style)):
            find = self._shelf.find
        return tools_for(
            self.style,
            self._load,
            catalog=lambda: self._shelf.catalog,
            find=find,
            options=StyleOptions(envelope="extended"),  # as R18 has it for sessions
        )

    def call(self, name: str, arguments: Mapping[str, object]) -> object:
        """Carry out one tool call of a model. Never raises: an error is a result."""
        try:
            return self.tools().call(name, arguments)
        except SkillError as error:  # the catalog has a conflict since it was opened
            return error_result(error)

    async def acall(self, name: str, arguments: Mapping[str, object]) -> object:
        """Do as `call` does, in a thread."""
        import asyncio

        return await asyncio.to_thread(self.call, name, arguments)

    @contextmanager
    def turn(self) -> Generator[TurnCache]:
        """Bound one run of the agent: what it loads twice is read once."""
        before, self._turn = self._turn, TurnCache()
        try:
            yield self._turn
        finally:
            self._turn = before

    def load(self, skill_id: str, file: str | None = None) -> Loaded:
        """Load for this session's ``who``, within the turn where there is one.

        Raises:
            SkillError: As for `satchel.Satchel.load`.
        """
        return self._shelf.load(
            skill_id, file, who=self.who, via="python", turn=self._turn
        )

    def _load(self, request: "Request") -> Loaded:
        return self._shelf.load(
            request.id, request.file, who=self.who, via="tool", turn=self._turn
        )
