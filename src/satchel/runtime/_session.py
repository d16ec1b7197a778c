"""A session: one conversation's view of the catalog, and one as a skill."""

from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from operator import is_
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, Unpack

from satchel.model import (
    Activation,
    Catalog,
    Descriptor,
    Finding,
    Hit,
    Loaded,
    Savings,
    SeenMessage,
    Style,
)
from satchel.runtime._authorizer import Authorizer
from satchel.runtime._needs import look_for_scripts
from satchel.runtime._options import AlwaysOn, SessionSettings, check_only, patterns_of
from satchel.runtime._session_state import SavedState, SessionState
from satchel.runtime._session_tools import OwnedTool, SessionTools
from satchel.runtime._tool_calls import (
    Arguments,
    CallApproval,
    Permit,
    ToolCalls,
    with_note,
)
from satchel.runtime._view import View
from satchel.tools import Run, Tool, Toolbox

P = ParamSpec("P")
T = TypeVar("T")

if TYPE_CHECKING:
    from pathlib import Path

    from satchel.agent import SkillLike
    from satchel.load import InvokedSkill, TurnCache
    from satchel.runtime._components import Components
    from satchel.runtime._requirements import Requirements


class Session(ToolCalls):
    """Instructions and tools for one conversation, and what was loaded in it.

    Made by `satchel.Satchel.session`; opening one is cheap. It serves one
    conversation; what it remembers, `dump` returns as ids and digests, and
    ``session(resume=...)`` continues from, in another process too. Before each model
    call `see` takes the messages of that call; without it every load returns the full
    text, and no text is repeated. ``problems`` lists what of the state that it was to
    resume from could not be used.

    Within a `turn` each file is read at most once; the next turn reads it again. Safe
    across threads. ``deps`` is handed to tools that ask for a `satchel.Run`.
    """

    def __init__(
        self,
        components: "Components",
        settings: SessionSettings,
        *,
        deps: object = None,
        state: SavedState | None = None,
        problems: tuple[Finding, ...] = (),
    ) -> None:
        saved = state or SavedState()
        self.deps = deps
        self.problems = problems
        self._components = components
        seals = None
        if not settings.trust_state:
            from satchel.runtime._saved_state import StateSeals

            seals = StateSeals(settings)
            saved = seals.sealed_grants(saved)
            # Others could write that a required skill was read.
            saved = replace(saved, ready=frozenset(), sees=True)
        self._seals = seals
        # Grants first: whether a load needed an approval depends on them.
        self._authorizer = authorizer = Authorizer(
            components.policy,
            settings.who,
            agent=settings.agent,
            approve=settings.approve,
            grants=saved.grants,
        )
        if settings.always_on.order:
            # Left out, not refused: one configuration serves users of unequal rights.
            always_on = settings.always_on.allowed(partial(authorizer.may, "load"))
            settings = replace(settings, always_on=always_on)
        self.settings = settings
        # Three collaborators: what may be read, what is remembered, which tools.
        self._view = view = View(components, settings, authorizer)
        if seals is not None:
            saved = seals.sealed_loads(saved, view.needs_approval)
        self._state = SessionState(components, view, saved)
        self._tools = SessionTools(components, view, authorizer, self._state)
        if components.runner is not None and not settings.work:
            self._state.open_work()
        if components.policy.requirements:
            from satchel.runtime._requirements import Requirements

            self._state.requirements = Requirements(
                components.policy.requirements,
                settings.style,
                view.style_options,
                partial(view.load, as_="look"),
                self._tools.folder,
                self.call,
                lambda: self.activations,
                self._tools.is_reading,
            )
        self._acts = None
        has_acts = (components.runner, self._state.requirements) != (None, None)
        if has_acts and components.sinks != ():
            view.conversation = self._state.name_conversation()
            self._acts = view.acts(lambda: self.activations)
        self._offered: tuple[tuple[OwnedTool, ...], Toolbox] = (), Toolbox("satchel")
        self._mark: tuple[object, ...] = (None, None, None)
        # Read now, so that a skill that cannot be loaded is an error of the opening.
        self._tools.always_on_texts()
        self._tools.check_names()
        # An agent that has the files in a folder has a way to run them.
        runs = settings.stager is not None or components.runner is not None
        if not (runs or components.scripts_warned):
            look_for_scripts(components, view.catalog)

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
        return self._view.catalog

    @property
    def activations(self) -> tuple[Activation, ...]:
        """The skills in use, in the order in which they were loaded."""
        return self._state.saved.active

    @property
    def is_unguarded(self) -> bool:
        """Whether an adapter need not go around tool calls: its hooks may cost.

        No rule asks anybody, and no tool that is on offer is a framework's own.
        """
        return not self._authorizer.asks and not self._tools.has_native

    @property
    def savings(self) -> Savings:
        """Tokens that did not have to be sent again in this conversation."""
        return self._state.saved.savings

    def see(self, history: Iterable[SeenMessage], *, is_final: bool = True) -> None:
        """Take the messages that the next model call will see, oldest first.

        Skills whose instructions are among them are in use, no matter who loaded them;
        those in use whose are not, `instructions` repeats. Where others may change the
        messages behind you, they are not ``is_final``: then a skill that is loaded
        again is given in full.
        """
        self._state.see(history, is_final=is_final)
        if (required := self._state.requirements) is not None:
            self._state.add_ready(map(required.version, self._tools.always_shown()))

    def instructions(self, base: str = "", message: str | None = None) -> str:
        """Return what belongs in the system prompt, its parts separated by blank lines.

        ``base``; the always-on skills; the catalog section, the same bytes for the
        whole conversation, and if it lists few of many, those that fit ``message`` or,
        with ``suggest``, the user's last; skills in use that the messages show no more.
        """
        self._state.save_prefix()
        section, always_on = self._state.snapshot.section, self._tools.always_on_texts()
        parts = [base, *always_on, str(section), self.suggested(message)]
        return "\n\n".join(part for part in (*parts, self.reinjected()) if part)

    def suggested(self, message: str | None = None) -> str:
        """Return what `instructions` adds of skills that fit a message, alone."""
        text = self._state.message if message is None else message
        sections, section = self._components.sections, self._state.snapshot.section
        more = sections.add_suggestions(section, self._view.rank, text)
        return more.text.removeprefix(section.text).strip("\n")

    @property
    def reads_files(self) -> bool:
        """Whether `instructions` reads files now; with always-on packs opening does."""
        settings = self.settings
        return bool(settings.always_on.ids or settings.suggest or self._state.evicted())

    @property
    def mark(self) -> object:
        """The same object while the same messages lead to the same model call.

        Then `instructions`, `tools` and `dump` return nothing new. It is always another
        one where that cannot be known: rules decide otherwise, or packs are read again.
        """
        state, settings = self._state, self.settings
        read_again = settings.suggest or settings.always_on.order or state.evicted()
        if self._authorizer.has_rules or read_again:
            return object()
        components = self._components
        catalog, offers = components.registry.catalog, components.tool_registry.version
        now = catalog, offers, state.saved
        if not all(map(is_, now, self._mark)):
            self._mark = now
        return self._mark

    def reinjected(self) -> str:
        """Return the part of `instructions` about skills in use that are out of sight.

        The newest first, within the budget. For adapters that learn only after the
        instructions what a call will see.
        """
        return self._tools.reinjected()

    def tools(self, own_tools: Iterable[str] = ()) -> Toolbox:
        """Return the tools of the next model call, in an order that only grows.

        Those of always-on skills; of the style, as far as they can work with this
        catalog; of loaded skills, as these were loaded. Tools that the policy denies
        are left out. ``own_tools`` are the names of the agent's own. While nothing
        changes it is the same object.

        Raises:
            DuplicateToolError: One of those is the name of a tool that is here, or that
                opens with a skill that is listed; names both owners.
        """
        offered, own_tools = tuple(self._tools.offered()), tuple(own_tools)
        self._tools.check_own_tools(own_tools, offered)
        if (required := self._state.requirements) is not None:
            self._begin_step(required, own_tools)
        return self._toolbox(offered)

    @property
    def open_tools(self) -> Toolbox:
        """The tools that a call finds now; unlike `tools` it begins no step."""
        return self._toolbox(tuple(self._tools.offered()))

    def _toolbox(self, offered: tuple["OwnedTool", ...]) -> Toolbox:
        before, toolbox = self._offered
        if offered != before:
            tools = tuple(self._bound(owner, tool) for owner, tool in offered)
            toolbox = Toolbox("satchel", tools)
            self._offered = offered, toolbox
        return toolbox

    def _begin_step(self, required: "Requirements", own_tools: Collection[str]) -> None:
        """Note what the next calls rest on, where no messages say it."""
        if not self._state.saved.sees:
            read = [*map(required.version, self.activations)]
            read += map(required.version, self._tools.always_shown())
            self._state.set_ready(read, sees=False)
        parts, agent = self._components, frozenset(own_tools)
        if agent and agent not in parts.agents_checked:
            parts.agents_checked.add(agent)
            required.warn_of(agent, parts.tool_registry.names, parts.runner)

    def follow(self, other: "Session") -> None:
        """Let required skills count as read that do in another session of the step."""
        saved = other._state.saved  # noqa: SLF001 - its own class
        self._state.set_ready(saved.ready, sees=saved.sees)

    def requiring(self, function: Callable[P, T]) -> Callable[P, T | str]:
        """Return a function that answers as `required` where its skill was not read.

        For a tool of a loop of your own; its name is that of the function.
        """
        from satchel.runtime._requirements import held

        return held(function, self.required, self.arequired)

    def call(
        self, name: str, arguments: Arguments, **approval: Unpack[CallApproval]
    ) -> object:
        """Make one tool call of a model. Never raises: an error is a result.

        Args:
            name: The tool.
            arguments: An object, or its JSON text, as a model's API gives it.
            **approval: What a framework's own approval says; without it the session's
                ``approve`` is asked where the policy says so.
        """
        permit = self.permit(name, arguments, **approval)
        if permit.tool is None:
            return permit.refusal
        result = permit.tool.call(permit.arguments, self._run(permit))
        result = self._tools.bounded(permit.tool, result)
        return with_note(result, self._tools.outdated_note(permit.tool.name))

    async def acall(
        self, name: str, arguments: Arguments, **approval: Unpack[CallApproval]
    ) -> object:
        """Do as `call` does; waits for asynchronous tools, runs others in a thread."""
        permit = await self.apermit(name, arguments, **approval)
        if permit.tool is None:
            return permit.refusal
        try:
            result = await permit.tool.acall(permit.arguments, self._run(permit))
        finally:
            # A thread goes on after its task was cancelled; a script must not.
            if permit.script is not None:
                permit.script.job.cancelled.set()
        result = self._tools.bounded(permit.tool, result)
        return with_note(result, self._tools.outdated_note(permit.tool.name))

    @contextmanager
    def turn(self) -> Generator["TurnCache"]:
        """Bound one run of the agent: what it loads twice is read once."""
        turn = self._view.begin_turn()
        self._state.begin_turn()
        try:
            yield turn
        finally:
            self._view.end_turn(turn)

    def join(self, turn: "TurnCache") -> None:
        """Read within a turn that another step began, until the end or `leave`."""
        self._view.join_turn(turn)

    def leave(self, turn: "TurnCache") -> None:
        """Read within a turn no longer."""
        self._view.end_turn(turn)

    def load(self, skill_id: str, file: str | None = None) -> Loaded:
        """Load for this session's ``who``, within the turn where there is one.

        Raises:
            SkillError: As for `satchel.Satchel.load`.
            DeniedError: The policy, or somebody who was asked, says no.
        """
        return self._view.load(skill_id, file)

    def find(self, query: str, k: int = 10) -> list[Hit]:
        """Return at most ``k`` skills that match, of those that may be found here."""
        return self._view.rank(query, k)

    def invoke(self, skill_id: str, arguments: str = "") -> "InvokedSkill":
        """Return a skill as its user calls it, to be sent as the user's message.

        It is in use from then on, as if the model had loaded it.

        Raises:
            SkillError: As for `load`; one that no user may invoke is excluded.
        """
        from satchel.load import invoke_skill

        loaded = self._view.load(skill_id, via="user")
        self._state.activate(loaded.id, loaded.digest, loaded.text)
        client = self._view.manifest_of(loaded).client
        root = self._tools.folder(loaded)
        return invoke_skill(loaded, arguments, client, root, self.style)

    def stage(self, skill_id: str) -> "Path":
        """Return a folder with a read-only copy of the skill's listed files.

        Raises:
            SkillError: As for `load`; or the copy could not be made.
        """
        from pathlib import Path

        loaded = self._view.load(skill_id)
        return Path(self._tools.stage(loaded.descriptor))

    def unload(self, skill_id: str) -> None:
        """Take a skill out of use: its text is not repeated, and its tools close."""
        self._state.deactivate(skill_id)

    def revoke(self) -> None:
        """Take back every yes for this session: the history behind it was edited."""
        self._authorizer.approvals.clear()
        self._state.revoke()

    def derive(
        self,
        *,
        agent: str = "",
        always: "Iterable[str | SkillLike]" = (),
        only: Iterable[str] | None = None,
    ) -> "Session":
        """Return a session for a sub-agent: the same catalog, nothing in use yet.

        Its always-on skills are those of ``always``, and none of this one's. ``only``
        narrows what is here further; it never widens.

        Raises:
            SkillError: As for `satchel.Satchel.session`.
        """
        settings = replace(self.settings, agent=agent, always_on=AlwaysOn.of(always))
        if only is not None:
            patterns, registry = patterns_of(only), self._components.registry
            check_only(patterns, registry.catalog, registry.may_exist)
            settings = replace(settings, only=(*settings.only, patterns))
        return Session(self._components, settings, deps=self.deps)

    def dump(self) -> dict[str, object]:
        """Return what another session can resume from: ids and digests, no text."""
        from satchel.runtime._saved_state import dump_state

        grants = self._authorizer.approvals.grants
        state = replace(self._state.saved, grants=grants)
        if self._seals is not None:
            state = self._seals.add(state, self._view.needs_approval)
        return dump_state(state)

    def _run(self, permit: Permit) -> Run:
        of, turn = self.settings, self._view.turn
        return Run(of.who, self.deps, self, of.agent, turn, permit.approved)

    def _bound(self, owner: Descriptor | None, tool: Tool) -> Tool:
        """Return a skill's tool so that every call of it is authorized."""
        # The tools of the style authorize each load by themselves, and a framework's
        # own tool is called by the framework: its adapter asks for a permit.
        is_of_style = owner is None and self._tools.is_reading(tool.name)
        if tool.native is not None or is_of_style:
            return tool

        def call(**arguments: object) -> object:
            return self.call(tool.name, arguments)

        async def acall(**arguments: object) -> object:
            return await self.acall(tool.name, arguments)

        # The tool itself coerces the arguments, after the authorization and once.
        handler = acall if tool.is_async else call
        return replace(tool, handler=handler, run_parameter=None, coerce=dict)


@dataclass(frozen=True, slots=True)
class SessionSkill:
    """Name, instructions and tools of one session, each as it is when it is read."""

    name: str
    session: Session

    @property
    def instructions(self) -> str:
        return self.session.instructions()

    @property
    def tools(self) -> Toolbox | None:
        return self.session.tools() or None
