"""A session: one conversation's view of the catalog."""

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from operator import is_
from typing import TYPE_CHECKING, Any

from satchel.errors import ToolError
from satchel.load import ResultHooks, TurnCache, error_result
from satchel.model import (
    Activation,
    Catalog,
    Decision,
    Descriptor,
    Finding,
    Hit,
    Loaded,
    Question,
    Reply,
    Request,
    Savings,
    SeenMessage,
    Style,
)
from satchel.protocols import Approval
from satchel.runtime._access import SkillAccess
from satchel.runtime._approvals import Approvals
from satchel.runtime._authorizer import Authorizer, CallAuthorizer, Permit
from satchel.runtime._options import check_only, patterns_of
from satchel.runtime._prompt_snapshot import reinject
from satchel.runtime._result_notes import ResultNotes
from satchel.runtime._saved_state import SavedState, StateSeals
from satchel.runtime._session_context import (
    SessionSettings,
    parse_always_on,
)
from satchel.runtime._session_state import SessionState
from satchel.runtime._session_tools import OwnedTool, SessionTools
from satchel.tools import Run, Tool, Toolbox, result_text

if TYPE_CHECKING:
    from pathlib import Path

    from satchel.agent import AgentSkill
    from satchel.load import InvokedSkill
    from satchel.runtime._session_context import SessionContext


