"""`Access`: what one caller may list, find and load.

Every load of a model or a user goes through `Access.load`, which says by ``as_``
whether it is a use, a copy that is kept elsewhere, or only a look.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, Literal, NoReturn, TypeAlias, TypeVar

from satchel.errors import (
    DeniedError,
    PackFileError,
    SkillError,
    SkillExcludedError,
    SkillManifestError,
    SkillNotFoundError,
)
from satchel.load import (
    ALLOWED,
    EXTENDED,
    LoadAttempt,
    current_call_event,
    find_loadable,
    load,
)
from satchel.model import (
    IS_LOAD,
    Action,
    Activation,
    Catalog,
    Decision,
    Descriptor,
    Hit,
    Loaded,
    Manifest,
    Reply,
    Request,
    Resource,
)
from satchel.runtime._authorizer import Authorizer
from satchel.runtime._needs import needs_notes
from satchel.runtime._options import SessionSettings

if TYPE_CHECKING:
    from satchel.load import CallEvent, StyleOptions, TurnCache
    from satchel.runtime._acts import Acts
    from satchel.runtime._components import Components

_T = TypeVar("_T")

As: TypeAlias = Literal["use", "copy", "look"]
"""What a load is: a use of the skill, which is an event; a copy that is kept elsewhere,
which is another; a look, which is none, and asks nobody."""

# What a load raises where its pack was edited since the sync, among other reasons.
_MAY_BE_EDITED: Final = (PackFileError, SkillExcludedError, SkillNotFoundError)


class ScopeCache:
    """The skills that several callers are about, and the catalog they are from."""

    cached: tuple[Catalog, Catalog] | None = None


class Access:
    """What one caller may list, find and load, as ``who``, scope and policy have it.

    A `Satchel` has that of nobody in particular. A session has one, with what was read
    in a turn and who said yes; the `View` of a server's caller is one. It follows every
    sync, and is safe across threads.

    ``scope`` is shared with others for the same skills. ``wait_for_writer`` is False
    for lists: a pack that is being written right now is not waited for.
    """

    def __init__(  # noqa: PLR0913 - what it shares with others, by name
        self,
        components: "Components",
        settings: SessionSettings,
        authorizer: Authorizer | None = None,
        *,
        via: str = "python",
        scope: ScopeCache | None = None,
        wait_for_writer: bool = True,
    ) -> None:
        self.settings = settings
        self.via = via
        self.conversation = ""
        self.turn: TurnCache | None = None
        self._components = components
        self._registry = components.registry
        verifier = components.registry.rules.verifier
        self._limits = limits = components.accept.limits
        self._load_file = partial(load, limits=limits, verifier=verifier)
        self._authorizer = authorizer or Authorizer(components.policy, settings.who)
        self._scope = ScopeCache() if scope is None else scope
        self._wait_for_writer = wait_for_writer
        self._turns: list[TurnCache] = []

    def begin_turn(self) -> "TurnCache":
        """Read each file at most once from now on; return where it is cached."""
        from satchel.load import TurnCache

        turn = TurnCache()
        self.join_turn(turn)
        return turn

    def join_turn(self, turn: "TurnCache") -> None:
        """Read each file at most once from now on, together with all who share it."""
        self._turns.append(turn)
        self.turn = turn

    def end_turn(self, turn: "TurnCache") -> None:
        """End a turn: the last one begun, or one that others overlap."""
        # Parallel runs of one session end their turns in any order.
        self._turns.remove(turn)
        self.turn = self._turns[-1] if self._turns else None

    # --- What is here -----------------------------------------------------------------

    @property
    def scoped(self) -> Catalog:
        """The skills that this view is about, whatever the policy says of them."""
        catalog = self._registry.catalog
        if not self.settings.only:
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
    def catalog(self) -> Catalog:
        """What may be listed for this caller now; the same object while it stays so."""
        scoped = self.scoped
        if not self._authorizer.has_rules:
            return scoped
        may_list = partial(self._authorizer.may, "list")
        return self._components.snapshots.view(scoped, may_list, whole=False)

    @property
    def asks(self) -> bool:
        """Whether a framework's own approval may have to be waited for."""
        return self._authorizer.asks and self.settings.approve is None

    def get(self, skill_id: str) -> Descriptor | None:
        """Return a skill that is here, a hidden or deprecated one too."""
        return find_loadable(self.scoped, skill_id)

    def loadable(self, skill_id: str) -> Descriptor | None:
        """Return a skill that is here and that this caller may load."""
        entry = self.get(skill_id)
        if entry is None or not self._authorizer.may("load", entry):
            return None
        return entry

    # --- Finding ----------------------------------------------------------------------

    def find(self, query: str, k: int = 10) -> list[Hit]:
        """Return at most ``k`` skills that match ``query``, best first, ties by id.

        A query without a good hit is kept where the operator wants it.
        """
        hits = self.rank(query, k)
        components = self._components
        path = components.environ.get("SATCHEL_QUERIES", "").strip()
        if path and all(hit.weak for hit in hits):
            from satchel.usage import record_query

            record_query(path, query, hits, components.clock.now())
        return hits

    def rank(
        self,
        query: str | Sequence[str],
        k: int,
        fits: Callable[[Descriptor], bool] = lambda _: True,
        *,
        whole: bool = False,
    ) -> list[Hit]:
        """Return at most ``k`` hits that fit, of those that may be found."""
        scoped = self.scoped

        def accepts(entry: Descriptor) -> bool:
            is_in = fits(entry) and scoped.get(entry.id) is not None
            return is_in and self._authorizer.may("find", entry)

        rank = partial(self._rank, accepts=accepts, whole=whole)
        if isinstance(query, str):
            return rank(query, k)
        from satchel.search import fused

        return fused(rank, query, k)

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

    # --- Loading ----------------------------------------------------------------------

    def load(  # noqa: PLR0913 - how it is loaded, all by name
        self,
        skill_id: str,
        file: str | None = None,
        *,
        as_: As = "use",
        via: str | None = None,
        reply: Reply | None = None,
        turn: "TurnCache | None" = None,
    ) -> Loaded:
        """Return a skill's SKILL.md, or one other file of it, whole.

        Args:
            skill_id: The exact id.
            file: A listed path, or a short name that only one listed file bears.
            as_: A use is an event, and so is a copy, another one; each error goes
                through after it. A look is neither, and asks nobody: what the policy
                denies is denied all the same.
            via: The edge that it came through, for events. "tool" does not get what
                only users may invoke, nor "user" what only models may load.
            reply: The answer of a framework's own approval, a yes or a no; without one,
                a person is asked where the policy says so.
            turn: Where files are cached that are read at most once.

        Raises:
            SkillError: As for `satchel.Satchel.load`.
        """
        try:
            if as_ == "look":
                return self._look(skill_id, file)
            request = self._request(skill_id, file, via)
            if as_ == "copy":
                return self._copy(request)
            return self._use(request, reply, turn or self.turn)
        except SkillNotFoundError as error:
            # The policy was not asked about close ids; one that is not listed for this
            # caller would tell that it exists.
            listed = self.catalog
            close = tuple(name for name in error.close if name in listed)
            replacement = listed.replacement_of(error.name)
            raise SkillNotFoundError(error.name, close, replacement) from None

    def read(self, skill_id: str, file: str | None = None) -> Loaded:
        """Load without an event, a question or the policy: for the developer."""
        return self._read(Request(skill_id, file), lambda _: ALLOWED)

    def _use(
        self, request: Request, reply: Reply | None, turn: "TurnCache | None"
    ) -> Loaded:
        call = current_call_event()
        if call is not None and call.refusal is not None:
            self._refuse(request, call.refusal)
        # A source on another server says by this whether its bytes are loaded or only
        # looked at: see `satchel.model.IS_LOAD`.
        before = IS_LOAD.set(True)
        try:
            components = self._components
            # Times and catalogs are only noted where a sink would take the event.
            if components.sinks == () or not components.usage_events.sinks.awake:
                return self._load(request, turn, reply)
            monotonic = components.clock.monotonic
            scoped, start = self.scoped, monotonic()
            try:
                loaded = self._load(request, turn, reply)
            except Exception as error:
                attempt = LoadAttempt(scoped, request, error, start, monotonic())
                self._report(call, attempt)
                raise
            end = monotonic()
            # The catalog of now: an edited pack got a new one while it was loaded.
            self._report(call, LoadAttempt(self.scoped, request, loaded, start, end))
            return loaded
        finally:
            IS_LOAD.reset(before)

    def _copy(self, request: Request) -> Loaded:
        events, scoped = self._components.usage_events, self.scoped
        try:
            loaded = self._load(request)
        except Exception as error:
            events.record_copy(scoped, request, error)
            raise
        events.record_copy(self.scoped, replace(request, file=loaded.file))
        return loaded

    def _look(self, skill_id: str, file: str | None) -> Loaded:
        def decide(entry: Descriptor | None) -> Decision:
            if entry is None:
                return ALLOWED  # to nothing
            # The policy may have changed since a load: a denial counts at once.
            decision = self._authorizer.decide("load", entry)
            if decision.verdict == "deny":
                raise DeniedError("load", skill_id, reason=decision.reason)
            return ALLOWED if file is None else self._authorizer.decide("read", entry)

        loaded = self._read(Request(skill_id, file), decide)
        if self.turn is not None and file is None:
            self.turn.drop_other(loaded)  # a load gives what was looked at
        return loaded

    def _read(
        self, request: Request, decide: Callable[[Descriptor | None], Decision]
    ) -> Loaded:
        def attempt(catalog: Catalog) -> Loaded:
            # Of this very catalog: another thread may have synced meanwhile.
            decision = decide(find_loadable(catalog, request.id))
            return self._load_file(catalog, request, decision=decision)

        return self.current(request.id, attempt)

    def _refuse(self, request: Request, error: SkillError, as_: As = "use") -> NoReturn:
        events = self._components.usage_events
        if as_ == "copy":
            events.record_copy(self.scoped, request, error)
        elif events.sinks.awake:
            now = self._components.clock.monotonic()
            events.record_load(LoadAttempt(self.scoped, request, error, now, now))
        raise error

    def needs_approval(self, skill_id: str) -> bool:
        """Return whether somebody would have to approve a load of the skill now."""
        entry = self.get(skill_id)
        if entry is None or not self._authorizer.asks:
            return False
        return self._authorizer.decide("load", entry).verdict == "ask"

    def _request(
        self, skill_id: str, file: str | None = None, via: str | None = None
    ) -> Request:
        of = self.settings
        caller = of.who, via or self.via, of.agent, of.client
        return Request(skill_id, file, *caller, self.conversation)

    def _load(
        self,
        request: Request,
        turn: "TurnCache | None" = None,
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
        turn: "TurnCache | None",
        reply: Reply | None,
        answered: dict[Action, Decision],
    ) -> Loaded:
        entry = find_loadable(catalog, request.id)
        if entry is not None and (
            (request.via == "tool" and not entry.model_invocable)
            or (request.via == "user" and not entry.user_invocable)
        ):
            raise not_for(request.via, entry)
        decision = self._authorizer.decide_load(entry, request, reply, answered)
        return self._load_file(catalog, request, decision=decision, turn=turn)

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

    def _report(self, call: "CallEvent | None", attempt: LoadAttempt) -> None:
        events = self._components.usage_events
        if call is None:
            events.record_load(attempt)
        else:
            call.parts.append(attempt)
            call.emit = events.record_call

    def manifest_of(self, loaded: Loaded) -> Manifest:
        """Return the manifest of a loaded SKILL.md, without a second read.

        Raises:
            SkillManifestError: It has no frontmatter; the source made up its manifest.
        """
        from satchel.skill_md import parse

        entry, accept = loaded.descriptor, self._components.accept
        parsed = parse(
            loaded.data,
            profile=accept.profile,
            directory=entry.origin.key.rpartition("/")[2],
            limits=accept.limits,
            allow_empty_description=accept.allow_empty_description,
        )
        if parsed.manifest is None:
            raise SkillManifestError(entry.origin.location, parsed.findings[0].message)
        if entry.remote:  # it has the tools that were granted, not those it asks for
            return replace(parsed.manifest, allowed_tools=entry.allowed_tools)
        return parsed.manifest

    def files_of(
        self, skill_id: str, descriptor: Callable[[str], Descriptor]
    ) -> tuple[Resource, ...]:
        """Return path, digest and size of every file of a pack as it is now.

        ``descriptor`` looks the skill up, again where the pack was edited.
        """
        registry = self._registry
        return self.current(
            skill_id,
            lambda _: registry.resources(descriptor(skill_id)),
            check_missing=False,
        )

    @cached_property
    def style_options(self) -> "StyleOptions":
        """How tools write what was loaded."""
        limit = self._components.options.max_result_tokens
        counter = self._components.counter
        return replace(EXTENDED, max_result_tokens=limit, counter=counter)

    def checked_whole(self, loaded: Loaded) -> Loaded:
        """Return what was loaded, if the style can give so much: `lean` gives parts."""
        if self.settings.style == "lean":
            return loaded
        from satchel.load import check_whole

        return check_whole(loaded, self.style_options)

    def needs_notes(self, loaded: Loaded, *, warn: bool = False) -> Iterator[str]:
        """Yield what a text takes for granted; ``warn`` the developer of scripts."""
        parts, scoped = self._components, self.scoped
        return needs_notes(parts, scoped, self.loadable, loaded, warn=warn)

    def _is_in_scope(self, entry: Descriptor) -> bool:
        return all(
            any(fnmatchcase(entry.id, pattern) for pattern in group)
            for group in self.settings.only
        )

    def acts(self, in_use: Callable[[], Iterable[Activation]]) -> "Acts":
        """Return what records acts, with the skills that are in use at each."""
        from satchel.runtime._acts import Acts

        return Acts(self._components, self.conversation, self.settings.agent, in_use)


def not_for(via: str, entry: Descriptor) -> SkillExcludedError:
    """Return the error for a model that asks for what is the users', or a user."""
    if via == "tool":
        return SkillExcludedError(entry.id, "hidden", "only a user may invoke it")
    return SkillExcludedError(entry.id, "not for users", "only a model may load it")
