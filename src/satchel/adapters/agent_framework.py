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
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from satchel.adapters import framework
from satchel.model import Seen
from satchel.runtime.history import LOAD_TOOLS, READ_TOOL
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
        self._skills = skills
        self._who = who
        self._deps = deps
        self._options = options

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Add the section, the tools that are open, and what opens others."""
        defaults: Mapping[str, Any] = getattr(agent, "default_options", {})
        if self._options.get("always"):  # they are read
            run = await asyncio.to_thread(self._begin, agent, session, state)
        else:
            run = self._begin(agent, session, state)
        tools = run.tools(defaults.get("tools") or ())
        if not run.text and not tools:
            return
        gap = [""] if context.instructions or defaults.get("instructions") else []
        context.extend_instructions(self.source_id, [*gap, run.text])
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

    def _begin(
        self, agent: SupportsAgentRun, session: AgentSession, state: dict[str, Any]
    ) -> _Run:
        # Agents may share a session: each has its own skills in use.
        given: SessionOptions = {"agent": agent.name or "agent", **self._options}
        who = self._who(session) if callable(self._who) else self._who
        opened = self._skills.session(
            who=who, resume=state.get(given["agent"]), **given
        )
        asks = given.get("approve") is None
        # Where each model call loads the history, it does so below our middleware.
        blind = getattr(agent, "require_per_service_call_history_persistence", False)
        return _Run(opened, state, self._deps, asks=asks, blind=blind)


class _Run(FunctionMiddleware):
    """One run of an agent: its session, and its tools in the framework's form."""

    def __init__(
        self,
        session: Session,
        state: dict[str, Any],
        deps: Deps,
        *,
        asks: bool,
        blind: bool,
    ) -> None:
        self.session = session
        self.turn = ExitStack()
        self.turn.enter_context(session.turn())
        self.text = session.instructions()
        self._state = state
        self._deps = deps
        self._asks = asks
        self._blind = blind
        self._history: list[Message] | None = None
        self._calls: dict[str | None, Content] = {}
        self._made: dict[str, FunctionTool] = {}
        self._natives: set[str] = set()

    def keep(self) -> None:
        """Put down what the conversation has to remember."""
        self._state[self.session.agent] = self.session.dump()

    def tools(self, beside: Iterable[object]) -> list[FunctionTool]:
        """Return the tools that are open now.

        Raises:
            DuplicateToolError: One of the agent's own has the name of one of a skill.
        """
        open_now = self.session.tools(beside=filter(None, map(_name, beside)))
        return [self._native(tool) for tool in open_now]

    def open(self, live: list[Any]) -> None:
        """Bring the run's list of tools up to date: ours stand behind all others."""
        others = [tool for tool in live if not self._is_ours(tool)]
        live[:] = [*others, *self.tools(others)]

    async def look(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> str:
        """Take in what a model call sees; return what is to stand in its prompt more.

        A service that keeps the conversation is sent new messages only. Where this run
        has seen all before, they are added up; else nothing can be told.
        """
        new = [m for m in messages if not m.additional_properties.get(_EXCLUDED)]
        is_remote = bool(options.get("conversation_id"))
        if not self._blind and not (is_remote and self._history is None):
            before = self._history if is_remote and self._history else []
            self._history = [*before, *new]
            self.session.see(self._seen())
        self.keep()
        if self.session.reads_files:
            return await asyncio.to_thread(self.session.restated)
        return self.session.restated()

    async def process(
        self,
        context: FunctionInvocationContext,
        call_next: Callable[[], Awaitable[None]],
    ) -> None:
        """Go around each tool call; those of the agent's own tools pass."""
        name, arguments = context.function.name, _arguments(context)
        if not self._is_ours(context.function):
            await call_next()
        elif name in self._natives:
            refused = await self.session.arefusal(
                name, arguments, approved=_is_approved(context)
            )
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
                context.result = await self._call(name, arguments, context)
            if context.tools is not None:
                self.open(context.tools)

    async def _call(
        self,
        name: str,
        arguments: Mapping[str, object],
        context: FunctionInvocationContext,
    ) -> str:
        self.session.deps = self._deps(context) if self._deps else context.kwargs
        approved = _is_approved(context)
        result = await self.session.acall(name, arguments, approved=approved)
        self.keep()
        return result_text(result)

    def expect(self, response: ChatResponse[Any]) -> None:
        """Let the framework ask for the loads that somebody has to approve.

        It asks by tool: with one such load those beside it are asked for, too.
        """
        loads = {name: self._made[name] for name in _LOADS & self._made.keys()}
        for tool in loads.values():
            tool.approval_mode = _mode(asks=False)
        for content in (each for m in response.messages for each in m.contents):
            name = content.name or ""
            if content.type == "function_call":
                self._calls[content.call_id] = content
            if name in loads and self._asks_for(name, content.parse_arguments() or {}):
                loads[name].approval_mode = _mode(asks=True)

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
        return self._asks and self.session.decide(name, arguments).verdict == "ask"

    def _native(self, tool: Tool) -> FunctionTool:
        name = tool.name
        if name not in self._made:
            asks = self._asks_for(name, {})
            if isinstance(tool.native, FunctionTool):
                self._natives.add(name)
                made = tool.native
                if asks:
                    made = copy(made)
                    made.approval_mode = _mode(asks=True)
                self._made[name] = made
            else:
                self._made[name] = self._own(tool, asks=asks)
        return self._made[name]

    def _own(self, tool: Tool, *, asks: bool) -> FunctionTool:
        async def call(ctx: FunctionInvocationContext, **arguments: object) -> str:
            ctx.metadata[_OURS] = True
            return await self._call(tool.name, arguments, ctx)

        return FunctionTool(
            name=tool.name,
            description=tool.description,
            approval_mode=_mode(asks=asks),
            func=call,
            input_model=tool.parameters,
        )


class _ModelCalls(ChatMiddleware):
    """Shows each model call the skills whose text left the messages, and the tools."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    async def process(
        self, context: ChatContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        """Look at the messages as they are, and again when they were compacted."""
        options = dict(context.options or {})
        base = options.get("instructions")
        context.options = options

        async def look(messages: Sequence[Message]) -> None:
            more = await self._run.look(messages, options)
            options.update({"instructions": _with(base, more)} if base or more else {})

        await look(context.messages)
        if isinstance(live := options.get("tools"), list):
            self._run.open(live)
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
        context.stream_result_hooks.append(self._run.expect)
        await call_next()
        if isinstance(context.result, ChatResponse):
            self._run.expect(context.result)


def _name(tool: object) -> str:
    """Return a tool's name; that of a provider's own may stand in a mapping."""
    if isinstance(tool, Mapping):
        function = tool.get("function")
        tool = function if isinstance(function, Mapping) else tool
        return str(tool.get("name", ""))
    return tool.name if isinstance(tool, FunctionTool) else ""


def _with(base: Any, more: str) -> Any:  # noqa: ANN401 - what a client takes
    """Return instructions with more behind them; blocks stay as they are."""
    if not more:
        return base
    if base is None or isinstance(base, str):
        return f"{base}\n\n{more}" if base else more
    return [base, more] if isinstance(base, Mapping) else [*base, more]


def _arguments(context: FunctionInvocationContext) -> dict[str, Any]:
    given = context.arguments
    return dict(given) if isinstance(given, Mapping) else given.model_dump()


def _is_approved(context: FunctionInvocationContext) -> bool | None:
    """Tell whether somebody approved this very call; the framework makes no other."""
    return True if context.metadata.get("approval_response") is not None else None


def _mode(*, asks: bool) -> Literal["always_require", "never_require"]:
    return "always_require" if asks else "never_require"
