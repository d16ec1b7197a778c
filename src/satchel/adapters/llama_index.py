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
from inspect import isawaitable
from types import new_class
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

from satchel.adapters._base import Conversation, SessionFactory, framework, is_error
from satchel.model import Json, Question, Reply, SeenMessage
from satchel.runtime import Session, SessionOptions, question_text
from satchel.tools import Tool, result_text

if TYPE_CHECKING:
    from typing import Unpack

    from satchel.runtime import Satchel

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
_INSIDE: Final = "inside"
_NOTHING: Final[dict[str, Json]] = {"type": "object", "properties": {}}
_YES: Final = {"yes", "y", "true", "approve", "approved"}
_NO: Final = {"no", "n", "false", "reject", "rejected"}
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
    ``InputRequiredEvent`` with ``skill``, ``tool``, ``arguments``, ``reason`` and
    ``call_id``, and it goes on with ``HumanResponseEvent(response="yes",
    call_id=...)``, in another process too. ``arguments`` beside a yes take the place of
    the model's; a response that is no yes is a no, and the model reads its words.

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
        TypeError: The agent is no ``FunctionAgent``; an argument is not known, or of
            another type.
        ValueError: It has skills already, or no style has that name.
        DuplicateToolError: In its first run: a tool of its own and one of a skill have
            the same name.
    """
    if not isinstance(to, FunctionAgent):
        raise TypeError(f"agent {to.name!r} is no FunctionAgent")
    if isinstance(to, _Skilled):
        told = "has skills already; give one Satchel all of them"
        raise ValueError(f"agent {to.name!r} {told}")  # noqa: TRY004 - no other type fits
    # Who it is for may be told asynchronously: a session is opened for what was told.
    whose = _itself if callable(who) else who
    given: SessionOptions = {"agent": to.name, **options}
    sessions: SessionFactory[Mapping[str, Any]] = SessionFactory(
        skills, whose, None, given
    )
    retriever = _Attached(sessions, who, deps, to.tool_retriever)
    own = None if to.tools is None else [*to.tools]
    agent = to.model_copy(update={"tools": own, "tool_retriever": retriever})
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
        sessions = cast("_Attached", self.tool_retriever)
        llm_input, tools = await sessions.prepared(ctx, llm_input, begun, tools)
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


def _itself(who: Mapping[str, Any]) -> Mapping[str, Any]:
    return who


class _Live:
    """One agent's part of one run: its conversation, within a turn.

    ``asking`` are the calls that wait for their answers, the first of them asked about;
    ``answers`` those that came, by the calls' ids, also of calls that were made then;
    ``begun`` the ids of those that are being made; ``inside`` the arguments of those
    that were permitted, and whose tool, one of LlamaIndex' own, waits for an event of
    its own: its step is done again with that event, and the yes was for this call.
    """

    def __init__(self, conversation: Conversation, kept: Mapping[str, Any]) -> None:
        self.conversation = conversation
        self.asking: list[dict[str, Any]] = kept.get(_ASKING, [])
        self.answers: dict[str, Any] = kept.get(_ANSWERS, {})
        self.inside: dict[str, dict[str, Any]] = kept.get(_INSIDE, {})
        self.begun: set[str] = set()


class _SkillTool(AsyncBaseTool):
    """A skill's tool in LlamaIndex' form; it finds the run that calls it."""

    def __init__(self, sessions: "_Attached", metadata: ToolMetadata) -> None:
        self._sessions = sessions
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
        return await self._sessions.call(self._metadata.get_name(), arguments)


class _Attached(ObjectRetriever[BaseTool]):
    """What `attach` was told, as the retriever that finds the tools that are called."""

    def __init__(
        self,
        sessions: SessionFactory[Mapping[str, Any]],
        who: Who | None,
        deps: Callable[[Context], object] | None,
        own: ObjectRetriever[Any] | None,
    ) -> None:
        self._sessions = sessions
        self._who = who
        self._deps = deps
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
        conversation = (await self._live(Context.get_step_context())).conversation
        tool = conversation.tool(call.tool_name)
        if tool is not None:
            return [*own, self._native(tool)]
        if _is_of_skill(conversation.session, call.tool_name):
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
        conversation = live.conversation

        def prepare() -> tuple[list[ChatMessage], list[AsyncBaseTool]]:
            conversation.see(_seen((*messages, *begun)))
            tools = conversation.tools([each.metadata.get_name() for each in own])
            native = [*own, *map(self._native, tools)]
            return _with_instructions(messages, conversation.session), native

        prepared = await asyncio.to_thread(prepare)
        await self._keep(ctx, live)
        return prepared

    async def call(self, name: str, arguments: dict[str, Any]) -> ToolOutput:
        """Carry out the call that this step is about."""
        ctx, call = Context.get_step_context(), _called()
        live = await self._live(ctx)
        question = live.conversation.question(name, arguments)
        if call is None or question is None:
            output = await _carried_out(ctx, live.conversation, name, arguments)
            await self._keep(ctx, live)
            return output
        reply = await self._approved(ctx, live, call, question)
        try:
            return await self._made_once(ctx, live, call, reply)
        except WaitingForEvent:
            live.begun.discard(call.tool_id)  # a tool of LlamaIndex' own, to be resumed
            await self._keep(ctx, live)
            raise
        finally:
            if call.tool_id in live.begun:
                live.asking = live.asking[1:]
                live.begun.discard(call.tool_id)
                await self._keep(ctx, live)
                if live.asking:
                    ctx.send_event(ToolCall(**live.asking[0]))

    async def _made_once(
        self, ctx: Context, live: _Live, call: ToolCall, reply: Reply
    ) -> ToolOutput:
        """Make a call that was answered; go on inside of one that waits itself."""
        name, arguments, call_id = call.tool_name, call.tool_kwargs, call.tool_id
        tool = live.conversation.tool(name)
        if tool is None or not isinstance(tool.native, BaseTool):
            how: Any = {"approved": reply, "call_id": call_id}
            return _output(
                name, arguments, await live.conversation.acall(name, arguments, **how)
            )
        given = live.inside.get(call_id)
        if given is None:
            how = {"approved": reply, "call_id": call_id}
            permit = await live.conversation.apermit(name, arguments, **how)
            if permit.refusal is not None:
                return _output(name, arguments, permit.refusal)
            given = dict(permit.arguments)
        live.inside = {key: live.inside[key] for key in live.inside if key != call_id}
        try:
            return await _native_output(ctx, tool.native, given)
        except WaitingForEvent:
            live.inside = {**live.inside, call_id: given}
            raise

    async def _approved(
        self, ctx: Context, live: _Live, call: ToolCall, question: Question
    ) -> Reply:
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
            answer = await _answer(ctx, call, question)
            live.answers = {**live.answers, call_id: answer}
        live.begun.add(call_id)
        return _reply(live.answers[call_id])

    def end(self, ctx: Context) -> None:
        """Forget this agent's part of a run."""
        self._lives.pop(ctx.store, None)

    async def _live(self, ctx: Context) -> _Live:
        """Return this run's session; another ``who`` has another one."""
        who = self._who(ctx) if callable(self._who) else self._who
        if isawaitable(who):
            who = await who
        store = ctx.store
        live = self._lives.get(store)
        if live is None or live.conversation.session.who != (who or {}):
            kept = await store.get(_STATE, default={})
            mine = kept.get(self._sessions.options["agent"], {})
            opened = self._sessions.open
            conversation = await asyncio.to_thread(opened, who or {}, mine.get(_LEDGER))
            known = self._lives.get(store)
            if known is live:  # else a call beside this one was faster
                known = self._lives[store] = _Live(conversation, mine)
            live = cast("_Live", known)
        live.conversation.session.deps = ctx if self._deps is None else self._deps(ctx)
        return live

    async def _keep(self, ctx: Context, live: _Live) -> None:
        """Write down what the conversation resumes from."""
        kept = await ctx.store.get(_STATE, default={})
        name = live.conversation.session.agent
        ledger = live.conversation.save()
        now = {_LEDGER: ledger, _ASKING: live.asking, _ANSWERS: live.answers}
        now |= {_INSIDE: live.inside} if live.inside else {}
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


