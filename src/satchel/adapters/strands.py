"""Skills on Strands agents: a plugin.

::

    agent = Agent(model=model, tools=[mine], plugins=[strands.attach(skills)])

A Strands agent holds one conversation, so there is one agent for each, and one plugin
for all of them. What a conversation has loaded lives in ``agent.state``, which session
managers and snapshots store with the messages. The agent's own prompt and tools stay as
they are: the plugin lends it more for the time of each model call.
"""

import asyncio
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias, Unpack, cast

from satchel.adapters import framework
from satchel.model import Json, Seen
from satchel.runtime.front import Satchel
from satchel.runtime.session import Session, SessionOptions
from satchel.tools import Tool, result_text

with framework("Strands Agents", "strands"):
    from strands import Agent
    from strands.hooks import (
        AfterInvocationEvent,
        AfterModelCallEvent,
        BeforeModelCallEvent,
        BeforeToolCallEvent,
    )
    from strands.plugins import Plugin
    from strands.tools import PythonAgentTool
    from strands.types.content import Messages, SystemContentBlock
    from strands.types.exceptions import ConcurrencyException
    from strands.types.tools import AgentTool, ToolResult, ToolUse

__all__ = ["attach"]

InvocationState: TypeAlias = dict[str, Any]
Who: TypeAlias = Mapping[str, Any] | Callable[[InvocationState], Mapping[str, Any]]
Deps: TypeAlias = Callable[[InvocationState], object]

_NAME: Final = "satchel"
"""Of the plugin, of its interrupts, and of its part of ``agent.state``."""

_YES: Final = frozenset({"y", "yes"})
"""As text that Strands' own interventions take for an approval."""

_NOTHING: Final[dict[str, Json]] = {"type": "object", "properties": {}}


def attach(
    skills: Satchel,
    *,
    who: Who | None = None,
    deps: Deps | None = None,
    **options: Unpack[SessionOptions],
) -> Plugin:
    """Return a plugin that lets agents load skills and call their tools.

    One plugin serves any number of agents. Where the policy says ask and no ``approve``
    is given, the run stops with an interrupt called ``satchel``, whose ``reason`` has
    the ``tool`` and its ``arguments``; True, "y" or "yes" in answer is a yes.

    Args:
        skills: Where they come from.
        who: For whom a run is: a mapping, or a function of its ``invocation_state``,
            where the agent itself is under ``agent``.
        deps: A function of the same, for tools that ask for a `satchel.Run`; None is
            the ``invocation_state``.
        options: Of every session: ``always``, ``only``, ``approve`` and others.

    Raises:
        ExtraMissingError: Strands is not installed, or is too old.
        DuplicateToolError: In an agent's first run, if one of its own tools has the
            name of one of a skill.
        ConcurrencyException: In a run of an agent that is running already, which
            Strands allows in its mode ``unsafe_reentrant``.
    """
    return _Skills(skills, who, deps, options)


class _Skills(Plugin):
    """Gives each agent hooks of its own: nothing is kept here."""

    def __init__(
        self,
        skills: Satchel,
        who: Who | None,
        deps: Deps | None,
        options: SessionOptions,
    ) -> None:
        super().__init__()
        self.skills = skills
        self.who = who
        self.deps = deps
        self.options = options

    @property
    def name(self) -> str:
        """What Strands calls it; an agent takes one plugin of each name."""
        return _NAME

    def init_agent(self, agent: Agent) -> None:
        """Add the hooks."""
        hooks = _Hooks(self)
        agent.add_hook(hooks.lend, BeforeModelCallEvent)
        agent.add_hook(hooks.take_back, AfterModelCallEvent)
        agent.add_hook(hooks.choose, BeforeToolCallEvent)
        agent.add_hook(hooks.close, AfterInvocationEvent)

    def open(self, agent: Agent, state: InvocationState) -> Session:
        """Take the agent's conversation up where it stands."""
        who, deps = self.who, self.deps
        options: SessionOptions = {"agent": agent.name, **self.options}
        return self.skills.session(
            who=who(state) if callable(who) else who,
            deps=state if deps is None else deps(state),
            resume=agent.state.get(_NAME),
            **options,
        )


@dataclass(slots=True)
class _Look:
    """What the last model call was given, and what it stands on.

    ``loads`` are the results of our own tools as they were then: a conversation manager
    may shorten them where they stand.
    """

    mark: object
    messages: Messages
    loads: list[tuple[ToolResult, str]]
    before: list[SystemContentBlock] | None
    own: tuple[str, ...]
    prompt: list[SystemContentBlock] | None
    tools: list[AgentTool]

    def holds(self, messages: Messages) -> bool:
        """Tell whether only results of the agent's own tools have come since."""
        count = len(self.messages)
        if messages[:count] != self.messages:
            return False
        for message in (more := messages[count:]):
            if message["role"] == "user" and any(
                "toolResult" not in block for block in message["content"]
            ):
                return False
        if any(_text(result) != text for result, text in self.loads):
            return False
        self.messages += more
        return True


