"""Skills for LlamaIndex agents: ``agent = attach(skills, to=FunctionAgent(...))``.

LlamaIndex has a slot for tools that change from step to step, the tool retriever, but
none for such instructions: the copy's class adds them to each step. What a conversation
has loaded is in its ``Context``, and so in ``ctx.to_dict()``.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from inspect import isawaitable
from itertools import count
from types import new_class
from typing import Any, Final, Literal, TypeAlias, TypeVar, Unpack, cast
from weakref import WeakKeyDictionary

from satchel.adapters._arguments import DEPS, check_function, check_kind
from satchel.adapters._base import (
    Conversation,
    Deps,
    SessionFactory,
    framework,
    is_error,
)
from satchel.adapters._translation import (
    NO_PARAMETERS,
    ResultReader,
    ToolForms,
    already_attached,
    question_data,
)
from satchel.model import Question, Reply, SeenMessage
from satchel.runtime import Satchel, Session, SessionOptions
from satchel.tools import Tool, result_text

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
# For whom a run is, or a function of its context, whose store is asynchronous.
Who: TypeAlias = (
    Mapping[str, Any]
    | Callable[[Context], Mapping[str, Any] | Awaitable[Mapping[str, Any]]]
)
_Sessions: TypeAlias = SessionFactory[Mapping[str, Any]]
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

# The key of a context's store with what each agent has to remember.
_STATE: Final = "satchel"
_SESSION: Final = "session"
_WAITING: Final = "waiting"
_ANSWERS: Final = "answers"
_INSIDE: Final = "inside"
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
    skills: Satchel,
    *,
    to: AgentT,
    who: Who | None = None,
    deps: Deps[Context] = None,
    **options: Unpack[SessionOptions],
) -> AgentT:
    """Return a copy of the agent that has skills; ``to`` itself is not changed.

    It runs alone, or as one of the agents of an ``AgentWorkflow``. Where the policy
    says ask and there is no ``approve``, the run waits: its stream has an
    ``InputRequiredEvent`` with ``skill``, ``tool``, ``arguments``, ``reason`` and
    ``call_id``, and it goes on with ``HumanResponseEvent(response="yes",
    call_id=...)``, in another process too. A yes may have other ``arguments`` to call
    the tool with; any other response is a no, and the model reads its words.

    Args:
        skills: Whose skills.
        to: The agent, or one of a subclass. Agents other than ``FunctionAgent`` write
            their tools and results into text, where skills cannot be seen.
        who: For whom a run is, or a function of its ``Context``, which may be
            asynchronous, as ``ctx.store`` is.
        deps: A function of the same, for tools that ask for a `satchel.Run`; by
            default they get the ``Context``.
        options: As for `satchel.Satchel.session`; ``agent`` is the agent's name, and a
            function as ``work`` gets what ``who`` gave.

    Raises:
        TypeError: The agent is not a ``FunctionAgent``; an argument is unknown or has
            the wrong type.
        ValueError: It has skills already, or no style has that name.
        DuplicateToolError: In its first run: a tool of its own and one of a skill have
            the same name.
    """
    check_kind("to", to, FunctionAgent, "a FunctionAgent of LlamaIndex")
    check_function("deps", deps, DEPS)
    if isinstance(to, _SkilledAgent):
        raise already_attached(to.name)
    # `who` may be asynchronous: a session is opened for its result.
    resolved: Any = (lambda result: result) if callable(who) else who
    options = {"agent": to.name, **options}
    sessions: _Sessions = SessionFactory(
        skills, resolved, None, options, holds_own_tools=True
    )
    retriever = _SkillsRetriever(sessions, who, deps, to.tool_retriever)
    # A list of its own: a tool that is added to one agent is not added to the other.
    own = None if to.tools is None else [*to.tools]
    agent = to.model_copy(update={"tools": own, "tool_retriever": retriever})
    agent.__class__ = _skilled(type(to))
    return agent


class _SkilledAgent(FunctionAgent):
    """An agent with skills; mixed into the class of the agent that was given."""

    async def take_step(
        self,
        ctx: Any,  # noqa: ANN401 - lower versions have no name for it
        llm_input: list[ChatMessage],
        tools: Sequence[AsyncBaseTool],
        memory: BaseMemory,
    ) -> AgentOutput:
        begun = await ctx.store.get(self.scratchpad_key, default=[])
        skills = cast("_SkillsRetriever", self.tool_retriever)
        llm_input, tools = await skills.prepared(ctx, llm_input, begun, tools)
        return await super().take_step(ctx, llm_input, tools, memory)

    async def handle_tool_call_results(
        self, ctx: Context, results: list[ToolCallResult], memory: BaseMemory
    ) -> None:
        # They come in the order they are done; two equal runs would not be the same.
        begun = await ctx.store.get(self.scratchpad_key, default=[])
        order = {call.tool_call_id: n for n, call in enumerate(_calls(begun[-1:]))}
        results = sorted(results, key=lambda result: order.get(result.tool_id, 0))
        await super().handle_tool_call_results(ctx, results, memory)

    async def finalize(
        self, ctx: Context, output: AgentOutput, memory: BaseMemory
    ) -> AgentOutput:
        cast("_SkillsRetriever", self.tool_retriever).end(ctx)
        return await super().finalize(ctx, output, memory)


def _skilled(kind: type[FunctionAgent]) -> type[Any]:
    """Return the class with skills; it has the same name in contexts and traces."""
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    bases = _SkilledAgent, kind
    skilled: Any = new_class(kind.__name__, bases, {}, lambda body: body.update(names))
    skilled._step_functions = kind._step_functions  # noqa: SLF001 - of `add_step`
    return cast("type[Any]", skilled)


class _AgentRun:
    """One agent's part of one run: its conversation, within a turn.

    ``waiting`` are the calls that wait for their answers, of which the first is asked;
    ``answers`` those that came, by the calls' ids, also of calls that were made then;
    ``begun`` the ids of calls that are being made; ``inside`` the arguments of calls
    that were permitted, and whose tool, one of LlamaIndex' own, waits for an event of
    its own. All but ``begun`` are saved with the context.
    """

    def __init__(self, conversation: Conversation, saved: Mapping[str, Any]) -> None:
        self.conversation = conversation
        self.waiting: list[dict[str, Any]] = saved.get(_WAITING, [])
        self.answers: dict[str, Any] = saved.get(_ANSWERS, {})
        self.inside: dict[str, dict[str, Any]] = saved.get(_INSIDE, {})
        # Not saved: in another process no call is being made.
        self.begun: set[str] = set()


class _SkillTool(AsyncBaseTool):
    """A skill's tool in LlamaIndex' form; it finds the run that calls it."""

    def __init__(self, skills: "_SkillsRetriever", metadata: ToolMetadata) -> None:
        self._skills = skills
        self._metadata = metadata

    @property
    def metadata(self) -> ToolMetadata:
        return self._metadata

    def call(self, /, *_: object, **__: object) -> ToolOutput:
        # Without a run there is no context, and so no session.
        raise NotImplementedError(f"{self._metadata.name}: use acall, in a run")

    async def acall(self, /, *_: object, **arguments: object) -> ToolOutput:
        return await self._skills.call(self._metadata.get_name(), arguments)


class _SkillsRetriever(ObjectRetriever[BaseTool]):
    """The arguments of `attach`, as the retriever that finds the tools of calls."""

    def __init__(
        self,
        sessions: _Sessions,
        who: Who | None,
        deps: Deps[Context],
        own: ObjectRetriever[Any] | None,
    ) -> None:
        self._sessions = sessions
        self._who = who
        self._deps = deps
        self._own = own
        # A run has its store for itself, and the next run of a context another one.
        self._runs: WeakKeyDictionary[Any, _AgentRun] = WeakKeyDictionary()
        self._tools = ToolForms(lambda tool: _SkillTool(self, _metadata(tool)))

    def retrieve(self, str_or_query_bundle: str | QueryBundle) -> list[BaseTool]:
        return [] if self._own is None else self._own.retrieve(str_or_query_bundle)

    async def aretrieve(self, str_or_query_bundle: str | QueryBundle) -> list[BaseTool]:
        query = str_or_query_bundle
        own = [] if self._own is None else await self._own.aretrieve(query)
        call = _called()
        if call is None:
            return own  # a model's step, for which `prepared` returns all, in order
        conversation = (await self._run(Context.get_step_context())).conversation
        name = call.tool_name
        tool = conversation.tool(name)
        # Of equal names the last counts: so the session also answers a call of one of
        # the agent's own tools that comes before its skill.
        if tool is None and (
            conversation.is_skill_tool(name)
            or conversation.comes_early(name, call.tool_kwargs)
        ):
            tool = Tool(name, "", NO_PARAMETERS, dict)
        return own if tool is None else [*own, self._tools.of(tool)]

    async def prepared(
        self,
        ctx: Context,
        messages: list[ChatMessage],
        begun: Sequence[ChatMessage],
        own: Sequence[AsyncBaseTool],
    ) -> tuple[list[ChatMessage], list[AsyncBaseTool]]:
        """Return the messages and tools of a model call; ``begun`` come after these."""
        run = await self._run(ctx)
        # Of earlier steps, whose ids a model may use again, or of a run that failed.
        run.waiting, run.answers = [], {}
        conversation = run.conversation

        def prepare() -> tuple[list[ChatMessage], list[AsyncBaseTool]]:
            conversation.see(_seen((*messages, *begun)))
            tools = conversation.tools([tool.metadata.get_name() for tool in own])
            every = [*own, *map(self._tools.of, tools)]
            return _with_instructions(messages, conversation.session), every

        # Skills that are repeated are read from files, too.
        prepared = await asyncio.to_thread(prepare)
        await self._save(ctx, run)
        return prepared

    async def call(self, name: str, arguments: dict[str, Any]) -> ToolOutput:
        ctx, call = Context.get_step_context(), _called()
        run = await self._run(ctx)
        call_id = call.tool_id if call else ""
        question = run.conversation.question(name, arguments, call_id)
        if call is None or question is None:
            output = await _make(ctx, run, name, arguments, {})
            await self._save(ctx, run)
            return output
        reply = await self._reply(ctx, run, call, question)
        try:
            approval = {"approved": reply, "call_id": call.tool_id}
            return await _make(ctx, run, name, arguments, approval)
        except WaitingForEvent:
            run.begun.discard(call.tool_id)  # a tool of LlamaIndex' own, to be resumed
            await self._save(ctx, run)
            raise
        finally:
            if call.tool_id in run.begun:
                run.waiting = run.waiting[1:]
                run.begun.discard(call.tool_id)
                await self._save(ctx, run)
                # The next call that waits has stopped without a result: send it again.
                if run.waiting:
                    ctx.send_event(ToolCall(**run.waiting[0]))

    async def _reply(
        self, ctx: Context, run: _AgentRun, call: ToolCall, question: Question
    ) -> Reply:
        """Return what a person answers about a call, one at a time."""
        # Of several calls that wait for an answer, a context that is stored and resumed
        # makes some twice, or too early. So the others stop, without a result, and are
        # sent again, each when the one before it is made. The same happens to a call
        # that LlamaIndex delivers once more because of an answer to something else.
        call_id = call.tool_id
        queue = [waiting["tool_id"] for waiting in run.waiting]
        if call_id not in (*queue, *run.answers):
            run.waiting, queue = [*run.waiting, call.model_dump()], [*queue, call_id]
        await self._save(ctx, run)
        if call_id in run.begun or queue[:1] != [call_id]:
            # Nobody sends such an event into a workflow.
            stopped = f"{_STATE} {call_id} stopped"
            await ctx.wait_for_event(
                InputRequiredEvent, waiter_id=stopped, timeout=None
            )
        if call_id not in run.answers:
            answer = await _answer(ctx, call, question)
            run.answers = {**run.answers, call_id: answer}
        run.begun.add(call_id)
        return Reply(**run.answers[call_id])

    def end(self, ctx: Context) -> None:
        self._runs.pop(ctx.store, None)

    async def _run(self, ctx: Context) -> _AgentRun:
        """Return this agent's part of the run; another ``who`` has another session."""
        who = self._who(ctx) if callable(self._who) else self._who
        if isawaitable(who):
            who = await who
        store = ctx.store
        run = self._runs.get(store)
        if run is None or run.conversation.session.who != (who or {}):
            states = await store.get(_STATE, default={})
            saved = states.get(self._sessions.options["agent"], {})
            # Always-on skills are read from files.
            conversation = await asyncio.to_thread(
                self._sessions.open, who or {}, saved.get(_SESSION)
            )
            current = self._runs.get(store)
            if current is run:  # else a parallel call was faster
                current = self._runs[store] = _AgentRun(conversation, saved)
            run = cast("_AgentRun", current)
        run.conversation.session.deps = ctx if self._deps is None else self._deps(ctx)
        return run

    async def _save(self, ctx: Context, run: _AgentRun) -> None:
        states = await ctx.store.get(_STATE, default={})
        agent, session = run.conversation.session.agent, run.conversation.save()
        now = {_SESSION: session, _WAITING: run.waiting, _ANSWERS: run.answers}
        now |= {_INSIDE: run.inside} if run.inside else {}
        if states.get(agent) != now:
            # The agents of a workflow share one store.
            await ctx.store.set(_STATE, {**states, agent: now})


