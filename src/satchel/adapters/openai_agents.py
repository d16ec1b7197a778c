"""Skills for the OpenAI Agents SDK: ``attach(skills, to=agent)``.

The SDK has no slot for instructions and tools that change from call to call, so what
is returned is a copy of the agent whose class answers for both. Whatever was loaded is
in the run's messages; the app's own context may keep the rest::

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
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast

from satchel.adapters._base import Conversation, SessionFactory, framework
from satchel.errors import ToolError, error_payload
from satchel.model import SeenMessage
from satchel.runtime import LOAD_TOOLS
from satchel.tools import Tool as OurTool, result_text

if TYPE_CHECKING:
    from typing import Unpack

    from satchel.runtime import Satchel, Session, SessionOptions

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
Who: TypeAlias = (
    Mapping[str, Any] | Callable[[RunContextWrapper[TContext]], Mapping[str, Any]]
)
"""For whom a run is, or how its context tells."""
State: TypeAlias = Callable[
    [RunContextWrapper[TContext]], MutableMapping[str, Any] | None
]
"""Where a conversation's state is kept, by a run of it."""

_STATE: Final = "satchel"
"""The key, or the attribute, of a context under which state is looked for."""
_LIVE: Final = "_satchel"
"""The attribute of a run's wrapper that holds its sessions: the SDK copies it with the
wrapper when a run is paused, and no two runs share one."""
_ROLES: Final[Mapping[object, Literal["user", "assistant"]]] = {
    "user": "user",
    "assistant": "assistant",
}
_OUTPUTS: Final = (ToolOutputText, ToolOutputImage, ToolOutputFileContent)


def attach(
    skills: "Satchel",
    *,
    to: Agent[TContext],
    who: "Who[TContext] | None" = None,
    deps: Callable[[RunContextWrapper[TContext]], object] | None = None,
    state: "State[TContext] | None" = None,
    **options: "Unpack[SessionOptions]",
) -> Agent[TContext]:
    """Return a copy of the agent that has skills; ``to`` itself stays as it is.

    Its own instructions, of whatever kind, come first in the prompt and its own tools
    first among the tools. It can be cloned, handed over to, and be a tool.

    Args:
        skills: Whose skills.
        to: The agent, or one of a subclass.
        who: For whom a run is, or how its context tells.
        deps: What tools get as ``Run.deps``; by default the context.
        state: Where a conversation's state is kept between runs, as JSON-safe values
            by agent. By default it is the context's ``"satchel"``, a key or an
            attribute, if there is one. Without any, a run knows what its messages
            show.
        options: As for `satchel.Satchel.session`; ``agent`` is the agent's name.

    Raises:
        TypeError: An argument is not known, or of another type.
        ValueError: The agent has skills already, or no style has that name.
        DuplicateToolError: When it runs: a tool of its own and one of a skill have
            the same name.
    """
    if isinstance(to, _Skilled):
        told = "has skills already; give one Satchel all of them"
        raise ValueError(f"agent {to.name!r} {told}")  # noqa: TRY004 - no other type fits
    base: SessionFactory[Native] = SessionFactory(skills, who, deps, options)
    attached = _Attached(base, state, options.get("agent", to.name))
    kind = type(to)
    skilled = type(kind.__name__, (_Skilled, kind), {"_attached": attached})
    given = {each.name: getattr(to, each.name) for each in fields(to) if each.init}
    own = {k: [*v] if isinstance(v, list) else v for k, v in given.items()}
    own["hooks"] = _Hooks(attached, to.hooks or AgentHooks())
    return cast("Agent[TContext]", skilled(**own))


class _Skilled(Agent[Any]):
    """An agent with skills; made as a subclass of the class of the agent it was."""

    _attached: "_Attached"

    async def get_system_prompt(self, run_context: Native) -> str | None:
        """Return the agent's own instructions, and those of skills behind them."""
        base = await super().get_system_prompt(run_context) or ""
        live = await self._attached.live(run_context)
        return await asyncio.to_thread(live.instructions, base) or None

    async def get_all_tools(self, run_context: Native) -> list[Tool]:
        """Return the agent's own tools, and those of skills behind them."""
        own = await super().get_all_tools(run_context)
        names = [tool.name for tool in own]
        names += [
            each.tool_name
            if isinstance(each, Handoff)
            else Handoff.default_tool_name(each)
            for each in self.handoffs
        ]
        live = await self._attached.live(run_context)
        ours = await asyncio.to_thread(live.tools, run_context.turn_input, names)
        tools = [*own, *ours]
        if _waits(run_context) and not live.was_called:
            tools += live.closed({*names, *(tool.name for tool in ours)})
        return tools


