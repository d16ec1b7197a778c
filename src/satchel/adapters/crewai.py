"""Skills for crewAI: ``agent = attach(skills, to=Agent(...))``.

crewAI fixes an agent's prompt and tools when it begins to work, so the copy's class
updates both while it works. What was loaded is in the output's messages, to which the
next ``kickoff`` is given all but the system's; ``state`` can hold the rest.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Self, TypeAlias, TypeVar, Unpack, cast
from uuid import uuid4

from satchel.adapters._arguments import check_function, check_kind
from satchel.adapters._base import Conversation, Deps, SessionFactory, Who, framework
from satchel.adapters._translation import (
    ResultReader,
    ToolForms,
    already_attached,
    text_of,
)
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
Value = TypeVar("Value")
# Returns where a conversation's state is saved while one of its agents works.
State: TypeAlias = Callable[[Agent], MutableMapping[str, Any] | None]

Call: TypeAlias = Callable[[str, Mapping[str, object]], str]
AskPermit: TypeAlias = Callable[[str, Mapping[str, object]], Permit]

_OPENED: Final = "These tools are open now as well:"
_ANYTHING: Final[dict[str, Json]] = {"type": "object"}
_NAMES: Final = "_tool_name_mapping"
# What comes before a result, for models that call tools in text.
_OBSERVATION: Final = "\nObservation:"


def attach(
    skills: Satchel,
    *,
    to: AgentT,
    who: Who[Agent] = None,
    deps: Deps[Agent] = None,
    state: State | None = None,
    **options: Unpack[SessionOptions],
) -> AgentT:
    """Return a copy of the agent that has skills; ``to`` itself is not changed.

    The catalog comes after its own prompt and the tools after its own. crewAI does not
    pause for a tool: ``approve`` is asked and may wait; without it, a call that the
    policy asks about is answered with an error that says so.

    Args:
        skills: Whose skills.
        to: The agent, or one of a subclass.
        who: For whom it works: a mapping, or a function of the agent, which is all that
            crewAI passes on. A context variable can say more.
        deps: A function of the agent, which returns what tools get as ``Run.deps``.
        state: A function that returns where a conversation's state is saved, as
            JSON-safe values by agent, such as the state of a flow. Without it, only the
            messages of the work show what has been loaded.
        options: As for `satchel.Satchel.session`; ``agent`` is the agent's role.

    Raises:
        TypeError: ``skills`` is not a `Satchel`; an option is unknown or has the wrong
            type.
        ValueError: The agent has skills of Satchel already; no style has that name.
        DuplicateToolError: When it works: a tool of its own and one of a skill have
            the same name.
    """
    check_kind("to", to, Agent, "an Agent of crewAI")
    check_function("state", state)
    if isinstance(to, _SkilledAgent):
        raise already_attached(to.role)
    options = {"agent": to.role, **options}
    sessions = SessionFactory(skills, who, deps, options, holds_own_tools=True)
    kind = type(to)
    # What an agent gathers while it works is not shared with the copy.
    skilled = to.model_copy(
        update={
            "id": uuid4(),
            "tools": [*(to.tools or ())],
            "tools_handler": to.tools_handler.model_copy(),
            "agent_executor": None,
        }
    )
    members = {"_skills": _Skills(sessions, state), "__module__": __name__}
    meta: Any = type(kind)
    skilled.__class__ = meta(kind.__name__, (_SkilledAgent, kind), members)
    return skilled


class _SkilledAgent(Agent):
    """An agent with skills; mixed into the class of the agent that was given."""

    _skills: ClassVar["_Skills"]

    def _prepare_kickoff(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Prepare to work without a crew, with an executor for this work only."""
        prepared = super()._prepare_kickoff(*args, **kwargs)
        executor, inputs, *_ = prepared
        messages = args[0] if args else kwargs["messages"]
        before = [] if isinstance(messages, str) else messages
        self._skills.begin(self, executor, before, len(inputs.get("history", ())))
        # crewAI has read these before the skills' tools were there.
        inputs["tools"] = executor.tools_description
        inputs["tool_names"] = executor.tools_names
        return prepared

    def create_agent_executor(
        self, tools: list[BaseTool] | None = None, task: Task | None = None
    ) -> None:
        super().create_agent_executor(tools, task)
        if self.agent_executor is not None and task is not None:
            self._skills.begin(self, self.agent_executor)


