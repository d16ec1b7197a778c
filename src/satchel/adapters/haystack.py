"""Skills for Haystack agents: ``attach(skills, to=agent)``.

::

    agent = haystack.attach(skills, to=Agent(chat_generator=llm, tools=[mine]))
    result = agent.run(messages)
    agent.run([*result["messages"], more], satchel=result["satchel"])

What is returned is a copy of the agent with a toolset behind its own tools, which
Haystack asks anew before each step, and with hooks that put the catalog into the prompt
of each call of the model and take it out again. What a conversation has loaded is in
the agent's state and in its result, under ``satchel``.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import wraps
from inspect import iscoroutinefunction
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self, TypeAlias, cast
from weakref import WeakKeyDictionary

from satchel.adapters._base import Conversation, SessionFactory, framework
from satchel.errors import DuplicateToolError
from satchel.model import Reply, SeenMessage
from satchel.runtime import question_text
from satchel.tools import Tool as Carried, Toolbox, result_text

if TYPE_CHECKING:
    from typing import Unpack

    from satchel.runtime import Satchel, SessionOptions

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

Who: TypeAlias = Mapping[str, Any] | Callable[[State], Mapping[str, Any]]
Deps: TypeAlias = Callable[[State], object]

_NAME: Final = "satchel"
"""The key of the state, and the name that stands for all skills in `Agent.run`."""
_WAITING: Final = "satchel_waiting"
_ANSWERS: Final = "approvals"
_PAUSED: Final = "approval_required"
_FIRST: Final = {"before_tool", "after_tool", "on_exit", "after_run"}
"""Hook points where the agent's own hooks are to see the messages as they are kept."""


def attach(
    skills: "Satchel",
    *,
    to: Agent,
    who: Who | None = None,
    deps: Deps | None = None,
    **options: "Unpack[SessionOptions]",
) -> Agent:
    """Return a copy of the agent that has skills; ``to`` itself stays as it is.

    Where the policy says ask and no ``approve`` is given, the run ends before the call:
    ``exit_reason`` is ``approval_required``, ``satchel_waiting`` tells the calls, and
    the last message is the one that asks for them. It goes on, in another process too,
    with a run that is given these messages, the ``satchel`` of the result, and
    ``hook_context={"approvals": {call id: True}}``. A no may bring words for the model,
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
        TypeError: An argument is not known, or of another type.
        ValueError: No style has that name.
        DuplicateToolError: An own tool has the name of one of a skill, or the agent has
            skills already. Where not everybody has the skill, a run fails with it.
    """
    attached: SessionFactory[State] = SessionFactory(skills, who, deps, options)
    own = [to.tools] if isinstance(to.tools, Toolset) else [*to.tools]
    names = [*_names(own)]
    if _NAME in names:
        raise DuplicateToolError(_NAME, "the agent", "satchel")
    skills.session(**options).tools(beside=names)
    kit = _Kit(attached)
    hooks = dict(to.hooks)
    for point in VALID_HOOK_POINTS:
        ours, theirs = [_Hook(kit, point)], to.hooks.get(point, [])
        hooks[point] = [*ours, *theirs] if point in _FIRST else [*theirs, *ours]
    schema: dict[str, Any] = {
        _NAME: {"type": dict},
        _WAITING: {"type": list, "handler": replace_values},
    }
    return to.clone(
        chat_generator=_Generator(to.chat_generator),
        tools=[*own, kit],
        hooks=hooks,
        state_schema={**to.state_schema, **schema},
    )


class _Unkept:
    """What belongs to a `Satchel`, which is no part of a pipeline's file."""

    def to_dict(self) -> NoReturn:
        """Tell that it cannot be written."""
        raise SerializationError("write the agent without skills, and attach them anew")

    @classmethod
    def from_dict(cls, _: dict[str, Any], /) -> NoReturn:
        """Tell that it cannot be read."""
        raise SerializationError("attach skills to the agent that was read")


