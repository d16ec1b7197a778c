"""Skills for smolagents: ``attach(skills, to=agent)``.

smolagents has no slot for instructions and tools that change from call to call, so what
is returned is a copy of the agent whose class answers for both::

    agent = attach(skills, to=ToolCallingAgent(tools=[mine], model=model))
    agent.run("hi")
    agent.run("and then?", reset=False)

An agent of smolagents holds one conversation. Here each run that begins one anew has a
memory, a state and variables of its own, so that runs may go on side by side;
``copy.copy(agent)`` is a conversation that goes its own way from here. What one has in
use stands in ``agent.memory.skills``, as JSON-safe values: ids and digests, no text.

It is longer than other adapters, because there are two kinds of agents, one of which
calls tools from code, and because smolagents has schemas of its own.
"""

import ast
import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar, Unpack, cast
from weakref import WeakSet

from satchel.adapters._base import Conversation, SessionFactory, framework
from satchel.model import Json, SeenMessage
from satchel.runtime import Permit, Satchel, SessionOptions, loads_in_text
from satchel.tools import Tool as OurTool, inline_schema, result_text

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
Who: TypeAlias = Mapping[str, Any] | Callable[[Any], Mapping[str, Any]]
"""For whom a run is, or how the agent that runs tells."""
Deps: TypeAlias = Callable[[Any], object]

_CUT: Final = "_This content has been truncated"
"""How smolagents marks an output of code that it has shortened."""
_CALLS: Final = "Calling tools:\n"
_TRIES: Final = 20
_RESULTS: Final = "Observation:\n"
_OPEN: Final = "These tools are open now, and behave like regular python functions:"
_KEPT: Final = "skills"
"""The attribute of an agent's memory that holds what its conversation has in use."""
_WHO: Final = "_skills_for"
"""The attribute that holds for whom it was."""


def attach(
    skills: Satchel,
    *,
    to: AgentT,
    who: Who | None = None,
    deps: Deps | None = None,
    **options: Unpack[SessionOptions],
) -> AgentT:
    """Return a copy of the agent that has skills; ``to`` itself stays as it is.

    Its own instructions come first in the prompt and its own tools first among the
    tools. It may be a manager, or be managed. smolagents has no approval: without
    ``approve``, a call that the policy asks about is a result that says so.

    Args:
        skills: Whose skills.
        to: A `ToolCallingAgent`, a `CodeAgent`, or one of a subclass.
        who: For whom a run is, or how the agent that runs tells: by its ``state``, or
            by a context variable.
        deps: What tools get as ``Run.deps``; by default the ``state`` of the agent.
        options: As for `satchel.Satchel.session`; ``agent`` is the agent's name.

    Raises:
        TypeError: ``to`` is no agent of smolagents; an argument is not known, or of
            another type.
        ValueError: The agent has skills already, or its code runs elsewhere, from
            where no tool of a skill can be called; or no style has that name.
        DuplicateToolError: When it runs: a tool of its own and one of a skill have
            the same name.
    """
    if isinstance(to, _Skilled):
        told = "has skills already; give one Satchel all of them"
        raise ValueError(f"agent {to.name!r} {told}")  # noqa: TRY004 - no other type fits
    if not isinstance(cast("object", to), MultiStepAgent):
        raise TypeError(f"to= takes an agent of smolagents, not {type(to).__name__}")
    executor = getattr(to, "python_executor", None)
    if executor is not None and not isinstance(executor, LocalPythonExecutor):
        told = "runs its code where no tool of a skill can be called"
        raise ValueError(f"agent {to.name!r} {told}: in a {type(executor).__name__}")
    kind = type(to)
    given: SessionOptions = {"agent": to.name or "agent", **options}
    sessions: SessionFactory[Any] = SessionFactory(skills, who, deps, given)
    skilled = type(kind.__name__, (_Skilled, kind), {"_sessions": sessions})
    return cast("AgentT", _forked(to, skilled))