def _metadata(tool: Tool) -> ToolMetadata:
    if isinstance(tool.native, BaseTool):
        return tool.native.metadata
    schema = dict(tool.parameters)
    # LlamaIndex takes a model of the arguments, and asks it for nothing but this.
    written = {"__module__": __name__, "model_json_schema": lambda *_, **__: schema}
    arguments: Any = new_class(
        tool.name, (BaseModel,), {}, lambda body: body.update(written)
    )
    return ToolMetadata(tool.description, tool.name, arguments)


def _called() -> ToolCall | None:
    """Return the call that this step is about, if any."""
    step = StepWorkerStateContextVar.get(None)
    event = None if step is None else step.event
    return event if isinstance(event, ToolCall) else None


async def _answer(ctx: Context, call: ToolCall, question: Question) -> dict[str, Any]:
    """Return what a person answers about a call: the fields of a `Reply`, for JSON."""
    data: dict[str, Any] = question_data(question, call.tool_name, call.tool_kwargs)
    event = {"prefix": data.pop("question"), **data, "call_id": call.tool_id}
    # The first time, waiting raises what makes the workflow wait; with the answer the
    # whole step runs again. What an answer has to be is not stored with a context: this
    # takes any, and waits again if that is to another question.
    for number in count():
        answer = await ctx.wait_for_event(
            HumanResponseEvent,
            waiter_event=None if number else InputRequiredEvent(**event),
            waiter_id=f"{_STATE} {call.tool_id} {number}",
            timeout=None,
        )
        if answer.get("call_id") == call.tool_id:
            break
    response = str(answer.get("response", "")).strip()
    if response.lower() in _YES:
        edited = answer.get("arguments")
        arguments = edited if isinstance(edited, Mapping) else None
        return {"answer": "yes_once", "arguments": arguments}
    return {"answer": "no", "words": "" if response.lower() in _NO else response}


