"""Skills on Agno agents and teams: ``agent = attach(skills, to=Agent(...))``.

Agno fixes the prompt and the tools of a run before its first model call, and sorts the
tools by name. So the copy has a model that adds the catalog and the tools to each call,
after the agent's own. What a conversation has loaded is in the session state.
"""

import asyncio
import json
from collections.abc import (
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Set as AbstractSet,
)
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from inspect import iscoroutinefunction
from itertools import chain
from operator import attrgetter
from typing import Any, Final, Self, TypeAlias, TypeVar, Unpack, cast

from satchel.adapters._arguments import check_kind
from satchel.adapters._base import Conversation, Deps, SessionFactory, Who, framework
from satchel.adapters._translation import (
    NO_PARAMETERS,
    ResultReader,
    ToolForms,
    already_attached,
    seen_message,
    text_of,
)
from satchel.model import Reply, SeenMessage
from satchel.runtime import Permit, Satchel, Session, SessionOptions, question_text
from satchel.tools import Tool, result_text

with framework("Agno", "agno"):
    from agno.agent import Agent
    from agno.models.base import Model
    from agno.models.fallback import FallbackConfig
    from agno.models.message import Message
    from agno.models.response import ModelResponse, ToolExecution
    from agno.models.utils import get_model
    from agno.run import RunContext
    from agno.team import Team
    from agno.tools import Toolkit
    from agno.tools.function import Function, FunctionCall
    from agno.utils.callables import ainvoke_callable_factory, invoke_callable_factory
    from pydantic import Field, PrivateAttr

__all__ = ["attach"]

Component = TypeVar("Component", Agent, Team)
Functions: TypeAlias = dict[str, Function]

# The name of the toolkit, of its one function, and of the part of the state.
_NAME: Final = "satchel"
# The part of the session state with the calls that wait for approval.
_WAITING: Final = "satchel-waiting"
_CONTENT: Final = attrgetter("content")


def attach(
    skills: Satchel,
    *,
    to: Component,
    who: Who[RunContext] = None,
    deps: Deps[RunContext] = None,
    **options: Unpack[SessionOptions],
) -> Component:
    """Return a copy of an agent or a team that loads skills and calls their tools.

    Where the policy says ask and there is no ``approve``, the run pauses as for any
    tool of Agno that requires confirmation, and goes on with ``continue_run``. The text
    for a person is in ``tool_execution.confirmation_note``. To call the tool with other
    arguments, set ``tool_execution.tool_args`` before ``confirm``.

    Args:
        skills: Where they come from.
        to: The agent or team; it is not changed. Attach to each member of a team.
        who: For whom a run is: a mapping, or a function of its ``RunContext``.
        deps: A function of the same, for tools that ask for a `satchel.Run`; None is
            the run's ``dependencies``.
        options: Of every session: ``always``, ``only``, ``approve`` and others.

    Raises:
        ExtraMissingError: Agno is not installed, or is too old.
        TypeError: An argument is unknown or has the wrong type.
        DuplicateToolError: An own tool has the name of one of a skill. Where tools are
            made for each run, or not everyone has the skill, a run fails with it.
        ValueError: The agent has skills already, or no model; no style has that name.
    """
    check_kind("to", to, (Agent, Team), "an Agent or a Team of Agno")
    # Agno's own API lets its callers write the session state.
    sessions: SessionFactory[RunContext] = SessionFactory(
        skills, who, deps, options, trust_state=False, holds_own_tools=True
    )
    own: Any = to.tools
    model = get_model(to.model)
    if model is None:
        raise ValueError("give the agent its model before skills are attached")
    # What a factory makes is known in a run only, which checks the names then.
    if not callable(own):
        names = [*_names(own or ())]
        if _NAME in names:
            raise already_attached(to.name or "")
        sessions.check_names(names)
    kit = _SkillsKit(sessions)
    fallback = to.fallback_config
    return to.deep_copy(
        update={
            "model": _with_skills(model),
            "tools": _factory(own, kit) if callable(own) else [*(own or ()), kit],
            "fallback_config": None if fallback is None else _all_with_skills(fallback),
        }
    )


