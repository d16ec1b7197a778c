"""Skills for smolagents: ``attach(skills, to=agent)``.

smolagents has no slot for instructions and tools that change from call to call, so
`attach` returns a copy of the agent whose class provides both::

    agent = attach(skills, to=ToolCallingAgent(tools=[mine], model=model))
    agent.run("hi")
    agent.run("and then?", reset=False)

An agent of smolagents holds one conversation. Here each run that begins a new one has
a memory, a state and variables of its own, so that runs may be parallel;
``copy.copy(agent)`` is a conversation that goes on separately from here. What is loaded
is in ``agent.memory.skills``, as JSON-safe values: ids and digests, no text.

This is longer than other adapters because there are two kinds of agents, one of which
calls tools from code, and because smolagents has schemas of its own.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from functools import partial
from typing import Any, Final, TypeVar, Unpack, cast
from weakref import WeakSet

from satchel.adapters._arguments import check_kind
from satchel.adapters._base import Conversation, Deps, SessionFactory, Who, framework
from satchel.adapters._translation import ToolForms, already_attached, text_of
from satchel.model import Json, SeenMessage
from satchel.runtime import Permit, Satchel, SessionOptions, loads_in_text
from satchel.tools import Tool as SatchelTool, inline_schema, result_text

with framework("smolagents", "smolagents"):
    from smolagents import (
        ChatMessage,
        LocalPythonExecutor,
        MessageRole,
        MultiStepAgent,
        Tool,
    )
    from smolagents.agent_types import AgentAudio, AgentImage, handle_agent_output_types
    from smolagents.local_python_executor import BASE_PYTHON_TOOLS
    from smolagents.memory import SystemPromptStep
    from smolagents.tools import AUTHORIZED_TYPES
    from smolagents.utils import AgentExecutionError

__all__ = ["attach"]

AgentT = TypeVar("AgentT", bound=MultiStepAgent)
# How smolagents marks an output of code that it has shortened.
_CUT: Final = "_This content has been truncated"
_CALLS: Final = "Calling tools:\n"
_TRIES: Final = 20
_RESULTS: Final = "Observation:\n"
_OPENED: Final = "These tools are open now, and behave like regular python functions:"
# The attribute of an agent's memory with what its conversation has loaded.
_STATE: Final = "skills"
# The attribute of an executor with the own tools that need a skill.
_HELD: Final = "_skills_held"
# The attribute with the user of that conversation.
_WHO: Final = "_skills_for"


def attach(
    skills: Satchel,
    *,
    to: AgentT,
    who: Who[Any] = None,
    deps: Deps[Any] = None,
    **options: Unpack[SessionOptions],
) -> AgentT:
    """Return a copy of the agent that has skills; ``to`` itself is not changed.

    Its own instructions come first in the prompt and its own tools first among the
    tools. It may be a manager, or be managed. smolagents has no approval: without
    ``approve``, a call that the policy asks about is answered with an error.

    Args:
        skills: Whose skills.
        to: A `ToolCallingAgent`, a `CodeAgent`, or one of a subclass.
        who: For whom a run is: a mapping, or a function of the agent that runs, which
            has a ``state``. A context variable can say more.
        deps: A function of the same, which returns what tools get as ``Run.deps``; by
            default they get the ``state`` of the agent.
        options: As for `satchel.Satchel.session`; ``agent`` is the agent's name.

    Raises:
        TypeError: ``to`` is not an agent of smolagents; an argument is unknown or has
            the wrong type.
        ValueError: The agent has skills already, or its code runs elsewhere, from
            where no tool of a skill can be called; or no style has that name.
        DuplicateToolError: When it runs: a tool of its own and one of a skill have
            the same name.
    """
    check_kind("to", to, MultiStepAgent, "an agent of smolagents")
    if isinstance(to, _SkilledAgent):
        raise already_attached(str(to.name))
    executor = getattr(to, "python_executor", None)
    if executor is not None and not isinstance(executor, LocalPythonExecutor):
        kind = type(executor).__name__
        problem = "runs its code where no tool of a skill can be called"
        raise ValueError(f"agent {to.name!r} {problem}: in a {kind}")
    own = type(to)
    options = {"agent": to.name or "agent", **options}
    sessions: SessionFactory[Any] = SessionFactory(
        skills, who, deps, options, holds_own_tools=True
    )
    skilled = type(own.__name__, (_SkilledAgent, own), {"_sessions": sessions})
    return cast("AgentT", _forked(to, skilled))


class _SkilledAgent(MultiStepAgent):
    """An agent with skills; mixed into the class of the agent that was given.

    Each run is of a copy, which alone has a ``_current`` run, so runs are separate.
    """

    _sessions: SessionFactory[Any]
    _is_run: bool
    _current: "_AgentRun | None"
    _runs: "WeakSet[_SkilledAgent]"
    _executor: LocalPythonExecutor | None
    python_executor: LocalPythonExecutor | None

    def __copy__(self) -> "_SkilledAgent":
        fork: _SkilledAgent = _forked(self, type(self))
        fork._executor = self._executor
        return fork

    def run(
        self,
        task: str,
        stream: bool = False,  # noqa: FBT001, FBT002 - as smolagents has it
        reset: bool = True,  # noqa: FBT001, FBT002
        *args: Any,  # noqa: ANN401
        **kwargs: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Run as the agent did; without ``reset`` the last conversation goes on."""
        run = copy(self)
        run._is_run = True  # noqa: SLF001 - its own class
        if reset:
            run.memory.reset()
            # `reset` keeps attributes: what was loaded belongs to the last
            # conversation.
            vars(run.memory).pop(_STATE, None)
            run.python_executor = _fresh(self._executor)
            # The caller's agent shows its last run, which `reset=False` continues.
            self.memory, self.state = run.memory, run.state
            self.python_executor = run.python_executor
        else:
            run.memory, run.state = self.memory, self.state
            run.python_executor = self.python_executor
        self._runs.add(run)
        return super(_SkilledAgent, run).run(task, stream, reset, *args, **kwargs)

    def __call__(self, task: str, **kwargs: Any) -> Any:  # noqa: ANN401
        """Run for a manager; its summary is of this run."""
        run = copy(self)
        self._runs.add(run)
        report = super(_SkilledAgent, run).__call__(task, **kwargs)
        self.memory, self.state = run.memory, run.state
        return report

    def interrupt(self) -> None:
        super().interrupt()
        # The runs are copies that the caller does not know.
        for run in list(self._runs):
            run.interrupt()

    def initialize_system_prompt(self) -> str:
        """Return the agent's own prompt, in a run with the text of skills."""
        if not self._is_run:
            return self.own_prompt()
        if self._current is None:
            self._current = _begin(self._sessions, self)
        return self._current.prompt()

    def own_prompt(self) -> str:
        under: Any = super()
        return str(under.initialize_system_prompt())

    def write_memory_to_messages(
        self,
        summary_mode: bool = False,  # noqa: FBT001, FBT002
    ) -> list[ChatMessage]:
        """Return what the next model call sees; its tools are those that are open."""
        messages: list[ChatMessage] = super().write_memory_to_messages(summary_mode)
        if self._current is None:
            return messages
        if summary_mode:  # for a plan, which lists the tools, and sees no prompt
            self._current.open()
            return messages
        return self._current.look(messages)

    @property
    def tools_and_managed_agents(self) -> list[Any]:
        """What a model can call: skills' tools come last."""
        own = _own_tools(self)
        skills = [tool for name, tool in self.tools.items() if name not in own]
        return [*own.values(), *self.managed_agents.values(), *skills]

    def execute_tool_call(self, tool_name: str, arguments: Any) -> Any:  # noqa: ANN401
        """Make a call; an error in a skill's tool is its result."""
        under: Any = super()
        run = self._current
        if run is None or run.is_own(tool_name):
            refusal = None if run is None else run.hold(tool_name, arguments)
            return refusal or under.execute_tool_call(tool_name, arguments)
        tool = self.tools.get(tool_name)
        given = _by_name(tool, self._substitute_state_variables(arguments))
        if tool is None or isinstance(tool, _SkillTool):
            result = handle_agent_output_types(run.call(tool_name, given))
            is_shown = isinstance(result, (AgentImage, AgentAudio))
            return result if is_shown else result_text(result)
        permit = run.permit(tool_name, given)
        if permit.refusal is not None:
            return result_text(permit.refusal)
        try:
            return under.execute_tool_call(tool_name, _Permitted(permit.arguments))
        except AgentExecutionError as error:
            # If it were raised, the results of parallel calls would be lost.
            return str(error)

    def _substitute_state_variables(self, arguments: Any) -> Any:  # noqa: ANN401
        """Do not change what was permitted: a person may have approved it."""
        under: Any = super()
        if isinstance(arguments, _Permitted):
            return arguments
        return under._substitute_state_variables(arguments)  # noqa: SLF001 - as it does


