"""Skills on Strands agents: ``Agent(model, plugins=[attach(skills)])``.

A Strands agent holds one conversation, so there is one agent for each, and one plugin
for all of them, which lends an agent its prompt and tools for each model call. What was
loaded is in ``agent.state``, which session managers and snapshots store.
"""

import threading
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias, Unpack

from satchel.adapters._base import (
    Conversation,
    Deps,
    SessionFactory,
    Who,
    framework,
    is_error,
)
from satchel.adapters._translation import (
    NO_PARAMETERS,
    OnlyName,
    ResultReader,
    ToolForms,
    question_data,
    reply_of,
)
from satchel.model import Reply, SeenMessage
from satchel.runtime import Satchel, Session, SessionOptions
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

# Of the plugin, of its interrupts, and of its part of ``agent.state``.
_NAME: Final = "satchel"


def attach(
    skills: Satchel,
    *,
    who: Who[InvocationState] = None,
    deps: Deps[InvocationState] = None,
    **options: Unpack[SessionOptions],
) -> Plugin:
    """Return a plugin that lets agents load skills and call their tools.

    One plugin serves any number of agents. Where the policy says ask and there is no
    ``approve``, the run stops with an interrupt called ``satchel``, whose ``reason``
    has the ``skill``, the ``tool``, its ``arguments``, the ``reason`` and all of it as
    one ``question``. The answer True, "y" or "yes" is a yes, as is a mapping with other
    ``arguments``; anything else is a no, and the model reads its text.

    Args:
        skills: Where they come from.
        who: For whom a run is: a mapping, or a function of its ``invocation_state``,
            where the agent itself is under ``agent``.
        deps: A function of the same, for tools that ask for a `satchel.Run`; None is
            the ``invocation_state``.
        options: Of every session: ``always``, ``only``, ``approve`` and others.

    Raises:
        ExtraMissingError: Strands is not installed, or is too old.
        TypeError: An argument is unknown or has the wrong type.
        ValueError: No style has that name.
        DuplicateToolError: In an agent's first run, if one of its own tools has the
            name of one of a skill.
        ConcurrencyException: In a run of an agent that is running already, which
            Strands allows in its mode ``unsafe_reentrant``.
    """
    return _Skills(SessionFactory(skills, who, deps, options, holds_own_tools=True))


class _Skills(Plugin):
    """Gives each agent hooks of its own: nothing is stored here."""

    @property
    def name(self) -> str:
        """The name under which an agent keeps it: of each name it takes one plugin."""
        return self._name

    def __init__(self, sessions: SessionFactory[InvocationState]) -> None:
        self._name = OnlyName(_NAME)
        super().__init__()
        self._sessions = sessions

    def init_agent(self, agent: Agent) -> None:
        hooks = _Hooks(self._sessions)
        agent.add_hook(hooks.add, BeforeModelCallEvent)
        agent.add_hook(hooks.remove, AfterModelCallEvent)
        agent.add_hook(hooks.choose_tool, BeforeToolCallEvent)
        agent.add_hook(hooks.end_run, AfterInvocationEvent)


@dataclass(slots=True)
class _ModelCall:
    """What the last model call got, and from what that was made.

    ``results`` are those of Satchel's tools as they were then: a conversation manager
    may shorten them in place.
    """

    mark: object
    messages: Messages
    results: list[tuple[ToolResult, str]]
    before: list[SystemContentBlock] | None
    own: tuple[str, ...]
    prompt: list[SystemContentBlock] | None
    tools: list[AgentTool]

    def is_current(self, messages: Messages) -> bool:
        """Tell whether only results of the agent's own tools have come since."""
        count = len(self.messages)
        if messages[:count] != self.messages:
            return False
        for message in (more := messages[count:]):
            is_result = all("toolResult" in block for block in message["content"])
            if message["role"] == "user" and not is_result:
                return False
        if any(_text(result) != text for result, text in self.results):
            return False
        self.messages += more
        return True


@dataclass(slots=True)
class _Run:
    """One run of an agent, from its first model or tool call to its end."""

    state: InvocationState
    conversation: Conversation
    saved: object
    tool_forms: ToolForms[AgentTool]
    last: _ModelCall | None = None


