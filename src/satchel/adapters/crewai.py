"""Skills for crewAI: ``attach(skills, to=agent)``.

crewAI fixes an agent's prompt and tools when it begins to work, so what is returned is
a copy of the agent whose class keeps both up to date while it works, in a crew, in a
flow or by itself::

    agent = attach(skills, to=Agent(role="desk", goal="help", backstory="...", llm=llm))
    output = agent.kickoff("hi")
    history = [each for each in output.messages if each["role"] != "system"]
    output = agent.kickoff([*history, {"role": "user", "content": "and then?"}])

Whatever was loaded is in those messages; ``state`` may keep the rest.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeAlias, TypeVar, Unpack, cast
from uuid import uuid4

from satchel.adapters._base import Conversation, SessionFactory, framework
from satchel.model import Json, SeenMessage
from satchel.runtime import Permit, Satchel, SessionOptions, loads_in_text
from satchel.tools import Tool, result_text

with framework("crewAI", "crewai"):
    from crewai import Agent, Task
    from crewai.agents.agent_executor import AgentExecutor
    from crewai.hooks import LLMCallHookContext
    from crewai.tools import BaseTool, ToolFailure
    from crewai.utilities.agent_utils import (
        get_tool_names,
        render_text_description_and_args,
        setup_native_tools,
    )
    from crewai.utilities.string_utils import sanitize_tool_name
    from pydantic import BaseModel, ConfigDict, PrivateAttr

__all__ = ["attach"]

AgentT = TypeVar("AgentT", bound=Agent)
Held = TypeVar("Held")
Who: TypeAlias = Mapping[str, Any] | Callable[[Agent], Mapping[str, Any]]
Deps: TypeAlias = Callable[[Agent], object]
State: TypeAlias = Callable[[Agent], MutableMapping[str, Any] | None]
"""Where a conversation's state is kept, while one of its agents works."""

_OPEN: Final = "These tools are open now as well:"
_ANYTHING: Final[dict[str, Json]] = {"type": "object"}
_NAMES: Final = "_tool_name_mapping"
_OBSERVATION: Final = "\nObservation:"
"""What stands before a result, for models that call tools in text."""


def attach(
    skills: Satchel,
    *,
    to: AgentT,
    who: Who | None = None,
    deps: Deps | None = None,
    state: State | None = None,
    **options: Unpack[SessionOptions],
) -> AgentT:
    """Return a copy of the agent that has skills; ``to`` itself stays as it is.

    The catalog stands behind its own prompt and the tools behind its own. crewAI does
    not pause for a tool: ``approve`` is asked and may wait; without it, a call that the
    policy asks about is a result that says so.

    Args:
        skills: Whose skills.
        to: The agent, or one of a subclass.
        who: For whom it works, or how that is told: by a context variable, say, for
            crewAI hands nothing over but the agent.
        deps: What tools get as ``Run.deps``.
        state: Where a conversation's state is kept, as JSON-safe values by agent: the
            state of a flow, say. Without it, only messages that are handed over tell
            what has been loaded.
        options: As for `satchel.Satchel.session`; ``agent`` is the agent's role.

    Raises:
        TypeError: ``skills`` is no `Satchel`; an option is not known, or of another
            type.
        ValueError: The agent has skills of Satchel already; no style has that name.
        DuplicateToolError: When it works: a tool of its own and one of a skill have
            the same name.
    """
    if isinstance(to, _Skilled):
        told = "has skills already; give one Satchel all of them"
        raise ValueError(f"agent {to.role!r} {told}")  # noqa: TRY004 - no other type fits
    sessions = _Attached(
        SessionFactory(skills, who, deps, {"agent": to.role, **options}), state
    )
    kind = type(to)
    skilled = to.model_copy(
        update={
            "id": uuid4(),
            "tools": [*(to.tools or ())],
            "tools_handler": to.tools_handler.model_copy(),
            "agent_executor": None,
        }
    )
    given = {"_sessions": sessions, "__module__": __name__}
    meta: Any = type(kind)
    skilled.__class__ = meta(kind.__name__, (_Skilled, kind), given)
    return skilled