@dataclass(frozen=True, eq=False, slots=True)
class _Skills:
    """The arguments of `attach`."""

    sessions: SessionFactory[Agent]
    state: State | None

    def begin(
        self,
        agent: Agent,
        executor: AgentExecutor,
        messages: Iterable[Mapping[str, Any]] = (),
        at: int = 0,
    ) -> None:
        """Give an executor the skills for the work that begins.

        ``messages`` are the earlier part of the conversation that it will see. ``at``
        is the index of the request among them, if the agent's prompt is part of it.

        Raises:
            DuplicateToolError: A tool of the agent has the name of a skill's tool.
        """
        states = None if self.state is None else self.state(agent)
        name = self.sessions.options["agent"]
        saved = None if states is None else states.get(name)
        work = _Work(self.sessions.open(agent, saved), executor, name, states, at)
        hooks = executor.before_llm_call_hooks
        # An executor may serve again: the earlier work must not see these messages.
        hooks[:] = [*(hook for hook in hooks if not isinstance(hook, _Work)), work]
        work.see(messages)
        names = [tool.name for tool in executor.original_tools]
        work.conversation.tools(map(sanitize_tool_name, names))
        work.open()
        if agent.planning_enabled:
            work.planner, work.backstory = agent.model_copy(), agent.backstory
            executor.agent = work.planner
            work.update_planner()
        prompt, _, _ = agent._build_execution_prompt(  # noqa: SLF001 - there is no other
            executor.original_tools
        )
        executor.prompt = prompt