class _Hooks:
    """The hooks of one agent, and the run that it is in."""

    def __init__(self, sessions: SessionFactory[InvocationState]) -> None:
        self._sessions = sessions
        self._opening = threading.Lock()
        self._run: _Run | None = None
        self._lent: _ModelCall | None = None

    async def add(self, event: BeforeModelCallEvent) -> None:
        """Give the agent the prompt and the tools of this model call."""
        agent = event.agent
        run = await self._entered(agent, event.invocation_state)
        # A model call that was interrupted may have left its prompt and tools here.
        self._remove(agent)
        registry, before = agent.tool_registry, agent.system_prompt_content
        own = (*registry.registry, *registry.dynamic_tools)
        last, mark = run.last, run.conversation.session.mark
        # Reading the messages again takes time: only where something has changed.
        if (
            last is None
            or last.mark is not mark
            or last.own != own
            or last.before != before
            or not last.is_current(agent.messages)
        ):
            last = run.last = await self._new_call(agent, run, before, own)
        self._lent = last
        agent.system_prompt = last.prompt
        for tool in last.tools:
            registry.register_dynamic_tool(tool)

    async def _new_call(
        self,
        agent: Agent,
        run: _Run,
        before: list[SystemContentBlock] | None,
        own: tuple[str, ...],
    ) -> _ModelCall:
        conversation, session = run.conversation, run.conversation.session
        conversation.see(_seen(agent.messages))
        prompt = await conversation.call_off_loop(_prompt, before, session)
        tools = [run.tool_forms.of(tool) for tool in conversation.tools(own)]
        self._save(agent)
        results = [*_results(agent.messages, {tool.tool_name for tool in tools})]
        return _ModelCall(
            session.mark, [*agent.messages], results, before, own, prompt, tools
        )

    def remove(self, event: AfterModelCallEvent) -> None:
        self._remove(event.agent)

    async def choose_tool(self, event: "BeforeToolCallEvent[Any]") -> None:
        """Choose a skill's tool for a call; pause where a person has to approve it."""
        # The agent's own: those of skills are in its registry for model calls only.
        if event.selected_tool is not None:
            if self._sessions.requires:
                await self._hold(event)
            return
        agent = event.agent
        run = await self._entered(agent, event.invocation_state)
        conversation, name = run.conversation, event.tool_use["name"]
        tool = conversation.tool(name)
        if tool is None:
            if not conversation.is_skill_tool(name):
                return  # it may be a tool of another plugin
            tool = Tool(name, "", NO_PARAMETERS, dict)
        # A load is answered by what the messages show by now.
        run.conversation.see(_seen(agent.messages))
        arguments = _arguments(event.tool_use)
        reply: Reply | None = None
        call_id = event.tool_use["toolUseId"]
        question = conversation.question(name, arguments, call_id)
        self._save(agent)
        if question is not None:
            data = question_data(question, name, arguments)
            reply = reply_of(event.interrupt(_NAME, reason=data))
        call = _Call(conversation, reply, partial(self._save, agent))
        # Strands itself calls a tool of its own, so the policy is asked here.
        if tool.native is not None:
            approval: Any = {"approved": reply, "call_id": call_id}
            permit = await conversation.apermit(name, arguments, **approval)
            self._save(agent)
            if permit.refusal is not None:
                event.cancel_tool = result_text(permit.refusal)
                return
            event.tool_use["input"] = {**permit.arguments}
        event.selected_tool = _strands_tool(tool, call)

    async def _hold(self, event: "BeforeToolCallEvent[Any]") -> None:
        """Refuse a call of one of the agent's own tools that comes before its skill."""
        agent, use = event.agent, event.tool_use
        # Else it is `agent.tool.name()`, which the application calls, in no run.
        if use["toolUseId"] not in _calls_in(agent.messages[-1:]):
            return
        run = await self._entered(agent, event.invocation_state)
        refusal = await run.conversation.session.arequired(
            use["name"], arguments=use["input"]
        )
        if refusal is not None:
            run.last = None  # it loads: the next model call is looked at whole
            self._save(agent)
            event.cancel_tool = refusal

    def end_run(self, event: AfterInvocationEvent) -> None:
        run = self._run
        if run is not None and run.state is event.invocation_state:
            self._remove(event.agent)  # the model call may have been interrupted
            self._run = None

    async def _entered(self, agent: Agent, state: InvocationState) -> _Run:
        """Return the run that the agent is in; the first that asks begins it."""
        run = self._run
        if run is None:
            begin = self._sessions.call_off_loop
            run = await begin(self._begin, agent, state)
        # Prompt and tools are lent to the agent itself: two runs would mix theirs.
        if run.state is not state:
            raise ConcurrencyException("the agent is in another run: make one for each")
        return run

    def _begin(self, agent: Agent, state: InvocationState) -> _Run:
        with self._opening:  # parallel tool calls may be what a run begins with
            if self._run is None:
                saved = agent.state.get(_NAME)
                name, deps = agent.name, state
                conversation = self._sessions.open(state, saved, deps=deps, agent=name)
                if agent.messages and agent.messages[-1]["role"] == "assistant":
                    # The run goes on with a tool call, which comes before `add`.
                    conversation.see(_seen(agent.messages))
                forms = ToolForms(partial(_strands_tool, call=_Call(conversation)))
                self._run = _Run(state, conversation, saved, forms)
            return self._run

    def _save(self, agent: Agent) -> None:
        run = self._run
        if run is not None and run.saved != (saved := run.conversation.save()):
            agent.state.set(_NAME, saved)
            run.saved = saved

    def _remove(self, agent: Agent) -> None:
        lent, self._lent = self._lent, None
        if lent is None:
            return
        if agent.system_prompt_content == lent.prompt:  # else another was set
            agent.system_prompt = lent.before
        for tool in lent.tools:
            agent.tool_registry.dynamic_tools.pop(tool.tool_name, None)