class _Skilled(MultiStepAgent):
    """An agent with skills; made as a subclass of the class of the agent it was.

    What runs is a copy, so that no run meets another: that has a ``_live``.
    """

    _sessions: SessionFactory[Any]
    _is_run: bool
    _live: "_Live | None"
    _runs: "WeakSet[_Skilled]"
    _executor: LocalPythonExecutor | None
    python_executor: LocalPythonExecutor | None

    def __copy__(self) -> "_Skilled":
        fork: _Skilled = _forked(self, type(self))
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
        """Run as the agent did; it goes on with what was begun last."""
        run = copy(self)
        run._is_run = True  # noqa: SLF001 - its own class
        if reset:
            run.memory.reset()
            vars(run.memory).pop(_KEPT, None)
            run.python_executor = _fresh(self._executor)
            self.memory, self.state = run.memory, run.state
            self.python_executor = run.python_executor
        else:
            run.memory, run.state = self.memory, self.state
            run.python_executor = self.python_executor
        self._runs.add(run)
        return super(_Skilled, run).run(task, stream, reset, *args, **kwargs)

    def __call__(self, task: str, **kwargs: Any) -> Any:  # noqa: ANN401
        """Run for a manager; a summary that it wants is one of this very run."""
        run = copy(self)
        self._runs.add(run)
        report = super(_Skilled, run).__call__(task, **kwargs)
        self.memory, self.state = run.memory, run.state
        return report

    def interrupt(self) -> None:
        """Interrupt all runs of this agent."""
        super().interrupt()
        for run in list(self._runs):
            run.interrupt()

    def initialize_system_prompt(self) -> str:
        """Return the agent's own prompt, in a run with what skills add to it."""
        if not self._is_run:
            return self.own_prompt()
        if self._live is None:
            self._live = _begun(self._sessions, self)
        return self._live.prompt()

    def own_prompt(self) -> str:
        """Return what the agent's own class makes of its instructions and tools."""
        under: Any = super()
        text: str = under.initialize_system_prompt()
        return text

    def write_memory_to_messages(
        self,
        summary_mode: bool = False,  # noqa: FBT001, FBT002
    ) -> list[ChatMessage]:
        """Return what the next model call sees; its tools are those that are open."""
        messages: list[ChatMessage] = super().write_memory_to_messages(summary_mode)
        if self._live is None:
            return messages
        if summary_mode:  # for a plan, which names the tools, and sees no prompt
            self._live.open()
            return messages
        return self._live.look(messages)

    @property
    def tools_and_managed_agents(self) -> list[Any]:
        """What a model can call: skills' tools behind all others."""
        own = _own_tools(self)
        skills = [each for name, each in self.tools.items() if name not in own]
        return [*own.values(), *self.managed_agents.values(), *skills]

    def execute_tool_call(self, tool_name: str, arguments: Any) -> Any:  # noqa: ANN401
        """Carry out a call; whatever goes wrong in one of a skill is its result."""
        under: Any = super()
        live = self._live
        if live is None or live.is_own(tool_name):
            return under.execute_tool_call(tool_name, arguments)
        given = live.named(tool_name, self._substitute_state_variables(arguments))
        if not live.is_native(tool_name):
            return live.answer(tool_name, given)
        permit = live.permit(tool_name, given)
        if permit.refusal is not None:
            return result_text(permit.refusal)
        try:
            return under.execute_tool_call(tool_name, _Permitted(permit.arguments))
        except AgentExecutionError as error:
            # Raised, it would take the results of the calls next to it away.
            return str(error)

    def _substitute_state_variables(self, arguments: Any) -> Any:  # noqa: ANN401
        """Leave what was permitted as it is: somebody may have approved it so."""
        under: Any = super()
        if isinstance(arguments, _Permitted):
            return arguments
        return under._substitute_state_variables(arguments)  # noqa: SLF001 - as it does


class _Permitted(dict[str, object]):
    """The arguments of a call with which it may be made."""


def _begun(sessions: SessionFactory[Any], agent: _Skilled) -> "_Live":
    """Open what one run of the agent needs.

    Raises:
        DuplicateToolError: A tool of the agent and one of a skill have one name.
    """
    memory = vars(agent.memory)
    conversation = sessions.open(agent, memory.get(_KEPT), deps=agent.state)
    session = conversation.session
    if memory.setdefault(_WHO, session.who) != session.who:
        session.revoke()
        memory[_WHO] = session.who
    listed = session.tools()
    if session.activations:
        # A prompt lists the tools that are there from the start, and so it stays
        # as it was when the conversation began.
        bare = {**conversation.save(), "active": []}
        listed = sessions.open(agent, bare, deps=agent.state).session.tools()
    return _Live(agent, conversation, frozenset(tool.name for tool in listed))