class _Permitted(dict[str, object]):
    """The arguments that a call may be made with."""


def _begin(sessions: SessionFactory[Any], agent: _SkilledAgent) -> "_AgentRun":
    """Open what one run of the agent needs; a name that is taken raises."""
    memory = vars(agent.memory)
    conversation = sessions.open(agent, memory.get(_STATE), deps=agent.state)
    session = conversation.session
    if memory.setdefault(_WHO, session.who) != session.who:
        # The agent serves another user now: no yes of the last one counts.
        session.revoke()
        memory[_WHO] = session.who
    listed = session.tools()
    if session.activations:
        # A prompt lists the tools that were there at the start of the conversation.
        initial = {**conversation.save(), "active": []}
        listed = sessions.open(agent, initial, deps=agent.state).session.tools()
    return _AgentRun(agent, conversation, frozenset(tool.name for tool in listed))


class _AgentRun:
    """The conversation of one run, its turn, and its tools as smolagents has them."""

    def __init__(
        self, agent: _SkilledAgent, conversation: Conversation, listed: frozenset[str]
    ) -> None:
        self.agent = agent
        self.conversation = conversation
        self.listed = listed
        self.tool_forms: ToolForms[Tool] = ToolForms(self._smolagents_tool)
        self.rendered: tuple[str, str] | None = None
        self.texts = ""
        self.open()

    def prompt(self) -> str:
        parts = self.conversation.session.instructions(), self._not_shown()
        added = "\n\n".join(filter(None, parts))
        if self.rendered is None or self.rendered[0] != added:
            self.rendered = added, self._render(added)
        return self.rendered[1]

    def look(self, messages: list[ChatMessage]) -> list[ChatMessage]:
        """See what the model sees; return it with the text of skills."""
        seen = [*_seen(messages, self._loads)]
        self.conversation.see(seen)
        self.open()
        self.texts = "\n".join(m.text for m in seen if m.role == "tool")
        before = self.rendered
        prompt = self.prompt()
        self.save()
        # Where skills changed nothing, the prompt stays what a callback made of it.
        if self.rendered is before:
            return messages
        self.agent.memory.system_prompt = SystemPromptStep(system_prompt=prompt)
        rest = (m for m in messages if m.role != MessageRole.SYSTEM)
        return [*self.agent.memory.system_prompt.to_messages(), *rest]

    def _loads(self, text: str) -> Iterator[SeenMessage]:
        in_use = {use.id for use in self.conversation.session.activations}
        loads = loads_in_text(self.conversation.session.style, text, in_use)
        # Text that smolagents has cut is no whole skill.
        yield from (load for load in loads if _CUT not in load.text)
        yield from self.conversation.given_in(text)

    def open(self) -> None:
        """Give the agent the tools that are open now; a name that is taken raises."""
        agent = self.agent
        tools = _own_tools(agent)
        own = [*tools, *agent.managed_agents]
        # Code that calls such a name would get Python's own function.
        if agent.python_executor is not None:
            own += BASE_PYTHON_TOOLS
        offered = self.conversation.tools(own)
        tools |= {tool.name: self.tool_forms.of(tool) for tool in offered}
        # Code calls what the executor has, not what the agent has.
        if agent.python_executor is not None and tools.keys() != agent.tools.keys():
            agent.python_executor.send_tools({**tools, **agent.managed_agents})
        agent.tools = tools
        if agent.python_executor is not None and self.conversation.session.is_required:
            self._hold_in_code(agent.python_executor, own)

    def _hold_in_code(self, executor: LocalPythonExecutor, own: Iterable[str]) -> None:
        """Put own tools that need a skill behind it, as code calls them."""
        behind: dict[str, _Held] = vars(executor)[_HELD]
        # None until the agent has sent its own.
        functions: dict[str, Any] = cast("Any", executor.static_tools) or {}
        for name in own:
            if name in functions and self.conversation.session.needs_skill(name):
                one = behind.setdefault(name, _Held(name))
                one.run = self
                if functions[name] is not one:
                    one.function, functions[name] = functions[name], one

    def save(self) -> None:
        vars(self.agent.memory)[_STATE] = self.conversation.save()

    def is_own(self, name: str) -> bool:
        """Tell whether the agent answers a call without skills."""
        agent = self.agent
        if name in _own_tools(agent) or name in agent.managed_agents:
            return True
        # Where no skill has tools, smolagents answers a call of an unknown one itself.
        return name not in agent.tools and not self.conversation.session.open_tools

    def hold(self, name: str, arguments: Any) -> str | None:  # noqa: ANN401 - any at all
        refusal = self.conversation.hold(name, arguments)
        if refusal is not None:
            self.save()
        return refusal

    def permit(self, name: str, arguments: Any) -> Permit:  # noqa: ANN401 - any at all
        permit = self.conversation.permit(name, arguments)
        self.save()
        return permit

    def call(self, name: str, arguments: Any) -> object:  # noqa: ANN401 - any at all
        tool = self.conversation.tool(name)
        if tool is not None and isinstance(arguments, Mapping):
            arguments = _without_nulls(tool, arguments)
        result = self.conversation.call_and_wait(name, arguments)
        self.save()
        return result

    def call_from_code(self, name: str, arguments: Mapping[str, object]) -> object:
        """Do as `call` does; add how to call the tools that it has opened."""
        before = {tool.name for tool in self.conversation.session.tools()}
        result = self.call(name, arguments)
        opened = [t for t in self.conversation.session.tools() if t.name not in before]
        if opened and isinstance(result, str):
            return f"{result}\n\n{self._code(opened)}"
        return result

    def call_native(
        self, native: Callable[..., object], name: str, arguments: Mapping[str, object]
    ) -> object:
        """Call a tool of smolagents from code, if the policy lets it be called."""
        permit = self.permit(name, arguments)
        return native(**permit.arguments) if permit.refusal is None else permit.refusal

    def _smolagents_tool(self, tool: SatchelTool) -> Tool:
        native = tool.native
        if not isinstance(native, Tool):
            return _SkillTool(tool, self.call_from_code)
        if self.agent.python_executor is None:
            return native
        return _SkillTool(tool, partial(self.call_native, native))

    def _not_shown(self) -> str:
        """Return the open tools that code may call and no message describes.

        For agents that do not call tools from code, they are not part of a prompt.
        """
        if self.agent.python_executor is None:
            return ""
        later = [
            tool
            for tool in self.conversation.session.tools()
            if tool.name not in self.listed and f"def {tool.name}(" not in self.texts
        ]
        return self._code(later)

    def _code(self, tools: Iterable[SatchelTool]) -> str:
        shown = [self.tool_forms.of(tool).to_code_prompt() for tool in tools]
        if not shown:
            return ""
        agent: Any = self.agent
        start, end = agent.code_block_tags
        return "\n".join((_OPENED, start, *shown, end))

    def _render(self, added: str) -> str:
        """Return the agent's own prompt with more after its own instructions.

        A template may have no place for instructions: then it comes at the end.
        """
        agent = self.agent
        own, tools = agent.instructions, agent.tools
        first = {*_own_tools(agent), *self.listed}
        # Templates read the agent, so it is changed while one is rendered. Each run has
        # an agent of its own, so no other thread can see that.
        agent.instructions = "\n\n".join(filter(None, (own, added))) or own
        agent.tools = {name: tool for name, tool in tools.items() if name in first}
        try:
            text = agent.own_prompt()
        finally:
            agent.instructions, agent.tools = own, tools
        return text if added in text else f"{text}\n\n{added}"