@dataclass(slots=True)
class _Run:
    """One run of an agent, from its first model or tool call to its end."""

    state: InvocationState
    session: Session
    turn: AbstractContextManager[object]
    kept: object
    made: dict[str, tuple[Tool, AgentTool]]
    last: _Look | None = None
    is_behind: bool = False

    def see(self, messages: Messages) -> None:
        """Show the session all of the conversation."""
        self.session.see(_seen(messages))
        self.is_behind = False

    def native(self, tool: Tool) -> AgentTool:
        """Return a tool in Strands' form, made once while it stays as it is."""
        known = self.made.get(tool.name)
        if known is not None and _is_same(known[0], tool):
            return known[1]
        made = _native(tool, self.session)
        self.made[tool.name] = tool, made
        return made


@dataclass(frozen=True, slots=True)
class _Lent:
    """What the agent has for the time of one model call, and what it had before."""

    before: list[SystemContentBlock] | None
    prompt: list[SystemContentBlock] | None
    tools: tuple[str, ...]


class _Hooks:
    """The hooks of one agent, and the run that it is in."""

    def __init__(self, plugin: _Skills) -> None:
        self._plugin = plugin
        self._opening = threading.Lock()
        self._run: _Run | None = None
        self._lent: _Lent | None = None

    async def lend(self, event: BeforeModelCallEvent) -> None:
        """Give the agent the prompt and the tools of this model call."""
        agent = event.agent
        run = await self._entered(agent, event.invocation_state)
        session = run.session
        self._end_loan(agent)
        registry, before = agent.tool_registry, agent.system_prompt_content
        own = (*registry.registry, *registry.dynamic_tools)
        last, mark = run.last, session.mark
        if (
            last is None
            or last.mark is not mark
            or last.own != own
            or last.before != before
            or not last.holds(agent.messages)
        ):
            last = run.last = await self._look(agent, run, before, own)
        else:
            run.is_behind = True
        names = tuple(each.tool_name for each in last.tools)
        self._lent = _Lent(before, last.prompt, names)
        agent.system_prompt = last.prompt
        for tool in last.tools:
            registry.register_dynamic_tool(tool)

    async def _look(
        self,
        agent: Agent,
        run: _Run,
        before: list[SystemContentBlock] | None,
        own: tuple[str, ...],
    ) -> _Look:
        session = run.session
        run.see(agent.messages)
        if session.reads_files:
            prompt = await asyncio.to_thread(_prompt, before, session)
        else:
            prompt = _prompt(before, session)
        tools = [run.native(each) for each in session.tools(beside=own)]
        self._keep(agent)
        loads = [*_results(agent.messages, {each.tool_name for each in tools})]
        return _Look(session.mark, [*agent.messages], loads, before, own, prompt, tools)

    def take_back(self, event: AfterModelCallEvent) -> None:
        """Leave the agent with its own prompt and tools."""
        self._end_loan(event.agent)

    async def choose(self, event: "BeforeToolCallEvent[Any]") -> None:
        """Choose the tool of a skill for a call that none of the agent's own answers.

        Pauses the run where somebody has to approve the call.
        """
        if event.selected_tool is not None:
            return
        run = await self._entered(event.agent, event.invocation_state)
        session, name = run.session, event.tool_use["name"]
        tool = session.tools().get(name)
        if tool is None:
            if not _is_of_skill(session, name):
                return  # another plugin may know it
            tool = Tool(name, "", _NOTHING, dict)
        if run.is_behind:
            run.see(event.agent.messages)
        arguments = _arguments(event.tool_use)
        approved = None
        if self._plugin.options.get("approve") is None:
            decision = session.decide(name, arguments)
            if decision.verdict == "ask":
                asked = {"tool": name, "arguments": dict(arguments)}
                reason = {**asked, "reason": decision.reason}
                approved = _is_yes(event.interrupt(_NAME, reason=reason))
        if tool.native is not None:
            refused = await session.arefusal(name, arguments, approved=approved)
            self._keep(event.agent)
            if refused is not None:
                event.cancel_tool = result_text(refused)
                return
        keep = partial(self._keep, event.agent)
        event.selected_tool = _native(tool, session, approved=approved, keep=keep)

    def close(self, event: AfterInvocationEvent) -> None:
        """End the run, in which files were read once at most."""
        run = self._run
        if run is not None and run.state is event.invocation_state:
            self._end_loan(event.agent)  # the model call may have been broken off
            run.turn.__exit__(None, None, None)
            self._run = None

    async def _entered(self, agent: Agent, state: InvocationState) -> _Run:
        """Return the run that the agent is in; it begins where it is asked for first.

        Raises:
            ConcurrencyException: The agent is in another run.
        """
        run = self._run
        if run is None:
            if self._plugin.options.get("always"):  # they are read
                run = await asyncio.to_thread(self._begun, agent, state)
            else:
                run = self._begun(agent, state)
        if run.state is not state:
            raise ConcurrencyException("the agent is in another run: make one for each")
        return run

    def _begun(self, agent: Agent, state: InvocationState) -> _Run:
        with self._opening:  # parallel tool calls may be what a run begins with
            if self._run is None:
                kept = agent.state.get(_NAME)
                session = self._plugin.open(agent, state)
                if agent.messages and agent.messages[-1]["role"] == "assistant":
                    # It goes on with a tool call; a model call looks for itself.
                    session.see(_seen(agent.messages))
                turn = session.turn()
                turn.__enter__()
                self._run = _Run(state, session, turn, kept, {})
            return self._run

    def _keep(self, agent: Agent) -> None:
        run = self._run
        if run is not None and run.kept != (dumped := run.session.dump()):
            agent.state.set(_NAME, dumped)
            run.kept = dumped

    def _end_loan(self, agent: Agent) -> None:
        lent, self._lent = self._lent, None
        if lent is None:
            return
        if agent.system_prompt_content == lent.prompt:  # else somebody has set another
            agent.system_prompt = lent.before
        for name in lent.tools:
            agent.tool_registry.dynamic_tools.pop(name, None)


