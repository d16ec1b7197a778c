"""What may be listed, found and read: the catalog for one user, and its loads.

Every load of a model or a user goes through `SkillAccess.load`; what is no such use (a
copy, a skill in use that is repeated) has a method that says what it leaves out.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Final, NoReturn, TypeVar

from satchel.errors import (
    DeniedError,
    PackFileError,
    SkillError,
    SkillExcludedError,
    SkillNotFoundError,
)
from satchel.load import (
    ALLOWED,
    CallEvent,
    LoadAttempt,
    TurnCache,
    current_call_event,
    find_loadable,
    load,
)
from satchel.model import (
    IS_LOAD,
    Action,
    Catalog,
    Decision,
    Descriptor,
    Hit,
    Loaded,
    Reply,
    Request,
    UsageEvent,
)
from satchel.runtime._session_settings import SessionSettings

if TYPE_CHECKING:
    from satchel.runtime._approvals import Authorizer
    from satchel.runtime._components import Components

_T = TypeVar("_T")

# What a load raises where its pack was edited since the sync, among other reasons.
_MAY_BE_EDITED: Final = (PackFileError, SkillExcludedError, SkillNotFoundError)


class ScopeCache:
    """The skills that several accesses are about, and the catalog they are from."""

    cached: tuple[Catalog, Catalog] | None = None


class SkillAccess:
    """Lists, finds and reads for one user; the authorizer decides first.

    ``scope`` is shared with other accesses to the same skills. ``wait_for_writer`` is
    False for lists: a pack that is being written right now is not waited for.
    """

    def __init__(
        self,
        components: "Components",
        settings: SessionSettings,
        authorizer: "Authorizer",
        *,
        scope: ScopeCache | None = None,
        wait_for_writer: bool = True,
    ) -> None:
        self._components = components
        self._registry = components.registry
        self._limits = components.accept.limits
        self._settings = settings
        self._authorizer = authorizer
        self._scope = ScopeCache() if scope is None else scope
        self._wait_for_writer = wait_for_writer
        self._turns: list[TurnCache] = []
        self.turn: TurnCache | None = None

    def begin_turn(self) -> TurnCache:
        """Read each file at most once from now on; return where it is cached."""
        turn = TurnCache()
        self.join_turn(turn)
        return turn

    def join_turn(self, turn: TurnCache) -> None:
        """Read each file at most once from now on, together with all who share it."""
        self._turns.append(turn)
        self.turn = turn

    def end_turn(self, turn: TurnCache) -> None:
        """End a turn: the last one begun, or one that others overlap."""
        # Parallel runs of one session end their turns in any order.
        self._turns.remove(turn)
        self.turn = self._turns[-1] if self._turns else None

    @property
    def scoped(self) -> Catalog:
        """The skills that this access is about, whatever the policy says of them."""
        catalog = self._registry.catalog
        if not self._settings.only:
            return catalog
        # Identity decides: a sync publishes a new object. Threads that meet here make
        # the same view, so the cache needs no lock.
        cached = self._scope.cached
        if cached is None or cached[0] is not catalog:
            snapshots = self._components.snapshots
            view = snapshots.view(catalog, self._is_in_scope, whole=True)
            cached = self._scope.cached = catalog, view
        return cached[1]

    @property
    def asks(self) -> bool:
        """Whether a framework's own approval may have to be waited for."""
        return self._authorizer.asks and self._settings.approve is None

    @property
    def listed(self) -> Catalog:
        """Those of them that may be listed for this user."""
        scoped = self.scoped
        if not self._authorizer.has_rules:
            return scoped
        may_list = partial(self._authorizer.may, "list")
        return self._components.snapshots.view(scoped, may_list, whole=False)

    def descriptor(self, skill_id: str) -> Descriptor | None:
        """Return a skill that is here, a hidden or deprecated one too."""
        return find_loadable(self.scoped, skill_id)

    def loadable(self, skill_id: str) -> Descriptor | None:
        """Return a skill that is here and that this user may load."""
        entry = self.descriptor(skill_id)
        if entry is None or not self._authorizer.may("load", entry):
            return None
        return entry

    def find(
        self,
        query: str | Sequence[str],
        k: int,
        fits: Callable[[Descriptor], bool] = lambda _: True,
        *,
        whole: bool = False,
    ) -> list[Hit]:
        """Return at most ``k`` hits that fit, of those that may be found."""
        here = self.scoped

        def accepts(entry: Descriptor) -> bool:
            is_here = fits(entry) and here.get(entry.id) is not None
            return is_here and self._authorizer.may("find", entry)

        rank = partial(self._rank, accepts=accepts, whole=whole)
        return rank(query, k) if isinstance(query, str) else _fused(rank, query, k)

    def _rank(
        self, query: str, k: int, *, accepts: Callable[[Descriptor], bool], whole: bool
    ) -> list[Hit]:
        components, catalog = self._components, self._registry.catalog
        ranker = components.options.ranker
        if ranker is None:
            return components.search.rank(catalog, query, k, accepts, whole=whole)
        # A ranker of somebody else's knows no filter. What is left out below must not
        # take the place of others, so all is asked for.
        hits: list[Hit] = []
        for hit in ranker.rank(catalog, query, len(catalog)):
            entry = catalog.get(hit.id)
            if entry is not None and accepts(entry):
                hits.append(hit)
        return hits[: max(k, 0)]

    def search(self, query: str, k: int) -> list[Hit]:
        """Find for a model or a client.

        A query without a good hit is kept where the operator wants it.
        """
        hits = self.find(query, k)
        components = self._components
        path = components.environ.get("SATCHEL_QUERIES", "").strip()
        if path and all(hit.weak for hit in hits):
            from satchel.usage import record_query

            record_query(path, query, hits, components.clock.now())
        return hits

    def load(
        self,
        skill_id: str,
        file: str | None = None,
        *,
        via: str,
        reply: Reply | None = None,
        turn: TurnCache | None = None,
    ) -> Loaded:
        """Load one file; every load is an event, and every error goes through after it.

        ``via`` "tool" does not get what only users may invoke, nor "user" what only
        models may load. ``reply`` is the answer of a framework's own approval, a yes or
        a no; without one, a person is asked where the policy says so.
        """
        turn = turn or self.turn
        call = current_call_event()
        if call is not None and call.refusal is not None:
            self.refuse(skill_id, file, call.refusal, via=via)
        request = self._request(skill_id, file, via)
        # A source on another server says by this whether its bytes are loaded or only
        # looked at: see `satchel.model.IS_LOAD`.
        before = IS_LOAD.set(True)
        try:
            components = self._components
            # Times and catalogs are only noted where a sink would take the event.
            if components.sinks == () or not components.usage_events.sinks.awake:
                return self._load(request, turn, reply)
            monotonic = components.clock.monotonic
            here, start = self.scoped, monotonic()
            try:
                loaded = self._load(request, turn, reply)
            except Exception as error:
                attempt = LoadAttempt(here, request, error, start, monotonic())
                self._report(call, attempt)
                raise
            end = monotonic()
            # The catalog of now: an edited pack got a new one while it was loaded.
            self._report(call, LoadAttempt(self.scoped, request, loaded, start, end))
            return loaded
        finally:
            IS_LOAD.reset(before)

    def load_again(self, entry: Descriptor, *, via: str) -> bool:
        """Load a SKILL.md that is kept; False, and no event, if it is another."""
        here, components = self.scoped, self._components
        # Nobody is asked twice.
        if find_loadable(here, entry.id) != entry or self._authorizer.asks:
            return False
        request = self._request(entry.id, None, via)
        start = components.clock.monotonic()
        try:
            loaded = self._attempt(here, request, None, None, {})
        except Exception:  # noqa: BLE001 - `load` raises it again, and records it
            return False
        if components.sinks != () and components.usage_events.sinks.awake:
            end = components.clock.monotonic()
            self._report(None, LoadAttempt(here, request, loaded, start, end))
        return True

    def copy(self, skill_id: str, file: str | None, *, via: str) -> Loaded:
        """Load one file for a copy that lives elsewhere: a sync, and no use of it."""
        request = self._request(skill_id, file, via)
        events, here = self._components.usage_events, self.scoped
        try:
            loaded = self._load(request)
        except Exception as error:
            events.record_copy(here, request, error)
            raise
        events.record_copy(self.scoped, replace(request, file=loaded.file))
        return loaded

    def report_remote(self, event: UsageEvent) -> None:
        """Report a load that was done elsewhere, from a copy."""
        events = self._components.usage_events
        if events.sinks.awake:
            events.record_remote_load(self.listed, event)

    def refuse(
        self, skill_id: str, file: str | None, error: SkillError, *, via: str
    ) -> NoReturn:
        """Raise an error that was decided on before any load; it is an event, too."""
        events = self._components.usage_events
        if events.sinks.awake:
            now = self._components.clock.monotonic()
            request = self._request(skill_id, file, via)
            events.record_load(LoadAttempt(self.scoped, request, error, now, now))
        raise error

    def refuse_copy(
        self, skill_id: str, file: str | None, error: SkillError, *, via: str
    ) -> NoReturn:
        """Raise an error that was decided on before a copy; it is a sync, too."""
        request = self._request(skill_id, file, via)
        self._components.usage_events.record_copy(self.scoped, request, error)
        raise error

    def reload(self, skill_id: str) -> Loaded:
        """Load the SKILL.md of a skill that is in use already, or always on.

        It is no new use, so there is no event, and no second question.
        """
        entry = self.descriptor(skill_id)
        if entry is not None:
            # The policy may have changed since the load: a denial counts at once.
            decision = self._authorizer.decide("load", entry)
            if decision.verdict == "deny":
                raise DeniedError("load", skill_id, reason=decision.reason)
        return self.read(Request(skill_id))

    def load_silently(self, request: Request) -> Loaded:
        """Load a file for a copy or a look: no event, and no question."""
        entry = self.descriptor(request.id)
        if request.file is None or entry is None:
            return self.read(request)
        return self.read(request, self._authorizer.decide("read", entry))

    def read(self, request: Request, decision: Decision = ALLOWED) -> Loaded:
        """Load without an event or a question: for what is no use of it by anyone."""

        def attempt(catalog: Catalog) -> Loaded:
            return load(catalog, request, decision=decision, limits=self._limits)

        return self.current(request.id, attempt)

    def needs_approval(self, skill_id: str) -> bool:
        """Return whether somebody would have to approve a load of the skill now."""
        entry = self.descriptor(skill_id)
        if entry is None or not self._authorizer.asks:
            return False
        return self._authorizer.decide("load", entry).verdict == "ask"

    def _request(self, skill_id: str, file: str | None, via: str) -> Request:
        of = self._settings
        return Request(skill_id, file, of.who, via, of.agent, of.client)

    def _load(
        self,
        request: Request,
        turn: TurnCache | None = None,
        reply: Reply | None = None,
    ) -> Loaded:
        # Kept over the attempts, so that nobody is asked twice about one load.
        answered: dict[Action, Decision] = {}
        # The first attempt is made right here, so that a load without an edit is one
        # straight way; only a failure goes through the machinery of edits.
        try:
            return self._attempt(self.scoped, request, turn, reply, answered)
        except _MAY_BE_EDITED as error:
            failed = error

        def attempt(catalog: Catalog) -> Loaded:
            return self._attempt(catalog, request, turn, reply, answered)

        return self.current(request.id, attempt, failed=failed)

    def _attempt(
        self,
        catalog: Catalog,
        request: Request,
        turn: TurnCache | None,
        reply: Reply | None,
        answered: dict[Action, Decision],
    ) -> Loaded:
        entry = find_loadable(catalog, request.id)
        if entry is not None and not (entry.model_invocable and entry.user_invocable):
            _check_edge(entry, request.via)
        decision = self._authorizer.decide_load(entry, request, reply, answered)
        return load(catalog, request, decision=decision, turn=turn, limits=self._limits)

    def current(
        self,
        skill_id: str,
        attempt: Callable[[Catalog], _T],
        *,
        failed: SkillError | None = None,
        check_missing: bool = True,
    ) -> _T:
        """Return what ``attempt`` gives; where a file was edited, of the pack as it is.

        The arguments are those of `retry_after_edit`.
        """
        from satchel.runtime._edited_pack import retry_after_edit

        return retry_after_edit(
            self._registry,
            lambda: self.scoped,
            skill_id,
            attempt,
            self._components.resync.ask,
            failed=failed,
            check_missing=check_missing,
            wait_for_writer=self._wait_for_writer,
        )

    def _report(self, call: CallEvent | None, attempt: LoadAttempt) -> None:
        events = self._components.usage_events
        if call is None:
            events.record_load(attempt)
        else:
            call.parts.append(attempt)
            call.emit = events.record_call

    def _is_in_scope(self, entry: Descriptor) -> bool:
        return all(
            any(fnmatchcase(entry.id, pattern) for pattern in group)
            for group in self._settings.only
        )