class _Held:
    """One of the agent's own tools that needs a skill, as code calls it.

    One for all runs of a conversation: code may keep it in a variable.
    """

    run: _AgentRun
    function: Callable[..., Any]

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as it has it
        named = zip(getattr(self.function, "inputs", ()), args, strict=False)
        given = {**dict(named), **kwargs}
        return self.run.hold(self._name, given) or self.function(*args, **kwargs)


class _SkillTool(Tool):
    """A tool of a skill, in the form of smolagents."""

    skip_forward_signature_validation = True

    def __init__(
        self, tool: SatchelTool, call: Callable[[str, Mapping[str, object]], object]
    ) -> None:
        self.name, self.description = tool.name, tool.description
        native = tool.native if isinstance(tool.native, Tool) else None
        self.inputs = native.inputs if native else _inputs(tool.parameters)
        self.output_type = native.output_type if native else "any"
        self.output_schema = getattr(native, "output_schema", None)
        self._call = call
        super().__init__()

    def forward(self, *args: object, **kwargs: object) -> object:
        """Call it from code, where arguments may be positional."""
        if len(args) > len(self.inputs):
            problem = f"takes {len(self.inputs)} arguments, but got {len(args)}"
            raise TypeError(f"{self.name} {problem}")
        return self._call(
            self.name, {**dict(zip(self.inputs, args, strict=False)), **kwargs}
        )