class _SkillTool(Tool):
    """A tool of Satchel's in Haystack's form; each run has a copy, which knows it."""

    run: "_Run"

    def __deepcopy__(self, _: object) -> Self:
        """Return itself: `State.get` copies all that it returns."""
        return self

    def invoke(self, /, **arguments: object) -> str:
        """Carry a call out; what stands against it is its result."""
        answer = self.run.answer(self.name, arguments)
        return result_text(
            self.run.talk.answer(
                self.name, arguments, approved=answer.reply, call_id=answer.id
            )
        )

    async def invoke_async(self, /, **arguments: object) -> str:
        """Do as `invoke` does."""
        answer = self.run.answer(self.name, arguments)
        result = await self.run.talk.aanswer(
            self.name, arguments, approved=answer.reply, call_id=answer.id
        )
        return result_text(result)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What was answered about a call, and its id; nothing where nobody was asked."""

    reply: Reply | None = None
    id: str = ""


class _Kit(_Unkept, Toolset):
    """What was said when skills were attached; each run has a toolset of its own.

    Its one tool is what a run can be told by until its session is open.
    """

    def __init__(self, attached: SessionFactory[State]) -> None:
        parameters: dict[str, Any] = {"type": "object", "properties": {}}
        text = "Stands for all skills and their tools."
        self.anchor = _SkillTool(_NAME, text, parameters, _nothing)
        super().__init__([self.anchor])
        self.attached = attached
        self.runs: WeakKeyDictionary[State, _Run] = WeakKeyDictionary()
        self._known: dict[str, _SkillTool] = {}

    def spawn(
        self,
        selected_tool_names: set[str] | None = None,  # noqa: ARG002 - ours, or not at all
    ) -> "_Run":
        """Return the tools of one run."""
        return _Run(self)

    def open(self, state: State) -> Conversation:
        """Take the conversation up from what is kept of it in the state."""
        data = state.data
        return self.attached.open(state, data.get(_NAME), deps=data.get("hook_context"))

    def form(self, tool: Carried) -> _SkillTool:
        """Return a tool in Haystack's form, made once while it stays as it is."""
        known = self._known.get(tool.name)
        if (
            known is None
            or known.description != tool.description
            or known.parameters != tool.parameters
        ):
            parameters = dict(tool.parameters)
            known = _SkillTool(tool.name, tool.description, parameters, _nothing)
            self._known[tool.name] = known
        return known