def _check_edge(entry: Descriptor, via: str) -> None:
    """Refuse to a model what is for users alone, and the other way round."""
    if via == "tool" and not entry.model_invocable:
        raise SkillExcludedError(entry.id, "hidden", "only a user may invoke it")
    if via == "user" and not entry.user_invocable:
        raise SkillExcludedError(entry.id, "not for users", "only a model may load it")


# As many of each query's hits take part; with 60, the usual constant of reciprocal
# rank fusion, a first place is worth less than two second ones.
_FUSED_HITS: Final = 100
_FUSION: Final = 60


def _fused(
    rank: Callable[[str, int], list[Hit]], queries: Sequence[str], k: int
) -> list[Hit]:
    """Return at most ``k`` of the hits of several queries, as one list."""
    depth = max(k, _FUSED_HITS)
    lists = [rank(text, depth) for text in dict.fromkeys(queries)]
    if len(lists) == 1:
        return lists[0][: max(k, 0)]
    best: dict[str, Hit] = {}
    scores: dict[str, float] = {}
    for hits in lists:
        for place, hit in enumerate(hits, 1):
            scores[hit.id] = scores.get(hit.id, 0.0) + 1 / (_FUSION + place)
            if hit.id not in best or hit.confidence > best[hit.id].confidence:
                best[hit.id] = hit
    order = sorted(scores, key=lambda skill_id: (-round(scores[skill_id], 6), skill_id))
    return [
        replace(best[skill_id], score=round(scores[skill_id], 6))
        for skill_id in order[: max(k, 0)]
    ]