class _SkillsKit(Toolkit):
    """The skills that were attached, and a function that knows the run."""

    def __init__(self, sessions: SessionFactory[RunContext]) -> None:
        super().__init__(name=_NAME)
        self.sessions = sessions
        self.forms: dict[object, ToolForms[list[dict[str, Any]]]] = {}
        # Asynchronous runs take their functions from the second, others from the first.
        for functions in (self.functions, self.async_functions):
            functions[_NAME] = _Anchor(
                name=_NAME,
                description="Adds skills to the run; do not call it.",
                entrypoint=_no_function,
                skip_entrypoint_processing=True,
                kit=self,
                is_async=functions is self.async_functions,
            )

    def __deepcopy__(self, _: object) -> Self:
        """Return itself: Agno copies an agent with everything in it."""
        return self

    def open(self, run: RunContext, owner: Agent | Team, key: str) -> Conversation:
        saved = (run.session_state or {}).get(key)
        if isinstance(saved, str):
            with suppress(ValueError, RecursionError):  # the session reports it
                saved = json.loads(saved)
        deps, agent = run.dependencies, owner.name or ""
        return self.sessions.open(run, saved, deps=deps, agent=agent)


@dataclass(slots=True)
class _Run:
    """The conversation of one run, and its key in the session state.

    ``unseen`` are the arguments of a model call that the session has not seen yet.
    """

    conversation: Conversation
    context: RunContext
    key: str
    unseen: Mapping[str, Any] | None = None
    saved: tuple[object, str] | None = None

    def see(self) -> None:
        call, self.unseen = self.unseen, None
        if call is not None:
            compressed = bool(call.get("compress_tool_results"))
            self.conversation.see(_seen(call["messages"], compressed=compressed))

    def save(self) -> None:
        """Write what the session has to remember to the session state."""
        mark, saved = self.conversation.session.mark, self.saved
        if saved is None or saved[0] is not mark:
            # As text: Agno makes deep copies of the state, more than one in a run.
            saved = self.saved = mark, json.dumps(self.conversation.save())
        self._state[self.key] = saved[1]

    def id_of(self, call: FunctionCall) -> str:
        """Return an id that no call of another run has."""
        # Models may number their calls from one in each run.
        run, own = self.context, call.call_id
        return f"{run.session_id}/{run.run_id}/{own}" if own else ""

    def wait(self, call: FunctionCall) -> None:
        """Save what the model gave in a call that waits: a person may edit it."""
        if id_ := self.id_of(call):
            self._put({**self._waiting(), id_: call.arguments or {}})

    def given(self, call: FunctionCall) -> Mapping[str, Any]:
        """Return what the model gave in a call that waited until now."""
        waiting, own = self._waiting(), call.arguments or {}
        given = waiting.pop(self.id_of(call), own)
        self._put(waiting)
        return cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else own

    def _waiting(self) -> dict[str, object]:
        with suppress(TypeError, ValueError, RecursionError):  # others can write it
            return dict(json.loads(self._state.get(self._waiting_key, "{}")))
        return {}

    def _put(self, waiting: Mapping[str, object]) -> None:
        self._state.pop(self._waiting_key, None)
        if waiting:
            self._state[self._waiting_key] = json.dumps(waiting)

    @property
    def _state(self) -> dict[str, Any]:
        if self.context.session_state is None:
            self.context.session_state = {}
        return self.context.session_state

    @property
    def _waiting_key(self) -> str:
        return _WAITING + self.key.removeprefix(_NAME)


