"""Skills on LangChain agents: a middleware for ``create_agent``.

::

    agent = create_agent(model, tools=[mine], middleware=[attach(skills)])

What a conversation has loaded is in the graph's state, in a channel of its own, so a
checkpointer stores it with the messages. Put the middleware last: then it repeats
skills that others take out of the messages, and others see the tools that it offers.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import partial
from operator import is_
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    NotRequired,
    TypeAlias,
    Unpack,
    cast,
)
from uuid import uuid4

from satchel.adapters._base import (
    Conversation,
    Deps,
    SessionFactory,
    Turn,
    Who,
    framework,
    is_error,
    outcome_of,
)
from satchel.adapters._translation import (
    NO_PARAMETERS,
    OnlyName,
    ResultReader,
    ToolForms,
    name_of,
)
from satchel.model import Question, Reply, SeenMessage
from satchel.runtime import (
    CallApproval,
    Permit,
    Satchel,
    Session,
    SessionOptions,
    dump_state,
    merge_states,
    question_text,
    read_state,
)
from satchel.tools import Tool, result_text

with framework("LangChain", "langchain"):
    from langchain.agents.middleware import (
        AgentMiddleware,
        AgentState,
        ExtendedModelResponse,
        ModelRequest,
        ModelResponse,
        ToolCallRequest,
    )
    from langchain.agents.middleware.types import PrivateStateAttr
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.messages import (
        AIMessage,
        AnyMessage,
        SystemMessage,
        ToolCall,
        ToolMessage,
    )
    from langchain_core.tools import BaseTool, ToolException
    from langchain_core.tracers.context import register_configure_hook
    from langgraph.channels import UntrackedValue
    from langgraph.prebuilt.tool_node import ToolRuntime
    from langgraph.runtime import Runtime
    from langgraph.types import Command, interrupt
    from pydantic import Field

__all__ = ["attach"]

Result: TypeAlias = ToolMessage | Command[Any]
Artifact: TypeAlias = dict[str, Any] | None
Response: TypeAlias = ModelResponse[Any] | ExtendedModelResponse[Any]

_STATE: Final = "satchel"
_HIDDEN: Final = "satchel_hidden"
_TURN: Final = "satchel_turn"
_DECIDED: Final = "satchel_decided"
# Turns in memory at once; a run whose turn is dropped reads its files again.
_MAX_TURNS: Final = 1024
# Marks decisions of this process: no other knows whether their calls were made.
_PROCESS: Final = uuid4().hex
_ASSISTANT: Final = SeenMessage("assistant")


def attach(
    skills: Satchel,
    *,
    who: Who[Any] = None,
    deps: Deps[Any] = None,
    **options: Unpack[SessionOptions],
) -> "AgentMiddleware[Any, Any, Any]":
    """Return a middleware that lets an agent load skills and call their tools.

    Where the policy says ask and there is no ``approve``, the run pauses with one
    ``interrupt`` for all calls of a step, in the form of LangChain's own approvals: it
    needs a checkpointer, and goes on with ``Command(resume={"decisions": [...]})``, a
    decision for each request: ``{"type": "approve"}``, ``edit``, ``reject`` with a
    ``message``, or ``respond``. A yes is for one call in this process: a run that was
    interrupted in the middle of a call asks again.

    Args:
        skills: Where they come from.
        who: For whom a run is: a mapping, or a function of the run's ``Runtime`` (in a
            tool call its ``ToolRuntime``), which has ``context`` and ``store``.
        deps: A function of the same, for tools that ask for a `satchel.Run`; None is
            the run's ``context``.
        options: Of every session: ``always``, ``only``, ``approve`` and others.

    Raises:
        ExtraMissingError: LangChain is not installed, or is too old.
        TypeError: An argument is unknown or has the wrong type.
        ValueError: No style has that name.
        DuplicateToolError: In the agent's first run, if one of its own tools has the
            name of one of a skill.
    """
    sessions: SessionFactory[Any] = SessionFactory(
        skills, who, deps, options, holds_own_tools=True
    )
    return _SkillsMiddleware(sessions)


# The tools of a step run side by side, and each writes what it has loaded.
def _merge(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    (before, _), (after, _) = read_state(left), read_state(right)
    return dump_state(merge_states(before, after))


class SkillsState(AgentState[Any]):
    """What the middleware saves next to the messages; neither input nor output.

    ``satchel`` is what `Session.dump` returned, ``satchel_hidden`` the calls whose
    results are in the messages while other middleware hides them from the model.
    ``satchel_turn`` names the run's turn and ends with it: no checkpointer gets it.
    ``satchel_decided`` are decisions about calls of the step, by their ids, and the
    process that got them.
    """

    satchel: NotRequired[Annotated[dict[str, Any], PrivateStateAttr, _merge]]
    satchel_hidden: NotRequired[Annotated[list[str], PrivateStateAttr]]
    satchel_turn: NotRequired[Annotated[str, UntrackedValue, PrivateStateAttr]]
    satchel_decided: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


class _SkillTool(BaseTool):
    """A skill's tool in LangChain's form; a copy for each call knows its session."""

    handle_tool_error: bool = True
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    call: Callable[[], object] = Field(default=dict, exclude=True, repr=False)
    acall: Callable[[], Awaitable[object]] | None = Field(
        default=None, exclude=True, repr=False
    )

    def _run(self, /, **_: object) -> tuple[str, Artifact]:
        return _text(result := self.call()), outcome_of(result)

    async def _arun(self, /, **_: object) -> tuple[str, Artifact]:
        result = self.call() if self.acall is None else await self.acall()
        return _text(result), outcome_of(result)


class _ToolCall(NamedTuple):
    """A call of a skill's tool; ``approved`` is None where nobody was asked.

    ``response`` is what a person answered in place of the tool, ``id`` one that no
    other call has, in any conversation.
    """

    tool: BaseTool
    name: str
    arguments: dict[str, Any]
    approved: Reply | None = None
    response: str | None = None
    id: str = ""

    @property
    def approval(self) -> CallApproval:
        return {"approved": self.approved, "call_id": self.id}


class _SkillsMiddleware(AgentMiddleware[SkillsState, Any, Any]):
    """Opens a session for each step of a run: one object serves many runs at once."""

    state_schema = SkillsState

    def __init__(self, sessions: SessionFactory[Any]) -> None:
        self.tools = ()
        self._name = OnlyName("Satchel")
        self._sessions = sessions
        self._tools: ToolForms[BaseTool] = ToolForms(_langchain_tool)
        # By name: some versions store a step's state, the turn's files included.
        self._turns: OrderedDict[str, Turn] = OrderedDict()

    @property
    def name(self) -> str:
        """Its name in traces; an agent takes one of each name."""
        return self._name

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Add the section and the tools; keep what the session has to remember."""
        conversation = self._open(request.state, request.runtime)
        conversation.see(_seen(request.messages))
        request, update = self._prepared(request, conversation)
        with _ModelCall() as shown:
            response = handler(request)
        return self._end_step(request.state, conversation, response, shown, update)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Do as `wrap_model_call` does; what reads files does so in a thread."""
        conversation = await self._aopen(request.state, request.runtime)
        conversation.see(_seen(request.messages))
        request, update = await conversation.call_off_loop(
            self._prepared, request, conversation
        )
        with _ModelCall() as shown:
            response = await handler(request)
        return self._end_step(request.state, conversation, response, shown, update)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]
    ) -> Result:
        """Make calls of skills' tools, and answer those of unknown tools."""
        if request.tool is not None and not self._sessions.requires:
            return handler(request)  # one of the agent's own
        conversation = self._open(request.state, request.runtime)
        if request.tool is not None:
            return self._refused(request, conversation) or handler(request)
        call = self._tool_call(request, conversation)
        prepared = _with_skill_tool(request, call, conversation)
        if prepared is None:
            permit = conversation.permit(call.name, call.arguments, **call.approval)
            prepared = _with_permit(request, call.tool, permit)
        return _with_changes(handler(prepared), _changes(request.state, conversation))

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[Result]],
    ) -> Result:
        """Do as `wrap_tool_call` does; waits for asynchronous tools and approvers."""
        if request.tool is not None and not self._sessions.requires:
            return await handler(request)
        conversation = await self._aopen(request.state, request.runtime)
        if request.tool is not None:
            refused = await asyncio.to_thread(self._refused, request, conversation)
            return refused or await handler(request)
        call = self._tool_call(request, conversation)
        prepared = _with_skill_tool(request, call, conversation)
        if prepared is None:
            given = call.name, call.arguments
            permit = await conversation.apermit(*given, **call.approval)
            prepared = _with_permit(request, call.tool, permit)
        result = await handler(prepared)
        return _with_changes(result, _changes(request.state, conversation))

    def _refused(
        self, request: ToolCallRequest, conversation: Conversation
    ) -> Result | None:
        """Return the result of a call that comes before its skill; else None."""
        call = request.tool_call
        name, call_id = call["name"], call["id"]
        refusal = conversation.session.required(name, arguments=call["args"])
        if refusal is None:
            return None
        message = ToolMessage(refusal, name=name, tool_call_id=call_id)
        return _with_changes(message, _changes(request.state, conversation))

    def _open(
        self, state: object, runtime: Runtime[Any] | ToolRuntime[Any, Any]
    ) -> Conversation:
        saved = cast("Mapping[str, Any]", state)
        turn = self._turns.get(saved.get(_TURN, ""))
        return self._sessions.open(
            runtime, saved.get(_STATE), deps=runtime.context, turn=turn
        )

    async def _aopen(
        self, state: object, runtime: Runtime[Any] | ToolRuntime[Any, Any]
    ) -> Conversation:
        return await self._sessions.call_off_loop(self._open, state, runtime)

    def _prepared(
        self, request: ModelRequest[Any], conversation: Conversation
    ) -> tuple[ModelRequest[Any], dict[str, Any]]:
        state = cast("Mapping[str, Any]", request.state)
        tools = conversation.tools(map(name_of, request.tools))
        request = request.override(
            system_message=_system(request.system_message, conversation.session),
            tools=[*request.tools, *map(self._tools.of, tools)],
        )
        update: dict[str, Any] = {}
        if self._turns.get(state.get(_TURN, "")) is not conversation.turn:
            update[_TURN] = name = uuid4().hex
            self._turns[name] = conversation.turn
            if len(self._turns) > _MAX_TURNS:  # runs that never ended
                self._turns.popitem(last=False)
        return request, update

    def _end_step(
        self,
        state: Any,  # noqa: ANN401 - of the graph
        conversation: Conversation,
        response: ModelResponse[Any],
        shown: list[AnyMessage],
        update: dict[str, Any],
    ) -> Response:
        """Save what the tools of the step have to know; end the turn if none comes."""
        inner = getattr(response, "model_response", response)  # of other middleware
        calls = [c for m in inner.result for c in getattr(m, "tool_calls", ())]
        for call in calls:
            _question(call, conversation)
        # They get the stored messages, not those that the model was shown.
        hidden = _hidden(state["messages"], shown)
        if hidden and self._sessions.requires:
            seen = [*state["messages"], *inner.result]
            conversation.see(_seen(seen, frozenset(hidden)))
        update |= _changes(state, conversation)
        if hidden != state.get(_HIDDEN, []):
            update[_HIDDEN] = hidden
        if not calls:
            for name, turn in list(self._turns.items()):
                if turn is conversation.turn:
                    self._turns.pop(name, None)
        if not update:
            return response
        return ExtendedModelResponse(response, Command(update=update))

    def _tool_call(
        self, request: ToolCallRequest, conversation: Conversation
    ) -> _ToolCall:
        """Return a call of no own tool of the agent, approved where it has to be.

        Other middleware may know it: that goes by its name, and puts its own tool in
        place of this one.
        """
        state = cast("Mapping[str, Any]", request.state)
        conversation.see(_seen(state["messages"], frozenset(state.get(_HIDDEN, ()))))
        name, arguments = request.tool_call["name"], request.tool_call["args"]
        call_id, decided = _call_id(state, request.tool_call), state.get(_DECIDED) or {}
        is_decided = decided.get("by") == _PROCESS and call_id in decided["calls"]
        reply: Reply | None = None
        if is_decided or _question(request.tool_call, conversation) is not None:
            if is_decided:
                decision = decided["calls"][call_id]
            else:  # another process may have made the call, with the same yes
                call_id += ":again"
                asked = interrupt(_request(conversation, request.tool_call))
                [decision] = _decisions(asked, 1)
            match decision:
                case {"type": "respond", "message": str(text)}:
                    return _ToolCall(_skill_tool(name), name, arguments, response=text)
                case {
                    "type": "edit",
                    "edited_action": {"name": str(other), "args": Mapping() as edited},
                }:
                    # It may name another tool: that one is called, and permitted.
                    name, arguments = other, {**edited}
                    reply = Reply("yes_once")
                case _:
                    reply = _reply(decision)
        tool = conversation.tool(name)
        native = self._tools.of(tool) if tool else _skill_tool(name)
        return _ToolCall(native, name, arguments, reply, id=call_id)

    # This is a node of the graph, and there is one even where nobody is asked now: a
    # run may have been stored in it before the policy changed.

    def after_model(
        self, state: SkillsState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Pause the run where a person has to approve calls, and save the decisions."""
        has_asked = state.get(_STATE, {}).get("asked") != []
        return _ask(state, self._open(state, runtime)) if has_asked else None

    async def aafter_model(
        self, state: SkillsState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        has_asked = state.get(_STATE, {}).get("asked") != []
        return _ask(state, await self._aopen(state, runtime)) if has_asked else None


class _ModelCall(BaseCallbackHandler):
    """Keeps the messages that a model sees behind all middleware, if it is called."""

    run_inline = True

    def __enter__(self) -> list[AnyMessage]:
        self.messages: list[AnyMessage] = []
        self._token = _watching.set(self)
        return self.messages

    def __exit__(self, *_: object) -> None:
        _watching.reset(self._token)

    def on_chat_model_start(
        self, serialized: object, messages: list[list[Any]], **_: object
    ) -> None:
        del serialized
        self.messages[:] = messages[0]


_watching: ContextVar[_ModelCall | None] = ContextVar("satchel", default=None)
register_configure_hook(_watching, inheritable=True)


def _question(call: ToolCall, conversation: Conversation) -> Question | None:
    return conversation.question(call["name"], call["args"], str(call["id"]))


def _ask(state: SkillsState, conversation: Conversation) -> dict[str, Any] | None:
    message = state["messages"][-1]
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    waiting = [call for call in calls if _question(call, conversation)]
    # A version before saved no word on what it asked about, and another policy held.
    if not waiting and "asked" not in state.get(_STATE, {}):
        waiting = [call for call in calls if conversation.is_skill_tool(call["name"])]
    if not waiting:
        return None
    answer = interrupt(_request(conversation, *waiting))
    decisions = _decisions(answer, len(waiting))
    ids = [_call_id(state, call) for call in waiting]
    return {_DECIDED: {"by": _PROCESS, "calls": dict(zip(ids, decisions, strict=True))}}


def _call_id(state: Mapping[str, Any], call: ToolCall) -> str:
    """Return an id that no call of another step has: a model may use its ids again."""
    messages = (m for m in reversed(state["messages"]) if isinstance(m, AIMessage))
    return f"{next(messages).id}:{call['id']}"


def _seen(
    messages: Iterable[AnyMessage], hidden: frozenset[str] = frozenset()
) -> Iterator[SeenMessage]:
    """Yield messages as a session takes them, without results that are hidden."""
    reader = ResultReader()
    for message in messages:
        if message.type == "tool":
            call_id = message.tool_call_id
            if call_id not in hidden:
                yield reader.result(call_id, _text_of(message), message.name or "")
        elif message.type == "ai":
            for call in message.tool_calls:
                reader.add_call(call["id"], call["name"], call["args"])
            yield _ASSISTANT
        elif message.type == "human":
            yield SeenMessage("user", _text_of(message))


def _text_of(message: AnyMessage) -> str:
    content = message.content
    return content if isinstance(content, str) else str(message.text)


def _hidden(stored: list[AnyMessage], shown: list[AnyMessage]) -> list[str]:
    """Return the calls whose results other middleware took out or changed."""
    # Mostly nobody hides anything; the same objects need no second look.
    if len(stored) == len(shown) and all(map(is_, stored, shown)):
        return []
    results = {m.tool_call_id: m.content for m in shown if m.type == "tool"}
    return [
        message.tool_call_id
        for message in stored
        if message.type == "tool"
        and results.get(message.tool_call_id) != message.content
    ]


def _system(own: SystemMessage | None, session: Session) -> SystemMessage | None:
    """Return the agent's system message with the session's text after it.

    Blocks are not changed, nor their cache points; the session's are one more.
    """
    if own is None:
        text = session.instructions()
        return SystemMessage(text) if text else None
    content = own.content
    if isinstance(content, str):
        return own.model_copy(update={"content": session.instructions(content)})
    text = session.instructions()
    block = {"type": "text", "text": f"\n\n{text}"}
    return own.model_copy(update={"content": [*content, block]}) if text else own


def _changes(state: object, conversation: Conversation) -> dict[str, Any]:
    saved = conversation.save()
    before = cast("Mapping[str, Any]", state).get(_STATE)
    return {} if saved == before else {_STATE: saved}


def _with_changes(result: Result, update: dict[str, Any]) -> Result:
    if update and isinstance(result, ToolMessage):
        return Command(update={"messages": [result], **update})
    return result  # the command of a native tool, which has a state of its own


def _request(conversation: Conversation, *waiting: ToolCall) -> dict[str, Any]:
    """Return what a person is asked, as LangChain's own middleware would ask."""
    questions = [_question(call, conversation) for call in waiting]
    requests = [
        {
            "name": call["name"],
            "args": call["args"],
            "description": question_text(question) if question else "",
        }
        for call, question in zip(waiting, questions, strict=True)
    ]
    allowed = ["approve", "edit", "reject", "respond"]
    reviews = [
        {"action_name": call["name"], "allowed_decisions": allowed} for call in waiting
    ]
    return {"action_requests": requests, "review_configs": reviews}


def _decisions(answer: object, count: int) -> list[object]:
    """Return a decision for each request; a missing one is a no."""
    match answer:
        case {"decisions": [*decisions]} if len(decisions) == count:
            return [*decisions]
        # Answers of another number fit no request, so each is a no.
        case {"decisions": [*_]}:
            return [None] * count
        case _:  # one answer, in a shorter form
            return [answer] if count == 1 else [None] * count


def _reply(decision: object) -> Reply:
    """Return what a decision means: all but a clear yes is no."""
    match decision:
        case {"type": "approve"} | True:
            return Reply("yes_once")
        case {"message": str(words)}:
            return Reply("no", words)
        case _:
            return Reply("no")


def _with_skill_tool(
    request: ToolCallRequest, call: _ToolCall, conversation: Conversation
) -> ToolCallRequest | None:
    text = call.response
    if text is not None:
        return request.override(tool=_skill_tool(call.name, lambda: text))
    if not isinstance(call.tool, _SkillTool):
        return None
    given: Any = (call.name, call.arguments)
    bound = {
        "call": partial(conversation.call, *given, **call.approval),
        "acall": partial(conversation.acall, *given, **call.approval),
    }
    # A copy: the tool itself is offered to many conversations at once.
    return request.override(tool=call.tool.model_copy(update=bound))


def _with_permit(
    request: ToolCallRequest, tool: BaseTool, permit: Permit
) -> ToolCallRequest:
    if permit.refusal is not None:
        refusal = permit.refusal
        return request.override(tool=_skill_tool(tool.name, lambda: refusal))
    call = request.tool_call
    changed = {**call, "name": tool.name, "args": dict(permit.arguments)}
    return request.override(tool=tool, tool_call=cast("Any", changed))


def _langchain_tool(tool: Tool) -> BaseTool:
    if isinstance(tool.native, BaseTool):
        return tool.native
    schema = dict(tool.parameters)
    return _SkillTool(name=tool.name, description=tool.description, args_schema=schema)


def _skill_tool(name: str, call: Callable[[], object] = dict) -> _SkillTool:
    return _SkillTool(name=name, description="", args_schema=NO_PARAMETERS, call=call)


def _text(result: object) -> str:
    """Return what the model reads; raise where it is an error."""
    text = result_text(result)
    # LangChain marks the message as one of an error.
    if is_error(result):
        raise ToolException(text)
    return text