class _Hooks(AgentHooks[Any]):
    """The agent's own hooks, and a look at what a model call is really sent."""

    def __init__(self, attached: "_Attached", own: Any) -> None:  # noqa: ANN401 - hooks
        self._attached = attached
        self._own = own

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 - of the hooks
        """Return what the agent's own hooks have, those to come included."""
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
        """Let the session see the messages as the run's input filter has left them."""
        live = await self._attached.live(context)
        await asyncio.to_thread(live.look, system_prompt or "", input_items)
        await self._own.on_llm_start(context, agent, system_prompt, input_items)


@dataclass(frozen=True, eq=False, slots=True)
class _Attached:
    """What `attach` was told; ``agent`` is the key of the state."""

    base: SessionFactory[Native]
    state: "State[Any] | None"
    agent: str

    async def live(self, run: Native) -> "_Live":
        """Return this run's conversation; another ``who`` is another conversation."""
        lives: dict[_Attached, _Live] = vars(run).setdefault(_LIVE, {})
        live = lives.get(self)
        if live is None or live.session.who != self.base.whose(run):
            kept = _kept(run) if self.state is None else self.state(run)
            # An agent that is a tool of another begins anew each time it is called.
            known = None if kept is None or isinstance(run, ToolContext) else kept
            talk = await asyncio.to_thread(
                self.base.open,
                run,
                known and known.get(self.agent),
                agent=self.agent,
            )
            live = lives[self] = _Live(talk, kept)
        deps = self.base.deps
        live.session.deps = run.context if deps is None else deps(run)
        return live


@dataclass(eq=False, slots=True)
class _Live:
    """One run's conversation, and so one turn.

    The SDK tells before a model call what the run began with, and what it has become
    only when instructions and tools are made; so ``results`` keeps what tools of
    skills have answered since.
    """

    talk: Conversation
    kept: MutableMapping[str, Any] | None
    results: list[SeenMessage] = field(default_factory=list[SeenMessage])
    made: dict[tuple[str, str], FunctionTool] = field(
        default_factory=dict[tuple[str, str], FunctionTool]
    )
    was_called: bool = False

    @property
    def session(self) -> "Session":
        """The session behind it."""
        return self.talk.session

    def tools(self, messages: Iterable[Any], own: Iterable[str]) -> list[Tool]:
        since = (SeenMessage("assistant"), *self.results) if self.was_called else ()
        self.session.see((*_seen(messages), *since))
        tools = [self._native(tool) for tool in self.talk.tools(beside=own)]
        self.keep()
        return tools

    def closed(self, names: Container[str]) -> "Iterator[Tool]":
        """Yield the tools of all skills that are not open, for a run that waits.

        Where it is taken up elsewhere, nobody tells the session what it has loaded, and
        the SDK wants the tool that a human was asked about.
        """
        found = {name for entry in self.session.catalog.entries for name in entry.tools}
        for name in sorted(found):
            if name not in names:
                yield FunctionTool(
                    name,
                    "",
                    {"type": "object", "properties": {}},
                    self._invoke,
                    strict_json_schema=False,
                    needs_approval=True,
                )

    def instructions(self, base: str) -> str:
        text = self.session.instructions(base)
        self.keep()
        return text

    def look(self, system: str, messages: list[Any]) -> None:
        """See what the model sees; state again what a filter has dropped just now."""
        self.was_called = True
        calls = {each.get("call_id") for each in messages if _is(each, "function_call")}
        answers = (each for each in messages if _is(each, "function_call_output"))
        if any(each.get("call_id") not in calls for each in answers):
            return  # only what is new: the provider keeps the conversation
        self.session.see(_seen(messages))
        again = self.session.reinjected()
        if again and again not in system:
            messages.insert(0, {"role": "developer", "content": again})
        self.keep()

    def keep(self) -> None:
        """Write down what the next run of this conversation resumes from."""
        if self.kept is not None:
            self.kept[self.session.agent] = self.session.dump()

    def _native(self, tool: OurTool) -> Tool:
        if tool.native is not None:
            return self._gated(cast("Tool", tool.native))
        made = self.made.get((tool.name, tool.description))
        if made is None:
            made = FunctionTool(
                tool.name,
                tool.description,
                dict(tool.parameters),
                self._invoke,
                strict_json_schema=False,
                needs_approval=self._asks_for(tool.name),
            )
            self.made[tool.name, tool.description] = made
        return made

    async def _invoke(self, context: ToolContext[Any], arguments: str) -> object:
        name = context.tool_name
        try:
            given = _arguments(arguments)
        except ValueError as error:
            return result_text(error_payload(ToolError(name, str(error))))
        approved = context.is_tool_approved(name, context.tool_call_id)
        if approved and not self.was_called:
            await self._open_again(name)
        native = getattr(self.talk.tool(name), "native", None)
        if isinstance(native, FunctionTool):
            permit = await self.talk.apermit(
                name, given, approved=approved, call_id=context.tool_call_id
            )
            if permit.refusal is None:
                return await native.on_invoke_tool(context, arguments)
            result = permit.refusal
        else:
            result = await self.talk.aanswer(
                name, given, approved=approved, call_id=context.tool_call_id
            )
        self.keep()
        if _is_output(result):
            return result
        text = result_text(result)
        self.results.append(SeenMessage("tool", text, name, given))
        return text

    async def _open_again(self, name: str) -> None:
        """Load the skill whose tool a human has approved, if this run knows it not.

        It was open where the run was paused; what may not be loaded now stays closed.
        """
        if self.talk.tool(name) is not None:
            return
        tool, parameter = LOAD_TOOLS[self.session.style]
        for entry in self.session.catalog.entries:
            if name in entry.tools:
                await self.session.acall(tool, {parameter: entry.id})
                self.talk.turn.offered = None  # it was, where the run was paused

    def _asks_for(self, name: str) -> Any:  # noqa: ANN401 - what the SDK takes
        """Return whether the run has to pause for a call, or how to find out."""

        async def asks(_: Native, arguments: dict[str, Any], __: str) -> bool:
            return self.talk.asked(name, arguments) is not None

        # For a function the SDK also pauses where a model's arguments are no JSON.
        return asks if self.talk.asks else False

    def _gated(self, native: Tool) -> Tool:
        """Return a tool of the SDK, paused or refused where the policy says so."""
        if not isinstance(native, FunctionTool):
            return native
        if self.session.decide(native.name, {}).verdict == "allow":
            return native
        gated = copy(native)
        if self.talk.asks:
            gated.needs_approval = True
            return gated
        invoke = gated.on_invoke_tool

        async def guarded(context: ToolContext[Any], arguments: str) -> Any:  # noqa: ANN401
            refused = await self.talk.arefusal(native.name, _given(arguments))
            self.keep()
            if refused is not None:
                return result_text(refused)
            return await invoke(context, arguments)

        gated.on_invoke_tool = guarded
        return gated