class _WaitingCall(FunctionCall):
    """A call that a person has to approve, with the text that the person is shown."""

    question: str


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of a skill's tool, and the reply about it.

    ``given`` is what the model gave, ``answered`` what the reply is about: the same, or
    what a person put in its place.
    """

    run: _Run
    call: FunctionCall
    is_native: bool
    given: Mapping[str, Any]
    answered: Mapping[str, Any]
    reply: Reply | None

    def hook(self, function_call: Any, arguments: dict[str, Any]) -> object:  # noqa: ANN401
        """Run in place of the function, or before one of Agno's own."""
        conversation, name = self.run.conversation, self.call.function.name
        given, approval = self._approval(arguments)
        if not self.is_native:
            return self._done(conversation.call(name, given, **approval))
        permit = conversation.permit(name, given, **approval)
        return self._refused(permit) or function_call(**permit.arguments)

    async def ahook(self, function_call: Any, arguments: dict[str, Any]) -> object:  # noqa: ANN401
        conversation, name = self.run.conversation, self.call.function.name
        given, approval = self._approval(arguments)
        if not self.is_native:
            return self._done(await conversation.acall(name, given, **approval))
        permit = await conversation.apermit(name, given, **approval)
        return self._refused(permit) or await function_call(**permit.arguments)

    def _done(self, result: object) -> str:
        self.run.save()
        return result_text(result)

    def _refused(self, permit: Permit) -> str | None:
        if permit.refusal is not None:
            return self._done(permit.refusal)
        self.run.save()
        self.call.arguments = {**permit.arguments}  # Agno calls it with these
        return None

    def _approval(
        self, arguments: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], dict[str, Any]]:
        """Return the arguments to call with, and the reply if it is about them."""
        approval: dict[str, Any] = {"call_id": self.run.id_of(self.call)}
        # A hook of the agent's own may have put other arguments in their place: nobody
        # said yes to those.
        if self.reply is None or arguments != self.answered:
            return arguments, approval
        return self.given, {**approval, "approved": self.reply}


class _Anchor(Function):
    """A function that no model sees: each run has a copy of it, which knows the run."""

    kit: Any = Field(exclude=True, repr=False)
    is_async: bool = Field(exclude=True)
    _opened: Any = PrivateAttr(default=None)

    @property
    def owner(self) -> Any:  # noqa: ANN401 - an agent or a team
        return self._team if self._agent is None else self._agent

    @property
    def run(self) -> _Run:
        """The conversation of this run; it begins with the first use."""
        if self._opened is None:
            # A team and its members have one session state.
            name = self.kit.sessions.options.get("agent") or self.owner.name
            key = f"{_NAME}:{name}" if name else _NAME
            context = cast("RunContext", self._run_context)
            conversation = self.kit.open(context, self.owner, key)
            self._opened = _Run(conversation, context, key)
        return cast("_Run", self._opened)

    def formatted(
        self, tool: Tool, kind: type, form: Callable[[list[Any]], list[dict[str, Any]]]
    ) -> list[dict[str, Any]]:
        """Return a tool in a provider's form, made once until the tool changes."""
        if tool.native is not None:
            return form([self.native(tool)])
        forms = self.kit.forms.setdefault(
            (kind, bool(self.strict)), ToolForms(lambda tool: form([self.native(tool)]))
        )
        return cast("list[dict[str, Any]]", forms.of(tool))

    def native(self, tool: Tool) -> Function:
        """Return a tool in Agno's form, bound to this run."""
        # A copy: all runs share the tool, and each changes its own below.
        if isinstance(tool.native, Function):
            function = tool.native.model_copy(deep=True)
        else:
            function = Function(
                name=tool.name,
                description=tool.description,
                parameters=deepcopy(dict(tool.parameters)),
                entrypoint=_no_function,
                skip_entrypoint_processing=True,
            )
        function.process_entrypoint(strict=bool(self.strict))
        function.strict = function.strict or self.strict
        for name in Function.__private_attributes__.keys() - {"_framework_params"}:
            setattr(function, name, getattr(self, name))  # what Agno knows of the run
        return function

    def holds(self, call: FunctionCall) -> bool:
        """Tell whether a call of one of the agent's own tools comes before its skill.

        Then the session answers it, as any call of a tool that it does not have.
        """
        if not self.kit.sessions.requires:
            return False
        self.run.see()
        given = call.arguments or {}
        return self.run.conversation.comes_early(call.function.name, given)

    def bound(
        self,
        call: FunctionCall,
        given: Mapping[str, Any] | None = None,
        reply: Reply | None = None,
    ) -> FunctionCall:
        """Return a call with what makes it; an error is its result.

        ``reply`` is what was answered about it; without one, it may have to wait.
        """
        run, name, arguments = self.run, call.function.name, call.arguments or {}
        run.see()
        tool = run.conversation.tool(name)
        # A tool that is not there gets a function, too: the session answers its call
        # with advice, where Agno would only say that it was not found.
        if tool is None:
            tool = Tool(name, "", NO_PARAMETERS, dict)
        function, is_native = self.native(tool), tool.native is not None
        question = run.conversation.question(name, arguments)
        if reply is None and question is not None:
            function.requires_confirmation = True
            if given is None:
                run.wait(call)
            run.save()  # which bytes of a script are shown
            call = _WaitingCall(**dict(call), question=question_text(question))
        call.function = function
        function.tool_hooks = self.owner.tool_hooks
        # Asks the session itself: with an `approve` no call waits, but the hook of one
        # of Agno's own tools has to ask.
        asks = run.conversation.session.question(name, arguments) is not None
        if asks or reply is not None or not is_native:
            given = arguments if given is None else given
            # A hook of the agent's own may change the arguments in place.
            answered = deepcopy(arguments)
            bound = _Call(run, call, is_native, given, answered, reply)
            hook: Callable[..., object] = bound.ahook if self.is_async else bound.hook
            function.tool_hooks = [*(self.owner.tool_hooks or ()), hook]
        return call


