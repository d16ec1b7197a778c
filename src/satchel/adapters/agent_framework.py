"""Satchel on Microsoft Agent Framework: a context provider.

::

    agent = Agent(client, context_providers=[attach(skills)])

What a conversation has loaded stands in ``AgentSession.state``, which the framework
stores and takes up again. A call that somebody has to approve is one of the response's
``user_input_requests``, as for the framework's own tools: answer it in a run with the
same session, here or in another process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from satchel.adapters import framework
from satchel.model import Seen
from satchel.runtime.conversation.history import LOAD_TOOLS, READ_TOOL
from satchel.tools import Tool, result_text

if TYPE_CHECKING:
    from typing import Unpack

    from satchel.runtime.front import Satchel
    from satchel.runtime.session import Session, SessionOptions

with framework("Microsoft Agent Framework", "agent-framework"):
    from agent_framework import (
        AgentSession,
        ChatContext,
        ChatMiddleware,
        ChatResponse,
        Content,
        ContextProvider,
        FunctionInvocationContext,
        FunctionMiddleware,
        FunctionTool,
        Message,
        SessionContext,
        SupportsAgentRun,
    )

__all__ = ["attach"]

Who: TypeAlias = (
    "Mapping[str, Any] | Callable[[AgentSession], Mapping[str, Any]] | None"
)
Deps: TypeAlias = "Callable[[FunctionInvocationContext], object] | None"
Next: TypeAlias = Callable[[], Awaitable[None]]

_OURS: Final = "satchel"
_LOADS: Final = {READ_TOOL, *(name for name, _ in LOAD_TOOLS.values())}
"""The tools of which the skill that is asked for decides whether somebody is asked."""
_EXCLUDED: Final = "_excluded"
"""Where the framework's compaction marks a message that no model sees any more."""


def attach(
    skills: Satchel,
    *,
    who: Who = None,
    deps: Deps = None,
    **options: Unpack[SessionOptions],
) -> ContextProvider:
    """Return what goes into ``Agent(context_providers=[...])``.

    One object serves many agents, and many runs at once. Where the service keeps the
    messages, earlier ones cannot be seen here: then every load gives the full text.

    Args:
        skills: What is attached.
        who: For whom a run is, or what tells it from the run's ``AgentSession``.
        deps: What tells the objects that tools are given from the context of a call;
            by default they are the run's ``function_invocation_kwargs``.
        options: As for `satchel.Satchel.session`. ``agent`` is by default the agent's
            name. With ``approve`` no run stops to wait for approval.
    """
    return _Skills(skills, who, deps, options)


class _Skills(ContextProvider):
    """Opens a session for each run; holds nothing of any run itself."""

    def __init__(
        self, skills: Satchel, who: Who, deps: Deps, options: SessionOptions
    ) -> None:
        super().__init__(_OURS)
        self.deps = deps
        self.asks = options.get("approve") is None
        self._skills = skills
        self._who = who
        self._options = options
        self._known: dict[str, FunctionTool] = {}

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Add the section, the tools that are open, and what opens others."""
        if self._options.get("always"):  # they are read
            run = await asyncio.to_thread(self._begin, agent, session, state)
        else:
            run = self._begin(agent, session, state)
        defaults: Mapping[str, Any] = getattr(agent, "default_options", {})
        own: list[Any] = defaults.get("tools") or []
        tools = run.open([*own])[len(own) :]
        text = run.session.instructions()
        if not text and not tools:
            return
        gap = [""] if context.instructions or defaults.get("instructions") else []
        context.extend_instructions(self.source_id, [*gap, text])
        context.extend_tools(self.source_id, tools)
        context.extend_middleware(self.source_id, [_ModelCalls(run), run])
        context.metadata[self.source_id] = run
        run.keep()

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """End the turn; that of a run which fails ends with its objects."""
        del agent, session, state
        run = context.metadata.get(self.source_id)
        if isinstance(run, _Run):
            run.turn.close()

    def template(self, tool: Tool) -> FunctionTool:
        """Return a tool in the framework's form, made once while it stays as it is."""
        made = self._known.get(tool.name)
        if (
            made is None
            or made.description != tool.description
            or made.parameters() != tool.parameters
        ):
            made = FunctionTool(
                name=tool.name,
                description=tool.description,
                func=_closed,
                input_model=tool.parameters,
            )
            self._known[tool.name] = made
        return made

    def _begin(
        self, agent: SupportsAgentRun, session: AgentSession, state: dict[str, Any]
    ) -> _Run:
        # Agents may share a session: each has its own skills in use.
        given: SessionOptions = {"agent": agent.name or "agent", **self._options}
        who = self._who(session) if callable(self._who) else self._who
        kept = state.get(given["agent"])
        opened = self._skills.session(who=who, resume=kept, **given)
        # Where each model call loads the history, it does so below our middleware.
        blind = getattr(agent, "require_per_service_call_history_persistence", False)
        return _Run(self, opened, state, blind=blind)


