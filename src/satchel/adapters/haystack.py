"""Skills for Haystack agents: ``agent = attach(skills, to=Agent(...))``.

The copy has a toolset, which Haystack asks again before each step, and hooks that put
the catalog into the prompt of each model call and take it out again. What was loaded is
in the result; go on with ``agent.run([*messages, more], satchel=result["satchel"])``.
"""

from asyncio import to_thread
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from functools import wraps
from inspect import iscoroutinefunction
from threading import Lock
from typing import Any, Final, NoReturn, Self, Unpack, cast
from weakref import WeakKeyDictionary

from satchel.adapters._arguments import check_kind
from satchel.adapters._base import Conversation, Deps, SessionFactory, Who, framework
from satchel.adapters._translation import (
    NO_PARAMETERS,
    ToolForms,
    already_attached,
    question_data,
    reply_of,
    text_of,
)
from satchel.model import SeenMessage
from satchel.runtime import Satchel, SessionOptions
from satchel.tools import Tool as SatchelTool, Toolbox, result_text

with framework("Haystack", "haystack"):
    from haystack.components.agents import Agent
    from haystack.components.agents.state import State, replace_values
    from haystack.components.generators.chat.types import ChatGenerator
    from haystack.core.errors import SerializationError
    from haystack.dataclasses import ChatMessage, ChatRole, ToolCall
    from haystack.hooks.protocol import VALID_HOOK_POINTS, HookPoint
    from haystack.tools import Toolset
    from haystack.tools.tool import Tool

__all__ = ["attach"]

# The key of the state, and the name that stands for all skills in `Agent.run`.
_NAME: Final = "satchel"
_WAITING: Final = "satchel_waiting"
_ANSWERS: Final = "approvals"
_PAUSED: Final = "approval_required"
# Hook points where the agent's own hooks see the messages as they are stored.
_FIRST: Final = {"before_tool", "after_tool", "on_exit", "after_run"}


def attach(
    skills: Satchel,
    *,
    to: Agent,
    who: Who[State] = None,
    deps: Deps[State] = None,
    **options: Unpack[SessionOptions],
) -> Agent:
    """Return a copy of the agent that has skills; ``to`` itself is not changed.

    Where the policy says ask and there is no ``approve``, the run ends before the call:
    ``exit_reason`` is ``approval_required``, ``satchel_waiting`` lists the calls, and
    the last message is the one that makes them. It goes on, in another process too,
    with a run that gets these messages, the ``satchel`` of the result, and
    ``hook_context={"approvals": {call id: True}}``. A no may have words for the model,
    ``{"message": "not today"}``, and a yes other arguments, ``{"arguments": {...}}``.

    Args:
        skills: Whose skills.
        to: The agent.
        who: For whom a run is, or a function of its ``State``, asked as it begins.
        deps: A function of the same, for tools that ask for a `satchel.Run`; by default
            they get the run's ``hook_context``.
        options: As for `satchel.Satchel.session`.

    Raises:
        ExtraMissingError: Haystack is not installed, or is too old.
        TypeError: An argument is unknown or has the wrong type.
        ValueError: The agent has skills already, or no style has that name.
        DuplicateToolError: An own tool has the name of one of a skill. Where not
            everybody has the skill, a run fails with it.
    """
    check_kind("to", to, Agent, "an Agent of Haystack")
    sessions: SessionFactory[State] = SessionFactory(
        skills, who, deps, options, holds_own_tools=True
    )
    own = [to.tools] if isinstance(to.tools, Toolset) else [*to.tools]
    names = [*_names(own)]
    if _NAME in names:
        raise already_attached()
    sessions.check_names(names)
    toolset = _Skills(sessions)
    hooks = dict(to.hooks)
    for point in VALID_HOOK_POINTS:
        ours, theirs = [_Hook(toolset, point)], to.hooks.get(point, [])
        hooks[point] = [*ours, *theirs] if point in _FIRST else [*theirs, *ours]
    schema: dict[str, Any] = {
        _NAME: {"type": dict},
        _WAITING: {"type": list, "handler": replace_values},
    }
    return to.clone(
        chat_generator=_Generator(to.chat_generator),
        tools=[*own, toolset],
        hooks=hooks,
        state_schema={**to.state_schema, **schema},
    )