class Session:
    """Instructions and tools for one conversation, and what was loaded in it.

    Made by `satchel.Satchel.session`; opening one is cheap. It serves one
    conversation; what it remembers, `dump` gives as ids and digests, and
    ``session(resume=...)`` takes up again, in another process too. Before each model
    call `see` is given the messages of that call; without it every load gives the full
    text, and nothing is stated again. ``problems`` tells what of the state that it was
    to resume from could not be used.

    Within a `turn` each file is read at most once; the next turn reads anew. Safe
    across threads. ``deps`` is handed to tools that ask for a `satchel.Run`.
    """

    def __init__(
        self,
        shelf: "SessionContext",
        settings: SessionSettings,
        *,
        deps: object = None,
        state: SavedState | None = None,
        problems: tuple[Finding, ...] = (),
    ) -> None:
        """Take up what was dumped, or begin with nothing.

        Raises:
            SkillError: A skill that is to be worn cannot be loaded.
            DuplicateToolError: Tools of one name would meet; names both owners.
        """
        if settings.always_on.order:
            always_on = settings.always_on.permitted(shelf.policy, settings.who)
            settings = replace(settings, always_on=always_on)
        self.settings = settings
        self.deps = deps
        self._shelf = shelf
        self.problems = problems
        self._seals = StateSeals(settings.agent, settings.who)
        given = state or SavedState()
        if not settings.trust_state:
            given = self._seals.granted(given)
        approvals = Approvals(settings.approve, given.grants)
        self._gate = Authorizer(shelf.policy, approvals, settings.who, settings.agent)
        self._reading = SkillAccess(shelf, settings, self._gate)
        if not settings.trust_state:
            given = self._seals.loaded(given, self._reading.needs_approval)
        self._memory = SessionState(shelf, settings, self._reading, given)
        comments = ResultNotes(shelf.offers, self._reading, self._memory)
        hooks = ResultHooks(
            instead=comments.instead,
            root=self._reading.root,
            notes=comments.notes,
            misses=comments.missed,
        )
        self._belt = SessionTools(shelf, settings, self._reading, self._load, hooks)
        self._calling = CallAuthorizer(
            style=settings.style,
            gate=self._gate,
            reading=self._reading,
            find=self._find_tool,
            asks=any(rule.verdict == "ask" for rule in shelf.policy.rules),
            use=self._use,
        )
        self._staged_texts: dict[str, str] = {}
        self._offered: tuple[tuple[OwnedTool, ...], Toolbox] = (), Toolbox("satchel")
        self._mark: tuple[object, ...] = (None, None, None)
        self._worn_texts()
        self._belt.check(self._memory.edition)

    @property
    def agent(self) -> str:
        """The agent that it belongs to."""
        return self.settings.agent

    @property
    def who(self) -> Mapping[str, Any]:
        """For whom it runs."""
        return self.settings.who

    @property
    def style(self) -> Style:
        """Names, parameters and results of its tools."""
        return self.settings.style

    @property
    def catalog(self) -> Catalog:
        """What may be listed here now, for this ``who``."""
        return self._reading.listed

    @property
    def activations(self) -> tuple[Activation, ...]:
        """The skills in use, in the order in which they were loaded."""
        return self._memory.state.active

    @property
    def is_unguarded(self) -> bool:
        """Whether an adapter need not go around tool calls: its hooks may cost.

        No rule asks anybody, and no tool that is on offer is a framework's own.
        """
        shelf, always_on = self._shelf, self.settings.always_on
        if any(rule.verdict == "ask" for rule in shelf.policy.rules):
            return False
        offers = (shelf.offers.get(name) for name in shelf.offers.names)
        tools = chain(filter(None, offers), *(box for _, box in always_on.boxes))
        return all(tool.native is None for tool in tools)

    @property
    def savings(self) -> Savings:
        """Tokens that did not have to be sent anew in this conversation."""
        return self._memory.savings

    def see(self, history: Iterable[SeenMessage]) -> None:
        """Take the messages that the next model call will see, oldest first.

        Skills whose instructions stand among them are in use, whoever loaded them;
        those in use that do not are stated again by `instructions`.
        """
        self._memory.see(history)

    def instructions(self, base: str = "") -> str:
        """Return what stands in the system prompt, its parts a blank line apart.

        ``base``; what is worn; the catalog section, the same bytes for the whole
        conversation; skills in use whose text the messages do not show any more. With
        none of these it is ``base`` alone.
        """
        memory = self._memory
        memory.save_prefix()
        section = str(memory.edition.section)
        parts = [base, *self._worn_texts(), section, self.reinjected()]
        return "\n\n".join(part for part in parts if part)

    @property
    def reads_files(self) -> bool:
        """Whether `instructions` has to read files now: an event loop should not wait.

        Where packs are worn, opening the session reads them too.
        """
        return bool(self.settings.always_on.ids or self._memory.evicted())

    @property
    def mark(self) -> object:
        """The same object while the same messages lead to the same model call.

        Then `instructions`, `tools` and `dump` have nothing new to say. It is always
        another one where nobody can know: rules may say something else at any time,
        and what is worn or is to be stated again is read anew.
        """
        memory, shelf = self._memory, self._shelf
        if shelf.policy.rules or self.settings.always_on.order or memory.evicted():
            return object()
        now = shelf.catalog(), shelf.offers.snapshot, memory.state
        if not all(map(is_, now, self._mark)):
            self._mark = now
        return self._mark

    def reinjected(self) -> str:
        """Return the part of `instructions` about skills in use that are out of sight.

        For adapters that learn only after the instructions what a call will see.
        """
        return reinject(
            self._memory.evicted(),
            self._reading.again,
            budget_tokens=self.settings.reinject_tokens,
            counter=self._shelf.counter,
            render=self._reading.render,
        )

    def tools(self, beside: Iterable[str] = ()) -> Toolbox:
        """Return the tools of the next model call, in an order that only grows.

        Those of worn skills; of the style, as far as they can work with this catalog;
        of loaded skills, as these were loaded. Tools that the policy denies are left
        out. ``beside`` are the names of the agent's own tools. While nothing changes
        it is the same object.

        Raises:
            DuplicateToolError: One of those is the name of a tool that is here, or that
                opens with a skill that is listed; names both owners.
        """
        memory = self._memory
        offers = tuple(self._belt.offered(memory.edition, memory.in_use))
        self._belt.check_beside(beside, offers)
        before, toolbox = self._offered
        if offers != before:
            toolbox = Toolbox("satchel", tuple(self._bound(*each) for each in offers))
            self._offered = offers, toolbox
        return toolbox

    def decide(self, name: str, arguments: Mapping[str, object] | str) -> Decision:
        """Return what the policy says of a call, for a framework's own approval.

        A call that means no skill, or one that is not there, is allowed: it fails by
        itself.
        """
        return self._calling.decide(name, arguments)

    def question(
        self, name: str, arguments: Mapping[str, object] | str
    ) -> Question | None:
        """Return what somebody has to be asked before a call; None for nothing.

        For a framework's own approval; `satchel.runtime.question_text` writes it for
        a person. Never raises.
        """
        return self._calling.question(name, arguments)

    def call(
        self,
        name: str,
        arguments: Mapping[str, object] | str,
        *,
        approved: Approval | None = None,
        call_id: str = "",
    ) -> object:
        """Make one tool call of a model. Never raises: an error is a result.

        Args:
            name: The tool.
            arguments: An object, or its JSON text, as a model's API gives it.
            approved: What somebody answered to the call's `question`, for this call
                alone; None asks the session's ``approve`` where the policy says so.
            call_id: The framework's id of this call, unique for all conversations.
                With one, what was ``approved`` counts once: a run that is resumed
                twice, or again after a crash, does not make the call again.
        """
        permit = self._calling.permit(name, arguments, approved, call_id)
        if permit.tool is None:
            return permit.refusal
        return permit.tool.call(permit.arguments, self._run)

    async def acall(
        self,
        name: str,
        arguments: Mapping[str, object] | str,
        *,
        approved: Approval | None = None,
        call_id: str = "",
    ) -> object:
        """Do as `call` does; waits for asynchronous tools, runs others in a thread."""
        permit = await self._calling.apermit(name, arguments, approved, call_id)
        if permit.tool is None:
            return permit.refusal
        return await permit.tool.acall(permit.arguments, self._run)

    def permit(
        self,
        name: str,
        arguments: Mapping[str, object] | str,
        *,
        approved: Approval | None = None,
        call_id: str = "",
    ) -> Permit:
        """Return whether a tool may be called, and with which arguments.

        For a framework's own tool objects (`Tool.native`), which adapters call. Asks
        and answers as `call` does. Never raises.
        """
        return self._calling.permit(name, arguments, approved, call_id)

    async def apermit(
        self,
        name: str,
        arguments: Mapping[str, object] | str,
        *,
        approved: Approval | None = None,
        call_id: str = "",
    ) -> Permit:
        """Do as `permit` does; waits for an asynchronous approver."""
        return await self._calling.apermit(name, arguments, approved, call_id)

    def refusal(
        self,
        name: str,
        arguments: Mapping[str, object] | str,
        *,
        approved: Approval | None = None,
        call_id: str = "",
    ) -> object | None:
        """Return why a tool is not to be called, as its result; None where it may be.

        Use `permit` where arguments can be edited: here an edit is a refusal.
        """
        permit = self._calling.permit(name, arguments, approved, call_id)
        return _unedited(name, permit)

    async def arefusal(
        self,
        name: str,
        arguments: Mapping[str, object] | str,
        *,
        approved: Approval | None = None,
        call_id: str = "",
    ) -> object | None:
        """Do as `refusal` does; waits for an asynchronous approver."""
        permit = await self._calling.apermit(name, arguments, approved, call_id)
        return _unedited(name, permit)

    @contextmanager
    def turn(self) -> Generator[TurnCache]:
        """Bound one run of the agent: what it loads twice is read once."""
        turn = self._reading.begin_turn()
        self._memory.hit()
        try:
            yield turn
        finally:
            self._reading.end_turn(turn)

    def join(self, turn: TurnCache) -> None:
        """Read within a turn that outlasts this session: another step began it.

        It counts until this session ends, or until `leave`.
        """
        self._reading.join_turn(turn)

    def leave(self, turn: TurnCache) -> None:
        """Read within a turn no longer."""
        self._reading.end_turn(turn)

    def load(self, skill_id: str, file: str | None = None) -> Loaded:
        """Load for this session's ``who``, within the turn where there is one.

        Raises:
            SkillError: As for `satchel.Satchel.load`.
            DeniedError: The policy, or somebody who was asked, says no.
        """
        return self._reading.fetch(skill_id, file, via="python")

    def find(self, query: str, k: int = 10) -> list[Hit]:
        """Return at most ``k`` skills that match, of those that may be found here."""
        return self._reading.find(query, k)

    def invoke(self, skill_id: str, arguments: str = "") -> "InvokedSkill":
        """Return a skill as its user calls it, to be sent as the user's message.

        It is in use from then on, as if the model had loaded it.

        Raises:
            SkillError: As for `load`; one that no user may invoke is withheld.
        """
        from satchel.load import invoke_skill

        loaded = self._reading.fetch(skill_id, None, via="user")
        self._memory.activate(loaded)
        names = self._shelf.manifest(loaded).client.arguments
        root = self._reading.root(loaded)
        return invoke_skill(loaded, arguments, names, root, self.style)

    def stage(self, skill_id: str) -> "Path":
        """Return a folder with a read-only copy of the skill's listed files.

        Raises:
            SkillError: As for `load`; or the copy could not be made.
        """
        from pathlib import Path

        loaded = self._reading.fetch(skill_id, None, via="python")
        return Path(self._reading.stage(loaded.descriptor))

    def unload(self, skill_id: str) -> None:
        """Take a skill out of use: it is not stated again, and its tools close."""
        self._memory.deactivate(skill_id)

    def revoke(self) -> None:
        """Take back every yes for this session: the history it stands on was edited."""
        self._gate.approvals.clear()
        self._memory.revoke()

    def derive(
        self,
        *,
        agent: str = "",
        always: "Iterable[str | AgentSkill]" = (),
        only: Iterable[str] | None = None,
    ) -> "Session":
        """Return a session for a sub-agent: the same catalog, nothing in use yet.

        It wears what ``always`` names, and nothing of this one's. ``only`` narrows
        what is here further; it never widens.

        Raises:
            SkillError: As for `satchel.Satchel.session`.
        """
        settings = replace(
            self.settings, agent=agent, always_on=parse_always_on(always)
        )
        if only is not None:
            check_only(
                patterns := patterns_of(only),
                self._shelf.catalog(),
                self._shelf.may_exist,
            )
            settings = replace(settings, only=(*settings.only, patterns))
        return Session(self._shelf, settings, deps=self.deps)

    def dump(self) -> dict[str, object]:
        """Return what another session can resume from: ids and digests, no text."""
        grants = self._gate.approvals.grants
        state = replace(self._memory.state, grants=grants)
        if not self.settings.trust_state:
            state = self._seals.sealed(state, self._reading.needs_approval)
        return state.to_dict()

    @property
    def _run(self) -> Run:
        return Run(self.who, self.deps, self, self.agent, self._reading.turn)

    def _worn_texts(self) -> list[str]:
        return self.settings.always_on.instructions(self._pinned)

    def _pinned(self, skill_id: str) -> str:
        """Return a worn pack as its load tool would give it, frozen as the section is.

        Where files are staged it names a folder that another session may not have.
        """
        shared = self.settings.stager is None
        pinned = self._memory.edition.pinned if shared else self._staged_texts
        text = pinned.get(skill_id)
        if text is None:
            text = pinned.setdefault(skill_id, self._given(skill_id))
        return text

    def _given(self, skill_id: str) -> str:
        return self._reading.render(self._reading.again(skill_id))

    def _find_tool(self, name: str, *, approved: Reply | None = None) -> OwnedTool:
        memory = self._memory
        return self._belt.find(name, memory.edition, memory.in_use, approved=approved)

    def _bound(self, owner: Descriptor | None, tool: Tool) -> Tool:
        """Return a skill's tool so that every call of it goes through the gate.

        The tool itself coerces the arguments, behind the gate and once.
        """
        if tool.native is not None or owner is None:
            return tool
        name = tool.name

        def call(**arguments: object) -> object:
            return self.call(name, arguments)

        async def acall(**arguments: object) -> object:
            return await self.acall(name, arguments)

        handler = acall if tool.is_async else call
        return replace(tool, handler=handler, run_parameter=None, coerce=dict)

    def _use(self, key: str) -> bool:
        """Note an approval as used, where this conversation and others look."""
        return self._memory.use(key) and self._shelf.used().use(key)

    def _load(self, request: Request, *, approved: Reply | None) -> Loaded:
        """Load for a tool of this session's style."""
        loaded = self._reading.fetch(
            request.id, request.file, via=request.via, approved=approved
        )
        self._memory.hit()
        if loaded.is_instructions:
            self._memory.activate(loaded)
        return loaded


def _unedited(name: str, permit: Permit) -> object | None:
    """Return why a call is not to be made with the arguments that it came with."""
    if permit.refusal is not None or not permit.is_edited:
        return permit.refusal
    detail = "the user approved it with other arguments; call it with those: "
    return error_result(ToolError(name, detail + result_text(permit.arguments)))