class _Run(_Unkept, Toolset):
    """The tools and the prompt of one run, step by step.

    A method that has the name of a hook point is what happens there.
    """

    talk: Conversation

    def __init__(self, kit: _Kit) -> None:
        self.kit = kit
        anchor = copy(kit.anchor)
        anchor.run = self
        super().__init__([anchor])
        self._beside: tuple[str, ...] = ()
        self._offered: Toolbox | None = None
        self._looked_at: list[ChatMessage] | None = None
        self._prompt: tuple[ChatMessage | None, ChatMessage] | None = None
        self._resumed = False
        self._waiting: ChatMessage | None = None
        self._answering = Lock()  # calls of one step run side by side
        self._answers: list[tuple[str, Mapping[str, Any], _Answer]] = []

    def __iter__(self) -> Iterator[Tool]:
        """Return what the next call of the model is offered."""
        if self._looked_at is not None:
            offered = self.talk.tools(beside=self._beside)
            if offered is not self._offered:
                self.tools = [self._native(tool) for tool in offered]
                self._offered = offered
        return iter(self.tools)

    def before_run(self, state: State) -> None:
        """Open the session; the agent's own hooks may have restored a state."""
        tools: list[Tool] = state.data["tools"]
        self._beside = tuple(tool.name for tool in tools if tool.name != _NAME)
        state.data["tool_call_counts"].pop(_NAME, None)
        state.set(_WAITING, [])
        self.talk = self.kit.open(state)
        self._look(state)

    def before_llm(self, state: State) -> None:
        """Put the session's text behind the agent's own prompt, for this call."""
        if self._waiting is not None:
            return
        messages = self._look(state)
        if messages and messages[-1].tool_calls:
            self._resumed = True
            state.data["messages"] = _Resumed(messages)
            return
        first = (
            messages[0] if messages and messages[0].is_from(ChatRole.SYSTEM) else None
        )
        base = (first.text or "") if first else ""
        text = self.talk.session.instructions(base)
        if text == base:
            return
        meta, name = (first.meta, first.name) if first else (None, None)
        ours = ChatMessage.from_system(text, meta=meta, name=name)
        self._prompt = first, ours
        state.data["messages"] = [ours, *messages[bool(first) :]]

    def before_tool(self, state: State) -> None:
        """Stop the run if one of the calls waits for an answer."""
        resumed = self._tidy(state)
        *before, last = state.data["messages"]
        given = (state.data.get("hook_context") or {}).get(_ANSWERS) or {}
        self._answers, waiting = [], []
        for at, call in enumerate(last.tool_calls):
            name, arguments = call.tool_name, call.arguments
            question = self.talk.asked(name, arguments) if self._has(name) else None
            if question is None:
                continue
            key = call.id or str(at)
            if resumed and key in given:
                answer = _Answer(_reply(given[key]), call.id or "")
                self._answers.append((name, arguments, answer))
                continue
            asked = {"id": key, "skill": question.skill, "tool": name}
            told = {"reason": question.reason, "question": question_text(question)}
            waiting.append({**asked, "arguments": arguments, **told})
        if waiting:
            self._waiting = last
            state.data["messages"] = before
            state.set(_WAITING, waiting)
            state.set("stop_run", _PAUSED)

    def after_tool(self, state: State) -> None:
        """Keep what the calls have changed."""
        state.set(_NAME, self.talk.keep())

    def on_exit(self, state: State) -> None:
        """Take the prompt of this call out of what is kept."""
        self._tidy(state)

    def after_run(self, state: State) -> None:
        """Leave the messages and the state as the next run is to get them."""
        self._tidy(state)
        if self._waiting is not None:
            state.data["messages"] = [*state.data["messages"], self._waiting]
            state.set("exit_reason", _PAUSED)
        state.set(_NAME, self.talk.keep())

    def answer(self, name: str, arguments: Mapping[str, Any]) -> _Answer:
        """Return what was answered about a call, once; empty if nobody was asked."""
        with self._answering:
            for each in self._answers:
                if each[:2] == (name, arguments):
                    self._answers.remove(each)
                    return each[2]
        return _Answer()

    def _look(self, state: State) -> list[ChatMessage]:
        messages: list[ChatMessage] = state.data["messages"]
        if messages is not self._looked_at:
            self.talk.see(_seen(messages))
            self._looked_at = messages
            state.set(_NAME, self.talk.keep())
        return messages

    def _tidy(self, state: State) -> bool:
        """Take out what stood in the messages for one call of the model only.

        Returns:
            Whether that call was none, as the model had spoken in an earlier run.
        """
        messages: list[ChatMessage] = state.data["messages"]
        resumed, self._resumed = self._resumed, False
        prompt, self._prompt = self._prompt, None
        if resumed:
            state.data["messages"] = messages[:-1]
        elif prompt:
            own, ours = prompt
            kept = [own if each is ours else each for each in messages]
            state.data["messages"] = [each for each in kept if each is not None]
        return resumed

    def _has(self, name: str) -> bool:
        return any(tool.name == name for tool in self.tools)

    def _native(self, tool: Carried) -> Tool:
        """Return a tool in Haystack's form, bound to this run."""
        if isinstance(tool.native, Tool):
            return self._guarded(tool.native)
        bound = copy(self.kit.form(tool))
        bound.run = self
        return bound

    def _guarded(self, native: Tool) -> Tool:
        """Return a copy of a tool of Haystack's own that the policy is asked about."""
        guarded: Any = copy(native)
        name, known = native.name, native.parameters.get("properties", {})

        def invoke(**given: Any) -> Any:  # noqa: ANN401 - whatever the tool returns
            arguments = {key: given[key] for key in given if key in known}
            answer = self.answer(name, arguments)
            permit = self.talk.permit(
                name, arguments, approved=answer.reply, call_id=answer.id
            )
            if permit.refusal is None:
                return native.invoke(**{**given, **permit.arguments})
            return result_text(permit.refusal)

        async def invoke_async(**given: Any) -> Any:  # noqa: ANN401
            arguments = {key: given[key] for key in given if key in known}
            answer = self.answer(name, arguments)
            permit = await self.talk.apermit(
                name, arguments, approved=answer.reply, call_id=answer.id
            )
            if permit.refusal is None:
                return await native.invoke_async(**{**given, **permit.arguments})
            return result_text(permit.refusal)

        guarded.invoke, guarded.invoke_async = invoke, invoke_async
        return cast("Tool", guarded)


