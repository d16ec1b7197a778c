"""Skills on Microsoft Agent Framework: ``Agent(context_providers=[attach(skills)])``.

What a conversation has loaded is in ``AgentSession.state``. A call that a person has to
approve is one of the response's ``user_input_requests``, as for the framework's own
tools: answer it in a run with the same session, here or in another process.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import wraps
from typing import Any, Final, TypeAlias, Unpack

from satchel.adapters._arguments import DEPS, check_function
from satchel.adapters._base import LOADS, Conversation, SessionFactory, Who, framework
from satchel.adapters._translation import NO_PARAMETERS, ToolForms
from satchel.model import SeenMessage
from satchel.runtime import Satchel, SessionOptions
from satchel.tools import Tool, result_text

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

Deps: TypeAlias = Callable[[FunctionInvocationContext], object] | None
Next: TypeAlias = Callable[[], Awaitable[None]]

_KEY: Final = "satchel"
# Where the framework's compaction marks a message that no model sees any more.
_EXCLUDED: Final = "_excluded"


def attach(
    skills: Satchel,
    *,
    who: Who[AgentSession] = None,
    deps: Deps = None,
    **options: Unpack[SessionOptions],
) -> ContextProvider:
    """Return what goes into ``Agent(context_providers=[...])``.

    One object serves many agents, and many runs at once. Where the service keeps the
    messages, earlier ones cannot be seen here: then every load gives the full text.

    Args:
        skills: What is attached.
        who: For whom a run is: a mapping, or a function of the run's ``AgentSession``.
        deps: A function of the context of a call, which returns the objects that tools
            get; by default they get the run's ``function_invocation_kwargs``.
        options: As for `satchel.Satchel.session`. ``agent`` is by default the agent's
            name. With ``approve`` no run stops to wait for approval.

    Raises:
        TypeError: An argument is unknown or has the wrong type.
        ValueError: No style has that name.
    """
    check_function("deps", deps, DEPS)
    sessions: SessionFactory[AgentSession] = SessionFactory(
        skills, who, None, options, holds_own_tools=True
    )
    return _SkillsProvider(sessions, deps)


class _SkillsProvider(ContextProvider):
    """Opens a session for each run; has nothing of any run itself."""

    def __init__(self, sessions: SessionFactory[AgentSession], deps: Deps) -> None:
        super().__init__(_KEY)
        self.deps = deps
        self._sessions = sessions
        self.tool_forms = ToolForms(_framework_tool)

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        begin = self._sessions.call_off_loop
        run = await begin(self._begin, agent, session, state)
        defaults: Mapping[str, Any] = getattr(agent, "default_options", {})
        own: list[Any] = [*(defaults.get("tools") or []), *context.tools]
        answered = [c for m in context.input_messages for c in m.contents]
        answered = [c for c in answered if c.type == "function_approval_response"]
        tools = [*run.open([*own])[len(own) :], *run.stand_ins(answered)]
        text = run.session.instructions(message=run.message(context))
        if not (text or tools or self._sessions.requires):
            return
        # The framework joins instructions by one line break: this makes a blank line.
        gap = [""] if context.instructions or defaults.get("instructions") else []
        context.extend_instructions(self.source_id, [*gap, text])
        context.extend_tools(self.source_id, tools)
        context.extend_middleware(self.source_id, _ModelCalls(run))
        # It wraps all calls, also those of the agent's own tools: only where one may
        # have to wait or be refused, or was approved.
        if answered or self._sessions.requires or not run.is_unguarded:
            context.extend_middleware(self.source_id, run)
        run.save()

    def _begin(
        self, agent: SupportsAgentRun, session: AgentSession, state: dict[str, Any]
    ) -> "_Run":
        # Agents may share a session: each has its own skills.
        name = self._sessions.options.get("agent", agent.name or "agent")
        conversation = self._sessions.open(session, state.get(name), agent=name)
        # Where each model call loads the history, it does so below our middleware.
        blind = getattr(agent, "require_per_service_call_history_persistence", False)
        return _Run(self, conversation, state, blind=blind)


class _Run(FunctionMiddleware):
    """One run of an agent, and so one turn: its tools in the framework's form."""

    def __init__(
        self,
        provider: _SkillsProvider,
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
        self._calls: dict[str | None, Content] = {}
        self._made: dict[str, FunctionTool] = {}
        self._natives: set[str] = set()
        self._gone: list[FunctionTool] = []
        self._opened: tuple[object, ...] = ()

    def message(self, context: SessionContext) -> str | None:
        """Return what the user says, where what fits it is to be suggested."""
        texts = [m.text for m in context.input_messages if m.role == "user"]
        return texts[-1] if texts and self.session.settings.suggest else None

    def save(self) -> None:
        self._state[self.session.agent] = self.session.dump()

    def stand_ins(self, answered: Iterable[Content]) -> list[FunctionTool]:
        """Return tools for answered calls of tools that are gone; no model sees them.

        The framework would leave such a call without a result.
        """
        offered, asked = self.session.tools(), self._conversation.asked
        for call in (content.function_call for content in answered):
            name = (call.name or "") if call else ""
            if call and not offered.get(name) and call.call_id in asked:
                self._gone.append(self._bound(Tool(name, "", NO_PARAMETERS, dict)))
        return self._gone

    def open(self, live: list[Any], *, in_step: bool = False) -> list[Any]:
        """Update a list of tools in place, and return it: Satchel's come last.

        ``in_step``: the calls of a step go on; what these read does not count yet.

        Raises:
            DuplicateToolError: One of the agent's own has the name of a skill's tool.
        """
        session = self.session
        if self._opened != (session.activations, session.catalog, live):
            others = [tool for tool in live if not self._is_own_form(tool)]
            ours: Iterable[Tool] = session.open_tools
            if not in_step:
                ours = session.tools(filter(None, map(_name, others)))
            # Nothing wraps the calls of this run: a native tool that was offered since
            # its beginning would be called without asking the policy.
            if self.is_unguarded:
                ours = [tool for tool in ours if tool.native is None]
            live[:] = [*others, *map(self._native, ours)]
            if not in_step:
                self._opened = (session.activations, session.catalog, [*live])
        return live

    async def look(
        self,
        messages: Sequence[Message],
        options: Mapping[str, Any],
        *,
        may_hide: bool = False,
    ) -> str:
        """Take in what a model call sees; return what to add to its prompt.

        ``may_hide``: messages may have been marked as left out since the last call.
        """
        # A service that keeps the conversation gets only new messages. They are added
        # to the earlier ones where this run has seen all of those; else nobody knows
        # what the service has.
        is_remote = bool(options.get("conversation_id"))
        if not (may_hide or is_remote) and self._has_only_more(messages):
            return self._more
        if not self._blind and not (is_remote and self._history is None):
            before = self._history if is_remote and self._history else []
            self._history = [*before, *filter(_is_shown, messages)]
            self.session.see(self._seen())
        self._conversation.tools()
        self.save()
        repeated = self._conversation.call_off_loop
        self._more = await repeated(self.session.reinjected)
        self._shown = [*messages]
        return self._more

    def expect(self, response: ChatResponse[Any]) -> None:
        """Let the framework ask for the calls that a person has to approve."""
        # It asks by tool: with one such call it asks for all others of the step, too.
        ours = self._made if self._asks else {}
        # Reset all first: a mode from the last step would ask about calls of this one.
        for tool in ours.values():
            tool.approval_mode = "never_require"
        for content in (part for m in response.messages for part in m.contents):
            if content.type != "function_call":
                continue
            self._calls[content.call_id] = content
            name = content.name or ""
            arguments = content.parse_arguments() or {} if name in ours else {}
            call_id = content.call_id or ""
            if name in ours and self._conversation.question(name, arguments, call_id):
                ours[name].approval_mode = "always_require"
                self.save()

    async def process(
        self, context: FunctionInvocationContext, call_next: Next
    ) -> None:
        """Call a native tool where the policy allows it, an own one after its skill."""
        name = context.function.name
        if not self._is_own_form(context.function):
            given: Any = dict(context.arguments)  # of a model of Pydantic, too
            refusal = await self.session.arequired(name, arguments=given)
            if refusal is not None:
                self._shown = []  # it loads: the next model call is looked at whole
                self.save()
                context.result = refusal
                return
        if name not in self._natives or not self._is_own_form(context.function):
            await call_next()
            return
        permit = await self._conversation.apermit(
            name, _arguments(context), **_approval(context)
        )
        self.save()
        if permit.refusal is not None:
            context.result = result_text(permit.refusal)
            return
        # Else they stay as the framework has parsed them.
        if permit.is_edited:
            context.arguments = permit.arguments
        await call_next()

    async def _call(
        self, context: FunctionInvocationContext, arguments: Mapping[str, object]
    ) -> str:
        # As other middleware has left the messages, which it may have changed in place.
        if self._history is not None:
            self.session.see((*self._seen(), SeenMessage("assistant")))
        self._shown = []  # the call may load: the next model call is looked at whole
        deps = self._provider.deps
        self.session.deps = deps(context) if deps else context.kwargs
        result = await self._conversation.acall(
            context.function.name, arguments, **_approval(context)
        )
        self.save()
        if context.tools is not None:
            self.open(context.tools, in_step=True)
        return result_text(result)

    def _has_only_more(self, messages: Sequence[Message]) -> bool:
        """Tell whether only results of the agent's own tools are new."""
        # They load nothing and hide nothing, so the session sees them only when it
        # needs them: at a call of one of its tools.
        before = self._shown
        count = len(before)
        more = messages[count:]
        if not before or [*messages[:count]] != before:
            return False
        if any(message.role not in ("assistant", "tool") for message in more):
            return False
        self._shown = [*messages]
        if self._history is not None:
            self._history += more
        return True

    def keep(self, messages: Iterable[Message]) -> None:
        """Take in what a model call has seen in the end."""
        if self._history is not None:
            self._history = [*filter(_is_shown, messages)]

    def _seen(self) -> Iterator[SeenMessage]:
        for message in self._history or ():
            for content in message.contents:
                if content.type == "function_call":
                    self._calls[content.call_id] = content
                elif content.type == "function_result":
                    call = self._calls.get(content.call_id)
                    name = (call.name or "") if call else ""
                    # Parsing takes time, and nobody reads the arguments of others.
                    is_load = name in LOADS
                    arguments = call.parse_arguments() if call and is_load else None
                    yield SeenMessage(
                        "tool", result_text(content.result), name, arguments or {}
                    )
            if message.role == "user":
                yield SeenMessage("user", message.text)
            elif message.role == "assistant":
                yield SeenMessage("assistant")

    def _is_own_form(self, tool: object) -> bool:
        is_made = isinstance(tool, FunctionTool) and self._made.get(tool.name) is tool
        return is_made or any(tool is gone for gone in self._gone)

    def _native(self, tool: Tool) -> FunctionTool:
        """Return a tool in the framework's form; one for the whole run."""
        if tool.name in self._made:
            return self._made[tool.name]
        if isinstance(tool.native, FunctionTool):
            self._natives.add(tool.name)
            # A copy, because each step sets the approval mode of the tool.
            made = copy(tool.native) if self._asks else tool.native
        else:
            made = self._bound(tool)
        self._made[tool.name] = made
        return made

    def _bound(self, tool: Tool) -> FunctionTool:
        # The framework fills the context in by a name that no argument may have.
        async def call(
            _satchel_context: FunctionInvocationContext, **arguments: object
        ) -> str:
            _satchel_context.metadata[_KEY] = True
            return await self._call(_satchel_context, arguments)

        return self._provider.tool_forms.of(tool).bound(call)


class _SkillTool(FunctionTool):
    """A tool of a session, which checks the arguments itself."""

    def bound(self, func: Callable[..., Awaitable[str]]) -> "_SkillTool":
        """Return a copy that calls this; `copy` would be slow."""
        made = _SkillTool.__new__(_SkillTool)
        made.__dict__.update(self.__dict__, func=func)
        return made

    async def invoke(
        self,
        *,
        context: FunctionInvocationContext | None = None,
        **given: Any,  # noqa: ANN401 - as the framework has it
    ) -> Any:  # noqa: ANN401
        try:
            return await super().invoke(context=context, **given)
        except TypeError:
            # The framework's check of arguments names none. The session's does, and
            # accepts some that the framework rejects: a number as text.
            if context is None or _KEY in context.metadata or self.func is None:
                raise
            text: str = await self.func(context, **_arguments(context))
            return text if given.get("skip_parsing") else [Content.from_text(text)]


class _ModelCalls(ChatMiddleware):
    """Adds tools to each model call, and skills whose text left the messages."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    async def process(self, context: ChatContext, call_next: Next) -> None:
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
        # Compaction comes after this middleware: look again at what it leaves.
        if compact is not None:

            @wraps(compact)
            async def compact_and_look(messages: list[Message]) -> bool:
                changed: bool = await compact(messages)
                if changed:
                    await look(messages)
                return changed

            context.kwargs["compaction_strategy"] = compact_and_look
        # A stream has its response only when it has been read.
        context.stream_result_hooks.append(run.expect)
        await call_next()
        if compact is None and not options.get("conversation_id"):
            run.keep(context.messages)
        if isinstance(context.result, ChatResponse):
            run.expect(context.result)


def _framework_tool(tool: Tool) -> _SkillTool:
    return _SkillTool(
        name=tool.name,
        description=tool.description,
        func=_not_bound,
        input_model=tool.parameters,
    )


async def _not_bound(_satchel_context: FunctionInvocationContext, **_: object) -> str:
    """Raise: each run makes a copy of the tool with a function of its own."""
    raise NotImplementedError(_satchel_context.function.name)


def _name(tool: object) -> str:
    """Return a tool's name; a provider's own tool may be a mapping."""
    if isinstance(tool, Mapping):
        return str(tool.get("function", tool).get("name", ""))
    return tool.name if isinstance(tool, FunctionTool) else ""


def _with(base: Any, more: str) -> Any:  # noqa: ANN401 - what a client takes
    """Return instructions with more after them; blocks are not changed."""
    if not more:
        return base
    # Some clients take blocks, which hold cache points.
    if base is None or isinstance(base, str):
        return f"{base}\n\n{more}" if base else more
    return [base, more] if isinstance(base, Mapping) else [*base, more]


def _is_shown(message: Message) -> bool:
    return not message.additional_properties.get(_EXCLUDED)


def _arguments(context: FunctionInvocationContext) -> dict[str, Any]:
    given = context.arguments
    return dict(given) if isinstance(given, Mapping) else given.model_dump()


def _approval(context: FunctionInvocationContext) -> dict[str, Any]:
    """Return the id of a call, and the yes to it: a declined call is never made."""
    metadata = context.metadata
    approved = True if metadata.get("approval_response") is not None else None
    return {"approved": approved, "call_id": str(metadata.get("call_id") or "")}