def _forked(agent: MultiStepAgent, kind: type) -> Any:  # noqa: ANN401 - of any kind
    executor = _fresh(getattr(agent, "python_executor", None))
    # `__init__` needs arguments that the agent does not keep.
    fork: Any = object.__new__(kind)
    vars(fork).update(vars(agent), python_executor=executor, _executor=_fresh(executor))
    vars(fork).update(_is_run=False, _current=None, _runs=WeakSet())
    fork.memory = copy(agent.memory)
    fork.memory.steps = [*agent.memory.steps]
    fork.state, fork.tools = dict(agent.state), _own_tools(agent)
    return fork


def _fresh(executor: LocalPythonExecutor | None) -> LocalPythonExecutor | None:
    fresh = copy(executor)
    if fresh is not None:
        fresh.state, fresh.custom_tools = dict(fresh.state), dict(fresh.custom_tools)
        vars(fresh)[_HELD] = {}
    return fresh


def _own_tools(agent: MultiStepAgent) -> dict[str, Any]:
    run: _AgentRun | None = getattr(agent, "_current", None)
    if run is None:
        return dict(agent.tools)
    return {k: tool for k, tool in agent.tools.items() if tool not in run.tool_forms}


def _by_name(tool: object, arguments: object) -> Any:  # noqa: ANN401 - any at all
    """Return arguments by name; a value alone is that of the only one it needs."""
    inputs = tool.inputs if isinstance(tool, Tool) else {}
    needed = [name for name, kind in inputs.items() if not kind.get("nullable")]
    if isinstance(arguments, Mapping) or len(needed) != 1:
        return arguments
    return {needed[0]: arguments}


