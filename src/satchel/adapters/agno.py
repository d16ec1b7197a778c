"""Skills on Agno agents and teams: a copy of the agent.

::

    agent = agno.attach(skills, to=Agent(model=model, tools=[mine], db=db))

Agno fixes the prompt and the tools of a run before its first model call, and sorts the
tools by name. So the copy has a model that adds the catalog and the tools to each call,
behind the agent's own; its class is one below that of the agent's model. What a
conversation has loaded lives in the session state.
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

from satchel.adapters._base import Conversation, SessionFactory, framework
from satchel.errors import DuplicateToolError
from satchel.model import Reply, SeenMessage
from satchel.runtime import Satchel, Session, SessionOptions, question_text
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

Who: TypeAlias = Mapping[str, Any] | Callable[[RunContext], Mapping[str, Any]]
Deps: TypeAlias = Callable[[RunContext], object]
Component = TypeVar("Component", Agent, Team)
Functions: TypeAlias = dict[str, Function]

_NAME: Final = "satchel"
"""Of the toolkit, its one function, and what the session state holds of ours."""
_WAITING: Final = "satchel-waiting"
"""What the session state holds of calls that wait for approval."""
_CONTENT: Final = attrgetter("content")


def attach(
    skills: Satchel,
    *,
    to: Component,
    who: Who | None = None,
    deps: Deps | None = None,
    **options: Unpack[SessionOptions],
) -> Component:
    """Return a copy of an agent or a team that loads skills and calls their tools.

    Where the policy says ask and no ``approve`` is given, the run pauses as it does for
    any tool of Agno that requires confirmation, and goes on with ``continue_run``. What
    to show a person is in ``tool_execution.confirmation_note``. Arguments that replace
    the model's are set as ``tool_execution.tool_args`` before ``confirm``.

    Args:
        skills: Where they come from.
        to: The agent or team; it stays as it is. Members of a team are attached each.
        who: For whom a run is: a mapping, or a function of its ``RunContext``.
        deps: A function of the same, for tools that ask for a `satchel.Run`; None is
            the run's ``dependencies``.
        options: Of every session: ``always``, ``only``, ``approve`` and others.

    Raises:
        ExtraMissingError: Agno is not installed, or is too old.
        TypeError: An argument is not known, or of another type.
        DuplicateToolError: An own tool has the name of one of a skill. Where tools are
            made for each run, or not everybody has the skill, a run fails with it.
        ValueError: The agent has no model, or no style has that name.
    """
    # Agno's own API lets its callers write the session state.
    attached: SessionFactory[RunContext] = SessionFactory(
        skills, who, deps, options, trusts=False
    )
    own: Any = to.tools
    model = get_model(to.model)
    if model is None:
        raise ValueError("give the agent its model before skills are attached")
    if not callable(own):
        names = [*_names(own or ())]
        if _NAME in names:
            raise DuplicateToolError(_NAME, "the agent", "satchel")
        skills.session(**options).tools(beside=names)
    kit = _Kit(attached)
    fallback = to.fallback_config
    return to.deep_copy(
        update={
            "model": _skilled(model),
            "tools": _made_with(own, kit) if callable(own) else [*(own or ()), kit],
            "fallback_config": None if fallback is None else _skilled_all(fallback),
        }
    )


class _Kit(Toolkit):
    """What was said when skills were attached, and a function that knows the run."""

    def __init__(self, attached: SessionFactory[RunContext]) -> None:
        super().__init__(name=_NAME)
        self.attached = attached
        self.known: dict[object, tuple[object, list[dict[str, Any]]]] = {}
        for functions in (self.functions, self.async_functions):
            functions[_NAME] = _Anchor(
                name=_NAME,
                description="Looks after skills; there is nothing to call.",
                entrypoint=_nothing,
                skip_entrypoint_processing=True,
                kit=self,
                is_async=functions is self.async_functions,
            )

    def __deepcopy__(self, _: object) -> Self:
        """Return itself: Agno copies an agent with all that it holds."""
        return self

    def open(self, run: RunContext, owner: Agent | Team, key: str) -> Conversation:
        """Take the conversation up from what is kept of it under the key."""
        kept = (run.session_state or {}).get(key)
        if isinstance(kept, str):
            with suppress(ValueError, RecursionError):  # the session reports it
                kept = json.loads(kept)
        deps, agent = run.dependencies, owner.name or ""
        return self.attached.open(run, kept, deps=deps, agent=agent)


@dataclass(slots=True)
class _Run:
    """What one run has to do with skills, and where in the session state it is kept.

    ``unseen`` are the arguments of a model call that the session is to be told of.
    """

    talk: Conversation
    context: RunContext
    key: str
    unseen: Mapping[str, Any] | None = None
    kept: tuple[object, str] | None = None

    def see(self) -> None:
        """Take in the messages of the last model call."""
        given, self.unseen = self.unseen, None
        if given is not None:
            compressed = bool(given.get("compress_tool_results"))
            self.talk.see(_seen(given["messages"], compressed=compressed))

    def keep(self) -> None:
        """Keep what the session has to remember, in the session state.

        As text: Agno copies the state deeply, more than once a run.
        """
        mark, kept = self.talk.session.mark, self.kept
        if kept is None or kept[0] is not mark:
            kept = self.kept = mark, json.dumps(self.talk.keep())
        self._state[self.key] = kept[1]

    def id_of(self, call: FunctionCall) -> str:
        """Return what no call of another run is called; models may count theirs."""
        run, own = self.context, call.call_id
        return f"{run.session_id}/{run.run_id}/{own}" if own else ""

    def wait(self, call: FunctionCall) -> None:
        """Keep what the model gave in a call that waits; a person may edit it."""
        if id_ := self.id_of(call):
            self._put({**self._waiting(), id_: call.arguments or {}})

    def given(self, call: FunctionCall) -> Mapping[str, Any]:
        """Return what the model gave in a call that does not wait any more."""
        waiting, own = self._waiting(), call.arguments or {}
        given = waiting.pop(self.id_of(call), own)
        self._put(waiting)
        return cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else own

    def _waiting(self) -> dict[str, object]:
        with suppress(TypeError, ValueError, RecursionError):  # others can write it
            return dict(json.loads(self._state.get(self._waits, "{}")))
        return {}

    def _put(self, waiting: Mapping[str, object]) -> None:
        self._state.pop(self._waits, None)
        if waiting:
            self._state[self._waits] = json.dumps(waiting)

    @property
    def _state(self) -> dict[str, Any]:
        if self.context.session_state is None:
            self.context.session_state = {}
        return self.context.session_state

    @property
    def _waits(self) -> str:
        return _WAITING + self.key.removeprefix(_NAME)


class _Asking(FunctionCall):
    """A call that somebody has to approve, with the text that a person is shown."""

    question: str


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of a skill's tool, and what was answered about it.

    ``given`` is what the model gave. ``answered`` is what the reply is about: the same,
    or what a person put in its place.
    """

    run: _Run
    call: FunctionCall
    is_native: bool
    given: Mapping[str, Any]
    answered: Mapping[str, Any]
    reply: Reply | None

    def hook(self, function_call: Any, arguments: dict[str, Any]) -> object:  # noqa: ANN401
        """Stand in the function's place, or before one of Agno's own."""
        talk, name = self.run.talk, self.call.function.name
        given, how = self._about(arguments)
        if not self.is_native:
            result = talk.answer(name, given, **how)
            self.run.keep()
            return result_text(result)
        permit = talk.permit(name, given, **how)
        self.run.keep()
        if permit.refusal is not None:
            return result_text(permit.refusal)
        self.call.arguments = {**permit.arguments}  # Agno calls it with these
        return function_call(**permit.arguments)

    async def ahook(self, function_call: Any, arguments: dict[str, Any]) -> object:  # noqa: ANN401
        """Do as `hook` does; waits for asynchronous tools and approvers."""
        talk, name = self.run.talk, self.call.function.name
        given, how = self._about(arguments)
        if not self.is_native:
            result = await talk.aanswer(name, given, **how)
            self.run.keep()
            return result_text(result)
        permit = await talk.apermit(name, given, **how)
        self.run.keep()
        if permit.refusal is not None:
            return result_text(permit.refusal)
        self.call.arguments = {**permit.arguments}
        return await function_call(**permit.arguments)

    def _about(
        self, arguments: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], dict[str, Any]]:
        """Return the arguments to call with, and the answer if it is about them.

        A hook of the agent's own may have put others in their place.
        """
        how: dict[str, Any] = {"call_id": self.run.id_of(self.call)}
        if self.reply is None or arguments != self.answered:
            return arguments, how
        return self.given, {**how, "approved": self.reply}


