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
from contextlib import ExitStack
from contextvars import copy_context
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeAlias, TypeVar, Unpack, cast
from uuid import uuid4

from satchel.adapters import framework
from satchel.model import Json, Seen
from satchel.runtime.conversation.history import loads_within
from satchel.runtime.front import Satchel
from satchel.runtime.session import Session, SessionOptions
from satchel.tools import Tool, result_text

with framework("crewAI", "crewai"):
    from crewai import Agent, Task
    from crewai.agents.agent_executor import AgentExecutor
    from crewai.hooks import LLMCallHookContext
    from crewai.tools import BaseTool
    from crewai.utilities.agent_utils import (
        get_tool_names,
        render_text_description_and_args,
        setup_native_tools,
    )
    from crewai.utilities.string_utils import sanitize_tool_name
    from pydantic import BaseModel, ConfigDict, PrivateAttr

__all__ = ["attach"]

AgentT = TypeVar("AgentT", bound=Agent)
Who: TypeAlias = Mapping[str, Any] | Callable[[Agent], Mapping[str, Any]]
Deps: TypeAlias = Callable[[Agent], object]
State: TypeAlias = Callable[[Agent], MutableMapping[str, Any] | None]
"""Where a conversation's state is kept, while one of its agents works."""

_OPEN: Final = "These tools are open now as well:"
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
    not pause for a tool: without ``approve``, a call that the policy asks about is a
    result that says so.

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
        ValueError: The agent has skills of Satchel already.
        DuplicateToolError: When it works: a tool of its own and one of a skill have
            the same name.
    """
    if isinstance(to, _Skilled):
        told = "has skills already; give one Satchel all of them"
        raise ValueError(f"agent {to.role!r} {told}")  # noqa: TRY004 - no other type fits
    attached = _Attached(skills, who, deps, state, {"agent": to.role, **options})
    kind = type(to)
    skilled = to.model_copy(
        update={
            "id": uuid4(),
            "tools": [*(to.tools or ())],
            "tools_handler": to.tools_handler.model_copy(),
            "agent_executor": None,
        }
    )
    given = {"_attached": attached, "__module__": __name__}
    meta: Any = type(kind)
    skilled.__class__ = meta(kind.__name__, (_Skilled, kind), given)
    return skilled


class _Skilled(Agent):
    """An agent with skills; made as a subclass of the class of the agent it was."""

    _attached: ClassVar["_Attached"]

    def _prepare_kickoff(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Prepare to work alone, on messages, with an executor for this work alone."""
        prepared = super()._prepare_kickoff(*args, **kwargs)
        executor, inputs, *_ = prepared
        given = args[0] if args else kwargs["messages"]
        before = [] if isinstance(given, str) else given
        self._attached.begin(self, executor, before, len(inputs.get("history", ())))
        inputs["tools"] = executor.tools_description
        inputs["tool_names"] = executor.tools_names
        return prepared

    def create_agent_executor(
        self, tools: list[BaseTool] | None = None, task: Task | None = None
    ) -> None:
        """Prepare to work on a task, in a crew."""
        super().create_agent_executor(tools, task)
        if self.agent_executor is not None and task is not None:
            self._attached.begin(self, self.agent_executor)