class _NotSerializable:
    """Belongs to a `Satchel`, which is not part of a pipeline's file."""

    def to_dict(self) -> NoReturn:
        raise SerializationError("write the agent without skills; attach them again")

    @classmethod
    def from_dict(cls, _: dict[str, Any], /) -> NoReturn:
        raise SerializationError("attach skills to the agent that was read")


class _SkillTool(Tool):
    """A tool of Satchel's in Haystack's form; each run has a copy, which knows it."""

    run: "_Run"

    def __deepcopy__(self, _: object) -> Self:
        """Return itself: `State.get` copies everything that it returns."""
        return self

    def invoke(self, /, **arguments: object) -> str:
        approval = self.run.approval(self.name, arguments)
        return result_text(self.run.conversation.call(self.name, arguments, **approval))

    async def invoke_async(self, /, **arguments: object) -> str:
        approval = self.run.approval(self.name, arguments)
        call = self.run.conversation.acall(self.name, arguments, **approval)
        return result_text(await call)


class _Skills(_NotSerializable, Toolset):
    """The skills that were attached; each run has a toolset of its own."""

    def __init__(self, sessions: SessionFactory[State]) -> None:
        # This tool marks a run until its session is open.
        text = "Represents all skills and their tools."
        self.anchor = _SkillTool(_NAME, text, NO_PARAMETERS, _no_function)
        super().__init__([self.anchor])
        self.sessions = sessions
        # A run ends with its state.
        self.runs: WeakKeyDictionary[State, _Run] = WeakKeyDictionary()
        self.tool_forms: ToolForms[_SkillTool] = ToolForms(_haystack_tool)

    def spawn(
        self,
        selected_tool_names: set[str] | None = None,  # noqa: ARG002 - ours, or not at all
    ) -> "_Run":
        return _Run(self)