async def _answer(ctx: Context, call: ToolCall, question: Question) -> dict[str, Any]:
    """Return what somebody says to a call, safe for JSON: `_reply` reads it.

    The first time it raises what makes the workflow wait; with the answer the whole
    step is done again. It takes any answer, and waits on if that is to another
    question: what is required of an answer is not stored with a context.
    """
    asked: dict[str, Any] = {
        "prefix": question_text(question),
        "skill": question.skill,
        "tool": call.tool_name,
        "arguments": call.tool_kwargs,
        "reason": question.reason,
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
            response = str(answer.get("response", "")).strip()
            if response.lower() in _YES:
                return {"answer": "yes_once", "arguments": answer.get("arguments")}
            words = "" if response.lower() in _NO else response
            return {"answer": "no", "words": words}
        number += 1


def _reply(answer: object) -> Reply:
    """Return an answer that was kept, as a session takes it."""
    if not isinstance(answer, Mapping):  # True and False, as earlier versions kept it
        return Reply("yes_once" if answer is True else "no")
    given = cast("Mapping[str, Any]", answer)
    if given.get("answer") != "yes_once":
        return Reply("no", words=str(given.get("words", "")))
    edited = given.get("arguments")
    return Reply("yes_once", arguments=edited if isinstance(edited, Mapping) else None)


async def _carried_out(
    ctx: Context, conversation: Conversation, name: str, arguments: dict[str, Any]
) -> ToolOutput:
    """Make a call that nobody has to approve."""
    tool = conversation.tool(name)
    native = tool.native if tool else None
    if not isinstance(native, BaseTool):
        return _output(name, arguments, await conversation.acall(name, arguments))
    permit = await conversation.apermit(name, arguments)
    if permit.refusal is not None:
        return _output(name, arguments, permit.refusal)
    return await _native_output(ctx, native, permit.arguments)


async def _native_output(
    ctx: Context, native: BaseTool, arguments: Mapping[str, Any]
) -> ToolOutput:
    """Call a tool of LlamaIndex' own as agents do, which catch what it raises."""
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
        is_error=is_error(result),
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


def _seen(messages: Sequence[ChatMessage]) -> Iterator[SeenMessage]:
    """Yield messages as a session takes them: it reads nothing but results."""
    calls = {call.tool_call_id: call for call in _calls(messages)}
    for message in messages:
        role = _ROLES.get(message.role, "system")
        call = calls.get(message.additional_kwargs.get("tool_call_id"))
        if role != "tool" or call is None:
            yield SeenMessage(role, message.content or "")
        else:
            kwargs = call.tool_kwargs
            given = kwargs if isinstance(kwargs, dict) else {}
            yield SeenMessage(role, message.content or "", call.tool_name, given)


def _calls(messages: Iterable[ChatMessage]) -> Iterator[ToolCallBlock]:
    for message in messages:
        for block in message.blocks:
            if isinstance(block, ToolCallBlock):
                yield block


def _is_of_skill(session: Session, name: str) -> bool:
    """Tell whether a name is that of a closed tool, or of a skill that is none."""
    entries = session.catalog.entries
    return name in session.catalog or any(name in entry.tools for entry in entries)
