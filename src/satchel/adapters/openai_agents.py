"""Skills for the OpenAI Agents SDK: ``attach(skills, to=agent)``.

The SDK has no slot for instructions and tools that change from call to call, so
`attach` returns a copy of the agent whose class provides both. What was loaded is in
the run's messages; the application's own context can hold the rest::

    agent = attach(skills, to=Agent(name="desk"), who=lambda run: run.context["who"])
    await Runner.run(agent, "hi", context={"who": ana, "satchel": chat.state})
"""

import asyncio
import json
from collections.abc import (
    Callable,
    Container,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
)
from copy import copy
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

from satchel.adapters._arguments import check_function, check_kind
from satchel.adapters._base import Conversation, Deps, SessionFactory, Who, framework
from satchel.adapters._translation import (
    NO_PARAMETERS,
    ResultReader,
    ToolForms,
    already_attached,
    arguments_or_empty,
    field_of,
    seen_message,
    text_of,
)
from satchel.errors import ToolError, error_payload
from satchel.model import LOAD_TOOLS, SeenMessage
from satchel.tools import Tool as SatchelTool, arguments_of, result_text

if TYPE_CHECKING:
    from typing import Unpack

    from satchel.runtime import CallApproval, Satchel, Session, SessionOptions

with framework("the OpenAI Agents SDK", "openai-agents"):
    from agents import (
        Agent,
        AgentHooks,
        FunctionTool,
        Handoff,
        RunContextWrapper,
        Tool,
        ToolOutputFileContent,
        ToolOutputImage,
        ToolOutputText,
    )
    from agents.tool_context import ToolContext

__all__ = ["attach"]

TContext = TypeVar("TContext")
Native: TypeAlias = RunContextWrapper[Any]
# Returns where a conversation's state is saved, for a run of it.
State: TypeAlias = Callable[
    [RunContextWrapper[TContext]], MutableMapping[str, Any] | None
]

# The key, or the attribute, of a context under which state is looked for.
_STATE: Final = "satchel"
# The attribute of a run's wrapper with its sessions: the SDK copies it with the wrapper
# when a run is paused, and no two runs share one.
_SESSIONS: Final = "_satchel"
_OUTPUTS: Final = (ToolOutputText, ToolOutputImage, ToolOutputFileContent)


def attach(
    skills: "Satchel",
    *,
    to: Agent[TContext],
    who: Who[RunContextWrapper[TContext]] = None,
    deps: Deps[RunContextWrapper[TContext]] = None,
    state: "State[TContext] | None" = None,
    **options: "Unpack[SessionOptions]",
) -> Agent[TContext]:
    """Return a copy of the agent that has skills; ``to`` itself is not changed.

    Its own instructions, of any kind, come first in the prompt and its own tools first
    among the tools. It can be cloned, be a hand-off, and be a tool.

    Args:
        skills: Whose skills.
        to: The agent, or one of a subclass.
        who: For whom a run is: a mapping, or a function of its context.
        deps: A function of the same, which returns what tools get as ``Run.deps``; by
            default they get the context.
        state: A function that returns where a conversation's state is saved between
            runs, as JSON-safe values by agent. By default this is the context's
            ``"satchel"``, a key or an attribute, if there is one. Without it, a run
            knows what its messages show.
        options: As for `satchel.Satchel.session`; ``agent`` is the agent's name.

    Raises:
        TypeError: An argument is unknown or has the wrong type.
        ValueError: The agent has skills already, or no style has that name.
        DuplicateToolError: When it runs: a tool of its own and one of a skill have
            the same name.
    """
    check_kind("to", to, Agent, "an Agent of the OpenAI Agents SDK")
    check_function("state", state)
    if isinstance(to, _SkilledAgent):
        raise already_attached(to.name)
    base: SessionFactory[Native] = SessionFactory(
        skills, who, deps, options, holds_own_tools=True
    )
    sessions = _RunSessions(base, state, options.get("agent", to.name))
    kind = type(to)
    skilled = type(kind.__name__, (_SkilledAgent, kind), {"_sessions": sessions})
    given = {field.name: getattr(to, field.name) for field in fields(to) if field.init}
    # Lists are copied: adding a tool to one agent must not change the other.
    own = {k: [*v] if isinstance(v, list) else v for k, v in given.items()}
    own["hooks"] = _Hooks(sessions, to.hooks or AgentHooks())
    return cast("Agent[TContext]", skilled(**own))