def _without_nulls(tool: SatchelTool, given: Mapping[str, object]) -> dict[str, object]:
    """Return arguments without the nulls that smolagents allows."""
    schema = cast("Mapping[str, Any]", tool.parameters)
    properties = schema.get("properties", {}).items()
    typed = {name for name, part in properties if "type" in _parts(part)}
    optional = typed.difference(schema.get("required", ()))
    return {k: v for k, v in given.items() if v is not None or k not in optional}


def _inputs(parameters: Mapping[str, Json]) -> dict[str, dict[str, Any]]:
    """Return a JSON Schema as smolagents has it: by name, no references, nullable."""
    schema: Mapping[str, Any] = inline_schema(parameters)
    inputs = {name: _input(part) for name, part in schema.get("properties", {}).items()}
    for name in inputs.keys() - set(schema.get("required", ())):
        inputs[name]["nullable"] = True
    return inputs


def _input(schema: object) -> dict[str, Any]:
    """Return one parameter with a type, or several, that smolagents knows."""
    parts = _parts(schema)
    result = {key: part for key, part in parts.items() if key != "anyOf"}
    variants = [_parts(variant) for variant in parts.get("anyOf", [parts])]
    typed = [variant for variant in variants if variant.get("type") != "null"]
    if len(typed) == 1:
        result = {**typed[0], **result}
    kinds = [kind for variant in typed for kind in _kinds(variant)]
    if len(typed) < len(variants) or "null" in kinds:
        result["nullable"] = True
    allowed = [kind for kind in dict.fromkeys(kinds) if kind in AUTHORIZED_TYPES]
    allowed = [kind for kind in allowed if kind != "null"]
    kind = allowed[0] if len(allowed) == 1 else allowed or "any"
    return {"description": "", **result, "type": kind}


