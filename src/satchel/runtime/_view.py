"""`View`: the catalog for one caller, and its loads.

Every load of a model or a user goes through `View.load`, which says by ``as_``
whether it is a use, a copy that is kept elsewhere, or only a look.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, TypeAlias, TypeVar

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
    CallEvent,
    LoadAttempt,
    StyleOptions,
    ToolBackend,
    TurnCache,
    current_call_event,
    find_loadable,
    load,
    offer_find,
    tools_for,
)
from satchel.model import (
    IS_LOAD,
    Action,
    Activation,
    Catalog,
    Decision,
    Descriptor,
    FileStat,
    Hit,
    Loaded,
    Manifest,
    Rendered,
    Reply,
    Request,
    Resource,
    Style,
    UsageEvent,
)
from satchel.runtime._authorizer import Authorizer
from satchel.runtime._needs import needs_notes
from satchel.runtime._options import SessionSettings, check_hits, patterns_of
from satchel.tools import Run, Toolbox

if TYPE_CHECKING:
    from satchel.load import InvokedSkill
    from satchel.prompt import Format
    from satchel.runtime._acts import Acts
    from satchel.runtime._components import Components
    from satchel.runtime._scripts import Scripts

_T = TypeVar("_T")

As: TypeAlias = Literal["use", "copy", "look"]
"""What a load is: a use of the skill, which is an event; a copy that is kept elsewhere,
which is another; a look, which is none, and asks nobody."""

# What a load raises where its pack was edited since the sync, among other reasons.
_MAY_BE_EDITED: Final = (PackFileError, SkillExcludedError, SkillNotFoundError)


class ScopeCache:
    """The skills that several views are about, and the catalog they are from."""

    cached: tuple[Catalog, Catalog] | None = None


class View(ToolBackend):
    """The catalog for one caller, as ``who``, scope and policy have it.

    It lists, finds and loads, and is what the tools of a style call. A session has one,
    with what was read in a turn and who said yes. A caller of a server is one, made by
    `satchel.Satchel.view`: a protocol without conversations, so every load gives the
    whole text, no result says "already loaded", and where the policy says ask, the
    load is an error. It follows every sync, and is safe across threads.

    ``scope`` is shared with other views of the same skills. ``wait_for_writer`` is
    False for lists: a pack that is being written right now is not waited for.
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
        self._limits = components.accept.limits
        self._authorizer = authorizer or Authorizer(components.policy, settings.who)
        self._scope = ScopeCache() if scope is None else scope
        self._wait_for_writer = wait_for_writer
        self._turns: list[TurnCache] = []

    @property
    def _load_file(self) -> "partial[Loaded]":
        # A refresh may bring another verifier.
        verifier = self._registry.rules.verifier
        return partial(load, limits=self._limits, verifier=verifier)

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
        check_hits(k)
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
        return hits[:k]

    # --- Loading ----------------------------------------------------------------------

    def load(  # noqa: PLR0913 - how it is loaded, all by name
        self,
        skill_id: str,
        file: str | None = None,
        *,
        as_: As = "use",
        via: str | None = None,
        reply: Reply | None = None,
        turn: TurnCache | None = None,
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
        self, request: Request, reply: Reply | None, turn: TurnCache | None
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

    def _report(self, call: CallEvent | None, attempt: LoadAttempt) -> None:
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

    @cached_property
    def style_options(self) -> StyleOptions:
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

    # --- For the tools of a style, and for servers -----------------------------------

    def for_caller(
        self,
        *,
        who: Mapping[str, Any],
        only: Iterable[str] | None,
        via: str,
        client: str,
    ) -> "View":
        """Return the skills as another may have them; see `satchel.Satchel.view`."""
        patterns = () if only is None else (patterns_of(only),)
        settings = replace(self.settings, who=who, only=patterns, client=client)
        return View(self._components, settings, via=via)

    def for_client(self, client: str) -> "View":
        """Return the same skills for the same caller, as another program asks."""
        # The scope is shared: programs of one caller see the same catalog object.
        settings = replace(self.settings, client=client)
        return View(self._components, settings, via=self.via, scope=self._scope)

    @cached_property
    def _toolboxes(self) -> dict[tuple[bool, bool], Toolbox]:
        return {}

    @cached_property
    def without_waiting(self) -> "View":
        """The same, for what reads many skills: it waits for none that is written."""
        return View(
            self._components,
            self.settings,
            via=self.via,
            scope=self._scope,
            wait_for_writer=False,
        )

    def descriptor(self, skill_id: str) -> Descriptor:
        """Return a skill that this caller may load, listed or hidden.

        Raises:
            SkillNotFoundError: There is none of this id here.
            DeniedError: It is here, and not for this caller.
        """
        entry = self.get(skill_id)
        if entry is None:
            replacement = self.catalog.replacement_of(skill_id)
            raise SkillNotFoundError(skill_id, replacement=replacement)
        if self.loadable(skill_id) is None:
            raise DeniedError("load", skill_id)
        return entry

    @property
    def invocable(self) -> tuple[Descriptor, ...]:
        """The skills that a user may invoke, by id; those hidden from models, too."""
        excluded = self.scoped.excluded
        hidden = (e.descriptor for e in excluded if e.reason == "hidden")
        invocable = (
            entry
            for entry in (*self.catalog.entries, *hidden)
            if entry.user_invocable and self.loadable(entry.id) is not None
        )
        return tuple(sorted(invocable, key=lambda entry: entry.id))

    def load_again(self, entry: Descriptor) -> bool:
        """Record one more load of a SKILL.md; False, and no event, if it is another."""
        scoped, components = self.scoped, self._components
        # Nobody is asked twice.
        if find_loadable(scoped, entry.id) != entry or self._authorizer.asks:
            return False
        request = self._request(entry.id)
        start = components.clock.monotonic()
        try:
            loaded = self._attempt(scoped, request, None, None, {})
        except Exception:  # noqa: BLE001 - `load` raises it again, and records it
            return False
        if components.sinks != () and components.usage_events.sinks.awake:
            end = components.clock.monotonic()
            self._report(None, LoadAttempt(scoped, request, loaded, start, end))
        return True

    def refuse(
        self,
        skill_id: str,
        file: str | None,
        error: SkillError,
        *,
        as_: As = "use",
        via: str | None = None,
    ) -> NoReturn:
        """Raise an error that was decided on before any load; it is an event, too."""
        self._refuse(self._request(skill_id, file, via), error, as_)

    def report(self, event: UsageEvent) -> None:
        """Record a load that was done elsewhere, from a copy."""
        events = self._components.usage_events
        if events.sinks.awake:
            events.record_remote_load(self.catalog, event)

    def decide_script(self, entry: Descriptor) -> Decision:
        """Return what the policy says of the scripts of a skill."""
        return self._authorizer.decide("script", entry)

    def scripts(
        self,
        loaded: Iterable[Activation],
        work: str,
        check: Callable[[Descriptor], None],
    ) -> "Scripts":
        """Return the scripts of skills that a caller of a server has loaded.

        ``check`` raises where the caller may not run those of a skill.
        """
        from satchel.runtime._scripts import Scripts

        packs = [*filter(None, (self.loadable(one.id) for one in loaded))]
        skills = partial(self.load, as_="look"), lambda: packs, lambda: loaded
        return Scripts(self._components, *skills, lambda: work, check)

    def acts(self, in_use: Callable[[], Iterable[Activation]]) -> "Acts":
        """Return what records acts, with the skills that are in use at each."""
        from satchel.runtime._acts import Acts

        return Acts(self._components, self.conversation, self.settings.agent, in_use)

    # --- Files and manifests ----------------------------------------------------------

    def resources(self, skill_id: str) -> tuple[Resource, ...]:
        """Return path, digest and size of every listed file, SKILL.md included.

        A file that the pack lists but does not have is left out.

        Raises:
            SkillError: As for `descriptor`; or a file cannot be read now, or is larger
                than a load gives: see `too_large`.
        """
        return self.files_of(skill_id, self.descriptor)

    def loadable_resources(self, loaded: Loaded) -> tuple[Resource, ...]:
        """Return the files of a loaded skill, as `resources` does, but no large ones.

        Raises:
            SkillError: A file cannot be read now.
        """
        entry = loaded.descriptor
        try:
            return self._registry.resources(self._without_large(entry))
        except SkillError:  # it may have been edited since it was loaded
            return self.files_of(
                entry.id, lambda id: self._without_large(self.descriptor(id))
            )

    def _without_large(self, entry: Descriptor) -> Descriptor:
        # No load gives these, and the digest of one would fail the whole list.
        large = self.too_large(entry)
        small = tuple(stat for stat in entry.files if stat not in large)
        return replace(entry, files=small) if large else entry

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

    def too_large(self, entry: Descriptor) -> tuple[FileStat, ...]:
        """Return the listed files of a skill that no load gives, for their size."""
        most = self._limits.file_bytes
        large = [stat for stat in entry.files if stat.size > most]
        return tuple(stat for stat in large if stat.path in entry.resources)

    def manifest(self, skill_id: str) -> Manifest:
        """Return a skill's manifest as it is now; it is no event.

        Raises:
            SkillError: As for `satchel.Satchel.manifest`.
        """
        self.descriptor(skill_id)
        return self.manifest_of(self.load(skill_id, as_="look"))

    # --- Prompt and tools -------------------------------------------------------------

    def prompt(
        self,
        *,
        style: Style | None = None,
        format: "Format | None" = None,  # noqa: A002 - the word users of the CLI know
        budget_tokens: int | str | None = "default",
        message: str | None = None,
    ) -> Rendered:
        """Render the catalog section; see `satchel.Satchel.prompt`."""
        style = style or self.settings.style
        sections = self._components.sections
        section = sections.render(self.catalog, style, format, budget_tokens)
        return sections.add_suggestions(section, self.find, message)

    def invoke(self, skill_id: str, arguments: str = "") -> "InvokedSkill":
        """Return a skill as its user calls it, its arguments in their places.

        It is an event of the edge that it came through.

        Raises:
            SkillError: As for `load`; one that no user may invoke is excluded.
        """
        from satchel.load import invoke_skill

        entry = self.get(skill_id)
        if entry is not None and not entry.user_invocable:
            self.refuse(skill_id, None, not_for("user", entry))
        loaded = self.load(skill_id)
        client = self.manifest_of(loaded).client
        return invoke_skill(loaded, arguments, client, None, self.settings.style)

    def tools(self, *, find: bool | None = None, even_empty: bool = False) -> Toolbox:
        """Return the tools of the style, with the one that finds where it is needed.

        Hidden skills are not found through them. ``find`` says whether it is needed;
        None renders the section to find out. The style ``references`` has its own.
        Without a skill there is no tool, but for ``even_empty``.
        """
        if find is None:
            find = offer_find(self.catalog, self.prompt())
        find = find and self.settings.style != "references"
        # The tools ask for the catalog at each call, so they can be kept over syncs;
        # only whether it has any skill decides which tools there are.
        key = find, even_empty or bool(self.catalog.entries)
        if key not in self._toolboxes:
            self._toolboxes[key] = tools_for(
                self.settings.style,
                self,
                find=find,
                options=self.style_options,
                even_empty=even_empty,
            )
        return self._toolboxes[key]

    def load_for(self, request: Request, run: Run) -> Loaded:
        """Load for a call of one of the tools."""
        del run
        entry = self.get(request.id)
        # Said before the load, which would not tell by `via` that a model asks.
        if entry is not None and not entry.model_invocable:
            self.refuse(request.id, request.file, not_for("tool", entry))
        loaded = self.load(request.id, request.file)
        return self.checked_whole(loaded)

    def notes(self, loaded: Loaded) -> list[str]:
        """Return what the text takes for granted."""
        if self.settings.style != "lean":
            return []
        return [*self.needs_notes(loaded)]

    def advice(self, error: SkillError) -> str | None:
        """Return which skill has taken the place of one that is missing."""
        from satchel.load import replacement_advice

        return replacement_advice(error, self.catalog) or None


def not_for(via: str, entry: Descriptor) -> SkillExcludedError:
    """Return the error for a model that asks for what is the users', or a user."""
    if via == "tool":
        return SkillExcludedError(entry.id, "hidden", "only a user may invoke it")
    return SkillExcludedError(entry.id, "not for users", "only a model may load it")