class _Run(_NotSerializable, Toolset):
    """The tools and the prompt of one run, step by step.

    A method with the name of a hook point runs there.
    """

    conversation: Conversation

    def __init__(self, skills: _Skills) -> None:
        self.skills = skills
        anchor = copy(skills.anchor)
        anchor.run = self
        super().__init__([anchor])
        self._own_names: tuple[str, ...] = ()
        self._offered: Toolbox | None = None
        self._looked_at: list[ChatMessage] | None = None
        self._prompt: tuple[ChatMessage | None, ChatMessage] | None = None
        self._resumed = False
        self._waiting: ChatMessage | None = None
        self._refused: tuple[ChatMessage, ChatMessage, list[ChatMessage]] | None = None
        self._answering = Lock()  # calls of one step run side by side
        self._approvals: list[tuple[str, Mapping[str, Any], dict[str, Any]]] = []

    def __iter__(self) -> Iterator[Tool]:
        """Return what the next model call is offered."""
        # Before the session is open, there is only the anchor.
        if self._looked_at is not None:
            offered = self.conversation.tools(self._own_names)
            if offered is not self._offered:
                self.tools = [self._native(tool) for tool in offered]
                self._offered = offered
        return iter(self.tools)

    def before_run(self, state: State) -> None:
        # The agent's own hooks were first: they may have restored a state.
        tools: list[Tool] = state.data["tools"]
        self._own_names = tuple(tool.name for tool in tools if tool.name != _NAME)
        # The anchor is no tool, and is not in the run's result.
        state.data["tool_call_counts"].pop(_NAME, None)
        state.set(_WAITING, [])
        saved, deps = state.data.get(_NAME), state.data.get("hook_context")
        self.conversation = self.skills.sessions.open(state, saved, deps=deps)
        self._look(state)

    def before_llm(self, state: State) -> None:
        if self._waiting is not None:
            return
        messages = self._look(state)
        # These calls waited in an earlier run: the model is not asked for them again.
        if messages and messages[-1].tool_calls:
            self._resumed = True
            state.data["messages"] = _Resumed(messages)
            return
        has_own = bool(messages) and messages[0].is_from(ChatRole.SYSTEM)
        first = messages[0] if has_own else None
        base = (first.text or "") if first else ""
        text = self.conversation.session.instructions(base)
        if text == base:
            return
        meta, name = (first.meta, first.name) if first else (None, None)
        ours = ChatMessage.from_system(text, meta=meta, name=name)
        self._prompt = first, ours
        state.data["messages"] = [ours, *messages[bool(first) :]]

    def before_tool(self, state: State) -> None:
        """Stop the run if a person has to approve one of the calls."""
        resumed = self._tidy(state)
        *before, last = state.data["messages"]
        answers = (state.data.get("hook_context") or {}).get(_ANSWERS) or {}
        self._approvals, waiting = [], []
        for at, call in enumerate(last.tool_calls):
            name, arguments = call.tool_name, call.arguments
            if all(tool.name != name for tool in self.tools):
                continue
            # Some models give their calls no ids.
            key = call.id or str(at)
            question = self.conversation.question(name, arguments, key)
            if question is not None and resumed and key in answers:
                # Text is never a yes here.
                answer = False if isinstance(answers[key], str) else answers[key]
                approval = {"approved": reply_of(answer), "call_id": key}
                self._approvals.append((name, arguments, approval))
            elif question is not None:
                waiting.append({"id": key, **question_data(question, name, arguments)})
        # Haystack makes all calls that it finds at the end of the messages: these go,
        # until `after_run` puts them back.
        if waiting:
            self._waiting = last
            state.data["messages"] = before
            state.set(_WAITING, waiting)
            state.set("stop_run", _PAUSED)
        elif self.skills.sessions.requires:
            self._hold(state)

    def _hold(self, state: State) -> None:
        """Keep calls of own tools that come before their skills from being made."""
        *before, last = state.data["messages"]
        ours = {tool.name for tool in self.tools}
        left: list[ToolCall] = []
        refused: list[ChatMessage] = []
        for call in last.tool_calls:
            name = call.tool_name
            refusal = (
                None if name in ours else self.conversation.hold(name, call.arguments)
            )
            if refusal is None:
                left.append(call)
            else:
                refused.append(ChatMessage.from_tool(refusal, call))
        # As for those that wait: these go, until `after_tool` puts them back.
        if refused:
            made = ChatMessage.from_assistant(last.text, tool_calls=left)
            state.data["messages"] = [*before, made]
            self._refused = made, last, refused

    def after_tool(self, state: State) -> None:
        if self._refused is not None:
            (made, last, refused), self._refused = self._refused, None
            messages = [
                last if message is made else message
                for message in state.data["messages"]
            ]
            state.data["messages"] = [*messages, *refused]
        state.set(_NAME, self.conversation.save())

    def on_exit(self, state: State) -> None:
        self._tidy(state)

    def after_run(self, state: State) -> None:
        self._tidy(state)
        if self._waiting is not None:
            state.data["messages"] = [*state.data["messages"], self._waiting]
            state.set("exit_reason", _PAUSED)
        state.set(_NAME, self.conversation.save())

    def approval(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return what was answered about a call, once; empty if nobody was asked."""
        with self._answering:
            # Haystack passes no id to a tool: the name and the arguments find the
            # answer.
            for approval in self._approvals:
                if approval[:2] == (name, arguments):
                    self._approvals.remove(approval)
                    return approval[2]
        return {}

    def _look(self, state: State) -> list[ChatMessage]:
        messages: list[ChatMessage] = state.data["messages"]
        if messages is not self._looked_at:
            self.conversation.see(_seen(messages))
            self._looked_at = messages
            state.set(_NAME, self.conversation.save())
        return messages

    def _tidy(self, state: State) -> bool:
        """Take out what was in the messages for one model call only.

        True if the model was not called, because its calls are from an earlier run.
        """
        messages: list[ChatMessage] = state.data["messages"]
        resumed, self._resumed = self._resumed, False
        prompt, self._prompt = self._prompt, None
        if resumed:
            state.data["messages"] = messages[:-1]
        elif prompt:
            own, ours = prompt
            without = [own if message is ours else message for message in messages]
            state.data["messages"] = [m for m in without if m is not None]
        return resumed

    def _native(self, tool: SatchelTool) -> Tool:
        if isinstance(tool.native, Tool):
            return self._guarded(tool.native)
        bound = copy(self.skills.tool_forms.of(tool))
        bound.run = self
        return bound

    def _guarded(self, native: Tool) -> Tool:
        """Return a copy of a tool of Haystack's own that asks the policy first."""
        guarded: Any = copy(native)
        name, parameters = native.name, native.parameters.get("properties", {})

        def call(values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
            # Haystack adds values from its own state, which the model did not give.
            arguments = {key: values[key] for key in values if key in parameters}
            return arguments, self.approval(name, arguments)

        def invoke(**values: Any) -> Any:  # noqa: ANN401 - whatever the tool returns
            arguments, approval = call(values)
            permit = self.conversation.permit(name, arguments, **approval)
            if permit.refusal is not None:
                return result_text(permit.refusal)
            return native.invoke(**{**values, **permit.arguments})

        async def invoke_async(**values: Any) -> Any:  # noqa: ANN401
            arguments, approval = call(values)
            permit = await self.conversation.apermit(name, arguments, **approval)
            if permit.refusal is not None:
                return result_text(permit.refusal)
            return await native.invoke_async(**{**values, **permit.arguments})

        guarded.invoke, guarded.invoke_async = invoke, invoke_async
        return cast("Tool", guarded)


class _Hook(_NotSerializable):
    """Passes one hook point on to the run whose state it is."""

    def __init__(self, skills: _Skills, point: HookPoint) -> None:
        self._skills = skills
        self._point = point

    def run(self, state: State) -> None:
        run = self._run_of(state)
        if run is not None:
            getattr(run, self._point)(state)

    async def run_async(self, state: State) -> None:
        run = self._run_of(state)
        if run is None:
            return
        if self._point == "before_run":
            await self._skills.sessions.call_off_loop(self.run, state)
        elif self._point == "before_llm":
            await run.conversation.call_off_loop(self.run, state)
        elif self._point == "before_tool" and self._skills.sessions.requires:
            await to_thread(self.run, state)
        else:
            self.run(state)

    def _run_of(self, state: State) -> _Run | None:
        if self._point == "before_run":
            for tool in state.data["tools"]:
                if isinstance(tool, _SkillTool) and tool.run.skills is self._skills:
                    self._skills.runs[state] = tool.run
        return self._skills.runs.get(state)


class _Resumed(list[ChatMessage]):
    """Messages that end with tool calls, so the model is not called."""


class _Generator:
    """The agent's generator, which is not called where a run is resumed."""

    def __init__(self, generator: ChatGenerator) -> None:
        self._generator: Any = generator

        @wraps(generator.run)
        def run(messages: list[ChatMessage], **options: object) -> object:
            if isinstance(messages, _Resumed):
                return _pending_calls(messages)
            return self._generator.run(messages=messages, **options)

        # Haystack looks at the parameters of `run`, and whether there is `run_async`.
        self.run = run
        run_async = getattr(generator, "run_async", None)
        if iscoroutinefunction(run_async):

            @wraps(run_async)
            async def arun(messages: list[ChatMessage], **options: object) -> object:
                if isinstance(messages, _Resumed):
                    return _pending_calls(messages)
                return await self._generator.run_async(messages=messages, **options)

            self.run_async = arun

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever it has
        return getattr(self._generator, name)


def _pending_calls(messages: list[ChatMessage]) -> dict[str, Any]:
    """Return the pending calls as a reply; it has no usage that could be counted."""
    return {"replies": [ChatMessage.from_assistant(tool_calls=messages[-1].tool_calls)]}


def _haystack_tool(tool: SatchelTool) -> _SkillTool:
    return _SkillTool(tool.name, tool.description, dict(tool.parameters), _no_function)


def _no_function(**_: object) -> str:
    return "There is nothing to call here."


def _names(tools: Iterable[Tool | Toolset]) -> Iterator[str]:
    """Yield names of tools; a toolset that makes them in each run has none yet."""
    for tool in tools:
        if isinstance(tool, Toolset):
            yield from (inner.name for inner in tool.tools)
        else:
            yield tool.name


def _seen(messages: Iterable[ChatMessage]) -> Iterator[SeenMessage]:
    for message in messages:
        for result in message.tool_call_results:
            call: ToolCall = result.origin
            text = text_of(result.result)
            yield SeenMessage("tool", text, call.tool_name, call.arguments)
        if message.is_from(ChatRole.USER):
            yield SeenMessage("user", message.text or "")
        elif message.is_from(ChatRole.ASSISTANT):
            yield SeenMessage("assistant")