class _Anchor(Function):
    """A function that no model sees: each run has a copy of it, which knows the run."""

    kit: Any = Field(exclude=True, repr=False)
    is_async: bool = Field(exclude=True)
    _opened: Any = PrivateAttr(default=None)

    @property
    def owner(self) -> Any:  # noqa: ANN401 - an agent or a team
        """Whose run it is."""
        return self._team if self._agent is None else self._agent

    @property
    def run(self) -> _Run:
        """What this run has to do with skills; begun when it is first asked for."""
        if self._opened is None:
            # A team and its members have one session state.
            name = self.kit.attached.options.get("agent") or self.owner.name
            key = f"{_NAME}:{name}" if name else _NAME
            context = cast("RunContext", self._run_context)
            talk = self.kit.open(context, self.owner, key)
            self._opened = _Run(talk, context, key)
        return cast("_Run", self._opened)

    def formatted(
        self, tool: Tool, kind: type, form: Callable[[list[Any]], list[dict[str, Any]]]
    ) -> list[dict[str, Any]]:
        """Return a tool in a provider's form; one that stays as it is is made once."""
        if tool.native is not None:
            return form([self.native(tool)])
        place = kind, bool(self.strict), tool.name
        made_of = tool.description, tool.parameters
        known = self.kit.known.get(place)
        if known is None or known[0] != made_of:
            known = self.kit.known[place] = made_of, form([self.native(tool)])
        return cast("list[dict[str, Any]]", known[1])

    def native(self, tool: Tool) -> Function:
        """Return a tool in Agno's form, bound to this run."""
        if isinstance(tool.native, Function):
            function = tool.native.model_copy(deep=True)
        else:
            function = Function(
                name=tool.name,
                description=tool.description,
                parameters=deepcopy(dict(tool.parameters)),
                entrypoint=_nothing,
                skip_entrypoint_processing=True,
            )
        function.process_entrypoint(strict=bool(self.strict))
        function.strict = function.strict or self.strict
        for name in Function.__private_attributes__.keys() - {"_framework_params"}:
            setattr(function, name, getattr(self, name))  # what Agno tells of the run
        return function

    def bound(
        self,
        call: FunctionCall,
        given: Mapping[str, Any] | None = None,
        reply: Reply | None = None,
    ) -> FunctionCall:
        """Return a call with what carries it out; what stands against it is its result.

        ``reply`` is what was answered about it; without, it may have to wait.
        """
        run, name, arguments = self.run, call.function.name, call.arguments or {}
        run.see()
        tool = run.talk.tool(name)
        if tool is None:
            tool = Tool(name, "", {"type": "object", "properties": {}}, dict)
        function, is_native = self.native(tool), tool.native is not None
        if reply is None and (asked := run.talk.asked(name, arguments)) is not None:
            function.requires_confirmation = True
            if given is None:
                run.wait(call)
            call = _Asking(**dict(call), question=question_text(asked))
        call.function = function
        function.tool_hooks = self.owner.tool_hooks
        asks = run.talk.session.question(name, arguments) is not None
        if asks or reply is not None or not is_native:
            given = arguments if given is None else given
            answered = deepcopy(arguments)
            made = _Call(run, call, is_native, given, answered, reply)
            hook: Callable[..., object] = made.ahook if self.is_async else made.hook
            function.tool_hooks = [*(self.owner.tool_hooks or ()), hook]
        return call


