"""A load with what goes around it: the clock, the event, the sinks."""

from typing import NoReturn

from satchel.errors import SkillError
from satchel.load import TurnCache, load
from satchel.model import Catalog, Limits, Loaded, Request
from satchel.policy import OPEN_POLICY, Decides
from satchel.protocols import Clock
from satchel.runtime.telling import Telling

__all__ = ["LoadPath"]


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
        self._clock = clock
        self._limits = limits
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
        """
        policy = policy or self._policy
        limits = self._limits
        if not self._sinks.awake:
            return load(catalog, request, turn=turn, limits=limits, policy=policy)
        monotonic = self._clock.monotonic
        start = monotonic()
        try:
            loaded = load(catalog, request, turn=turn, limits=limits, policy=policy)
        except Exception as error:
            self._telling.failed(catalog, request, error, monotonic() - start)
            raise
        self._telling.loaded(catalog, request, loaded, monotonic() - start)
        return loaded

    def refuse(self, catalog: Catalog, request: Request, error: SkillError) -> NoReturn:
        """Raise ``error``, which was decided on before any load; it is an event too."""
        if self._sinks.awake:
            self._telling.failed(catalog, request, error, 0.0)
        raise error

    def plain(self, catalog: Catalog, request: Request) -> Loaded:
        """Load without an event or a policy: for what is no use of it by anybody."""
        return load(catalog, request, limits=self._limits)