def _kept(run: Native) -> MutableMapping[str, Any] | None:
    context = run.context
    if isinstance(context, Mapping):
        kept = cast("Mapping[str, Any]", context).get(_STATE)
    else:
        kept = getattr(context, _STATE, None)
    return kept if isinstance(kept, MutableMapping) else None


def _waits(run: Native) -> bool:
    """Tell whether a run was paused before a call; only its wrapper knows."""
    records: Mapping[str, Any] = getattr(run, "_tool_invocations", None) or {}
    return any(not each.completed for each in records.values())


def _seen(items: Iterable[Any]) -> Iterator[SeenMessage]:
    """Yield the messages that stand in a model call's input items."""
    calls: dict[object, tuple[str, str]] = {}
    for item in items:
        if _is(item, "function_call"):
            calls[item.get("call_id")] = item.get("name", ""), item.get("arguments", "")
            yield SeenMessage("assistant")
        elif _is(item, "function_call_output"):
            name, arguments = calls.get(item.get("call_id"), ("", ""))
            yield SeenMessage(
                "tool", _text(item.get("output")), name, _given(arguments)
            )
        elif isinstance(item, Mapping) and "role" in item:
            yield SeenMessage(
                _ROLES.get(item["role"], "system"), _text(item.get("content"))
            )


def _is(item: object, kind: str) -> bool:
    return isinstance(item, Mapping) and item.get("type") == kind


def _text(content: object) -> str:
    """Return the text of a message's content, or of a tool's output."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        str(each["text"])
        for each in parts
        if isinstance(each, Mapping) and "text" in each
    )


def _given(arguments: str) -> Mapping[str, object]:
    try:
        return _arguments(arguments)
    except ValueError:
        return {}


def _arguments(text: str) -> Mapping[str, object]:
    """Return what a model gave.

    Raises:
        ValueError: It is no JSON object.
    """
    given = json.loads(text or "{}")
    if not isinstance(given, dict):
        kind = type(given).__name__
        raise ValueError(f"arguments are a JSON object, not {kind}")  # noqa: TRY004 - of JSON
    return given


def _is_output(result: object) -> bool:
    """Tell whether a tool's result is one that the SDK hands on as it is."""
    each = result if isinstance(result, list) and result else [result]
    return all(isinstance(one, _OUTPUTS) for one in each)