@dataclass(eq=False, slots=True)
class _Live:
    """The conversation of one run, its turn, and its tools as smolagents has them."""

    agent: _Skilled
    conversation: Conversation
    listed: frozenset[str]
    made: dict[tuple[str, str], Tool] = field(
        default_factory=dict[tuple[str, str], Tool]
    )
    rendered: tuple[str, str] | None = None
    texts: str = ""

    def __post_init__(self) -> None:
        self.open()

    def prompt(self) -> str:
        """Return the system prompt as it is to be for the messages seen last."""
        added = "\n\n".join(
            filter(None, (self.conversation.session.instructions(), self._unseen()))
        )
        if self.rendered is None or self.rendered[0] != added:
            self.rendered = added, self._render(added)
        return self.rendered[1]

    def look(self, messages: list[ChatMessage]) -> list[ChatMessage]:
        """See what the model sees; return it with what it is to see besides."""
        seen = [*_seen(messages, self._loads)]
        self.conversation.see(seen)
        self.open()
        self.texts = "\n".join(each.text for each in seen if each.role == "tool")
        before = self.rendered
        prompt = self.prompt()
        self.keep()
        if self.rendered is before:
            return messages
        self.agent.memory.system_prompt = SystemPromptStep(system_prompt=prompt)
        rest = (each for each in messages if each.role != MessageRole.SYSTEM)
        return [*self.agent.memory.system_prompt.to_messages(), *rest]

    def _loads(self, text: str) -> Iterator[SeenMessage]:
        """Yield the loads in what several calls, or code, have brought."""
        in_use = {each.id for each in self.conversation.session.activations}
        loads = loads_in_text(self.conversation.session.style, text, in_use)
        return (each for each in loads if _CUT not in each.text)

    def open(self) -> None:
        """Give the agent the tools that are open now, behind its own.

        Raises:
            DuplicateToolError: One of its own has the name of one of a skill.
        """
        agent = self.agent
        tools = _own_tools(agent)
        own = [*tools, *agent.managed_agents]
        if agent.python_executor is not None:
            own += BASE_PYTHON_TOOLS
        offered = self.conversation.tools(own)
        tools |= {tool.name: self._native(tool) for tool in offered}
        if agent.python_executor is not None and tools.keys() != agent.tools.keys():
            agent.python_executor.send_tools({**tools, **agent.managed_agents})
        agent.tools = tools

    def keep(self) -> None:
        """Write down what the next run of this conversation resumes from."""
        vars(self.agent.memory)[_KEPT] = self.conversation.save()

    def is_own(self, name: str) -> bool:
        """Tell whether the agent is to answer a call without skills."""
        agent = self.agent
        if name in _own_tools(agent) or name in agent.managed_agents:
            return True
        return name not in agent.tools and not self.conversation.session.tools()

    def is_native(self, name: str) -> bool:
        """Tell whether it is a tool of smolagents that a skill carries."""
        tool = self.agent.tools.get(name)
        return tool is not None and not isinstance(tool, _SkillTool)

    def named(self, name: str, arguments: object) -> Any:  # noqa: ANN401 - any at all
        """Return arguments by name; what is no object is the one that there is."""
        tool = self.agent.tools.get(name)
        inputs = [*tool.inputs] if isinstance(tool, Tool) else []
        if isinstance(arguments, Mapping) or len(inputs) != 1:
            return arguments
        return {inputs[0]: arguments}

    def answer(self, name: str, arguments: Any) -> object:  # noqa: ANN401 - any at all
        """Return the result of a call as smolagents shows it to a model."""
        result = handle_agent_output_types(self.call(name, arguments))
        is_shown = isinstance(result, (AgentImage, AgentAudio))
        return result if is_shown else result_text(result)

    def permit(self, name: str, arguments: Any) -> Permit:  # noqa: ANN401 - any at all
        """Return whether a tool of smolagents may be called, and with what."""
        permit = self.conversation.permit(name, arguments)
        self.keep()
        return permit

    def call(self, name: str, arguments: Any) -> object:  # noqa: ANN401 - any at all
        """Carry out a call; never raises. smolagents waits for no coroutine."""
        tool = self.conversation.tool(name)
        if tool is not None and isinstance(arguments, Mapping):
            arguments = _without_nulls(tool, arguments)
        if tool is None or not tool.is_async:
            result = self.conversation.call(name, arguments)
        else:
            with ThreadPoolExecutor(1) as pool:
                waited = self.conversation.acall(name, arguments)
                result = pool.submit(copy_context().run, asyncio.run, waited).result()
        self.keep()
        return result

    def call_from_code(self, name: str, arguments: Mapping[str, object]) -> object:
        """Do as `call` does; say how the tools are called that it has opened."""
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

    def _native(self, tool: OurTool) -> Tool:
        key = tool.name, tool.description
        if key not in self.made:
            self.made[key] = self._make(tool)
        return self.made[key]

    def _make(self, tool: OurTool) -> Tool:
        native = tool.native
        if not isinstance(native, Tool):
            return _SkillTool(tool, self.call_from_code)
        if self.agent.python_executor is None:
            return native
        return _SkillTool(tool, partial(self.call_native, native))

    def _unseen(self) -> str:
        """Return the open tools that code may call, and no message shows how.

        For an agent that calls tools otherwise, they are no part of a prompt.
        """
        if self.agent.python_executor is None:
            return ""
        later = (
            t for t in self.conversation.session.tools() if t.name not in self.listed
        )
        return self._code([t for t in later if f"def {t.name}(" not in self.texts])

    def _code(self, tools: Iterable[OurTool]) -> str:
        shown = [self._native(tool).to_code_prompt() for tool in tools]
        if not shown:
            return ""
        agent: Any = self.agent
        start, end = agent.code_block_tags
        return "\n".join((_OPEN, start, *shown, end))

    def _render(self, added: str) -> str:
        """Return the agent's own prompt with more behind its own instructions.

        A template may have no place for instructions: then it stands at the end.
        """
        agent = self.agent
        own, tools = agent.instructions, agent.tools
        first = {*_own_tools(agent), *self.listed}
        agent.instructions = "\n\n".join(filter(None, (own, added))) or own
        agent.tools = {name: tool for name, tool in tools.items() if name in first}
        try:
            text = agent.own_prompt()
        finally:
            agent.instructions, agent.tools = own, tools
        return text if added in text else f"{text}\n\n{added}"


