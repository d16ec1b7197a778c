"""Skills for LlamaIndex agents: ``attach(skills, to=agent)``.

::

    agent = attach(skills, to=FunctionAgent(llm=llm, tools=[mine]))
    ctx = Context(agent)
    await agent.run("Fill this in.", ctx=ctx)

LlamaIndex has a slot for tools that change from step to step, the tool retriever, and
none for instructions that do; so what is returned is a copy of the agent, whose class
adds them to each step. What a conversation has loaded lives in its ``Context``, and is
in ``ctx.to_dict()`` with the rest.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from inspect import isawaitable
from types import new_class
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

from satchel.adapters import framework
from satchel.model import Decision, Json, Seen
from satchel.runtime.session import Session, SessionOptions
from satchel.tools import Tool, result_text

if TYPE_CHECKING:
    from typing import Unpack

    from satchel.runtime.front import Satchel

with framework("LlamaIndex", "llama-index"):
    from llama_index.core.agent.workflow import (
        AgentOutput,
        FunctionAgent,
        ToolCall,
        ToolCallResult,
    )
    from llama_index.core.base.llms.types import TextBlock, ToolCallBlock
    from llama_index.core.bridge.pydantic import BaseModel
    from llama_index.core.llms import ChatMessage, MessageRole
    from llama_index.core.memory import BaseMemory
    from llama_index.core.objects import ObjectRetriever
    from llama_index.core.schema import QueryBundle
    from llama_index.core.tools import (
        AsyncBaseTool,
        BaseTool,
        FunctionTool,
        ToolMetadata,
        ToolOutput,
        adapt_to_async_tool,
    )
    from llama_index.core.workflow import (
        Context,
        HumanResponseEvent,
        InputRequiredEvent,
    )
    from workflows.runtime.types.results import (
        StepWorkerStateContextVar,
        WaitingForEvent,
    )

__all__ = ["attach"]

AgentT = TypeVar("AgentT", bound=FunctionAgent)
Who: TypeAlias = (
    Mapping[str, Any]
    | Callable[[Context], Mapping[str, Any] | Awaitable[Mapping[str, Any]]]
)
"""For whom a run is, or how its context tells; the context's store is asynchronous."""
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

_STATE: Final = "satchel"
"""The key of a context's store under which each agent has what it is to remember."""
_LEDGER: Final = "ledger"
_ASKING: Final = "asking"
_ANSWERS: Final = "answers"
_NOTHING: Final[dict[str, Json]] = {"type": "object", "properties": {}}
_YES: Final = {"yes", "y", "true", "approve", "approved"}
_ROLES: Final[dict[MessageRole, Role]] = {
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
    MessageRole.TOOL: "tool",
    MessageRole.FUNCTION: "tool",
}


def attach(
    skills: "Satchel",
    *,
    to: AgentT,
    who: Who | None = None,
    deps: Callable[[Context], object] | None = None,
    **options: "Unpack[SessionOptions]",
) -> AgentT:
    """Return a copy of the agent that has skills; ``to`` itself stays as it is.

    It runs alone, or as one of the agents of an ``AgentWorkflow``. Where the policy
    says ask and no ``approve`` is given, the run waits: its stream has an
    ``InputRequiredEvent`` with ``tool``, ``arguments``, ``reason`` and ``call_id``, and
    it goes on with ``HumanResponseEvent(response="yes", call_id=...)``, in another
    process too.

    Args:
        skills: Whose skills.
        to: The agent, or one of a subclass. Other kinds than ``FunctionAgent`` write
            their tools and results into text, where no skill can be seen.
        who: For whom a run is, or a function of its ``Context``, which may be
            asynchronous, as ``ctx.store`` is.
        deps: A function of the same, for tools that ask for a `satchel.Run`; by
            default they get the ``Context``.
        options: As for `satchel.Satchel.session`; ``agent`` is the agent's name.

    Raises:
        TypeError: The agent is no ``FunctionAgent``.
        ValueError: It has skills already.
        DuplicateToolError: In its first run: a tool of its own and one of a skill have
            the same name.
    """
    if not isinstance(to, FunctionAgent):
        raise TypeError(f"agent {to.name!r} is no FunctionAgent")
    if isinstance(to, _Skilled):
        told = "has skills already; give one Satchel all of them"
        raise ValueError(f"agent {to.name!r} {told}")  # noqa: TRY004 - no other type fits
    given: SessionOptions = {"agent": to.name, **options}
    attached = _Attached(skills, who, deps, given, to.tool_retriever)
    own = None if to.tools is None else [*to.tools]
    agent = to.model_copy(update={"tools": own, "tool_retriever": attached})
    agent.__class__ = _skilled(type(to))
    return agent