class _Hook(_Unkept):
    """Hands one hook point on to the run whose state it is."""

    def __init__(self, kit: _Kit, point: HookPoint) -> None:
        self._kit = kit
        self._point = point

    def run(self, state: State) -> None:
        """Do what is to be done here; nothing where the run has no skills."""
        run = self._run_of(state)
        if run is not None:
            getattr(run, self._point)(state)

    async def run_async(self, state: State) -> None:
        """Do as `run` does; what reads files does so in a thread."""
        run = self._run_of(state)
        if run is None:
            return
        if self._point == "before_run":
            reads_files = bool(self._kit.attached.options.get("always"))
        else:
            reads_files = self._point == "before_llm" and run.talk.session.reads_files
        if reads_files:
            await asyncio.to_thread(self.run, state)
        else:
            self.run(state)

    def _run_of(self, state: State) -> _Run | None:
        if self._point == "before_run":
            for tool in state.data["tools"]:
                if isinstance(tool, _SkillTool) and tool.run.kit is self._kit:
                    self._kit.runs[state] = tool.run
        return self._kit.runs.get(state)


class _Resumed(list[ChatMessage]):
    """Messages that end with tool calls: the model has spoken already."""


class _Generator:
    """The agent's generator, which is not called where a run goes on."""

    def __init__(self, generator: ChatGenerator) -> None:
        self._generator: Any = generator

        @wraps(generator.run)
        def run(messages: list[ChatMessage], **given: object) -> object:
            if isinstance(messages, _Resumed):
                return _said(messages)
            return self._generator.run(messages=messages, **given)

        self.run = run
        run_async = getattr(generator, "run_async", None)
        if iscoroutinefunction(run_async):

            @wraps(run_async)
            async def arun(messages: list[ChatMessage], **given: object) -> object:
                if isinstance(messages, _Resumed):
                    return _said(messages)
                return await self._generator.run_async(messages=messages, **given)

            self.run_async = arun

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever it has
        return getattr(self._generator, name)


def _said(messages: list[ChatMessage]) -> dict[str, Any]:
    """Return the calls that are pending as a reply; it has no usage to be counted."""
    return {"replies": [ChatMessage.from_assistant(tool_calls=messages[-1].tool_calls)]}


def _reply(answer: object) -> Reply:
    """Return what was answered about a call, as a session takes it."""
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, Mapping):
        given = cast("Mapping[str, object]", answer)
        edited = given.get("arguments")
        if isinstance(edited, Mapping):
            return Reply("yes_once", arguments=cast("Mapping[str, object]", edited))
        return Reply("no", words=str(given.get("message", "")))
    return Reply("yes_once" if answer is True else "no")


def _nothing(**_: object) -> str:
    """Answer whoever calls a tool's function and not the tool."""
    return "There is nothing to call here."


def _names(tools: Iterable[Tool | Toolset]) -> Iterator[str]:
    """Yield names of tools; a toolset that makes its own in each run has none yet."""
    for tool in tools:
        if isinstance(tool, Toolset):
            yield from (each.name for each in tool.tools)
        else:
            yield tool.name


def _seen(messages: Iterable[ChatMessage]) -> Iterator[SeenMessage]:
    """Yield messages as a session takes them."""
    for message in messages:
        for result in message.tool_call_results:
            call: ToolCall = result.origin
            text = _text(result.result)
            yield SeenMessage("tool", text, call.tool_name, call.arguments)
        if message.is_from(ChatRole.USER):
            yield SeenMessage("user", message.text or "")
        elif message.is_from(ChatRole.ASSISTANT):
            yield SeenMessage("assistant")


def _text(result: Any) -> str:  # noqa: ANN401 - a text, or parts of several kinds
    if isinstance(result, str):
        return result
    return "\n".join(getattr(part, "text", "") for part in result)