async def _make(
    ctx: Context,
    run: _AgentRun,
    name: str,
    arguments: dict[str, Any],
    approval: Mapping[str, Any],
) -> ToolOutput:
    """Make a call; once it is approved, perhaps go on inside a tool that waits too."""
    conversation, call_id = run.conversation, approval.get("call_id", "")
    tool = conversation.tool(name)
    if tool is None or not isinstance(tool.native, BaseTool):
        result = await conversation.acall(name, arguments, **approval)
        return _output(name, arguments, result)
    permitted = run.inside.get(call_id)
    if permitted is None:
        permit = await conversation.apermit(name, arguments, **approval)
        if permit.refusal is not None:
            return _output(name, arguments, permit.refusal)
        permitted = dict(permit.arguments)
    # A new dict for each change: `_save` compares it with the one that is stored.
    run.inside = {key: run.inside[key] for key in run.inside if key != call_id}
    try:
        return await _native_output(ctx, tool.native, permitted)
    except WaitingForEvent:
        if call_id:
            run.inside = {**run.inside, call_id: permitted}
        raise


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
    """Return the messages with the session's text in the system message."""
    text = session.instructions()
    if not text:
        return messages
    if not messages or messages[0].role is not MessageRole.SYSTEM:
        return [ChatMessage(text, role="system"), *messages]
    first, *rest = messages
    # Other blocks stay as they are, with their cache points; the session's is one more.
    match first.blocks:
        case [TextBlock(text=base)]:
            blocks: list[Any] = [TextBlock(text=f"{base}\n\n{text}")]
        case own:
            blocks = [*own, TextBlock(text=f"\n\n{text}")]
    return [first.model_copy(update={"blocks": blocks}), *rest]


def _seen(messages: Sequence[ChatMessage]) -> Iterator[SeenMessage]:
    reader = ResultReader()
    for call in _calls(messages):
        reader.add_call(call.tool_call_id, call.tool_name, call.tool_kwargs)
    for message in messages:
        role, text = _ROLES.get(message.role, "system"), message.content or ""
        if role == "tool":
            call_id = message.additional_kwargs.get("tool_call_id")
            yield reader.result(call_id, text)
        else:
            yield SeenMessage(role, text)


def _calls(messages: Iterable[ChatMessage]) -> Iterator[ToolCallBlock]:
    for message in messages:
        for block in message.blocks:
            if isinstance(block, ToolCallBlock):
                yield block
