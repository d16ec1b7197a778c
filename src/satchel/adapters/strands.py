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
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias, Unpack, cast

from satchel.adapters._base import Conversation, SessionFactory, framework, is_error
from satchel.model import Json, Reply, SeenMessage
from satchel.runtime import Satchel, Session, SessionOptions, question_text
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

_NO: Final = frozenset({"n", "no"})

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
    the ``skill``, the ``tool``, its ``arguments``, the ``reason`` and all of it as one
    ``question``. True, "y" or "yes" in answer is a yes, as is a mapping of other
    ``arguments``; anything else is a no, and text of it is read by the model.

    Args:
        skills: Where they come from.
        who: For whom a run is: a mapping, or a function of its ``invocation_state``,
            where the agent itself is under ``agent``.
        deps: A function of the same, for tools that ask for a `satchel.Run`; None is
            the ``invocation_state``.
        options: Of every session: ``always``, ``only``, ``approve`` and others.

    Raises:
        ExtraMissingError: Strands is not installed, or is too old.
        TypeError: An argument is not known, or of another type.
        ValueError: No style has that name.
        DuplicateToolError: In an agent's first run, if one of its own tools has the
            name of one of a skill.
        ConcurrencyException: In a run of an agent that is running already, which
            Strands allows in its mode ``unsafe_reentrant``.
    """
    return _Skills(SessionFactory(skills, who, deps, options))


class _Skills(Plugin):
    """Gives each agent hooks of its own: nothing is kept here."""

    def __init__(self, attached: SessionFactory[InvocationState]) -> None:
        super().__init__()
        self.attached = attached

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

    def open(self, agent: Agent, state: InvocationState) -> Conversation:
        """Take the agent's conversation up where it stands."""
        kept = agent.state.get(_NAME)
        return self.attached.open(state, kept, deps=state, agent=agent.name)


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
    talk: Conversation
    kept: object
    made: dict[str, tuple[Tool, AgentTool]]
    last: _Look | None = None
    is_behind: bool = False

    def see(self, messages: Messages) -> None:
        """Show the session all of the conversation."""
        self.talk.see(_seen(messages))
        self.is_behind = False

    def native(self, tool: Tool) -> AgentTool:
        """Return a tool in Strands' form, made once while it stays as it is."""
        known = self.made.get(tool.name)
        if known is not None and _is_same(known[0], tool):
            return known[1]
        made = _native(tool, self.talk)
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
        self._end_loan(agent)
        registry, before = agent.tool_registry, agent.system_prompt_content
        own = (*registry.registry, *registry.dynamic_tools)
        last, mark = run.last, run.talk.session.mark
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
        talk, session = run.talk, run.talk.session
        run.see(agent.messages)
        if session.reads_files:
            prompt = await asyncio.to_thread(_prompt, before, session)
        else:
            prompt = _prompt(before, session)
        tools = [run.native(each) for each in talk.tools(beside=own)]
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
        agent = event.agent
        run = await self._entered(agent, event.invocation_state)
        talk, name = run.talk, event.tool_use["name"]
        tool = talk.tool(name)
        if tool is None:
            if not _is_of_skill(talk.session, name):
                return  # another plugin may know it
            tool = Tool(name, "", _NOTHING, dict)
        if run.is_behind:
            run.see(agent.messages)
        arguments = _arguments(event.tool_use)
        reply: Reply | None = None
        if (question := talk.asked(name, arguments)) is not None:
            asked = {
                "skill": question.skill,
                "tool": name,
                "arguments": dict(arguments),
                "reason": question.reason,
                "question": question_text(question),
            }
            reply = _reply(event.interrupt(_NAME, reason=asked))
        call = _Call(talk, reply, partial(self._keep, agent))
        if tool.native is not None:
            permit = await talk.apermit(
                name, arguments, approved=reply, call_id=_id(event.tool_use)
            )
            self._keep(agent)
            if permit.refusal is not None:
                event.cancel_tool = result_text(permit.refusal)
                return
            event.tool_use["input"] = {**permit.arguments}
        event.selected_tool = _native(tool, talk, call)

    def close(self, event: AfterInvocationEvent) -> None:
        """End the run, in which files were read once at most."""
        run = self._run
        if run is not None and run.state is event.invocation_state:
            self._end_loan(event.agent)  # the model call may have been broken off
            self._run = None

    async def _entered(self, agent: Agent, state: InvocationState) -> _Run:
        """Return the run that the agent is in; it begins where it is asked for first.

        Raises:
            ConcurrencyException: The agent is in another run.
        """
        run = self._run
        if run is None:
            if self._plugin.attached.options.get("always"):  # they are read
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
                talk = self._plugin.open(agent, state)
                if agent.messages and agent.messages[-1]["role"] == "assistant":
                    # It goes on with a tool call; a model call looks for itself.
                    talk.see(_seen(agent.messages))
                self._run = _Run(state, talk, kept, {})
            return self._run

    def _keep(self, agent: Agent) -> None:
        run = self._run
        if run is not None and run.kept != (dumped := run.talk.keep()):
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


@dataclass(frozen=True, slots=True)
class _Call:
    """One call: what was answered to its question, and what keeps what it changed."""

    talk: Conversation
    reply: Reply | None = None
    keep: Callable[[], None] = lambda: None

    async def make(self, use: ToolUse, /, **_: object) -> ToolResult:
        """Make it; what comes back is what the model reads."""
        result = await self.talk.aanswer(
            use["name"], _arguments(use), approved=self.reply, call_id=_id(use)
        )
        self.keep()
        return {
            "toolUseId": use["toolUseId"],
            "status": "error" if is_error(result) else "success",
            "content": [{"text": result_text(result)}],
        }


def _native(tool: Tool, talk: Conversation, call: _Call | None = None) -> AgentTool:
    """Return a tool in Strands' form; one that is of it already as it is."""
    if isinstance(tool.native, AgentTool):
        return tool.native
    schema = {"json": dict(tool.parameters)}
    return PythonAgentTool(
        tool.name,
        {"name": tool.name, "description": tool.description, "inputSchema": schema},
        (call or _Call(talk)).make,
    )


def _seen(messages: Messages) -> Iterator[SeenMessage]:
    """Yield messages as a session takes them; a result stands in a user's message."""
    calls: dict[str, ToolUse] = {}
    for message in messages:
        for block in message["content"]:
            if "text" in block:
                yield SeenMessage(message["role"], block["text"])
            elif "toolUse" in block:
                calls[block["toolUse"]["toolUseId"]] = block["toolUse"]
            elif "toolResult" in block:
                result = block["toolResult"]
                text = _text(result)
                use = calls.get(result["toolUseId"])
                if use is None:
                    yield SeenMessage("tool", text)
                else:
                    yield SeenMessage("tool", text, use["name"], _arguments(use))


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


def _id(use: ToolUse) -> str:
    """Return the id of a call, which no other call of the conversation has."""
    return use["toolUseId"]


def _reply(answer: object) -> Reply:
    """Return what somebody answered to an interrupt, as a session takes it."""
    if isinstance(answer, Mapping):
        given = cast("Mapping[str, object]", answer)
        edited = given.get("arguments")
        if isinstance(edited, Mapping):
            return Reply("yes_once", arguments=cast("Mapping[str, object]", edited))
        return Reply("no", words=str(given.get("message", "")))
    if answer is True:
        return Reply("yes_once")
    text = answer.strip() if isinstance(answer, str) else ""
    if text.lower() in _YES:
        return Reply("yes_once")
    return Reply("no", words="" if text.lower() in _NO else text)