@dataclass(eq=False)
class _Work:
    """The conversation of one piece of work, called before each model call."""

    conversation: Conversation
    executor: AgentExecutor
    agent: str
    states: MutableMapping[str, Any] | None
    at: int
    added: str = ""
    was_refused: bool = False
    planner: Agent | None = None
    backstory: str = ""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self.tool_forms: ToolForms[BaseTool] = ToolForms(self._crewai_tool)

    def __call__(self, context: LLMCallHookContext) -> None:
        """See what the model sees, and add skills to its messages and tools."""
        self.see(context.messages)
        # In text, crewAI answers the same call twice in a row by itself.
        if self.was_refused and self.executor.tools_handler is not None:
            self.executor.tools_handler.last_used_tool = None
        self.was_refused = False
        self.conversation.tools()
        self.open()
        self._add_to(context.messages)
        self._save()

    def see(self, messages: Iterable[Mapping[str, Any]]) -> None:
        self.conversation.see(_seen(messages, self._loads))

    def open(self) -> list[BaseTool]:
        """Give the executor the tools that are open now; return those that are new."""
        executor = self.executor
        # Calls of one step may run side by side, and each may open tools.
        with self.lock:
            before = {id(tool) for tool in executor.original_tools}
            skills = [*map(self.tool_forms.of, self.conversation.session.tools())]
            forms = self.tool_forms
            own = [
                self._held(tool)
                for tool in executor.original_tools
                if tool not in forms
            ]
            tools = [*own, *skills]
            if {id(tool) for tool in tools} == before:
                self._answer_unknown_tools()
                return []
            # As crewAI itself adds a tool: both forms go into lists, and the schemas
            # are made again.
            executor.original_tools[:] = tools
            other = {id(tool._original_tool): tool for tool in executor.tools}  # noqa: SLF001
            executor.tools[:] = [
                other.get(id(tool)) or tool.to_structured_tool() for tool in tools
            ]
            executor.tools_names = get_tool_names(executor.tools)
            described = render_text_description_and_args(executor.tools)
            executor.tools_description = described
            native = setup_native_tools(tools)
            for holder in (executor, executor._step_executor):  # noqa: SLF001 - as it does
                _replace(holder, native)
            self._answer_unknown_tools()
            return [tool for tool in skills if id(tool) not in before]

    def _add_to(self, messages: list[Any]) -> None:
        parts = self.conversation.session.instructions(), self._not_shown(messages)
        added = "".join(f"\n\n{part}" for part in parts if part)
        for message in reversed(messages):
            content = message.get("content")
            # What was added for the last call may still be there: replace it.
            if self.added and isinstance(content, str) and content.endswith(self.added):
                message["content"] = content.removesuffix(self.added) + added
                break
        else:
            # Without a system prompt the agent's own is part of the request.
            if added:
                systems = (m for m in messages if m["role"] == "system")
                prompt = next(systems, messages[min(self.at, len(messages) - 1)])
                prompt["content"] = f"{text_of(prompt['content'])}{added}"
        self.added = added

    def update_planner(self) -> None:
        """Add skills for the steps of a plan, each of which has only a prompt."""
        if self.planner is not None:
            parts = self.backstory, self.conversation.session.instructions()
            self.planner.backstory = "\n\n".join(filter(None, parts))

    def _save(self) -> None:
        if self.states is not None:
            self.states[self.agent] = self.conversation.save()

    def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Make a call of any tool; never raises."""
        # The next model call has what this one opens; a step of a plan, and a model
        # that calls tools in text, are told of it here.
        text = result_text(self.conversation.call_and_wait(name, arguments))
        self._save()
        # A step of a plan has no hook that would offer what has just opened.
        if self.planner is not None:
            self.conversation.tools()
        elif self.executor.state.use_native_tools:
            return text
        # What the next step's prompt shows would count as read in this one already.
        if not self.conversation.session.is_required:
            self.update_planner()
        return "\n\n".join(filter(None, (text, self._usage(self.open()))))

    def permit(self, name: str, arguments: Mapping[str, object]) -> Permit:
        permit = self.conversation.permit(name, arguments)
        self._save()
        return permit

    def hold(self, name: str, arguments: Mapping[str, object]) -> Permit:
        """Do as `permit` does, for one of the agent's own tools that needs a skill."""
        refusal = self.conversation.hold(name, arguments)
        self.was_refused |= refusal is not None
        self._save()
        return Permit(arguments, refusal)

    def _held(self, tool: BaseTool) -> BaseTool:
        """Return one of the agent's own tools so that it waits for a skill it needs."""
        is_held = isinstance(tool, _PermittedTool) and tool.asks(self.hold)
        if is_held or not self.conversation.session.needs_skill(tool.name):
            return tool
        return _PermittedTool.of(tool, self.hold)

    def _answer_unknown_tools(self) -> None:
        """Let calls of tools that are not offered be answered with an error."""
        executor: Any = self.executor
        names = getattr(executor, _NAMES, None)
        if names is None or isinstance(names, _WithDefault):
            return  # the executor has not begun to work, or this is done

        def unknown(name: str) -> BaseTool:
            return _SkillTool.of(Tool(name, "", _ANYTHING, dict), self.call)

        executor._tool_name_mapping = _WithDefault(names, unknown)  # noqa: SLF001
        executor._available_functions = _WithDefault(  # noqa: SLF001
            executor._available_functions,  # noqa: SLF001
            lambda name: unknown(name).run,
        )

    def _crewai_tool(self, tool: Tool) -> BaseTool:
        if isinstance(tool.native, BaseTool):
            return _PermittedTool.of(tool.native, self.permit)
        return _SkillTool.of(tool, self.call)

    def _loads(self, text: str) -> Iterator[SeenMessage]:
        session = self.conversation.session
        in_use = {use.id for use in session.activations}
        yield from loads_in_text(session.style, text, in_use)
        yield from self.conversation.given_in(text)

    def _not_shown(self, messages: Iterable[Mapping[str, Any]]) -> str:
        """Return how to call the tools that no message describes."""
        texts = "\n".join(str(message.get("content")) for message in messages)
        return self._usage(
            self.tool_forms.of(tool)
            for tool in self.conversation.session.tools()
            if f"Tool Name: {sanitize_tool_name(tool.name)}\n" not in texts
        )

    def _usage(self, tools: Iterable[BaseTool]) -> str:
        """Return how to call tools, if the model calls them in text."""
        if self.executor.state.use_native_tools:
            return ""
        usage = render_text_description_and_args([*tools])
        return usage and f"{_OPENED}\n{usage}"