def _prompt(
    before: list[SystemContentBlock] | None, session: Session
) -> list[SystemContentBlock] | None:
    """Return the agent's blocks, cache points included, with the session's text last.

    It goes on in the last block where that is text, else it is one of its own.
    """
    blocks = list(before or ())
    if blocks and blocks[-1].keys() == {"text"}:
        base = blocks.pop()["text"]
        return [*blocks, {"text": session.instructions(base)}]
    text = session.instructions()
    return [*blocks, {"text": text}] if text else before


def _is_same(one: Tool, other: Tool) -> bool:
    return (
        one.native is other.native
        and one.description == other.description
        and one.parameters == other.parameters
    )


def _native(
    tool: Tool,
    session: Session,
    *,
    approved: bool | None = None,
    keep: Callable[[], None] | None = None,
) -> AgentTool:
    """Return a tool in Strands' form; one that is of it already as it is.

    ``keep`` is called after each call, for what the session has to remember of it.
    """
    if isinstance(tool.native, AgentTool):
        return tool.native

    async def call(use: ToolUse, /, **_: object) -> ToolResult:
        arguments = _arguments(use)
        result = await session.acall(tool.name, arguments, approved=approved)
        if keep is not None:
            keep()
        failed = isinstance(result, Mapping) and "error" in result
        return {
            "toolUseId": use["toolUseId"],
            "status": "error" if failed else "success",
            "content": [{"text": result_text(result)}],
        }

    schema = {"json": dict(tool.parameters)}
    return PythonAgentTool(
        tool.name,
        {"name": tool.name, "description": tool.description, "inputSchema": schema},
        call,
    )


def _seen(messages: Messages) -> Iterator[Seen]:
    """Yield messages as a session takes them; a result stands in a user's message."""
    calls: dict[str, ToolUse] = {}
    for message in messages:
        for block in message["content"]:
            if "text" in block:
                yield Seen(message["role"], block["text"])
            elif "toolUse" in block:
                calls[block["toolUse"]["toolUseId"]] = block["toolUse"]
            elif "toolResult" in block:
                result = block["toolResult"]
                text = _text(result)
                use = calls.get(result["toolUseId"])
                if use is None:
                    yield Seen("tool", text)
                else:
                    yield Seen("tool", text, use["name"], _arguments(use))


def _results(
    messages: Messages, names: Container[str]
) -> Iterator[tuple[ToolResult, str]]:
    """Yield the results of the tools of these names, and their texts."""
    ids: set[str] = set()
    for message in messages:
        for block in message["content"]:
            if "toolUse" in block:
                if block["toolUse"]["name"] in names:
                    ids.add(block["toolUse"]["toolUseId"])
            elif "toolResult" in block and block["toolResult"]["toolUseId"] in ids:
                yield block["toolResult"], _text(block["toolResult"])


def _text(result: ToolResult) -> str:
    parts: Iterable[Any] = result["content"]
    return "\n".join(
        each["text"] if "text" in each else result_text(each["json"])
        for each in parts
        if "text" in each or "json" in each
    )


def _arguments(use: ToolUse) -> Mapping[str, object]:
    given = use["input"]
    return cast("Mapping[str, object]", given) if isinstance(given, Mapping) else {}


def _is_of_skill(session: Session, name: str) -> bool:
    """Tell whether a name is that of a closed tool, or of a skill that is none."""
    entries = session.catalog.entries
    return name in session.catalog or any(name in entry.tools for entry in entries)


def _is_yes(answer: object) -> bool:
    return answer is True or (
        isinstance(answer, str) and answer.strip().lower() in _YES
    )
