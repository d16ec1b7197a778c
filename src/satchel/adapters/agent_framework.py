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
from copy import copy
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from satchel.adapters._base import Conversation, SessionFactory, framework
from satchel.model import SeenMessage
from satchel.runtime import LOAD_TOOLS, READ_TOOL
from satchel.tools import Tool, result_text

if TYPE_CHECKING:
    from typing import Unpack

    from satchel.runtime import Satchel, SessionOptions

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

    Raises:
        TypeError: An argument is unknown or has the wrong type.
        ValueError: No style has that name.
    """
    sessions: SessionFactory[AgentSession] = SessionFactory(skills, who, None, options)
    return _Skills(sessions, deps)


class _Skills(ContextProvider):
    """Opens a session for each run; holds nothing of any run itself."""

    def __init__(self, sessions: SessionFactory[AgentSession], deps: Deps) -> None:
        super().__init__(_OURS)
        self.deps = deps
        self._sessions = sessions
        self._known: dict[str, _Ours] = {}

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Add the section, the tools that are open, and what opens others."""
        if self._sessions.options.get("always"):  # they are read
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
        context.extend_middleware(self.source_id, _ModelCalls(run))
        if not run.is_unguarded:
            context.extend_middleware(self.source_id, run)
        run.keep()

    def template(self, tool: Tool) -> _Ours:
        """Return a tool in the framework's form, made once while it stays as it is."""
        made = self._known.get(tool.name)
        if (
            made is None
            or made.description != tool.description
            or made.parameters() != tool.parameters
        ):
            made = _Ours(
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
        name = self._sessions.options.get("agent", agent.name or "agent")
        conversation = self._sessions.open(session, state.get(name), agent=name)
        # Where each model call loads the history, it does so below our middleware.
        blind = getattr(agent, "require_per_service_call_history_persistence", False)
        return _Run(self, conversation, state, blind=blind)


class _Run(FunctionMiddleware):
    """One run of an agent, and so one turn: its tools in the framework's form.

    It goes around tool calls only where that can matter (`Session.is_unguarded`): the
    framework would take all of them, the agent's own too, through it.
    """

    def __init__(
        self,
        provider: _Skills,
        conversation: Conversation,
        state: dict[str, Any],
        *,
        blind: bool,
    ) -> None:
        self.session = conversation.session
        self._conversation = conversation
        self._provider = provider
        self._state = state
        self.is_unguarded = self.session.is_unguarded
        self._asks = conversation.may_ask and not self.is_unguarded
        self._blind = blind
        self._history: list[Message] | None = None
        self._shown: list[Message] = []
        self._more = ""
        self._is_behind = False
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
            names = filter(None, map(_name, others))
            ours: Iterable[Tool] = session.tools(names)
            if self.is_unguarded:  # one that was offered since waits for the next run
                ours = [tool for tool in ours if tool.native is None]
            live[:] = [*others, *map(self._native, ours)]
            self._opened = (session.activations, session.catalog, [*live])
        return live

    async def look(
        self,
        messages: Sequence[Message],
        options: Mapping[str, Any],
        *,
        may_hide: bool = False,
    ) -> str:
        """Take in what a model call sees; return what is to stand in its prompt more.

        A service that keeps the conversation is sent new messages only. Where this run
        has seen all before, they are added up; else nothing can be told.

        Args:
            messages: Those of the call.
            options: Those of the call.
            may_hide: Whether messages may have been marked as left out since.
        """
        is_remote = bool(options.get("conversation_id"))
        if not (may_hide or is_remote) and self._has_only_more(messages):
            return self._more
        if not self._blind and not (is_remote and self._history is None):
            before = self._history if is_remote and self._history else []
            self._history = [*before, *filter(_is_shown, messages)]
            self._see()
        self._conversation.tools()
        self.keep()
        if self.session.reads_files:
            self._more = await asyncio.to_thread(self.session.reinjected)
        else:
            self._more = self.session.reinjected()
        self._shown = [*messages]
        return self._more

    def expect(self, response: ChatResponse[Any]) -> None:
        """Let the framework ask for the calls that somebody has to approve.

        It asks by tool: with one such call those beside it are asked for, too.
        """
        ours = self._made if self._asks else {}
        for tool in ours.values():
            tool.approval_mode = "never_require"
        for content in (each for m in response.messages for each in m.contents):
            if content.type != "function_call":
                continue
            self._calls[content.call_id] = content
            name = content.name or ""
            if name in ours and self._asks_for(name, content.parse_arguments() or {}):
                ours[name].approval_mode = "always_require"

    async def process(
        self, context: FunctionInvocationContext, call_next: Next
    ) -> None:
        """Go around each tool call: a native tool is called where it may be."""
        name = context.function.name
        if name not in self._natives or not self._is_ours(context.function):
            await call_next()
            return
        arguments, approved = _arguments(context), _is_approved(context)
        permit = await self._conversation.apermit(
            name, arguments, approved=approved, call_id=_call_id(context)
        )
        self.keep()
        if permit.refusal is not None:
            context.result = result_text(permit.refusal)
            return
        if permit.is_edited:
            context.arguments = permit.arguments
        await call_next()

    async def _call(
        self, context: FunctionInvocationContext, arguments: Mapping[str, object]
    ) -> str:
        if self._is_behind:
            self._see()
        self._shown = []
        deps = self._provider.deps
        self.session.deps = deps(context) if deps else context.kwargs
        name, approved = context.function.name, _is_approved(context)
        result = await self._conversation.acall(
            name, arguments, approved=approved, call_id=_call_id(context)
        )
        self.keep()
        if context.tools is not None:
            self.open(context.tools)
        return result_text(result)

    def _has_only_more(self, messages: Sequence[Message]) -> bool:
        """Tell whether only results of the agent's own tools came since the last look.

        Nothing comes into use or out of sight by them, so the session is shown them
        not before it is asked what they hold: at a call of one of its tools.
        """
        before = self._shown
        count = len(before)
        more = messages[count:]
        if not before or [*messages[:count]] != before:
            return False
        if any(each.role not in ("assistant", "tool") for each in more):
            return False
        self._shown = [*messages]
        if self._history is not None:
            self._history += more
            self._is_behind = True
        return True

    def _see(self) -> None:
        self.session.see(self._seen())
        self._is_behind = False

    def _seen(self) -> Iterator[SeenMessage]:
        """Yield what a session reads: results and their calls, of the rest the role."""
        for message in self._history or ():
            for content in message.contents:
                if content.type == "function_call":
                    self._calls[content.call_id] = content
                elif content.type == "function_result":
                    call = self._calls.get(content.call_id)
                    name = (call.name or "") if call else ""
                    is_load = name in _LOADS
                    arguments = call.parse_arguments() if call and is_load else None
                    yield SeenMessage(
                        "tool", result_text(content.result), name, arguments or {}
                    )
            if message.role == "user":
                yield SeenMessage("user")
            elif message.role == "assistant":
                yield SeenMessage("assistant")

    def _is_ours(self, tool: object) -> bool:
        return isinstance(tool, FunctionTool) and self._made.get(tool.name) is tool

    def _asks_for(self, name: str, arguments: Mapping[str, object]) -> bool:
        return self._asks and self._conversation.question(name, arguments) is not None

    def _native(self, tool: Tool) -> FunctionTool:
        """Return a tool in the framework's form; one for the whole run."""
        if tool.name in self._made:
            return self._made[tool.name]
        if isinstance(tool.native, FunctionTool):
            self._natives.add(tool.name)
            made = copy(tool.native) if self._asks else tool.native
        else:

            async def call(
                _satchel_context: FunctionInvocationContext, **arguments: object
            ) -> str:
                _satchel_context.metadata[_OURS] = True
                return await self._call(_satchel_context, arguments)

            made = self._provider.template(tool).bound(call)
        self._made[tool.name] = made
        return made


class _Ours(FunctionTool):
    """A tool of a session, which checks the arguments itself."""

    def bound(self, func: Callable[..., Awaitable[str]]) -> _Ours:
        """Return a copy that calls this; each run makes some, and `copy` is slow."""
        made = _Ours.__new__(_Ours)
        made.__dict__.update(self.__dict__, func=func)
        return made

    async def invoke(
        self,
        *,
        context: FunctionInvocationContext | None = None,
        **given: Any,  # noqa: ANN401 - as the framework has it
    ) -> Any:  # noqa: ANN401
        """Do as any tool does; where the framework refuses arguments, ask the session.

        The framework's check does not tell a model which of them is wrong. The
        session's does, and takes some that the framework's does not.
        """
        try:
            return await super().invoke(context=context, **given)
        except TypeError:
            if context is None or _OURS in context.metadata or self.func is None:
                raise
            text: str = await self.func(context, **_arguments(context))
            return text if given.get("skip_parsing") else [Content.from_text(text)]


class _ModelCalls(ChatMiddleware):
    """Shows each model call the skills whose text left the messages, and the tools."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    async def process(self, context: ChatContext, call_next: Next) -> None:
        """Look at the messages as they are, and again when they were compacted."""
        run, options = self._run, dict(context.options or {})
        base, context.options = options.get("instructions"), options

        compact = context.kwargs.get("compaction_strategy") or getattr(
            context.client, "compaction_strategy", None
        )

        async def look(messages: Sequence[Message]) -> None:
            more = await run.look(messages, options, may_hide=compact is not None)
            options.update({"instructions": _with(base, more)} if base or more else {})

        await look(context.messages)
        if isinstance(live := options.get("tools"), list):
            run.open(live)
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


async def _closed(_satchel_context: FunctionInvocationContext, **_: object) -> str:
    """Stand for what a tool does, until a run takes a copy of it.

    The framework fills the context in by the parameter's name, which no tool has.
    """
    raise NotImplementedError(_satchel_context.function.name)


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


def _call_id(context: FunctionInvocationContext) -> str:
    return str(context.metadata.get("call_id") or "")


def _is_approved(context: FunctionInvocationContext) -> bool | None:
    """Tell whether somebody approved this very call; the framework makes no other."""
    return True if context.metadata.get("approval_response") is not None else None