class _Skilled(FunctionAgent):
    """An agent with skills; made as a subclass of the class of the agent it was."""

    async def take_step(
        self,
        ctx: Any,  # noqa: ANN401 - lower versions have no name for it
        llm_input: list[ChatMessage],
        tools: Sequence[AsyncBaseTool],
        memory: BaseMemory,
    ) -> AgentOutput:
        """Take the step with the instructions and the tools of skills, too."""
        begun = await ctx.store.get(self.scratchpad_key, default=[])
        attached = cast("_Attached", self.tool_retriever)
        llm_input, tools = await attached.prepared(ctx, llm_input, begun, tools)
        return await super().take_step(ctx, llm_input, tools, memory)

    async def handle_tool_call_results(
        self, ctx: Context, results: list[ToolCallResult], memory: BaseMemory
    ) -> None:
        """Take the results in the order of their calls: they come as they are done."""
        begun = await ctx.store.get(self.scratchpad_key, default=[])
        place = {call.tool_call_id: n for n, call in enumerate(_calls(begun[-1:]))}
        results = sorted(results, key=lambda each: place.get(each.tool_id, 0))
        await super().handle_tool_call_results(ctx, results, memory)

    async def finalize(
        self, ctx: Context, output: AgentOutput, memory: BaseMemory
    ) -> AgentOutput:
        """End the turn with the agent's run, or its part of one."""
        cast("_Attached", self.tool_retriever).end(ctx)
        return await super().finalize(ctx, output, memory)


def _skilled(kind: type[FunctionAgent]) -> type[Any]:
    """Return the class with skills; contexts and traces know it by the same name."""
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    skilled: Any = new_class(kind.__name__, (_Skilled, kind), {}, _with(names))
    skilled._step_functions = kind._step_functions  # noqa: SLF001 - of `add_step`
    return cast("type[Any]", skilled)


