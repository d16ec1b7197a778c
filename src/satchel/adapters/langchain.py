"""Skills on LangChain agents: a middleware for ``create_agent``.

::

    agent = create_agent(model, tools=[mine], middleware=[langchain.attach(skills)])

What a conversation has loaded lives in the graph's state, in a channel of its own, so a
checkpointer stores it with the messages. Put the middleware last: then it sees the
messages as the model does, and others see the tools that it offers.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import partial
from operator import is_
from typing import (
    Annotated,
    Any,
    Final,
    NamedTuple,
    NotRequired,
    TypeAlias,
    Unpack,
    cast,
)
from uuid import uuid4

from satchel.adapters._base import (
    Conversation,
    SessionFactory,
    Turn,
    framework,
    is_error,
)
from satchel.model import Question, Reply, SeenMessage
from satchel.runtime import (
    Permit,
    Satchel,
    SavedState,
    Session,
    SessionOptions,
    question_text,
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
    from langchain_core.messages import (
        AIMessage,
        AnyMessage,
        SystemMessage,
        ToolCall,
        ToolMessage,
    )
    from langchain_core.tools import BaseTool, ToolException
    from langgraph.channels import UntrackedValue
    from langgraph.prebuilt.tool_node import ToolRuntime
    from langgraph.runtime import Runtime
    from langgraph.types import Command, interrupt
    from pydantic import Field

__all__ = ["attach"]

Who: TypeAlias = Mapping[str, Any] | Callable[[Any], Mapping[str, Any]] | None
Result: TypeAlias = ToolMessage | Command[Any]
Response: TypeAlias = ModelResponse[Any] | ExtendedModelResponse[Any]

_LEDGER: Final = "satchel"
_HIDDEN: Final = "satchel_hidden"
_TURN: Final = "satchel_turn"
_DECIDED: Final = "satchel_decided"
_TURNS: Final = 1024
"""Turns that are held at once; a run whose turn is dropped reads again."""
_PROCESS: Final = uuid4().hex
"""Marks decisions of this process: no other has seen whether their calls were made."""
_USER: Final = SeenMessage("user")
_ASSISTANT: Final = SeenMessage("assistant")
_NOTHING: Final[dict[str, Any]] = {"type": "object", "properties": {}}


def attach(
    skills: Satchel,
    *,
    who: Who = None,
    deps: Callable[[Any], object] | None = None,
    **options: Unpack[SessionOptions],
) -> "AgentMiddleware[Any, Any, Any]":
    """Return a middleware that lets an agent load skills and call their tools.

    Where the policy says ask and no ``approve`` is given, the run pauses with one
    ``interrupt`` for all calls of a step, in the form of LangChain's own approvals: it
    needs a checkpointer, and goes on with ``Command(resume={"decisions": [...]})``, a
    decision for each request: ``{"type": "approve"}``, ``edit``, ``reject`` with a
    ``message``, or ``respond``. A yes is for one call in this process: a run that was
    broken off in the middle of a call asks again.

    Args:
        skills: Where they come from.
        who: For whom a run is: a mapping, or a function of the run's ``Runtime`` (in a
            tool call its ``ToolRuntime``), which has ``context`` and ``store``.
        deps: A function of the same, for tools that ask for a `satchel.Run`; None is
            the run's ``context``.
        options: Of every session: ``always``, ``only``, ``approve`` and others.

    Raises:
        ExtraMissingError: LangChain is not installed, or is too old.
        TypeError: An argument is not known, or of another type.
        ValueError: No style has that name.
        DuplicateToolError: In the agent's first run, if one of its own tools has the
            name of one of a skill.
    """
    attached: SessionFactory[Any] = SessionFactory(skills, who, deps, options)
    return (_Asking if attached.asks else _Skills)(attached)


def _merged(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    (before, _), (after, _) = SavedState.read(left), SavedState.read(right)
    return before.merged(after).to_dict()


class SkillsState(AgentState[Any]):
    """What the middleware keeps beside the messages; no input and no output.

    ``satchel`` is what `Session.dump` gives, ``satchel_hidden`` the calls whose results
    are in the messages while other middleware keeps them from the model.
    ``satchel_turn`` names the run's turn and ends with it: no checkpointer gets it.
    ``satchel_decided`` are decisions about calls of the step, by their ids, and the
    process that was told.
    """

    satchel: NotRequired[Annotated[dict[str, Any], PrivateStateAttr, _merged]]
    satchel_hidden: NotRequired[Annotated[list[str], PrivateStateAttr]]
    satchel_turn: NotRequired[Annotated[str, UntrackedValue, PrivateStateAttr]]
    satchel_decided: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


class _SkillTool(BaseTool):
    """A skill's tool in LangChain's form; a copy for each call knows its session."""

    handle_tool_error: bool = True
    call: Callable[[], object] = Field(default=dict, exclude=True, repr=False)
    acall: Callable[[], Awaitable[object]] | None = Field(
        default=None, exclude=True, repr=False
    )

    def _run(self, /, **_: object) -> str:
        return _text(self.call())

    async def _arun(self, /, **_: object) -> str:
        return _text(self.call() if self.acall is None else await self.acall())


class _Taken(NamedTuple):
    """A call of a skill's tool; ``approved`` is None where nobody was asked.

    ``said`` is what a person answered in the place of the tool, ``id`` one that no
    other call has, in any conversation.
    """

    tool: BaseTool
    name: str
    arguments: dict[str, Any]
    approved: Reply | None = None
    said: str | None = None
    id: str = ""


class _Skills(AgentMiddleware[SkillsState, Any, Any]):
    """Opens a session for each step of a run: one object serves many runs at once."""

    state_schema = SkillsState

    def __init__(self, attached: SessionFactory[Any]) -> None:
        self.tools = ()
        self._attached = attached
        self._known: dict[str, _SkillTool] = {}
        # By name: some versions write a step's state down, the turn's files included.
        self._turns: OrderedDict[str, Turn] = OrderedDict()

    @property
    def name(self) -> str:
        """What traces call it; an agent takes one of each name."""
        return "Satchel"

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Add the section and the tools; keep what the session has to remember."""
        talk = self._open(request.state, request.runtime)
        talk.see(_seen(request.messages))
        request, update = self._prepared(request, talk)
        return self._ended(_with(handler(request), update), talk)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Do as `wrap_model_call` does; what reads files does so in a thread."""
        talk = await self._aopen(request.state, request.runtime)
        talk.see(_seen(request.messages))
        if talk.session.reads_files:
            prepared = await asyncio.to_thread(self._prepared, request, talk)
        else:
            prepared = self._prepared(request, talk)
        request, update = prepared
        return self._ended(_with(await handler(request), update), talk)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]
    ) -> Result:
        """Carry out the calls of skills' tools, and answer those of nobody's."""
        if request.tool is not None:  # one of the agent's own
            return handler(request)
        talk = self._open(request.state, request.runtime)
        taken = self._taken(request, talk)
        how: Any = {"approved": taken.approved, "call_id": taken.id}
        if taken.said is not None:
            given = request.override(tool=_saying(taken.name, taken.said))
        elif isinstance(taken.tool, _SkillTool):
            call = partial(talk.answer, taken.name, taken.arguments, **how)
            given = request.override(tool=taken.tool.model_copy(update={"call": call}))
        else:
            permit = talk.permit(taken.name, taken.arguments, **how)
            given = _permitted(request, taken.tool, permit)
        return _kept(handler(given), _changes(request.state, talk))

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[Result]],
    ) -> Result:
        """Do as `wrap_tool_call` does; waits for asynchronous tools and approvers."""
        if request.tool is not None:
            return await handler(request)
        talk = await self._aopen(request.state, request.runtime)
        taken = self._taken(request, talk)
        how: Any = {"approved": taken.approved, "call_id": taken.id}
        if taken.said is not None:
            given = request.override(tool=_saying(taken.name, taken.said))
        elif isinstance(taken.tool, _SkillTool):
            call = partial(talk.aanswer, taken.name, taken.arguments, **how)
            given = request.override(tool=taken.tool.model_copy(update={"acall": call}))
        else:
            permit = await talk.apermit(taken.name, taken.arguments, **how)
            given = _permitted(request, taken.tool, permit)
        return _kept(await handler(given), _changes(request.state, talk))

    def _open(
        self, state: object, runtime: Runtime[Any] | ToolRuntime[Any, Any]
    ) -> Conversation:
        """Open the conversation's session for one step of its run."""
        kept = cast("Mapping[str, Any]", state)
        turn = self._turns.get(kept.get(_TURN, ""))
        return self._attached.open(
            runtime, kept.get(_LEDGER), deps=runtime.context, turn=turn
        )

    async def _aopen(
        self, state: object, runtime: Runtime[Any] | ToolRuntime[Any, Any]
    ) -> Conversation:
        if self._attached.options.get("always"):  # they are read
            return await asyncio.to_thread(self._open, state, runtime)
        return self._open(state, runtime)

    def _prepared(
        self, request: ModelRequest[Any], talk: Conversation
    ) -> tuple[ModelRequest[Any], dict[str, Any]]:
        """Return the request with all that is added, and what to keep of it."""
        state = cast("Mapping[str, Any]", request.state)
        tools = talk.tools(beside=map(_name_of, request.tools))
        request = request.override(
            system_message=_system(request.system_message, talk.session),
            tools=[*request.tools, *map(self._native, tools)],
        )
        update = _changes(state, talk)
        hidden = _hidden(state["messages"], request.messages)
        if hidden != state.get(_HIDDEN, []):
            update[_HIDDEN] = hidden
        if self._turns.get(state.get(_TURN, "")) is not talk.turn:
            update[_TURN] = name = uuid4().hex
            self._turns[name] = talk.turn
            if len(self._turns) > _TURNS:  # runs that were broken off
                self._turns.popitem(last=False)
        return request, update

    def _ended(self, response: Response, talk: Conversation) -> Response:
        """End the turn where the model calls nothing more."""
        given = response
        if isinstance(given, ExtendedModelResponse):
            given = given.model_response
        if not any(getattr(each, "tool_calls", ()) for each in given.result):
            for name, turn in list(self._turns.items()):
                if turn is talk.turn:
                    self._turns.pop(name, None)
        return response

    def _taken(self, request: ToolCallRequest, talk: Conversation) -> _Taken:
        """Return a call that no tool of the agent answers, approved where it has to be.

        Other middleware may know it: that goes by its name, and puts its tool in the
        place of this one.
        """
        state = cast("Mapping[str, Any]", request.state)
        talk.see(_seen(state["messages"], frozenset(state.get(_HIDDEN, ()))))
        name, arguments = request.tool_call["name"], request.tool_call["args"]
        question = talk.asked(name, arguments)
        reply: Reply | None = None
        call_id = ""
        if question is not None:
            decision, call_id = _decided(state, request.tool_call, question)
            match decision:
                case {"type": "respond", "message": str(said)}:
                    return _Taken(_answering(name), name, arguments, said=said)
                case {
                    "type": "edit",
                    "edited_action": {"name": str(other), "args": Mapping() as edited},
                }:
                    # It may name another tool: that one is called, and permitted.
                    name, arguments = other, {**edited}
                    reply = Reply("yes_once")
                case _:
                    reply = _reply(decision)
        tool = talk.tool(name)
        native = self._native(tool) if tool else _answering(name)
        return _Taken(native, name, arguments, reply, id=call_id)

    def _native(self, tool: Tool) -> BaseTool:
        """Return a tool in LangChain's form, made once while it stays as it is."""
        if isinstance(tool.native, BaseTool):
            return tool.native
        known = self._known.get(tool.name)
        if (
            known is None
            or known.description != tool.description
            or known.args_schema != tool.parameters
        ):
            known = _SkillTool(
                name=tool.name,
                description=tool.description,
                args_schema=dict(tool.parameters),
            )
            self._known[tool.name] = known
        return known


