"""A load with what goes around it: the clock, the event, the sinks."""

from dataclasses import replace
from operator import attrgetter
from typing import Final, NoReturn

from satchel.errors import SkillError, SkillWithheldError
from satchel.load import TurnCache, load
from satchel.model import Catalog, Limits, Loaded, Request, UsageEvent
from satchel.model.purpose import IS_LOAD
from satchel.policy import OPEN_POLICY, Decides
from satchel.protocols import Clock
from satchel.runtime.telling import Telling

__all__ = ["LoadPath"]

_FOR: Final = {
    "tool": (attrgetter("model_invocable"), "hidden", "only a user may invoke it"),
    "user": (attrgetter("user_invocable"), "not for users", "only a model may load it"),
}
"""For whom an edge is, by ``via``, and why it is refused to others."""
_LOADS: Final = frozenset({"deprecated", "hidden"})


class LoadPath:
    """Calls `load` and tells the sinks of every call, failures included."""

    def __init__(
        self,
        telling: Telling,
        clock: Clock,
        limits: Limits,
        policy: Decides = OPEN_POLICY,
    ) -> None:
        """Take what tells the sinks, which may be none."""
        self._telling = telling
        self._sinks = telling.sinks
        self._monotonic = clock.monotonic
        self.limits = limits
        self._policy = policy

    def __call__(
        self,
        catalog: Catalog,
        request: Request,
        turn: TurnCache | None = None,
        policy: Decides | None = None,
    ) -> Loaded:
        """Load; every error goes through, after the event.

        ``policy`` decides in place of the one for all; a session's can put questions.
        What only users may invoke is withheld from ``via="tool"``, and the other way
        round from ``via="user"``.
        """
        policy = policy or self._policy
        limits = self.limits
        if request.via in _FOR:
            self._check_edge(catalog, request)
        before = IS_LOAD.set(True)
        try:
            if not self._sinks.awake:
                return load(catalog, request, turn=turn, limits=limits, policy=policy)
            monotonic = self._monotonic
            start = monotonic()
            try:
                loaded = load(catalog, request, turn=turn, limits=limits, policy=policy)
            except Exception as error:
                self._telling.failed(catalog, request, error, start, monotonic())
                raise
            self._telling.loaded(catalog, request, loaded, start, monotonic())
            return loaded
        finally:
            IS_LOAD.reset(before)

    def copy(
        self, catalog: Catalog, request: Request, policy: Decides | None = None
    ) -> Loaded:
        """Do as a load does for a copy that is kept elsewhere: it is a sync."""
        policy = policy or self._policy
        try:
            loaded = load(catalog, request, limits=self.limits, policy=policy)
        except Exception as error:
            self._telling.copied(catalog, request, error)
            raise
        self._telling.copied(catalog, replace(request, file=loaded.file))
        return loaded

    def _check_edge(self, catalog: Catalog, request: Request) -> None:
        """Refuse to a model what is for users alone, and the other way round."""
        entry = catalog.get(request.id)
        if entry is None:
            held = catalog.withheld_as(request.id)
            if held is None or held.reason not in _LOADS:
                return
            entry = held.descriptor
        may_invoke, reason, fix = _FOR[request.via]
        if not may_invoke(entry):
            error = SkillWithheldError(request.id, reason, fix)
            self.refuse(catalog, request, error)

    def refuse_copy(
        self, catalog: Catalog, request: Request, error: SkillError
    ) -> NoReturn:
        """Do as `refuse` does for a copy that is kept elsewhere."""
        self._telling.copied(catalog, request, error)
        raise error

    def refuse(self, catalog: Catalog, request: Request, error: SkillError) -> NoReturn:
        """Raise ``error``, which was decided on before any load; it is an event too."""
        if self._sinks.awake:
            now = self._monotonic()
            self._telling.failed(catalog, request, error, now, now)
        raise error

    def reported(self, catalog: Catalog, event: UsageEvent) -> None:
        """Tell of a load that was done elsewhere, from a copy."""
        if self._sinks.awake:
            self._telling.reported(catalog, event)

    def plain(self, catalog: Catalog, request: Request) -> Loaded:
        """Load without an event or a policy: for what is no use of it by anybody."""
        return load(catalog, request, limits=self.limits)