def _parts(schema: object) -> Mapping[str, Any]:
    """Return the keys of a schema; True, which allows anything, has none."""
    return cast("Mapping[str, Any]", schema) if isinstance(schema, Mapping) else {}


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    kind = schema.get("type", "any")
    return [str(part) for part in kind] if isinstance(kind, list) else [str(kind)]


def _seen(
    messages: Iterable[ChatMessage], loads: Callable[[str], Iterable[SeenMessage]]
) -> Iterator[SeenMessage]:
    calls: list[tuple[str, object]] = []
    for message in messages:
        text = text_of(message.content)
        if message.role == MessageRole.TOOL_CALL:
            calls = _calls(text)
            yield SeenMessage("assistant")
        elif message.role == MessageRole.TOOL_RESPONSE:
            text = text.removeprefix(_RESULTS)
            # With several calls the text does not say which result is whose.
            name, arguments = calls[0] if len(calls) == 1 else ("", None)
            if isinstance(arguments, Mapping):
                yield SeenMessage("tool", text, name, arguments)
            else:
                yield SeenMessage("tool", text)
                yield from loads(text)
            calls = []
        elif message.role == MessageRole.USER:
            yield SeenMessage("user", text)


def _calls(text: str) -> list[tuple[str, object]]:
    """Return names and arguments of calls, as smolagents writes them for a model."""
    try:
        calls = _literal(text.removeprefix(_CALLS))
        return [
            (call["function"]["name"], call["function"]["arguments"]) for call in calls
        ]
    except (ValueError, SyntaxError, TypeError, KeyError, SystemError):
        return []


def _literal(text: str) -> Any:  # noqa: ANN401 - whatever it says
    """Return the value of a literal; in Python 3.11 two threads can fail here.

    Source: github.com/python/cpython/issues/106905.
    """
    for _ in range(_TRIES):
        try:
            return ast.literal_eval(text)
        except SystemError:
            continue
    return ast.literal_eval(text)