def _prompt(
    before: list[SystemContentBlock] | None, session: Session
) -> list[SystemContentBlock] | None:
    """Return the agent's blocks and cache points, with the session's text last."""
    blocks = list(before or ())
    if blocks and blocks[-1].keys() == {"text"}:
        base = blocks.pop()["text"]
        return [*blocks, {"text": session.instructions(base)}]
    text = session.instructions()
    return [*blocks, {"text": text}] if text else before


@dataclass(frozen=True, slots=True)
class _Call:
    """One call: the answer to its question, and what saves the state after it."""

    conversation: Conversation
    reply: Reply | None = None
    save: Callable[[], None] = lambda: None

    async def make(self, use: ToolUse, /, **_: object) -> ToolResult:
        result = await self.conversation.acall(
            use["name"], _arguments(use), approved=self.reply, call_id=use["toolUseId"]
        )
        self.save()
        return {
            "toolUseId": use["toolUseId"],
            "status": "error" if is_error(result) else "success",
            "content": [{"text": result_text(result)}],
        }


def _strands_tool(tool: Tool, call: _Call) -> AgentTool:
    """Return a tool in Strands' form; one of Strands' own is not changed."""
    if isinstance(tool.native, AgentTool):
        return tool.native
    schema = {"json": dict(tool.parameters)}
    return PythonAgentTool(
        tool.name,
        {"name": tool.name, "description": tool.description, "inputSchema": schema},
        call.make,
    )


def _seen(messages: Messages) -> Iterator[SeenMessage]:
    reader = ResultReader()
    for message in messages:
        for block in message["content"]:
            if "text" in block:
                yield SeenMessage(message["role"], block["text"])
            elif "toolUse" in block:
                use = block["toolUse"]
                reader.add_call(use["toolUseId"], use["name"], use["input"])
                yield SeenMessage("assistant")
            elif "toolResult" in block:
                result = block["toolResult"]
                yield reader.result(result["toolUseId"], _text(result))


def _calls_in(messages: Messages) -> Iterator[str]:
    for message in messages:
        for block in message["content"]:
            if "toolUse" in block:
                yield block["toolUse"]["toolUseId"]


def _results(
    messages: Messages, names: Container[str]
) -> Iterator[tuple[ToolResult, str]]:
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
        part["text"] if "text" in part else result_text(part["json"])
        for part in parts
        if "text" in part or "json" in part
    )


def _arguments(use: ToolUse) -> Mapping[str, object]:
    given = use["input"]
    return given if isinstance(given, Mapping) else {}