@dataclass(frozen=True, eq=False, slots=True)
class _Attached:
    """What `attach` was told."""

    skills: Satchel
    who: Who | None
    deps: Deps | None
    state: State | None
    options: SessionOptions

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
        session = self.skills.session(
            who=self.who(agent) if callable(self.who) else self.who,
            deps=None if self.deps is None else self.deps(agent),
            resume=None if kept is None else kept.get(self.options["agent"]),
            **self.options,
        )
        live = _Live(session, executor, self.options["agent"], kept, at)
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
    """The session of one piece of work, called before each call of the model.

    crewAI gives a tool to its executor as it gives the reader of long results: it puts
    both of its forms into lists, and makes the schemas anew.
    """

    session: Session
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
    turn: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        # It ends with the work's objects: the session serves no other.
        self.turn.enter_context(self.session.turn())

    def __call__(self, context: LLMCallHookContext) -> None:
        """See what the model sees, and tell it what it is to know besides."""
        self.see(context.messages)
        self.open()
        self.tell(context.messages)
        self.keep()

    def see(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """Take in messages, and what was loaded in them."""
        self.session.see(_seen(messages, self._loads))

    def check(self) -> None:
        """Let no tool of the agent have the name of one of a skill.

        Raises:
            DuplicateToolError: One has.
        """
        own = self._own(self.executor.original_tools)
        self.session.tools(beside=[sanitize_tool_name(each.name) for each in own])

    def open(self) -> list[BaseTool]:
        """Give the executor the tools that are open now; return those that are new."""
        executor = self.executor
        with self.lock:
            known = {id(each) for each in executor.original_tools}
            ours = [self._native(tool) for tool in self.session.tools()]
            tools = [*self._own(executor.original_tools), *ours]
            if {id(each) for each in tools} == known:
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
            return [each for each in ours if id(each) not in known]

    def tell(self, messages: list[Any]) -> None:
        """Put what the model is to know behind the agent's prompt."""
        parts = self.session.instructions(), self._unseen(messages)
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
            parts = self.backstory, self.session.instructions()
            self.stand_in.backstory = "\n\n".join(filter(None, parts))

    def keep(self) -> None:
        """Write down what the next work in this conversation resumes from."""
        if self.kept is not None:
            self.kept[self.agent] = self.session.dump()

    def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Carry out a call; never raises. What it opens is there for the next one."""
        tool = self.session.tools().get(name)
        if tool is None or not tool.is_async:
            result = self.session.call(name, arguments)
        else:  # its thread may run an event loop
            with ThreadPoolExecutor(1) as pool:
                waited = self.session.acall(name, arguments)
                result = pool.submit(copy_context().run, asyncio.run, waited).result()
        self.keep()
        self.inform()
        return "\n\n".join(
            filter(None, (result_text(result), self._shown(self.open())))
        )

    def _own(self, tools: Iterable[BaseTool]) -> list[BaseTool]:
        made = {id(each) for each in self.made.values()}
        return [each for each in tools if id(each) not in made]

    def _native(self, tool: Tool) -> BaseTool:
        key = tool.name, tool.description
        if key not in self.made:
            self.made[key] = self._make(tool)
        return self.made[key]

    def _make(self, tool: Tool) -> BaseTool:
        native = tool.native
        if not isinstance(native, BaseTool):
            return _SkillTool.of(tool, self.call)
        if self.session.decide(tool.name, {}).verdict == "allow":
            return native
        return _Gated.of(native, self.session.refusal)

    def _loads(self, text: str) -> Iterator[Seen]:
        in_use = {each.id for each in self.session.activations}
        return loads_within(self.session.style, text, in_use)

    def _unseen(self, messages: Iterable[Mapping[str, Any]]) -> str:
        """Return how tools are called that no message tells of."""
        if self.executor.state.use_native_tools:
            return ""
        texts = "\n".join(str(each.get("content")) for each in messages)
        ours = (self._native(tool) for tool in self.session.tools())
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
        cls, tool: Tool, call: Callable[[str, Mapping[str, object]], str]
    ) -> "_SkillTool":
        """Return a tool that hands its calls on as they are."""
        made = cls(
            name=tool.name,
            description=tool.description,
            args_schema=_arguments(tool.parameters),
            cache_function=_never,
        )
        made._call = call
        return made

    def _run(self, **arguments: object) -> str:
        return self._call(self.name, arguments)


class _Gated(BaseTool):
    """A tool of crewAI that a skill carries, and somebody has to be asked about."""

    _native: BaseTool = PrivateAttr()
    _refusal: Callable[[str, Mapping[str, object]], object | None] = PrivateAttr()

    @classmethod
    def of(
        cls,
        native: BaseTool,
        refusal: Callable[[str, Mapping[str, object]], object | None],
    ) -> "_Gated":
        """Return a tool that asks before it calls the other."""
        made = cls(
            name=native.name,
            description=native.description,
            args_schema=native.args_schema,
            cache_function=_never,
            result_as_answer=native.result_as_answer,
        )
        made._native, made._refusal = native, refusal
        return made

    def _run(self, **arguments: object) -> object:
        refused = self._refusal(self.name, arguments)
        if refused is not None:
            return result_text(refused)
        return self._native.run(**arguments)


def _replace(holder: object, made: tuple[list[Any], dict[str, Any], Any]) -> None:
    """Replace what was made of tools in place: a call that has begun holds it."""
    names = "_openai_tools", "_available_functions", "_tool_name_mapping"
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
    messages: Iterable[Mapping[str, Any]], loads: Callable[[str], Iterable[Seen]]
) -> Iterator[Seen]:
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
            yield Seen("tool", text, name, arguments)
        elif role == "assistant":
            _, goes_on, result = text.partition(_OBSERVATION)
            yield Seen("assistant", text)
            if goes_on:
                yield Seen("tool", result)
                yield from loads(result.strip())
        elif goes_on:  # it is crewAI that tells the model to
            goes_on = ""
        else:
            yield Seen("user" if role == "user" else "system", text)


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