class _SkillTool(BaseTool):
    """A tool of a skill, in the form of crewAI."""

    _call: Call = PrivateAttr()

    @classmethod
    def of(cls, tool: Tool, call: Call) -> Self:
        made = cls(
            name=tool.name,
            description=tool.description,
            args_schema=_arguments(tool.parameters),
            cache_function=_never,
        )
        made._call = call
        return made

    # An argument may have any name, ``self`` too.
    def run(self, /, *_: object, **arguments: object) -> str:
        return self._call(self.name, arguments)

    def _run(self, /, **arguments: object) -> str:
        return self._call(self.name, arguments)


class _PermittedTool(BaseTool):
    """A tool of crewAI that a skill has: the policy is asked before each call."""

    _native: BaseTool = PrivateAttr()
    _permit: AskPermit = PrivateAttr()

    @classmethod
    def of(cls, native: BaseTool, permit: AskPermit) -> Self:
        tool = cls(
            name=native.name,
            description=native.description,
            args_schema=native.args_schema,
            result_schema=native.result_schema,
            cache_function=_never,
            result_as_answer=native.result_as_answer,
        )
        tool._native, tool._permit = native, permit
        return tool

    def asks(self, permit: AskPermit) -> bool:
        return self._permit == permit

    def _run(self, /, **arguments: object) -> object:
        permit = self._permit(self.name, arguments)
        if permit.refusal is None:
            return self._native.run(**permit.arguments)
        refused = result_text(permit.refusal)
        # A failure is never the final answer: the model reads why it was refused.
        return ToolFailure(message=refused) if self.result_as_answer else refused


class _WithDefault(dict[str, Value]):
    """Has a value for each name, so that no call is lost; lists what is offered."""

    def __init__(
        self, offered: Mapping[str, Value], default: Callable[[str], Value]
    ) -> None:
        super().__init__(offered)
        self._default = default

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __missing__(self, name: str) -> Value:
        return self._default(name)


def _replace(holder: object, native: tuple[list[Any], dict[str, Any], Any]) -> None:
    """Replace native tools in place: a call that has begun has these objects."""
    names = "_openai_tools", "_available_functions", _NAMES
    for name, new in zip(names, native, strict=True):
        old = getattr(holder, name, None)
        if old is not None:
            old.clear()
            (old.extend if isinstance(old, list) else old.update)(new)


def _never(_arguments: object = None, _result: object = None) -> bool:
    """Keep a result out of crewAI's cache, which does not know ``who``."""
    return False


def _arguments(parameters: Mapping[str, Json]) -> type[BaseModel]:
    """Return a model that has this schema, and does not change what is given."""

    # The session checks arguments. This model lets all of them through, and would drop
    # those without a field of their own if `extra` did not allow them.
    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:  # noqa: ANN401
            return deepcopy(cast("dict[str, Any]", parameters))

    return Arguments


def _seen(
    messages: Iterable[Mapping[str, Any]], loads: Callable[[str], Iterable[SeenMessage]]
) -> Iterator[SeenMessage]:
    reader = ResultReader()
    observation = ""
    for message in messages:
        role, text = message["role"], text_of(message.get("content"))
        for call in message.get("tool_calls") or ():
            function = call["function"]
            reader.add_call(call["id"], function["name"], function["arguments"])
        if role == "tool":
            yield reader.result(message.get("tool_call_id"), text)
        elif role == "assistant":
            _, observation, result = text.partition(_OBSERVATION)
            yield SeenMessage("assistant", text)
            # In text a result does not say which call it answers: whether it is a load
            # is read from the result itself.
            if observation:
                yield SeenMessage("tool", result)
                yield from loads(result.strip())
        elif observation:  # it is crewAI that tells the model to go on
            observation = ""
        else:
            yield SeenMessage("user" if role == "user" else "system", text)