def _no_function(**_: object) -> str:
    # A model that reasons for the agent is offered the anchor nevertheless.
    return "There is nothing to call here."


class _OfferedTools(list[dict[str, Any]]):
    """The agent's own tools in a provider's form, and what skills are added with."""

    anchor: _Anchor
    own_names: frozenset[str]
    last: "_ModelCall | None" = None


@dataclass(frozen=True, slots=True)
class _ModelCall:
    """What skills added to a model call, and all that this was made from.

    ``head`` replaces the first ``at`` messages.
    """

    run: _Run
    model: Model
    mark: object
    first: Message
    contents: list[object]
    head: list[Message]
    at: int
    tools: list[dict[str, Any]]

    def is_current(
        self, given: Mapping[str, Any], model: Model, own: AbstractSet[str]
    ) -> bool:
        """Tell whether the same is to be added to this model call."""
        messages, run, count = given["messages"], self.run, len(self.contents)
        # By content, not only by object: a message may be changed in place.
        if (
            model is not self.model
            or self.mark is not run.conversation.session.mark
            or given.get("compress_tool_results")
            or messages[0] is not self.first
            or [*map(_CONTENT, messages[:count])] != self.contents
        ):
            return False
        # Assistants and the agent's own tools change nothing; the session reads what
        # they said later, if it has to.
        for message in messages[count:]:
            is_own = message.role == "tool" and message.tool_name in own
            if not is_own and message.role != "assistant":
                return False
        run.unseen = {"messages": [*messages]}
        run.save()
        return True

    def added(self, given: dict[str, Any]) -> dict[str, Any]:
        messages = [*self.head, *given["messages"][self.at :]]
        return {**given, "messages": messages, "tools": [*self.tools]}