class _SkillTool(Tool):
    """A tool of a skill, in the form of smolagents."""

    skip_forward_signature_validation = True

    def __init__(
        self, tool: OurTool, call: Callable[[str, Mapping[str, object]], object]
    ) -> None:
        self.name, self.description = tool.name, tool.description
        native = tool.native if isinstance(tool.native, Tool) else None
        self.inputs = native.inputs if native else _inputs(tool.parameters)
        self.output_type = native.output_type if native else "any"
        self.output_schema = getattr(native, "output_schema", None)
        self._call = call
        super().__init__()

    def forward(self, *args: object, **kwargs: object) -> object:
        """Call it from code, where arguments may stand in their order."""
        if len(args) > len(self.inputs):
            told = f"takes {len(self.inputs)} arguments, and {len(args)} were given"
            raise TypeError(f"{self.name} {told}")
        return self._call(
            self.name, {**dict(zip(self.inputs, args, strict=False)), **kwargs}
        )


def _forked(agent: MultiStepAgent, kind: type) -> Any:  # noqa: ANN401 - of any kind
    """Return an agent of that class whose conversation goes its own way from here."""
    executor = _fresh(getattr(agent, "python_executor", None))
    fork: Any = object.__new__(kind)
    vars(fork).update(vars(agent), python_executor=executor, _executor=_fresh(executor))
    vars(fork).update(_is_run=False, _live=None, _runs=WeakSet())
    fork.memory = copy(agent.memory)
    fork.memory.steps = [*agent.memory.steps]
    fork.state, fork.tools = dict(agent.state), _own_tools(agent)
    return fork