def _with(names: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
    """Return what gives the body of a class these names."""
    return lambda body: body.update(names)


class _Live:
    """One agent's part of one run: its session, and the turn that it bounds.

    ``asking`` are the calls that wait for their answers, the first of them asked about;
    ``answers`` those that came, by the calls' ids, also of calls that were made then;
    ``begun`` the ids of those that are being made.
    """

    def __init__(self, session: Session, kept: Mapping[str, Any]) -> None:
        self.session = session
        self.asking: list[dict[str, Any]] = kept.get(_ASKING, [])
        self.answers: dict[str, bool] = kept.get(_ANSWERS, {})
        self.begun: set[str] = set()
        self.turn = ExitStack()
        self.turn.enter_context(session.turn())


class _SkillTool(AsyncBaseTool):
    """A skill's tool in LlamaIndex' form; it finds the run that calls it."""

    def __init__(self, attached: "_Attached", metadata: ToolMetadata) -> None:
        self._attached = attached
        self._metadata = metadata

    @property
    def metadata(self) -> ToolMetadata:
        """What models are told of it."""
        return self._metadata

    def call(self, /, *_: object, **__: object) -> ToolOutput:
        """Refuse: a run is asynchronous, and so is all that it calls."""
        raise NotImplementedError(f"{self._metadata.name}: use acall, in a run")

    async def acall(self, /, *_: object, **arguments: object) -> ToolOutput:
        """Carry out the call that the run has come to."""
        return await self._attached.call(self._metadata.get_name(), arguments)


class _Attached(ObjectRetriever[BaseTool]):
    """What `attach` was told, as the retriever that finds the tools that are called."""

    def __init__(
        self,
        skills: "Satchel",
        who: Who | None,
        deps: Callable[[Context], object] | None,
        options: SessionOptions,
        own: ObjectRetriever[Any] | None,
    ) -> None:
        self._skills = skills
        self._who = who
        self._deps = deps
        self._options = options
        self._own = own
        # A run has its store for itself, and the next run of a context another one.
        self._lives: WeakKeyDictionary[Any, _Live] = WeakKeyDictionary()
        self._made: dict[str, tuple[object, _SkillTool]] = {}

    def retrieve(self, str_or_query_bundle: str | QueryBundle) -> list[BaseTool]:
        """Return what the agent's own retriever finds."""
        return [] if self._own is None else self._own.retrieve(str_or_query_bundle)

    async def aretrieve(self, str_or_query_bundle: str | QueryBundle) -> list[BaseTool]:
        """Return what the agent's own retriever finds, and the tool that is called."""
        query = str_or_query_bundle
        own = [] if self._own is None else await self._own.aretrieve(query)
        call = _called()
        if call is None:
            return own  # a model's step, where `prepared` has them all, in order
        session = (await self._live(Context.get_step_context())).session
        tool = session.tools().get(call.tool_name)
        if tool is not None:
            return [*own, self._native(tool)]
        if _is_of_skill(session, call.tool_name):
            return [*own, self._native(Tool(call.tool_name, "", _NOTHING, dict))]
        return own

    async def prepared(
        self,
        ctx: Context,
        messages: list[ChatMessage],
        begun: Sequence[ChatMessage],
        own: Sequence[AsyncBaseTool],
    ) -> tuple[list[ChatMessage], list[AsyncBaseTool]]:
        """Return what a model call is to see, but for what was ``begun`` before it."""
        live = await self._live(ctx)
        live.asking = []  # of a run that failed; in this one all have their results
        if not begun:
            live.answers = {}
        session = live.session

        def prepare() -> tuple[list[ChatMessage], list[AsyncBaseTool]]:
            session.see(_seen((*messages, *begun)))
            tools = session.tools(beside=[each.metadata.get_name() for each in own])
            native = [*own, *map(self._native, tools)]
            return _with_instructions(messages, session), native

        prepared = await asyncio.to_thread(prepare)
        await self._keep(ctx, live)
        return prepared

    async def call(self, name: str, arguments: dict[str, Any]) -> ToolOutput:
        """Carry out the call that this step is about."""
        ctx, call = Context.get_step_context(), _called()
        live = await self._live(ctx)
        decision = live.session.decide(name, arguments)
        asks = decision.verdict == "ask" and self._options.get("approve") is None
        if call is None or not asks:
            output = await _carried_out(ctx, live.session, name, arguments)
            await self._keep(ctx, live)
            return output
        approved = await self._approved(ctx, live, call, decision)
        try:
            session = live.session
            return await _carried_out(ctx, session, name, arguments, approved=approved)
        except WaitingForEvent:
            live.begun.discard(call.tool_id)  # a tool of LlamaIndex' own, to be resumed
            raise
        finally:
            if call.tool_id in live.begun:
                live.asking = live.asking[1:]
                live.begun.discard(call.tool_id)
                await self._keep(ctx, live)
                if live.asking:
                    ctx.send_event(ToolCall(**live.asking[0]))

    async def _approved(
        self, ctx: Context, live: _Live, call: ToolCall, decision: Decision
    ) -> bool:
        """Return what somebody says to a call, one at a time.

        Of several calls that wait for an answer, a context that is stored and resumed
        makes some twice, or too early. So the others stop, without a result, and are
        sent anew, each when the one before it is made. So does a call that LlamaIndex
        delivers once more, because an answer to it was one to something else, too.
        """
        call_id = call.tool_id
        queue = [each["tool_id"] for each in live.asking]
        if call_id not in (*queue, *live.answers):
            live.asking, queue = [*live.asking, call.model_dump()], [*queue, call_id]
        await self._keep(ctx, live)
        if call_id in live.begun or queue[:1] != [call_id]:
            # Nobody sends such an event into a workflow.
            stopped = f"{_STATE} {call_id} stopped"
            await ctx.wait_for_event(
                InputRequiredEvent, waiter_id=stopped, timeout=None
            )
        if call_id not in live.answers:
            answer = await _answer(ctx, call, decision)
            live.answers = {**live.answers, call_id: answer}
        live.begun.add(call_id)
        return live.answers[call_id]

    def end(self, ctx: Context) -> None:
        """Forget this agent's part of a run."""
        live = self._lives.pop(ctx.store, None)
        if live is not None:
            live.turn.close()

    async def _live(self, ctx: Context) -> _Live:
        """Return this run's session; another ``who`` has another one."""
        who = self._who(ctx) if callable(self._who) else self._who
        if isawaitable(who):
            who = await who
        store = ctx.store
        live = self._lives.get(store)
        if live is None or live.session.who != (who or {}):
            kept = await store.get(_STATE, default={})
            mine = kept.get(self._options["agent"], {})
            session = await asyncio.to_thread(
                self._skills.session,
                who=who,
                resume=mine.get(_LEDGER),
                **self._options,
            )
            known = self._lives.get(store)
            if known is live:  # else a call beside this one was faster
                known = self._lives[store] = _Live(session, mine)
            live = cast("_Live", known)
        live.session.deps = ctx if self._deps is None else self._deps(ctx)
        return live

    async def _keep(self, ctx: Context, live: _Live) -> None:
        """Write down what the conversation resumes from."""
        kept = await ctx.store.get(_STATE, default={})
        name = live.session.agent
        ledger = live.session.dump()
        now = {_LEDGER: ledger, _ASKING: live.asking, _ANSWERS: live.answers}
        if kept.get(name) != now:
            await ctx.store.set(_STATE, {**kept, name: now})

    def _native(self, tool: Tool) -> _SkillTool:
        """Return a tool in LlamaIndex' form, made once while it stays as it is."""
        told = tool.description, tool.parameters, tool.native
        known = self._made.get(tool.name)
        if known is None or known[0] != told:
            known = self._made[tool.name] = told, _SkillTool(self, _metadata(tool))
        return known[1]


def _metadata(tool: Tool) -> ToolMetadata:
    if isinstance(tool.native, BaseTool):
        return tool.native.metadata
    schema = dict(tool.parameters)
    # LlamaIndex takes a model of the arguments, and asks it for nothing but this.
    written = {"__module__": __name__, "model_json_schema": lambda *_, **__: schema}
    arguments: Any = new_class(tool.name, (BaseModel,), {}, _with(written))
    return ToolMetadata(tool.description, tool.name, arguments)


def _called() -> ToolCall | None:
    """Return the call that this step is about; None in a step about none."""
    step = StepWorkerStateContextVar.get(None)
    event = None if step is None else step.event
    return event if isinstance(event, ToolCall) else None


async def _answer(ctx: Context, call: ToolCall, decision: Decision) -> bool:
    """Return what somebody says to a call.

    The first time it raises what makes the workflow wait; with the answer the whole
    step is done again. It takes any answer, and waits on if that is to another
    question: what is required of an answer is not stored with a context.
    """
    asked: dict[str, Any] = {
        "prefix": f"May {call.tool_name} be called?",
        "tool": call.tool_name,
        "arguments": call.tool_kwargs,
        "reason": decision.reason,
        "call_id": call.tool_id,
    }
    number = 0
    while True:
        answer = await ctx.wait_for_event(
            HumanResponseEvent,
            waiter_event=None if number else InputRequiredEvent(**asked),
            waiter_id=f"{_STATE} {call.tool_id} {number}",
            timeout=None,
        )
        if answer.get("call_id") == call.tool_id:
            return str(answer.get("response", "")).strip().lower() in _YES
        number += 1


async def _carried_out(
    ctx: Context,
    session: Session,
    name: str,
    arguments: dict[str, Any],
    *,
    approved: bool | None = None,
) -> ToolOutput:
    """Call a tool; one of LlamaIndex' own as agents do, which catch what it raises."""
    tool = session.tools().get(name)
    native = tool.native if tool else None
    if not isinstance(native, BaseTool):
        result = await session.acall(name, arguments, approved=approved)
        return _output(name, arguments, result)
    refused = await session.arefusal(name, arguments, approved=approved)
    if refused is not None:
        return _output(name, arguments, refused)
    given = dict(arguments)
    if isinstance(native, FunctionTool) and native.requires_context:
        given[str(native.ctx_param_name)] = ctx
    return await adapt_to_async_tool(native).acall(**given)


def _output(name: str, arguments: dict[str, Any], result: object) -> ToolOutput:
    if isinstance(result, ToolOutput):
        return result
    return ToolOutput(
        name,
        content=result_text(result),
        raw_input=arguments,
        raw_output=result,
        is_error=isinstance(result, Mapping) and "error" in result,
    )


def _with_instructions(
    messages: list[ChatMessage], session: Session
) -> list[ChatMessage]:
    """Return the messages with the session's text in the system message.

    Blocks of it stay as they are, with their cache points; the session's is one more.
    """
    text = session.instructions()
    if not text:
        return messages
    if not messages or messages[0].role is not MessageRole.SYSTEM:
        return [ChatMessage(text, role="system"), *messages]
    first, *rest = messages
    match first.blocks:
        case [TextBlock(text=base)]:
            blocks: list[Any] = [TextBlock(text=f"{base}\n\n{text}")]
        case own:
            blocks = [*own, TextBlock(text=f"\n\n{text}")]
    return [first.model_copy(update={"blocks": blocks}), *rest]


def _seen(messages: Sequence[ChatMessage]) -> Iterator[Seen]:
    """Yield messages as a session takes them: it reads nothing but results."""
    calls = {call.tool_call_id: call for call in _calls(messages)}
    for message in messages:
        role = _ROLES.get(message.role, "system")
        call = calls.get(message.additional_kwargs.get("tool_call_id"))
        if role != "tool" or call is None:
            yield Seen(role, message.content or "")
        else:
            kwargs = call.tool_kwargs
            given = kwargs if isinstance(kwargs, dict) else {}
            yield Seen(role, message.content or "", call.tool_name, given)


def _calls(messages: Iterable[ChatMessage]) -> Iterator[ToolCallBlock]:
    for message in messages:
        for block in message.blocks:
            if isinstance(block, ToolCallBlock):
                yield block


def _is_of_skill(session: Session, name: str) -> bool:
    """Tell whether a name is that of a closed tool, or of a skill that is none."""
    entries = session.catalog.entries
    return name in session.catalog or any(name in entry.tools for entry in entries)