class _Skilled(Agent):
    """An agent with skills; made as a subclass of the class of the agent it was."""

    _sessions: ClassVar["_Attached"]

    def _prepare_kickoff(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Prepare to work alone, on messages, with an executor for this work alone."""
        prepared = super()._prepare_kickoff(*args, **kwargs)
        executor, inputs, *_ = prepared
        given = args[0] if args else kwargs["messages"]
        before = [] if isinstance(given, str) else given
        self._sessions.begin(self, executor, before, len(inputs.get("history", ())))
        inputs["tools"] = executor.tools_description
        inputs["tool_names"] = executor.tools_names
        return prepared

    def create_agent_executor(
        self, tools: list[BaseTool] | None = None, task: Task | None = None
    ) -> None:
        """Prepare to work on a task, in a crew."""
        super().create_agent_executor(tools, task)
        if self.agent_executor is not None and task is not None:
            self._sessions.begin(self, self.agent_executor)


@dataclass(frozen=True, eq=False, slots=True)
class _Attached:
    """What `attach` was told."""

    base: SessionFactory[Agent]
    state: State | None

    def begin(
        self,
        agent: Agent,
        executor: AgentExecutor,
        messages: Iterable[Mapping[str, Any]] = (),
        at: int = 0,
    ) -> None:
        """Give an executor the skills for the work that is before it.

        Args:
            agent: Whose work it is.
            executor: Where its tools and messages are.
            messages: What it is about to see of an earlier part of the conversation.
            at: Where the request will stand among the messages, if the agent's prompt
                is a part of it.

        Raises:
            DuplicateToolError: A tool of the agent and one of a skill have one name.
        """
        kept = None if self.state is None else self.state(agent)
        name = self.base.options["agent"]
        conversation = self.base.open(agent, None if kept is None else kept.get(name))
        live = _Live(conversation, executor, name, kept, at)
        hooks = executor.before_llm_call_hooks
        hooks[:] = [*(each for each in hooks if not isinstance(each, _Live)), live]
        live.see(messages)
        live.check()
        live.open()
        if agent.planning_enabled:
            live.stand_in, live.backstory = agent.model_copy(), agent.backstory
            executor.agent = live.stand_in
            live.inform()
        prompt, _, _ = agent._build_execution_prompt(  # noqa: SLF001 - there is no other
            executor.original_tools
        )
        executor.prompt = prompt


@dataclass(eq=False, slots=True)
class _Live:
    """The conversation of one piece of work, called before each call of the model.

    crewAI gives a tool to its executor as it gives the reader of long results: it puts
    both of its forms into lists, and makes the schemas anew.
    """

    conversation: Conversation
    executor: AgentExecutor
    agent: str
    kept: MutableMapping[str, Any] | None
    at: int
    told: str = ""
    stand_in: Agent | None = None
    backstory: str = ""
    made: dict[tuple[str, str], BaseTool] = field(
        default_factory=dict[tuple[str, str], BaseTool]
    )
    lock: threading.RLock = field(default_factory=threading.RLock)

    def __call__(self, context: LLMCallHookContext) -> None:
        """See what the model sees, and tell it what it is to know besides."""
        self.see(context.messages)
        self.conversation.tools()
        self.open()
        self.tell(context.messages)
        self.keep()

    def see(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """Take in messages, and what was loaded in them."""
        self.conversation.see(_seen(messages, self._loads))

    def check(self) -> None:
        """Let no tool of the agent have the name of one of a skill.

        Raises:
            DuplicateToolError: One has.
        """
        own = self._own(self.executor.original_tools)
        self.conversation.tools([sanitize_tool_name(each.name) for each in own])

    def open(self) -> list[BaseTool]:
        """Give the executor the tools that are open now; return those that are new."""
        executor = self.executor
        with self.lock:
            known = {id(each) for each in executor.original_tools}
            ours = [self._native(tool) for tool in self.conversation.session.tools()]
            tools = [*self._own(executor.original_tools), *ours]
            if {id(each) for each in tools} == known:
                self._answer_all()
                return []
            executor.original_tools[:] = tools
            other = {id(each._original_tool): each for each in executor.tools}  # noqa: SLF001
            executor.tools[:] = [
                other.get(id(each)) or each.to_structured_tool() for each in tools
            ]
            executor.tools_names = get_tool_names(executor.tools)
            executor.tools_description = render_text_description_and_args(
                executor.tools
            )
            made = setup_native_tools(tools)
            for each in (executor, executor._step_executor):  # noqa: SLF001 - as it does
                _replace(each, made)
            self._answer_all()
            return [each for each in ours if id(each) not in known]

    def tell(self, messages: list[Any]) -> None:
        """Put what the model is to know behind the agent's prompt."""
        parts = self.conversation.session.instructions(), self._unseen(messages)
        told = "".join(f"\n\n{part}" for part in parts if part)
        for message in reversed(messages):
            content = message.get("content")
            if self.told and isinstance(content, str) and content.endswith(self.told):
                message["content"] = content.removesuffix(self.told) + told
                break
        else:
            if told:
                systems = (each for each in messages if each["role"] == "system")
                place = next(systems, messages[min(self.at, len(messages) - 1)])
                place["content"] = f"{_text(place['content'])}{told}"
        self.told = told

    def inform(self) -> None:
        """Tell the steps of a plan, each of which has but a prompt of its own."""
        if self.stand_in is not None:
            parts = self.backstory, self.conversation.session.instructions()
            self.stand_in.backstory = "\n\n".join(filter(None, parts))

    def keep(self) -> None:
        """Write down what the next work in this conversation resumes from."""
        if self.kept is not None:
            self.kept[self.agent] = self.conversation.save()

    def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Make a call, of whatever tool; never raises. The next step has what it opens.

        A step of a plan and a model that calls tools in text learn of it here.
        """
        tool = self.conversation.tool(name)
        if tool is None or not tool.is_async:
            result = self.conversation.call(name, arguments)
        else:  # its thread may run an event loop
            with ThreadPoolExecutor(1) as pool:
                waited = self.conversation.acall(name, arguments)
                result = pool.submit(copy_context().run, asyncio.run, waited).result()
        self.keep()
        if self.stand_in is not None:
            self.conversation.tools()
        elif self.executor.state.use_native_tools:
            return result_text(result)
        self.inform()
        return "\n\n".join(
            filter(None, (result_text(result), self._shown(self.open())))
        )

    def permit(self, name: str, arguments: Mapping[str, object]) -> Permit:
        """Return whether a tool of crewAI may be called, and with what."""
        permit = self.conversation.permit(name, arguments)
        self.keep()
        return permit

    def _answer_all(self) -> None:
        """Let calls of tools that are not offered be answered, with what is wrong."""
        held: Any = self.executor
        names = getattr(held, _NAMES, None)
        if names is None or isinstance(names, _Answering):
            return  # it has not begun to work; or knows
        held._tool_name_mapping = _Answering(names, self._answering)  # noqa: SLF001
        held._available_functions = _Answering(  # noqa: SLF001
            held._available_functions,  # noqa: SLF001
            lambda name: self._answering(name).run,
        )

    def _answering(self, name: str) -> BaseTool:
        """Return what answers a call of a tool that is not offered."""
        return _SkillTool.of(name, "", _ANYTHING, self.call)

    def _own(self, tools: Iterable[BaseTool]) -> list[BaseTool]:
        made = {id(each) for each in self.made.values()}
        return [each for each in tools if id(each) not in made]

    def _native(self, tool: Tool) -> BaseTool:
        key = tool.name, tool.description
        if key not in self.made:
            self.made[key] = self._make(tool)
        return self.made[key]

    def _make(self, tool: Tool) -> BaseTool:
        if isinstance(tool.native, BaseTool):
            return _Gated.of(tool.native, self.permit)
        return _SkillTool.of(tool.name, tool.description, tool.parameters, self.call)

    def _loads(self, text: str) -> Iterator[SeenMessage]:
        in_use = {each.id for each in self.conversation.session.activations}
        return loads_in_text(self.conversation.session.style, text, in_use)

    def _unseen(self, messages: Iterable[Mapping[str, Any]]) -> str:
        """Return how tools are called that no message tells of."""
        if self.executor.state.use_native_tools:
            return ""
        texts = "\n".join(str(each.get("content")) for each in messages)
        ours = (self._native(tool) for tool in self.conversation.session.tools())
        return self._shown(
            each
            for each in ours
            if f"Tool Name: {sanitize_tool_name(each.name)}\n" not in texts
        )

    def _shown(self, tools: Iterable[BaseTool]) -> str:
        """Return how tools are called, if the model calls them in text."""
        if self.executor.state.use_native_tools:
            return ""
        shown = render_text_description_and_args([*tools])
        return shown and f"{_OPEN}\n{shown}"


class _SkillTool(BaseTool):
    """A tool of a skill, in the form of crewAI."""

    _call: Callable[[str, Mapping[str, object]], str] = PrivateAttr()

    @classmethod
    def of(
        cls,
        name: str,
        description: str,
        parameters: Mapping[str, Json],
        call: Callable[[str, Mapping[str, object]], str],
    ) -> "_SkillTool":
        """Return a tool that hands its calls on as they are."""
        made = cls(
            name=name,
            description=description,
            args_schema=_arguments(parameters),
            cache_function=_never,
        )
        made._call = call
        return made

    def run(self, /, *_: object, **arguments: object) -> str:
        """Hand a call on; an argument may have any name, ``self`` too."""
        return self._call(self.name, arguments)

    def _run(self, /, **arguments: object) -> str:
        return self._call(self.name, arguments)


class _Gated(BaseTool):
    """A tool of crewAI that a skill carries: the policy is asked before each call."""

    _native: BaseTool = PrivateAttr()
    _permit: Callable[[str, Mapping[str, object]], Permit] = PrivateAttr()

    @classmethod
    def of(
        cls,
        native: BaseTool,
        permit: Callable[[str, Mapping[str, object]], Permit],
    ) -> "_Gated":
        """Return a tool that asks before it calls the other."""
        made = cls(
            name=native.name,
            description=native.description,
            args_schema=native.args_schema,
            result_schema=native.result_schema,
            cache_function=_never,
            result_as_answer=native.result_as_answer,
        )
        made._native, made._permit = native, permit
        return made

    def _run(self, /, **arguments: object) -> object:
        permit = self._permit(self.name, arguments)
        if permit.refusal is None:
            return self._native.run(**permit.arguments)
        refused = result_text(permit.refusal)
        # A failure is never the final answer: the model reads why it was refused.
        return ToolFailure(message=refused) if self.result_as_answer else refused


class _Answering(dict[str, Held]):
    """Has something for each name, so that no call is lost; lists what is offered."""

    def __init__(
        self, offered: Mapping[str, Held], other: Callable[[str], Held]
    ) -> None:
        super().__init__(offered)
        self._other = other

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __missing__(self, name: str) -> Held:
        return self._other(name)


def _replace(holder: object, made: tuple[list[Any], dict[str, Any], Any]) -> None:
    """Replace what was made of tools in place: a call that has begun holds it."""
    names = "_openai_tools", "_available_functions", _NAMES
    for name, new in zip(names, made, strict=True):
        old = getattr(holder, name, None)
        if old is not None:
            old.clear()
            (old.extend if isinstance(old, list) else old.update)(new)


def _never(_arguments: object = None, _result: object = None) -> bool:
    """Keep a result out of crewAI's cache, which knows no ``who``."""
    return False


def _arguments(parameters: Mapping[str, Json]) -> type[BaseModel]:
    """Return a model that has this schema, and leaves what is given as it is."""

    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:  # noqa: ANN401
            return deepcopy(cast("dict[str, Any]", parameters))

    return Arguments


def _seen(
    messages: Iterable[Mapping[str, Any]], loads: Callable[[str], Iterable[SeenMessage]]
) -> Iterator[SeenMessage]:
    """Yield what messages show, for tools that are called natively or in text."""
    calls: dict[object, tuple[str, Mapping[str, object]]] = {}
    goes_on = ""
    for message in messages:
        role, text = message["role"], _text(message.get("content"))
        for call in message.get("tool_calls") or ():
            function = call["function"]
            calls[call["id"]] = function["name"], _given(function["arguments"])
        if role == "tool":
            name, arguments = calls.get(message.get("tool_call_id"), ("", {}))
            yield SeenMessage("tool", text, name, arguments)
        elif role == "assistant":
            _, goes_on, result = text.partition(_OBSERVATION)
            yield SeenMessage("assistant", text)
            if goes_on:
                yield SeenMessage("tool", result)
                yield from loads(result.strip())
        elif goes_on:  # it is crewAI that tells the model to
            goes_on = ""
        else:
            yield SeenMessage("user" if role == "user" else "system", text)


def _given(arguments: object) -> Mapping[str, object]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return {}
    return arguments if isinstance(arguments, Mapping) else {}


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part["text"]) for part in content if "text" in part)
    return str(content or "")