class _SkilledModel(Model):
    """Mixed into a model's class: adds skills to the prompt and tools of each call."""

    # Agno formats the tools once a run, passes them to `invoke` for each step, and
    # looks up calls in the run's own functions.

    def _format_tools(
        self, tools: list[Function | dict[str, Any]] | None
    ) -> list[dict[str, Any]]:
        # No model sees the anchor: it goes to `invoke` with the list of the others.
        own = [tool for tool in tools or () if not isinstance(tool, _Anchor)]
        formatted = super()._format_tools(own)
        for tool in tools or ():
            if isinstance(tool, _Anchor):
                formatted = _OfferedTools(formatted)
                formatted.anchor, formatted.own_names = tool, frozenset(_names(own))
        return formatted

    def invoke(self, *args: object, **given: object) -> ModelResponse:
        model: Any = super()
        return cast("ModelResponse", model.invoke(*args, **self._prepared(given)))

    async def ainvoke(self, *args: object, **given: object) -> ModelResponse:
        model: Any = super()
        prepared = await self._aprepared(given)
        return cast("ModelResponse", await model.ainvoke(*args, **prepared))

    def invoke_stream(self, *args: object, **given: object) -> Iterator[ModelResponse]:
        model: Any = super()
        yield from model.invoke_stream(*args, **self._prepared(given))

    async def ainvoke_stream(
        self, *args: object, **given: object
    ) -> AsyncIterator[ModelResponse]:
        model: Any = super()
        prepared = await self._aprepared(given)
        async for response in model.ainvoke_stream(*args, **prepared):
            yield response

    def get_function_calls_to_run(
        self,
        assistant_message: Message,
        messages: list[Message],
        functions: Functions | None = None,
    ) -> list[FunctionCall]:
        own, anchor = _split(functions)
        if anchor is None:
            return super().get_function_calls_to_run(assistant_message, messages, own)
        tool_calls = assistant_message.tool_calls or ()
        called = (call.get("function", {}).get("name") for call in tool_calls)
        others = {name for name in called if isinstance(name, str)} - own.keys()
        # Agno finds the function of a call by its name: placeholders let these calls
        # through.
        every = own | {name: Function(name=name) for name in others}
        calls = super().get_function_calls_to_run(assistant_message, messages, every)
        return [
            anchor.bound(call)
            if call.function.name in others or anchor.holds(call)
            else call
            for call in calls
        ]

    def get_function_call_to_run_from_tool_execution(
        self, tool_execution: ToolExecution, functions: Functions | None = None
    ) -> FunctionCall:
        own, anchor = _split(functions)
        name = tool_execution.tool_name
        make = super().get_function_call_to_run_from_tool_execution
        if anchor is None or name is None or name in own:
            return make(tool_execution, own)
        call = make(tool_execution, own | {name: Function(name=name)})
        given = anchor.run.given(call)
        reply: Reply | None = None
        if tool_execution.confirmed:
            arguments = call.arguments or {}
            # Other arguments than the model's were put there by the person.
            edited = None if arguments == given else arguments
            reply = Reply("yes_once", arguments=edited)
        call = anchor.bound(call, given, reply)
        note = tool_execution.confirmation_note
        if isinstance(call, _WaitingCall) and note == call.question:
            tool_execution.confirmation_note = None  # the question, and no reply
        return call

    def run_function_calls(
        self, function_calls: list[FunctionCall], *args: object, **given: object
    ) -> Iterator[Any]:
        model: Any = super()
        questions = _questions(function_calls)
        for event in model.run_function_calls(function_calls, *args, **given):
            _ask(event, questions)
            yield event

    async def arun_function_calls(
        self, function_calls: list[FunctionCall], *args: object, **given: object
    ) -> AsyncIterator[Any]:
        model: Any = super()
        questions = _questions(function_calls)
        async for event in model.arun_function_calls(function_calls, *args, **given):
            _ask(event, questions)
            yield event

    def _prepared(self, given: dict[str, Any]) -> dict[str, Any]:
        offered = given.get("tools")
        # Agno also calls the model for other work, such as memories: that gets nothing.
        if not isinstance(offered, _OfferedTools):
            return given
        last, run = offered.last, offered.anchor.run
        if last is None or not last.is_current(given, self, offered.own_names):
            run.unseen = given
            run.see()
            last = offered.last = self._model_call(given, offered)
        return last.added(given)

    async def _aprepared(self, given: dict[str, Any]) -> dict[str, Any]:
        offered = given.get("tools")
        if not isinstance(offered, _OfferedTools):
            return given
        last = offered.last
        if last is not None and last.is_current(given, self, offered.own_names):
            return last.added(given)
        # Opening the session reads always-on skills, so all of it goes to a thread.
        if offered.anchor.kit.sessions.options.get("always"):
            return await asyncio.to_thread(self._prepared, given)
        run = offered.anchor.run
        run.unseen = given
        run.see()
        make = run.conversation.call_off_loop
        offered.last = await make(self._model_call, given, offered)
        return offered.last.added(given)

    def _model_call(self, given: dict[str, Any], offered: _OfferedTools) -> _ModelCall:
        anchor, run = offered.anchor, offered.anchor.run
        session, messages = run.conversation.session, given["messages"]
        # One by one: Agno sorts a list of several.
        form = super()._format_tools
        tools = run.conversation.tools(offered.own_names)
        formatted = (anchor.formatted(tool, type(self), form) for tool in tools)
        every = [*chain(offered, *formatted)]
        head, at = _head(messages, session, anchor.owner.system_message_role)
        run.save()
        mark, contents = session.mark, [*map(_CONTENT, messages)]
        return _ModelCall(run, self, mark, messages[0], contents, head, at, every)