class _SkilledAgent(Agent[Any]):
    """An agent with skills; mixed into the class of the agent that was given."""

    _sessions: "_RunSessions"

    async def get_system_prompt(self, run_context: Native) -> str | None:
        base = await super().get_system_prompt(run_context) or ""
        session = await self._sessions.of(run_context)
        # Instructions may read files, for which the event loop must not wait.
        return await asyncio.to_thread(session.instructions, base) or None

    async def get_all_tools(self, run_context: Native) -> list[Tool]:
        own = await super().get_all_tools(run_context)
        names = [tool.name for tool in own]
        # A model calls a hand-off like a tool, so its name is taken as well.
        names += [
            handoff.tool_name
            if isinstance(handoff, Handoff)
            else Handoff.default_tool_name(handoff)
            for handoff in self.handoffs
        ]
        session = await self._sessions.of(run_context)
        skills = await asyncio.to_thread(session.tools, run_context.turn_input, names)
        tools = [*map(session.requiring, own), *skills]
        if _is_paused(run_context) and not session.was_called:
            tools += session.closed_tools({*names, *(tool.name for tool in skills)})
        return tools


class _Hooks(AgentHooks[Any]):
    """The agent's own hooks, and one that sees what is really sent to the model."""

    def __init__(self, sessions: "_RunSessions", own: Any) -> None:  # noqa: ANN401 - hooks
        self._sessions = sessions
        self._own = own

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 - of the hooks
        """Return what the agent's own hooks have, of later releases too."""
        if name.startswith("on_") and name != "on_llm_start":
            return getattr(self._own, name)
        return super().__getattribute__(name)

    async def on_llm_start(
        self,
        context: Native,
        agent: Agent[Any],
        system_prompt: str | None,
        input_items: list[Any],
    ) -> None:
        """Let the session see the messages after the run's input filter."""
        session = await self._sessions.of(context)
        await asyncio.to_thread(session.look, system_prompt or "", input_items)
        await self._own.on_llm_start(context, agent, system_prompt, input_items)


@dataclass(frozen=True, eq=False, slots=True)
class _RunSessions:
    """The arguments of `attach`; ``agent`` is the key of the state."""

    base: SessionFactory[Native]
    state: "State[Any] | None"
    agent: str

    async def of(self, run: Native) -> "_RunSession":
        """Return this run's conversation; another ``who`` has another conversation."""
        sessions: dict[_RunSessions, _RunSession] = vars(run).setdefault(_SESSIONS, {})
        session = sessions.get(self)
        if session is None or session.session.who != self.base.who_of(run):
            states = _states(run) if self.state is None else self.state(run)
            # An agent that is a tool of another starts again each time it is called.
            is_tool = states is None or isinstance(run, ToolContext)
            saved = None if is_tool else cast("Any", states).get(self.agent)
            conversation = await asyncio.to_thread(
                self.base.open, run, saved, agent=self.agent
            )
            session = sessions[self] = _RunSession(
                conversation, states, self.base.requires
            )
        # One wrapper may be used for several runs, each with another context.
        deps = self.base.deps
        session.session.deps = run.context if deps is None else deps(run)
        return session


