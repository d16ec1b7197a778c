"""Load, read an edited pack again, and report every load to the sinks."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from operator import attrgetter
from typing import Final, NoReturn, TypeVar

from satchel.catalog import Registry
from satchel.errors import SkillError, SkillExcludedError
from satchel.load import CallEvent, LoadAttempt, TurnCache, current_call_event, load
from satchel.model import IS_LOAD, Catalog, Limits, Loaded, Request, UsageEvent
from satchel.policy import OPEN_POLICY, Decides
from satchel.protocols import Clock
from satchel.runtime._edited_pack import decide_once, retry_after_edit
from satchel.usage import UsageEvents

_T = TypeVar("_T")

_FOR: Final = {
    "tool": (attrgetter("model_invocable"), "hidden", "only a user may invoke it"),
    "user": (attrgetter("user_invocable"), "not for users", "only a model may load it"),
}
"""For whom an edge is, by ``via``, and why it is refused to others."""
_LOADS: Final = frozenset({"deprecated", "hidden"})


class LoadService:
    """Loads, reads a pack again that was edited, and tells the sinks of every call."""

    def __init__(  # noqa: PLR0913 - what stands around a load, by name
        self,
        events: UsageEvents,
        clock: Clock,
        limits: Limits,
        policy: Decides = OPEN_POLICY,
        *,
        registry: Registry,
        edited: Callable[[str], object],
    ) -> None:
        """Take what tells the sinks, which may be none.

        ``edited`` is told the source of each pack that was edited since the sync.
        """
        self._events = events
        self._sinks = events.sinks
        self._monotonic = clock.monotonic
        self.limits = limits
        self._policy = policy
        self._registry = registry
        self.wait_for_writer = True
        self._edited = edited

    @property
    def without_waiting(self) -> "LoadService":
        """The same, for lists: no pack that is being written is waited for."""
        other = copy(self)
        other.wait_for_writer = False
        return other

    def __call__(
        self,
        catalog: Callable[[], Catalog],
        request: Request,
        turn: TurnCache | None = None,
        policy: Decides | None = None,
    ) -> Loaded:
        """Load; every error goes through, after the event.

        ``catalog`` gives the one to look in, again after an edited pack was read.
        ``policy`` decides in place of the one for all; a session's can put questions.
        What only users may invoke is withheld from ``via="tool"``, and the other way
        round from ``via="user"``.
        """
        one = current_call_event()
        if one is not None and one.refusal is not None:
            self.refuse(catalog(), request, one.refusal)
        before = IS_LOAD.set(True)
        try:
            if not self._sinks.awake:
                return self._load(catalog, request, turn, policy or self._policy)
            monotonic = self._monotonic
            here, start = catalog(), monotonic()
            try:
                loaded = self._load(catalog, request, turn, policy or self._policy)
            except Exception as error:
                self._tell(one, LoadAttempt(here, request, error, start, monotonic()))
                raise
            if one is None:
                self._events.record_success(
                    catalog(), request, loaded, start, monotonic()
                )
            else:
                self._tell(
                    one, LoadAttempt(catalog(), request, loaded, start, monotonic())
                )
            return loaded
        finally:
            IS_LOAD.reset(before)

    def _tell(self, one: CallEvent | None, part: LoadAttempt) -> None:
        if one is None:
            self._events.record_load(part)
        else:
            one.parts.append(part)
            one.tell = self._events.record_call

    def copy(
        self,
        catalog: Callable[[], Catalog],
        request: Request,
        policy: Decides | None = None,
    ) -> Loaded:
        """Do as a load does for a copy that is kept elsewhere: it is a sync."""
        here = catalog()
        try:
            loaded = self._load(catalog, request, None, policy or self._policy)
        except Exception as error:
            self._events.record_copy(here, request, error)
            raise
        self._events.record_copy(catalog(), replace(request, file=loaded.file))
        return loaded

    def refuse_copy(
        self, catalog: Catalog, request: Request, error: SkillError
    ) -> NoReturn:
        """Do as `refuse` does for a copy that is kept elsewhere."""
        self._events.record_copy(catalog, request, error)
        raise error

    def refuse(self, catalog: Catalog, request: Request, error: SkillError) -> NoReturn:
        """Raise ``error``, which was decided on before any load; it is an event too."""
        if self._sinks.awake:
            now = self._monotonic()
            self._events.record_failure(catalog, request, error, now, now)
        raise error

    def reported(self, catalog: Catalog, event: UsageEvent) -> None:
        """Tell of a load that was done elsewhere, from a copy."""
        if self._sinks.awake:
            self._events.record_remote_load(catalog, event)

    def plain(self, catalog: Callable[[], Catalog], request: Request) -> Loaded:
        """Load without an event or a policy: for what is no use of it by anybody."""
        return self._load(catalog, request, None, OPEN_POLICY)

    def current(
        self,
        catalog: Callable[[], Catalog],
        skill_id: str,
        attempt: Callable[[Catalog], _T],
    ) -> _T:
        """Return what ``attempt`` gives; where a file was edited, of the pack as it is.

        Raises:
            SkillError: As for ``attempt``.
        """
        return retry_after_edit(
            self._registry,
            catalog,
            skill_id,
            attempt,
            self._edited,
            doubt=False,
            wait_for_writer=self.wait_for_writer,
        )

    def _load(
        self,
        catalog: Callable[[], Catalog],
        request: Request,
        turn: TurnCache | None,
        policy: Decides,
    ) -> Loaded:
        limits, policy = self.limits, decide_once(policy)

        def attempt(here: Catalog) -> Loaded:
            if request.via in _FOR:
                _check_edge(here, request)
            return load(here, request, turn=turn, limits=limits, policy=policy)

        return retry_after_edit(
            self._registry,
            catalog,
            request.id,
            attempt,
            self._edited,
            wait_for_writer=self.wait_for_writer,
        )


def _check_edge(catalog: Catalog, request: Request) -> None:
    """Refuse to a model what is for users alone, and the other way round."""
    entry = catalog.get(request.id)
    if entry is None:
        held = catalog.exclusion_of(request.id)
        if held is None or held.reason not in _LOADS:
            return
        entry = held.descriptor
    may_invoke, reason, fix = _FOR[request.via]
    if not may_invoke(entry):
        raise SkillExcludedError(request.id, reason, fix)