def _fresh(executor: LocalPythonExecutor | None) -> LocalPythonExecutor | None:
    """Return an executor with the same variables, to be changed by itself."""
    fresh = copy(executor)
    if fresh is not None:
        fresh.state, fresh.custom_tools = dict(fresh.state), dict(fresh.custom_tools)
    return fresh


def _own_tools(agent: MultiStepAgent) -> dict[str, Any]:
    """Return the agent's tools without those of skills."""
    live: _Live | None = getattr(agent, "_live", None)
    made = {id(each) for each in live.made.values()} if live is not None else set()
    return {name: each for name, each in agent.tools.items() if id(each) not in made}


def _without_nulls(tool: OurTool, given: Mapping[str, object]) -> dict[str, object]:
    """Return arguments without those that are null since smolagents takes it."""
    schema = cast("Mapping[str, Any]", tool.parameters)
    told = schema.get("properties", {}).items()
    has_kind = {name for name, each in told if "type" in _parts(each)}
    optional = has_kind.difference(schema.get("required", ()))
    return {k: v for k, v in given.items() if v is not None or k not in optional}


def _inputs(parameters: Mapping[str, Json]) -> dict[str, dict[str, Any]]:
    """Return a JSON Schema as smolagents has it: by name, no references, nullable."""
    schema: Mapping[str, Any] = inline_schema(parameters)
    inputs = {name: _input(each) for name, each in schema.get("properties", {}).items()}
    for name in inputs.keys() - set(schema.get("required", ())):
        inputs[name]["nullable"] = True
    return inputs


def _input(schema: object) -> dict[str, Any]:
    """Return one parameter with a type, or several, that smolagents knows."""
    parts = _parts(schema)
    told = {key: each for key, each in parts.items() if key != "anyOf"}
    variants = [_parts(each) for each in parts.get("anyOf", [parts])]
    kept = [each for each in variants if each.get("type") != "null"]
    if len(kept) == 1:
        told = {**kept[0], **told}
    kinds = [kind for each in kept for kind in _kinds(each)]
    if len(kept) < len(variants) or "null" in kinds:
        told["nullable"] = True
    known = [kind for kind in dict.fromkeys(kinds) if kind in AUTHORIZED_TYPES]
    known = [kind for kind in known if kind != "null"]
    kind = known[0] if len(known) == 1 else known or "any"
    return {"description": "", **told, "type": kind}


def _parts(schema: object) -> Mapping[str, Any]:
    """Return what a schema says; True, which allows anything, says nothing."""
    return cast("Mapping[str, Any]", schema) if isinstance(schema, Mapping) else {}


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    kind = schema.get("type", "any")
    return [str(each) for each in kind] if isinstance(kind, list) else [str(kind)]


def _seen(
    messages: Iterable[ChatMessage], loads: Callable[[str], Iterable[SeenMessage]]
) -> Iterator[SeenMessage]:
    """Yield what the messages show; all results of one step are one text."""
    calls: list[tuple[str, object]] = []
    for message in messages:
        text = _text(message.content)
        if message.role == MessageRole.TOOL_CALL:
            calls = _calls(text)
            yield SeenMessage("assistant")
        elif message.role == MessageRole.TOOL_RESPONSE:
            text = text.removeprefix(_RESULTS)
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
    """Return names and arguments of the calls, as smolagents tells a model."""
    try:
        calls = _literal(text.removeprefix(_CALLS))
        return [
            (call["function"]["name"], call["function"]["arguments"]) for call in calls
        ]
    except (ValueError, SyntaxError, TypeError, KeyError, SystemError):
        return []


def _literal(text: str) -> Any:  # noqa: ANN401 - whatever it says
    """Return what a literal says; in Python 3.11 two threads disturb one another.

    Source: github.com/python/cpython/issues/106905.
    """
    for _ in range(_TRIES):
        try:
            return ast.literal_eval(text)
        except SystemError:
            continue
    return ast.literal_eval(text)


def _text(content: str | list[dict[str, Any]] | None) -> str:
    if isinstance(content, list):
        return "\n".join(str(part["text"]) for part in content if "text" in part)
    return content or ""