@dataclass(eq=False)
class _RunSession:
    """One run's conversation, and so one turn.

    Before a model call the SDK passes only what the run began with: what it has become
    is seen when instructions and tools are made. So ``results`` has what tools of
    skills have answered since.
    """

    conversation: Conversation
    states: MutableMapping[str, Any] | None
    requires: bool
    results: list[SeenMessage] = field(default_factory=list[SeenMessage])
    was_called: bool = False

    def __post_init__(self) -> None:
        self._tool_forms: ToolForms[Tool] = ToolForms(self._sdk_tool)

    @property
    def session(self) -> "Session":
        return self.conversation.session

    def tools(self, messages: Iterable[Any], own: Iterable[str]) -> list[Tool]:
        since = self.results if self.was_called else ()
        # Not yet a step: a run that is resumed makes its calls with these tools.
        end = SeenMessage("assistant")
        self.session.see((*_seen(messages), end, *since, end))
        made = map(self._tool_forms.of, self.conversation.tools(own))
        tools = [self._gated(tool) for tool in made]
        self.save()
        return tools

    def closed_tools(self, names: Container[str]) -> "Iterator[Tool]":
        """Yield the tools of all skills that are not loaded, for a run that waits.

        Where it is resumed elsewhere, the session does not know what it has loaded, and
        the SDK expects the tool that a person was asked about.
        """
        entries = self.session.catalog.entries
        for name in sorted({name for entry in entries for name in entry.tools}):
            if name not in names:
                yield self._called(name, "", NO_PARAMETERS, asks=True)

    def instructions(self, base: str) -> str:
        text = self.session.instructions(base)
        self.save()
        return text

    def look(self, system: str, messages: list[Any]) -> None:
        """See what the model sees; repeat skills that a filter has just removed."""
        self.was_called = True
        calls = {item.get("call_id") for item in messages if _is(item, "function_call")}
        outputs = (item for item in messages if _is(item, "function_call_output"))
        if any(item.get("call_id") not in calls for item in outputs):
            return  # only what is new: the provider keeps the conversation
        self.session.see(_seen(messages))
        repeated = self.session.reinjected()
        # The instructions of this call are made: a message is all that can be added.
        if repeated and repeated not in system:
            messages.insert(0, {"role": "developer", "content": repeated})
        self.save()

    def save(self) -> None:
        if self.states is not None:
            self.states[self.session.agent] = self.session.dump()

    def requiring(self, tool: Tool) -> Tool:
        """Return one of the agent's own tools so that it waits for a skill it needs."""
        if not (self.requires and isinstance(tool, FunctionTool)):
            return tool
        waiting = copy(tool)

        async def invoke(context: ToolContext[Any], arguments: str) -> Any:  # noqa: ANN401 - any result
            given = arguments_or_empty(arguments)
            refusal = await self.session.arequired(tool.name, arguments=given)
            if refusal is None:
                return await tool.on_invoke_tool(context, arguments)
            self.save()
            self.results.append(SeenMessage("tool", refusal, tool.name, given))
            return refusal

        waiting.on_invoke_tool = invoke
        return waiting

    def _sdk_tool(self, tool: SatchelTool) -> Tool:
        if tool.native is not None:
            return cast("Tool", tool.native)
        asks = self._approval_check(tool.name)
        return self._called(tool.name, tool.description, {**tool.parameters}, asks)

    def _called(self, name: str, about: str, schema: dict[str, Any], asks: Any) -> Tool:  # noqa: ANN401 - what the SDK takes
        """Return a tool that calls the session; ``asks`` says whether it pauses."""
        return FunctionTool(
            name,
            about,
            schema,
            self._invoke,
            strict_json_schema=False,
            needs_approval=asks,
        )

    async def _invoke(self, context: ToolContext[Any], arguments: str) -> object:
        name = context.tool_name
        try:
            given = arguments_of(name, arguments)
        except ToolError as error:
            return result_text(error_payload(error))
        approved = context.is_tool_approved(name, context.tool_call_id)
        # Approved, and no model call yet: the run was paused in another process.
        if approved and not self.was_called:
            await self._open_again(name)
        native = getattr(self.conversation.tool(name), "native", None)
        approval: CallApproval = {"approved": approved, "call_id": context.tool_call_id}
        if isinstance(native, FunctionTool):
            permit = await self.conversation.apermit(name, given, **approval)
            if permit.refusal is None:
                return await native.on_invoke_tool(context, arguments)
            result = permit.refusal
        else:
            result = await self.conversation.acall(name, given, **approval)
        self.save()
        if _is_output(result):
            return result
        text = result_text(result)
        self.results.append(SeenMessage("tool", text, name, given))
        return text

    async def _open_again(self, name: str) -> None:
        """Load the skill whose tool a person has approved, where there is no state.

        It was loaded where the run was paused; what may not be loaded now is not.
        """
        if self.conversation.tool(name) is not None or self.session.activations:
            return
        tool, parameter = LOAD_TOOLS[self.session.style]
        for entry in self.session.catalog.entries:
            if name in entry.tools:
                await self.session.acall(tool, {parameter: entry.id})
                # It was offered where the run was paused, so it comes not too early.
                self.conversation.turn.offered = None

    def _approval_check(self, name: str) -> Any:  # noqa: ANN401 - what the SDK takes
        """Return whether the run pauses for a call, or a function that decides it."""

        async def asks(_: Native, arguments: dict[str, Any], __: str) -> bool:
            question = self.conversation.question(name, arguments)
            if question is not None and question.action == "script":
                self.save()  # which bytes were shown
            return question is not None

        # For a function the SDK also pauses where a model's arguments are no JSON.
        return asks if self.conversation.may_ask else False

    def _gated(self, tool: Tool) -> Tool:
        """Return a tool of the SDK, paused or refused where the policy says so."""
        is_own = isinstance(tool, FunctionTool) and tool.on_invoke_tool != self._invoke
        if not is_own or self.session.decide(tool.name, {}).verdict == "allow":
            return tool
        # A copy, because the application may use the same tool without skills.
        gated = copy(cast("FunctionTool", tool))
        if self.conversation.may_ask:
            gated.needs_approval = True
            return gated
        invoke = gated.on_invoke_tool

        async def guarded(context: ToolContext[Any], arguments: str) -> Any:  # noqa: ANN401
            given = arguments_or_empty(arguments)
            permit = await self.conversation.apermit(gated.name, given)
            self.save()
            if permit.refusal is not None:
                return result_text(permit.refusal)
            if permit.is_edited:
                arguments = json.dumps(permit.arguments)
            return await invoke(context, arguments)

        gated.on_invoke_tool = guarded
        return gated