class _Run(FunctionMiddleware):
    """One run of an agent: its session, and its tools in the framework's form."""

    def __init__(
        self,
        provider: _Skills,
        session: Session,
        state: dict[str, Any],
        *,
        blind: bool,
    ) -> None:
        self.session = session
        self.turn = ExitStack()
        self.turn.enter_context(session.turn())
        self._provider = provider
        self._state = state
        self._blind = blind
        self._history: list[Message] | None = None
        self._calls: dict[str | None, Content] = {}
        self._made: dict[str, FunctionTool] = {}
        self._natives: set[str] = set()
        self._opened: tuple[object, ...] = ()

    def keep(self) -> None:
        """Put down what the conversation has to remember."""
        self._state[self.session.agent] = self.session.dump()

    def open(self, live: list[Any]) -> list[Any]:
        """Bring a list of tools up to date, and return it: ours behind all others.

        Raises:
            DuplicateToolError: One of the agent's own has the name of one of a skill.
        """
        session = self.session
        if self._opened != (session.activations, session.catalog, live):
            others = [tool for tool in live if not self._is_ours(tool)]
            ours = session.tools(beside=filter(None, map(_name, others)))
            live[:] = [*others, *map(self._native, ours)]
            self._opened = (session.activations, session.catalog, [*live])
        return live

    async def look(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> str:
        """Take in what a model call sees; return what is to stand in its prompt more.

        A service that keeps the conversation is sent new messages only. Where this run
        has seen all before, they are added up; else nothing can be told.
        """
        is_remote = bool(options.get("conversation_id"))
        if not self._blind and not (is_remote and self._history is None):
            before = self._history if is_remote and self._history else []
            self._history = [*before, *filter(_is_shown, messages)]
            self.session.see(self._seen())
        self.keep()
        if self.session.reads_files:
            return await asyncio.to_thread(self.session.restated)
        return self.session.restated()

    def expect(self, response: ChatResponse[Any]) -> None:
        """Let the framework ask for the loads that somebody has to approve.

        It asks by tool: with one such load those beside it are asked for, too.
        """
        loads = {name: self._made[name] for name in _LOADS & self._made.keys()}
        for tool in loads.values():
            tool.approval_mode = "never_require"
        for content in (each for m in response.messages for each in m.contents):
            if content.type != "function_call":
                continue
            self._calls[content.call_id] = content
            name, arguments = content.name or "", content.parse_arguments() or {}
            if name in loads and self._asks_for(name, arguments):
                loads[name].approval_mode = "always_require"

    async def process(
        self, context: FunctionInvocationContext, call_next: Next
    ) -> None:
        """Go around each tool call; those of the agent's own tools pass."""
        name = context.function.name
        if not self._is_ours(context.function):
            await call_next()
        elif name in self._natives:
            arguments, approved = _arguments(context), _is_approved(context)
            refused = await self.session.arefusal(name, arguments, approved=approved)
            self.keep()
            if refused is None:
                await call_next()
            else:
                context.result = result_text(refused)
        else:
            try:
                await call_next()
            except TypeError:
                # The framework's check of the arguments, which does not tell a model
                # which of them is wrong. Ours does, and takes some that it does not.
                if _OURS in context.metadata:
                    raise
                context.result = await self._call(context, _arguments(context))
            if context.tools is not None:
                self.open(context.tools)

    async def _call(
        self, context: FunctionInvocationContext, arguments: Mapping[str, object]
    ) -> str:
        deps = self._provider.deps
        self.session.deps = deps(context) if deps else context.kwargs
        name, approved = context.function.name, _is_approved(context)
        result = await self.session.acall(name, arguments, approved=approved)
        self.keep()
        return result_text(result)

    def _seen(self) -> Iterator[Seen]:
        """Yield what a session reads: results and their calls, of the rest the role."""
        for message in self._history or ():
            for content in message.contents:
                if content.type == "function_call":
                    self._calls[content.call_id] = content
                elif content.type == "function_result":
                    call = self._calls.get(content.call_id)
                    name = (call.name or "") if call else ""
                    arguments = (call.parse_arguments() or {}) if call else {}
                    yield Seen("tool", result_text(content.result), name, arguments)
            if message.role == "user":
                yield Seen("user")
            elif message.role == "assistant":
                yield Seen("assistant")

    def _is_ours(self, tool: object) -> bool:
        return isinstance(tool, FunctionTool) and self._made.get(tool.name) is tool

    def _asks_for(self, name: str, arguments: Mapping[str, object]) -> bool:
        asks = self._provider.asks
        return asks and self.session.decide(name, arguments).verdict == "ask"

    def _native(self, tool: Tool) -> FunctionTool:
        """Return a tool in the framework's form; one for the whole run."""
        if tool.name in self._made:
            return self._made[tool.name]
        asks = self._asks_for(tool.name, {})
        if isinstance(tool.native, FunctionTool):
            self._natives.add(tool.name)
            made = copy(tool.native) if asks else tool.native
        else:

            async def call(ctx: FunctionInvocationContext, **arguments: object) -> str:
                ctx.metadata[_OURS] = True
                return await self._call(ctx, arguments)

            made = copy(self._provider.template(tool))
            made.func = call
        if asks:
            made.approval_mode = "always_require"
        self._made[tool.name] = made
        return made


class _ModelCalls(ChatMiddleware):
    """Shows each model call the skills whose text left the messages, and the tools."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    async def process(self, context: ChatContext, call_next: Next) -> None:
        """Look at the messages as they are, and again when they were compacted."""
        run, options = self._run, dict(context.options or {})
        base = options.get("instructions")
        context.options = options

        async def look(messages: Sequence[Message]) -> None:
            more = await run.look(messages, options)
            options.update({"instructions": _with(base, more)} if base or more else {})

        await look(context.messages)
        if isinstance(live := options.get("tools"), list):
            run.open(live)
        compact = context.kwargs.get("compaction_strategy") or getattr(
            context.client, "compaction_strategy", None
        )
        if compact is not None:

            @wraps(compact)
            async def compact_and_look(messages: list[Message]) -> bool:
                changed: bool = await compact(messages)
                if changed:
                    await look(messages)
                return changed

            context.kwargs["compaction_strategy"] = compact_and_look
        context.stream_result_hooks.append(run.expect)
        await call_next()
        if isinstance(context.result, ChatResponse):
            run.expect(context.result)


async def _closed(ctx: FunctionInvocationContext, **_: object) -> str:
    """Stand for what a tool does, until a run takes a copy of it."""
    raise NotImplementedError(ctx.function.name)


def _name(tool: object) -> str:
    """Return a tool's name; that of a provider's own may stand in a mapping."""
    if isinstance(tool, Mapping):
        function = tool.get("function")
        return str(
            (function if isinstance(function, Mapping) else tool).get("name", "")
        )
    return tool.name if isinstance(tool, FunctionTool) else ""


def _with(base: Any, more: str) -> Any:  # noqa: ANN401 - what a client takes
    """Return instructions with more behind them; blocks stay as they are."""
    if not more:
        return base
    if base is None or isinstance(base, str):
        return f"{base}\n\n{more}" if base else more
    return [base, more] if isinstance(base, Mapping) else [*base, more]


def _is_shown(message: Message) -> bool:
    return not message.additional_properties.get(_EXCLUDED)


def _arguments(context: FunctionInvocationContext) -> dict[str, Any]:
    given = context.arguments
    return dict(given) if isinstance(given, Mapping) else given.model_dump()


def _is_approved(context: FunctionInvocationContext) -> bool | None:
    """Tell whether somebody approved this very call; the framework makes no other."""
    return True if context.metadata.get("approval_response") is not None else None