class _Asking(_Skills):
    """One where calls may wait: asks about all of a step at once, ahead of its tools.

    It is a node of the graph, so there is none where nobody is asked.
    """

    def after_model(
        self, state: SkillsState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Pause the run where somebody has to approve calls, and keep the decisions."""
        return _ask(state, self._open(state, runtime))

    async def aafter_model(
        self, state: SkillsState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Do as `after_model` does."""
        return _ask(state, await self._aopen(state, runtime))


def _ask(state: SkillsState, talk: Conversation) -> dict[str, Any] | None:
    message = state["messages"][-1]
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    asked = [
        (call, question)
        for call in calls
        if (question := talk.asked(call["name"], call["args"])) is not None
    ]
    if not asked:
        return None
    answer = interrupt(_request(*asked))
    decisions = _decisions(answer, len(asked))
    told = {
        str(call["id"]): each for (call, _), each in zip(asked, decisions, strict=True)
    }
    return {_DECIDED: {"by": _PROCESS, "calls": told}}


def _decided(
    state: Mapping[str, Any], call: ToolCall, question: Question
) -> tuple[object, str]:
    """Return what was decided of a call in this process; else ask.

    The process that was told may have made the call before it was broken off. Beside
    it an id of the call for that decision, since a model may give its ids again.
    """
    asked_by = next(
        (m.id for m in reversed(state["messages"]) if isinstance(m, AIMessage)), None
    )
    place = f"{asked_by}:{call['id']}" if asked_by else ""
    decided = state.get(_DECIDED) or {}
    if decided.get("by") == _PROCESS and str(call["id"]) in decided["calls"]:
        return decided["calls"][str(call["id"])], place
    [decision] = _decisions(interrupt(_request((call, question))), 1)
    return decision, place and f"{place}:again"


def _seen(
    messages: Iterable[AnyMessage], hidden: frozenset[str] = frozenset()
) -> Iterator[SeenMessage]:
    """Yield messages as a session takes them, without results that are hidden.

    Of the others it is told the role alone: it reads nothing but results.
    """
    arguments: dict[str | None, Mapping[str, object]] = {}
    for message in messages:
        if message.type == "tool":
            call = message.tool_call_id
            if call not in hidden:
                given = arguments.get(call, {})
                yield SeenMessage("tool", _content(message), message.name or "", given)
        elif message.type == "ai":
            for each in message.tool_calls:
                arguments[each["id"]] = each["args"]
            yield _ASSISTANT
        elif message.type == "human":
            yield _USER


def _content(message: AnyMessage) -> str:
    content = message.content
    return content if isinstance(content, str) else str(message.text)


def _hidden(kept: list[AnyMessage], shown: list[AnyMessage]) -> list[str]:
    """Return the calls whose results others of the middleware took out or changed."""
    if len(kept) == len(shown) and all(map(is_, kept, shown)):
        return []
    results = {m.tool_call_id: m.content for m in shown if m.type == "tool"}
    return [
        message.tool_call_id
        for message in kept
        if message.type == "tool"
        and results.get(message.tool_call_id) != message.content
    ]


def _system(given: SystemMessage | None, session: Session) -> SystemMessage | None:
    """Return the agent's system message with the session's behind it.

    Blocks stay as they are, with their cache points; the session's are one more.
    """
    if given is None:
        text = session.instructions()
        return SystemMessage(text) if text else None
    content = given.content
    if isinstance(content, str):
        return given.model_copy(update={"content": session.instructions(content)})
    text = session.instructions()
    block = {"type": "text", "text": f"\n\n{text}"}
    return given.model_copy(update={"content": [*content, block]}) if text else given


def _name_of(tool: BaseTool | dict[str, Any]) -> str:
    """Return a tool's name; that of a provider's own stands in one of two places."""
    if isinstance(tool, BaseTool):
        return tool.name
    return str(tool.get("name") or tool.get("function", {}).get("name", ""))


def _changes(state: object, talk: Conversation) -> dict[str, Any]:
    dumped = talk.keep()
    before = cast("Mapping[str, Any]", state).get(_LEDGER)
    return {} if dumped == before else {_LEDGER: dumped}


def _with(
    response: ModelResponse[Any], update: dict[str, Any]
) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
    return (
        ExtendedModelResponse(response, Command(update=update)) if update else response
    )


def _kept(result: Result, update: dict[str, Any]) -> Result:
    if update and isinstance(result, ToolMessage):
        return Command(update={"messages": [result], **update})
    return result  # a command is a native tool's, and its state is its own


def _request(*asked: tuple[ToolCall, Question]) -> dict[str, Any]:
    """Return what somebody is asked, as LangChain's own middleware would ask."""
    requests = [
        {"name": c["name"], "args": c["args"], "description": question_text(question)}
        for c, question in asked
    ]
    allowed = ["approve", "edit", "reject", "respond"]
    reviews = [
        {"action_name": call["name"], "allowed_decisions": allowed} for call, _ in asked
    ]
    return {"action_requests": requests, "review_configs": reviews}


def _decisions(answer: object, count: int) -> list[object]:
    """Return a decision for each request; where one is missing it is no."""
    match answer:
        case {"decisions": [*decisions]}:
            given: list[object] = [*decisions]
        case _:  # one answer, in a shorter form
            given = [answer] if count == 1 else []
    return given if len(given) == count else [None] * count


def _reply(decision: object) -> Reply:
    """Return what a decision means: all but a clear yes is no."""
    match decision:
        case {"type": "approve"} | True:
            return Reply("yes_once")
        case {"message": str(words)}:
            return Reply("no", words)
        case _:
            return Reply("no")


def _permitted(
    request: ToolCallRequest, tool: BaseTool, permit: Permit
) -> ToolCallRequest:
    """Return the request of a tool of LangChain, or of what says that it may not be."""
    if permit.refusal is not None:
        refused = permit.refusal
        said = _answering(tool.name).model_copy(update={"call": lambda: refused})
        return request.override(tool=said)
    call = request.tool_call
    changed = {**call, "name": tool.name, "args": dict(permit.arguments)}
    return request.override(tool=tool, tool_call=cast("Any", changed))


def _saying(name: str, text: str) -> _SkillTool:
    """Return what says a text in the place of a tool."""
    return _answering(name).model_copy(update={"call": lambda: text})


def _answering(name: str) -> _SkillTool:
    """Return what stands for a tool that is not there: its call tells why."""
    return _SkillTool(name=name, description="", args_schema=_NOTHING)


def _text(result: object) -> str:
    """Return what the model reads.

    Raises:
        ToolException: It is an error: LangChain marks the message as one.
    """
    text = result_text(result)
    if is_error(result):
        raise ToolException(text)
    return text