def _states(run: Native) -> MutableMapping[str, Any] | None:
    states = field_of(run.context, _STATE)
    return states if isinstance(states, MutableMapping) else None


def _is_paused(run: Native) -> bool:
    """Tell whether a run was paused before a call; only its wrapper knows."""
    records: Mapping[str, Any] = getattr(run, "_tool_invocations", None) or {}
    return any(not record.completed for record in records.values())


def _seen(items: Iterable[Any]) -> Iterator[SeenMessage]:
    reader = ResultReader()
    for item in items:
        if _is(item, "function_call"):
            reader.add_call(
                item.get("call_id"), item.get("name", ""), item.get("arguments", "")
            )
            yield SeenMessage("assistant")
        elif _is(item, "function_call_output"):
            yield reader.result(item.get("call_id"), text_of(item.get("output")))
        elif isinstance(item, Mapping) and "role" in item:
            yield seen_message(item["role"], text_of(item.get("content")))


def _is(item: object, kind: str) -> bool:
    return isinstance(item, Mapping) and item.get("type") == kind


def _is_output(result: object) -> bool:
    """Tell whether a tool's result is one that the SDK passes on unchanged."""
    parts = result if isinstance(result, list) and result else [result]
    return all(isinstance(part, _OUTPUTS) for part in parts)
