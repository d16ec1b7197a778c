"""What a session may list, find and read: the catalog for one user."""

from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from satchel.errors import ApprovalNeededError, DeniedError, SkillError
from satchel.load import StyleOptions, TurnCache, fill_folder, render_context
from satchel.model import (
    Action,
    Catalog,
    Descriptor,
    FileStat,
    Hit,
    Loaded,
    Reply,
    Request,
)
from satchel.runtime._authorizer import Authorizer
from satchel.runtime._session_context import SessionSettings

if TYPE_CHECKING:
    from satchel.runtime._session_context import SessionContext
    from satchel.runtime._staging import Staged


class ScopeCache:
    """The skills that some readings are about, of the catalog that they were of."""

    known: tuple[Catalog, Catalog] | None = None


class SkillAccess:
    """Lists, finds and reads for one session; asks the gate first.

    ``scope`` is that of another about the same skills, which is found out once.
    """

    def __init__(
        self,
        shelf: "SessionContext",
        settings: SessionSettings,
        gate: Authorizer,
        scope: "ScopeCache | None" = None,
    ) -> None:
        self._shelf = shelf
        self._settings = settings
        self._gate = gate
        self._staged: dict[tuple[str, str, tuple[FileStat, ...]], Staged] = {}
        self._turns: list[TurnCache] = []
        self._scope = ScopeCache() if scope is None else scope

    def begin_turn(self) -> TurnCache:
        """Read each file at most once from now on; return where it is kept."""
        turn = TurnCache()
        self.join_turn(turn)
        return turn

    def join_turn(self, turn: TurnCache) -> None:
        """Read each file at most once from now on, with whoever has this turn too."""
        self._turns.append(turn)

    def end_turn(self, turn: TurnCache) -> None:
        """End a turn, be it the last one begun or one that others overlap."""
        self._turns.remove(turn)

    @property
    def turn(self) -> TurnCache | None:
        """The turn that began last and has not ended; None outside of any."""
        return next(reversed(self._turns), None)

    @property
    def scoped(self) -> Catalog:
        """The skills that this session is about, whatever the policy says of them."""
        catalog = self._shelf.catalog()
        if not self._settings.only:
            return catalog
        known = self._scope.known
        if known is None or known[0] is not catalog:
            view = self._shelf.editions.view(catalog, self._is_here, whole=True)
            known = self._scope.known = catalog, view
        return known[1]

    @property
    def listed(self) -> Catalog:
        """Those of them that may be listed for this ``who``."""
        scoped = self.scoped
        if not self._shelf.policy.rules:
            return scoped
        may_list = partial(self._may, "list")
        return self._shelf.editions.view(scoped, may_list, whole=False)

    def descriptor(self, skill_id: str) -> Descriptor | None:
        """Return a skill that is here, a hidden or deprecated one too."""
        scoped = self.scoped
        entry = scoped.get(skill_id)
        if entry is not None:
            return entry
        held = scoped.exclusion_of(skill_id)
        loads = held is not None and held.reason in ("hidden", "deprecated")
        return held.descriptor if held is not None and loads else None

    def in_use(self, skill_id: str) -> Descriptor | None:
        """Return a skill that is here and that this ``who`` may load, now too.

        A conversation may have loaded it for somebody else.
        """
        entry = self.descriptor(skill_id)
        return entry if entry is not None and self._may("load", entry) else None

    def find(self, query: str, k: int) -> list[Hit]:
        """Return at most ``k`` hits, of those that may be found."""
        here = self.scoped
        everything = len(self._shelf.catalog())
        narrowed = len(here) < everything or bool(self._shelf.policy.rules)
        hits: list[Hit] = []
        for hit in self._shelf.find(query, everything if narrowed else k):
            entry = here.get(hit.id)
            if entry is not None and self._may("find", entry):
                hits.append(hit)
        return hits[:k]

    def fetch(
        self,
        skill_id: str,
        file: str | None,
        *,
        via: str,
        approved: Reply | None = None,
    ) -> Loaded:
        """Load one file, if it may be read.

        Raises:
            SkillError: It is not there, or may not be read.
        """
        request = self._request(skill_id, file, via)
        asking = self._gate.asking(approved=approved)
        return self._shelf.load(self._in_scope, request, self.turn, asking)

    def refuse(
        self, skill_id: str, file: str | None, error: SkillError, *, via: str
    ) -> NoReturn:
        """Raise an error that was decided on before any load; it is an event too."""
        request = self._request(skill_id, file, via)
        self._shelf.load.refuse(self.scoped, request, error)

    def copy(self, skill_id: str, file: str | None, *, via: str) -> Loaded:
        """Load one file for a copy that is kept elsewhere: a sync, and no use of it.

        Raises:
            SkillError: It is not there, or may not be read.
        """
        request = self._request(skill_id, file, via)
        return self._shelf.load.copy(self._in_scope, request, self._gate.asking())

    def refuse_copy(
        self, skill_id: str, file: str | None, error: SkillError, *, via: str
    ) -> NoReturn:
        """Raise an error that was decided on before a copy; it is a sync too."""
        request = self._request(skill_id, file, via)
        self._shelf.load.refuse_copy(self.scoped, request, error)

    def again(self, skill_id: str) -> Loaded:
        """Load the SKILL.md of a skill that is in use already, or worn.

        It is no new use, so there is no event, and nobody is asked a second time.

        Raises:
            SkillError: It is not there any more, or is denied.
        """
        entry = self.descriptor(skill_id)
        if entry is not None:
            decision = self._gate.ask("load", entry)[0]
            if decision.verdict == "deny":
                raise DeniedError("load", skill_id, reason=decision.reason)
        return self._shelf.load.plain(self._in_scope, Request(skill_id))

    def unnoticed(self, skill_id: str, file: str) -> Loaded:
        """Load one file beside a skill without an event, if it may be read.

        Raises:
            SkillError: It is not there, or may not be read.
        """
        return self._for_copy(Request(skill_id, file))

    def staged(self, descriptor: Descriptor) -> "Staged | None":
        """Return where a skill's files were copied to; None where there is no need."""
        stager = self._settings.stager
        if stager is None or not descriptor.resources:
            return None
        place = descriptor.id, descriptor.digest, descriptor.files
        staged = self._staged.get(place)
        if staged is None:
            from satchel.runtime._staging import stage_pack

            staged = self._staged[place] = stage_pack(
                stager, self._for_copy, descriptor
            )
        return staged

    def stage(self, descriptor: Descriptor) -> str:
        """Copy a skill's files; return the folder.

        Raises:
            SkillError: A file cannot be loaded, or the copy could not be made.
        """
        from satchel.runtime._staging import stage_files

        stager = self._settings.stager or self._shelf.local_stager()
        return stage_files(stager, self._for_copy, descriptor)

    def root(self, loaded: Loaded) -> str | None:
        """Return the folder in which the agent finds the skill's files, if it does."""
        staged = self.staged(loaded.descriptor)
        return staged.folder or None if staged is not None else None

    def render(self, loaded: Loaded) -> str:
        """Return instructions as the load tool would give them."""
        root = self.root(loaded)
        options = StyleOptions(envelope="extended", root=root)
        style = self._settings.style
        return render_context(fill_folder(loaded, root), options, style=style)

    def may_call(self, owner: Descriptor, tool: str) -> bool:
        """Tell whether a tool of a skill is not denied outright."""
        return self._gate.ask("tool", owner, tool)[0].verdict != "deny"

    def needs_approval(self, skill_id: str) -> bool:
        """Tell whether somebody would have to approve a load of the skill now."""
        entry = self.descriptor(skill_id)
        return entry is not None and self._gate.ask("load", entry)[0].verdict == "ask"

    def _request(self, skill_id: str, file: str | None, via: str) -> Request:
        of = self._settings
        return Request(skill_id, file, of.who, via, of.agent, of.client)

    def _in_scope(self) -> Catalog:
        return self.scoped

    def _is_here(self, entry: Descriptor) -> bool:
        return all(
            any(fnmatchcase(entry.id, pattern) for pattern in group)
            for group in self._settings.only
        )

    def _may(self, action: Action, entry: Descriptor) -> bool:
        decision = self._shelf.policy.decide(action, entry.id, self._settings.who)
        return decision.verdict != "deny"

    def _for_copy(self, request: Request) -> Loaded:
        """Load a file for a copy, in which anything can be read without a question."""
        entry = self.descriptor(request.id)
        if request.file is not None and entry is not None:
            decision = self._gate.ask("read", entry)[0]
            if decision.verdict != "allow":
                asks = decision.verdict == "ask"
                error = ApprovalNeededError if asks else DeniedError
                raise error("read", entry.id, reason=decision.reason)
        return self._shelf.load.plain(self._in_scope, request)