def _with_skills(model: Model) -> Model:
    """Return a copy of a model whose class is the model's and `_SkilledModel`."""
    kind: Any = type(model)
    mixed: Any = type(kind)(kind.__name__, (_SkilledModel, kind), {})
    skilled: Model = mixed.__new__(mixed)
    skilled.__dict__.update(model.__dict__)  # as Agno itself copies models
    skilled.cache_response = False  # its keys do not depend on what is loaded
    return skilled


def _all_with_skills(fallback: FallbackConfig) -> FallbackConfig:
    skilled: dict[str, Any] = {}
    for name in ("on_error", "on_rate_limit", "on_context_overflow"):
        models = map(get_model, getattr(fallback, name))
        skilled[name] = [_with_skills(model) for model in models if model is not None]
    return replace(fallback, **skilled)


def _factory(factory: Callable[..., Any], kit: _SkillsKit) -> Callable[..., Any]:
    """Return a factory of an agent's tools that adds the kit to them."""

    def make(agent: object, run_context: RunContext) -> list[object]:
        return [kit, *(invoke_callable_factory(factory, agent, run_context) or ())]

    async def amake(agent: object, run_context: RunContext) -> list[object]:
        made = await ainvoke_callable_factory(factory, agent, run_context)
        return [kit, *(made or ())]

    return amake if iscoroutinefunction(factory) else make


def _names(tools: Iterable[Any]) -> Iterator[str]:
    """Yield the names of tools in all forms that Agno takes."""
    for tool in tools:
        if isinstance(tool, Toolkit):
            yield from tool.functions | tool.async_functions
        elif isinstance(tool, Mapping):
            yield str(tool.get("name", ""))
        else:
            yield tool.name if isinstance(tool, Function) else tool.__name__


def _split(functions: Functions | None) -> tuple[Functions, _Anchor | None]:
    own = dict(functions or {})
    return own, cast("_Anchor | None", own.pop(_NAME, None))


def _head(
    messages: list[Message], session: Session, role: str
) -> tuple[list[Message], int]:
    """Return the first messages, and how many of the given ones they replace."""
    at = 1 if messages and messages[0].role == role else 0
    # Content that is no text stays a message of its own, before the session's.
    if at and isinstance(base := messages[0].content, str):
        text = session.instructions(base)
        return [messages[0].model_copy(update={"content": text})], at
    text = session.instructions()
    ours = [Message(role=role, content=text)] if text else []
    return [*messages[:at], *ours], at


def _seen(messages: Iterable[Message], *, compressed: bool) -> Iterator[SeenMessage]:
    reader = ResultReader()
    for message in messages:
        for call in message.tool_calls or ():
            function = call.get("function", {})
            name, arguments = function.get("name", ""), function.get("arguments")
            reader.add_call(call.get("id"), name, arguments)
        if message.role == "tool":
            text = result_text(message.get_content(use_compressed_content=compressed))
            yield reader.result(message.tool_call_id, text, message.tool_name or "")
        else:
            role = "user" if message.role == "user" else "assistant"
            yield seen_message(role, text_of(message.content))


def _questions(calls: Iterable[FunctionCall]) -> dict[str | None, str]:
    waiting = (call for call in calls if isinstance(call, _WaitingCall))
    return {call.call_id: call.question for call in waiting}


def _ask(event: object, questions: Mapping[str | None, str]) -> None:
    """Write the question into the one field for text of a call that waits."""
    if isinstance(event, ModelResponse):
        for call in event.tool_executions or ():
            if call.requires_confirmation and call.tool_call_id in questions:
                call.confirmation_note = questions[call.tool_call_id]