def _nothing(**_: object) -> str:
    """Answer a model that is given the anchor all the same, one that reasons say."""
    return "There is nothing to call here."


class _Offered(list[dict[str, Any]]):
    """The agent's own tools in a provider's form, with what ours are made of."""

    anchor: _Anchor
    beside: frozenset[str]
    told: "_Told | None" = None


@dataclass(frozen=True, slots=True)
class _Told:
    """What a model call was told, and all that it follows from.

    ``head`` stands in place of the first ``at`` messages.
    """

    run: _Run
    model: Model
    mark: object
    first: Message
    contents: list[object]
    head: list[Message]
    at: int
    tools: list[dict[str, Any]]

    def holds(
        self, given: Mapping[str, Any], model: Model, own: AbstractSet[str]
    ) -> bool:
        """Tell whether this model call is to be told the same.

        Nothing has changed, and only assistants and the agent's own tools have spoken
        since; what these said is looked at later, should it matter.
        """
        messages, run, known = given["messages"], self.run, len(self.contents)
        if (
            model is not self.model
            or self.mark is not run.talk.session.mark
            or given.get("compress_tool_results")
            or messages[0] is not self.first
            or [*map(_CONTENT, messages[:known])] != self.contents
        ):
            return False
        for each in messages[known:]:
            is_own = each.role == "tool" and each.tool_name in own
            if not is_own and each.role != "assistant":
                return False
        run.unseen = {"messages": [*messages]}
        run.keep()
        return True

    def added(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a model call with all that is added to them."""
        messages = [*self.head, *given["messages"][self.at :]]
        return {**given, "messages": messages, "tools": [*self.tools]}


class _Skilled(Model):
    """Mixed into a model's class: looks after the prompt and tools of each call.

    `Model.response` and its kin format the tools once a run, hand them to ``invoke``
    for each step, and look up in the run's own functions what is called.
    """

    def _format_tools(
        self, tools: list[Function | dict[str, Any]] | None
    ) -> list[dict[str, Any]]:
        own = [each for each in tools or () if not isinstance(each, _Anchor)]
        formatted = super()._format_tools(own)
        for each in tools or ():
            if isinstance(each, _Anchor):
                formatted = _Offered(formatted)
                formatted.anchor, formatted.beside = each, frozenset(_names(own))
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
        async for each in model.ainvoke_stream(*args, **prepared):
            yield each

    def get_function_calls_to_run(
        self,
        assistant_message: Message,
        messages: list[Message],
        functions: Functions | None = None,
    ) -> list[FunctionCall]:
        own, anchor = _parted(functions)
        if anchor is None:
            return super().get_function_calls_to_run(assistant_message, messages, own)
        tool_calls = assistant_message.tool_calls or ()
        called = (each.get("function", {}).get("name") for each in tool_calls)
        ours = {name for name in called if isinstance(name, str)} - own.keys()
        known = own | {name: Function(name=name) for name in ours}
        calls = super().get_function_calls_to_run(assistant_message, messages, known)
        return [
            anchor.bound(call) if call.function.name in ours else call for call in calls
        ]

    def get_function_call_to_run_from_tool_execution(
        self, tool_execution: ToolExecution, functions: Functions | None = None
    ) -> FunctionCall:
        own, anchor = _parted(functions)
        name = tool_execution.tool_name
        if anchor is None or name is None or name in own:
            make = super().get_function_call_to_run_from_tool_execution
            return make(tool_execution, own)
        known = own | {name: Function(name=name)}
        call = super().get_function_call_to_run_from_tool_execution(
            tool_execution, known
        )
        given = anchor.run.given(call)
        reply: Reply | None = None
        if tool_execution.confirmed:
            arguments = call.arguments or {}
            edited = None if arguments == given else arguments
            reply = Reply("yes_once", arguments=edited)
        call = anchor.bound(call, given, reply)
        note = tool_execution.confirmation_note
        if isinstance(call, _Asking) and note == call.question:
            tool_execution.confirmation_note = None  # nobody said it: no words of a no
        return call

    def run_function_calls(
        self,
        function_calls: list[FunctionCall],
        *args: Any,  # noqa: ANN401 - as Agno's own
        **given: Any,  # noqa: ANN401
    ) -> Iterator[Any]:
        questions = _questions(function_calls)
        for each in super().run_function_calls(function_calls, *args, **given):
            _ask(each, questions)
            yield each

    async def arun_function_calls(
        self,
        function_calls: list[FunctionCall],
        *args: Any,  # noqa: ANN401 - as Agno's own
        **given: Any,  # noqa: ANN401
    ) -> AsyncIterator[Any]:
        questions = _questions(function_calls)
        async for each in super().arun_function_calls(function_calls, *args, **given):
            _ask(each, questions)
            yield each

    def _prepared(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a model call with all that is added to them."""
        offered = given.get("tools")
        if not isinstance(offered, _Offered):
            return given
        told = offered.told
        if told is None or not told.holds(given, self, offered.beside):
            offered.anchor.run.unseen = given
            offered.anchor.run.see()
            told = offered.told = self._told(given, offered)
        return told.added(given)

    async def _aprepared(self, given: dict[str, Any]) -> dict[str, Any]:
        """Do as `_prepared` does; what reads files does so in a thread."""
        offered = given.get("tools")
        if not isinstance(offered, _Offered):
            return given
        told = offered.told
        if told is not None and told.holds(given, self, offered.beside):
            return told.added(given)
        if offered.anchor.kit.attached.options.get("always"):
            return await asyncio.to_thread(self._prepared, given)
        run = offered.anchor.run
        run.unseen = given
        run.see()
        if run.talk.session.reads_files:
            told = await asyncio.to_thread(self._told, given, offered)
        else:
            told = self._told(given, offered)
        offered.told = told
        return told.added(given)

    def _told(self, given: dict[str, Any], offered: _Offered) -> _Told:
        anchor, run = offered.anchor, offered.anchor.run
        talk, session, messages = run.talk, run.talk.session, given["messages"]
        # One by one: Agno sorts what it is given by name.
        form, ours = super()._format_tools, talk.tools(beside=offered.beside)
        each = (anchor.formatted(tool, type(self), form) for tool in ours)
        tools = [*chain(offered, *each)]
        head, at = _head(messages, session, anchor.owner.system_message_role)
        run.keep()
        mark, contents = session.mark, [*map(_CONTENT, messages)]
        return _Told(run, self, mark, messages[0], contents, head, at, tools)


def _skilled(model: Model) -> Model:
    """Return a copy of a model whose class is that of the model and ours."""
    kind: Any = type(model)
    ours: Any = type(kind)(kind.__name__, (_Skilled, kind), {})
    skilled: Model = ours.__new__(ours)
    skilled.__dict__.update(model.__dict__)  # as Agno itself copies models
    skilled.cache_response = False  # its keys know nothing of what is loaded
    return skilled


def _skilled_all(fallback: FallbackConfig) -> FallbackConfig:
    skilled: dict[str, Any] = {}
    for name in ("on_error", "on_rate_limit", "on_context_overflow"):
        models = map(get_model, getattr(fallback, name))
        skilled[name] = [_skilled(model) for model in models if model is not None]
    return replace(fallback, **skilled)


def _made_with(factory: Callable[..., Any], kit: _Kit) -> Callable[..., Any]:
    """Return a factory of an agent's tools that makes ours beside them."""

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


def _parted(functions: Functions | None) -> tuple[Functions, _Anchor | None]:
    """Return the functions that are the agent's own, and ours."""
    own = dict(functions or {})
    return own, cast("_Anchor | None", own.pop(_NAME, None))


def _head(
    messages: list[Message], session: Session, role: str
) -> tuple[list[Message], int]:
    """Return what comes first, the session's text behind the agent's own.

    Beside it how many of the messages it replaces.
    """
    at = 1 if messages and messages[0].role == role else 0
    if at and isinstance(base := messages[0].content, str):
        text = session.instructions(base)
        return [messages[0].model_copy(update={"content": text})], at
    text = session.instructions()
    ours = [Message(role=role, content=text)] if text else []
    return [*messages[:at], *ours], at


def _seen(messages: Iterable[Message], *, compressed: bool) -> Iterator[SeenMessage]:
    """Yield messages as a session takes them, the results as the model sees them."""
    for message in messages:
        if message.role == "tool":
            text = result_text(message.get_content(use_compressed_content=compressed))
            yield SeenMessage("tool", text, message.tool_name or "")
        else:
            yield SeenMessage("user" if message.role == "user" else "assistant")


def _questions(calls: Iterable[FunctionCall]) -> dict[str | None, str]:
    """Return what a person is to be asked, by the ids of the calls."""
    return {each.call_id: each.question for each in calls if isinstance(each, _Asking)}


def _ask(event: object, questions: Mapping[str | None, str]) -> None:
    """Write the question into the one field for text of a call that waits."""
    if isinstance(event, ModelResponse):
        for each in event.tool_executions or ():
            if each.requires_confirmation and each.tool_call_id in questions:
                each.confirmation_note = questions[each.tool_call_id]
