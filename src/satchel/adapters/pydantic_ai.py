"""Satchel on Pydantic AI: a capability.

::

    agent = Agent(model, capabilities=[attach(skills, who=lambda ctx: ctx.deps.who)])

What a conversation has loaded is in the ``metadata`` of its newest message, which no
model sees: it is stored, resumed and trimmed with the message history. Where a call
needs approval the run ends with ``DeferredToolRequests``, which has to be one of the
agent's output types.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_
from typing import TYPE_CHECKING, Any, Final, cast

from satchel.adapters._base import (
    Conversation,
    Deps,
    SessionFactory,
    Who,
    framework,
    outcome_of,
)
from satchel.adapters._translation import ResultReader
from satchel.model import SeenMessage
from satchel.runtime import question_text
from satchel.tools import result_text

if TYPE_CHECKING:
    from typing import Self, Unpack

    from pydantic_ai.models import ModelRequestContext

    from satchel.runtime import CallApproval, Satchel, Session, SessionOptions
    from satchel.tools import Tool as SatchelTool

with framework("Pydantic AI", "pydantic-ai"):
    from pydantic_ai import (
        ApprovalRequired,
        FunctionToolset,
        RunContext,
        Tool,
        ToolReturn,
    )
    from pydantic_ai.capabilities import (
        AbstractCapability,
        CapabilityOrdering,
        ProcessHistory,
    )
    from pydantic_ai.messages import (
        CompactionPart,
        InstructionPart,
        ModelMessage,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.tools import AgentDepsT, ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
    from pydantic_core import SchemaValidator, core_schema

__all__ = ["attach"]

# The key of a message's metadata with what `Session.dump` returned, by agent.
_KEY: Final = "satchel"
# Satchel checks arguments itself; here they only have to be a JSON object.
_ARGUMENTS: Final = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))


def attach(
    skills: Satchel,
    *,
    who: Who[RunContext[AgentDepsT]] = None,
    deps: Deps[RunContext[AgentDepsT]] = None,
    **options: Unpack[SessionOptions],
) -> SkillsCapability[AgentDepsT]:
    """Return what goes into ``Agent(capabilities=[...])``, or into those of one run.

    Where only toolsets are accepted, its ``toolset`` does the same, except that it does
    not see when the history is shortened during a run.

    Args:
        skills: What is attached.
        who: For whom a run is: a mapping, or a function of the run's context.
        deps: A function of the same, which returns the object that tools get; by
            default they get the run's ``deps``.
        options: As for `satchel.Satchel.session`. ``agent`` is by default the agent's
            name. With ``approve`` no run ends to wait for approval; its yes for the
            session holds for this process, because messages may come from a browser.

    Raises:
        TypeError: An argument is unknown or has the wrong type.
        ValueError: No style has that name.
    """
    # The state is in the messages, and these may come from a browser.
    sessions: SessionFactory[RunContext[AgentDepsT]] = SessionFactory(
        skills, who, deps, options, trust_state=False, holds_own_tools=True
    )

    def begin(ctx: RunContext[AgentDepsT]) -> Conversation:
        agent = options.get("agent") or _name(ctx)
        saved = _saved(ctx.messages, agent)
        return sessions.open(ctx, saved, deps=ctx.deps, agent=agent)

    return SkillsCapability(SkillsToolset(begin))


class SkillsToolset(AbstractToolset[AgentDepsT]):
    """Instructions and tools of a `satchel.Satchel`; for each run a copy of its own."""

    def __init__(
        self,
        begin: Callable[[RunContext[AgentDepsT]], Conversation],
        conversation: Conversation | None = None,
    ) -> None:
        """Take what opens a conversation, and the conversation of a run."""
        self.text = ""
        self._begin = begin
        self._conversation = conversation
        self._seen: list[ModelMessage] = []

    @property
    def id(self) -> str:
        """The same for all: two of them would have tools of the same names anyway."""
        return _KEY

    @property
    def label(self) -> str:
        """What it is called in errors about two tools of a name: two of these have."""
        return "skills (attached twice? give one Satchel all of them)"

    @property
    def conversation(self) -> Conversation:
        """The conversation of this run.

        Raises:
            RuntimeError: This is the toolset of no run.
        """
        if self._conversation is None:
            raise RuntimeError("a session begins with a run, and this toolset has none")
        return self._conversation

    @property
    def session(self) -> Session:
        """The session of this run.

        Raises:
            RuntimeError: This is the toolset of no run.
        """
        return self.conversation.session

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> Self:
        """Return a copy with a session for this run, which is one turn."""
        if self._conversation is not None:
            return self
        return type(self)(self._begin, self._begin(ctx))

    async def for_run_step(self, ctx: RunContext[AgentDepsT]) -> Self:
        """Take in the history as it is at this step."""
        self.see(ctx.messages)
        self.save(ctx)
        return self

    def see(self, messages: Sequence[ModelMessage]) -> bool:
        """Take in the messages of the next model call; tell whether they changed."""
        if len(messages) == len(self._seen) and all(map(is_, messages, self._seen)):
            return False
        # A copy: the list itself grows while the run goes on.
        self._seen = list(messages)
        session = self.session
        names = {tool.name for tool in session.tools()}

        def is_read(tool: str) -> bool:
            return tool in names or session.needs_skill(tool)

        session.see(_history(_since_compaction(messages), is_read))
        return True

    def instructions(self) -> InstructionPart:
        """Return the catalog and the skills that are repeated.

        The part is marked as static: its bytes stay the same for a whole conversation,
        so it belongs in a provider's cache with the agent's own.
        """
        self.text = self.session.instructions()
        return InstructionPart(self.text)

    async def get_instructions(
        self, ctx: RunContext[AgentDepsT]
    ) -> InstructionPart | None:
        """Return what is in the prompt."""
        del ctx
        part = self.instructions()
        return part if part.content else None

    async def get_tools(
        self, ctx: RunContext[AgentDepsT]
    ) -> dict[str, ToolsetTool[AgentDepsT]]:
        """Return the tools that are open now, in order."""
        tools = self.conversation.tools()
        native = [tool.native for tool in tools if isinstance(tool.native, Tool)]
        theirs = await FunctionToolset(native).get_tools(ctx) if native else {}
        return {
            tool.name: theirs.get(tool.name) or self._offered(tool, ctx)
            for tool in tools
            # One of the framework's own may have left itself out.
            if tool.name in theirs or not isinstance(tool.native, Tool)
        }

    def _offered(
        self, tool: SatchelTool, ctx: RunContext[AgentDepsT]
    ) -> ToolsetTool[AgentDepsT]:
        definition = ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=cast("dict[str, Any]", tool.parameters),
        )
        return ToolsetTool(
            toolset=self,
            tool_def=definition,
            max_retries=ctx.max_retries,
            args_validator=_ARGUMENTS,
        )

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[AgentDepsT],
        tool: ToolsetTool[AgentDepsT],
    ) -> Any:  # noqa: ANN401 - a tool may return anything
        """Call a tool; an error is a result.

        Raises:
            ApprovalRequired: A person has to approve it first; the metadata of the
                deferred call has the ``question``.
        """
        conversation = self.conversation
        # False only says that nobody was asked: a declined call does not come here.
        approved = True if ctx.tool_call_approved else None
        call_id = ctx.tool_call_id or ""
        question = None if approved else conversation.question(name, tool_args, call_id)
        if question is not None:
            self.save(ctx)
            raise ApprovalRequired({"question": question_text(question)})
        approval: CallApproval = {"approved": approved, "call_id": call_id}
        if tool.toolset is self:
            result = await conversation.acall(name, tool_args, **approval)
        else:
            permit = await conversation.apermit(name, tool_args, **approval)
            if permit.refusal is None:
                given = dict(permit.arguments)
                return await tool.toolset.call_tool(name, given, ctx, tool)
            result = permit.refusal
        self.save(ctx)
        if (outcome := outcome_of(result)) is not None:
            return ToolReturn(result_text(result), metadata=outcome)
        return result if isinstance(result, ToolReturn) else result_text(result)

    def save(self, ctx: RunContext[AgentDepsT]) -> None:
        """Write what is in use to the newest message of this run."""
        message = ctx.messages[-1] if ctx.messages else None
        if message is None or message.run_id != ctx.run_id:
            return  # a message of the caller, which may be part of other runs
        state = self.conversation.save()
        states = {**_states(message), self.session.agent: state}
        message.metadata = {**(message.metadata or {}), _KEY: states}


class SkillsCapability(AbstractCapability[AgentDepsT]):
    """The toolset, and what no toolset can do: see what the model sees in the end."""

    def __init__(self, toolset: SkillsToolset[AgentDepsT]) -> None:
        """Take the toolset of an agent, or of one run."""
        self.toolset = toolset
        self._own_names: frozenset[str] | None = None

    @classmethod
    def get_serialization_name(cls) -> None:
        """Return None: specifications of agents have no objects."""

    def get_ordering(self) -> CapabilityOrdering:
        """Come after everything that changes the history."""
        return CapabilityOrdering(position="innermost", wrapped_by=[ProcessHistory])

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> Self:
        """Return a copy for this run."""
        return type(self)(await self.toolset.for_run(ctx))

    def get_toolset(self) -> SkillsToolset[AgentDepsT]:
        """Return the toolset."""
        return self.toolset

    async def prepare_tools(
        self, ctx: RunContext[AgentDepsT], tool_defs: list[ToolDefinition]
    ) -> list[ToolDefinition]:
        """Leave the tools as they are.

        Raises:
            DuplicateToolError: One of the agent's own has the name of one that a skill
                would open.
        """
        del ctx
        session = self.toolset.session
        ours = {tool.name for tool in session.tools()}
        own = frozenset(tool.name for tool in tool_defs if tool.name not in ours)
        # This is called before each model call, and the check looks at all skills.
        if own != self._own_names:
            session.tools(own)
            self._own_names = own
        return tool_defs

    async def wrap_tool_execute(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: Callable[[dict[str, Any]], Awaitable[Any]],
    ) -> Any:  # noqa: ANN401 - a tool may return anything
        """Call one of the agent's own tools, unless it comes before its skill."""
        del call
        session = self.toolset.session
        refusal = await session.arequired(tool_def.name, arguments=args)
        if refusal is None:
            return await handler(args)
        self.toolset.save(ctx)
        return refusal

    async def before_model_request(
        self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Repeat skills that the messages do not show any more, in the history too."""
        del ctx
        return self._with_repeated(request_context)

    async def prepare_model_request(
        self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Repeat skills that the messages of this attempt do not show any more."""
        del ctx
        return self._with_repeated(request_context)

    def _with_repeated(self, request: ModelRequestContext) -> ModelRequestContext:
        toolset = self.toolset
        before = toolset.text
        if not toolset.see(request.messages):
            return request
        part = toolset.instructions()
        if part.content == before:
            return request
        parameters = request.model_request_parameters
        # In the same place, so that the providers' caches keep what comes before it.
        parts = [*(parameters.instruction_parts or ())]
        at = next((n for n, p in enumerate(parts) if p.content == before), len(parts))
        parts[at : at + 1] = [part]
        parameters = replace(parameters, instruction_parts=parts)
        return replace(request, model_request_parameters=parameters)


def _name(ctx: RunContext[AgentDepsT]) -> str:
    return (ctx.agent.name if ctx.agent else None) or "agent"


def _saved(messages: Sequence[ModelMessage], agent: str) -> Mapping[str, object] | None:
    """Return the newest state of this agent in the messages."""
    states = map(_states, reversed(messages))
    return next((saved[agent] for saved in states if agent in saved), None)


def _states(message: ModelMessage) -> Mapping[str, Mapping[str, object]]:
    states: Any = (message.metadata or {}).get(_KEY)
    return states if isinstance(states, Mapping) else {}


def _since_compaction(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    """Return what a model still sees after a summary of the provider."""
    for at in range(len(messages) - 1, 0, -1):
        if any(isinstance(part, CompactionPart) for part in messages[at].parts):
            return messages[at:]
    return messages


def _history(
    messages: Sequence[ModelMessage], is_read: Callable[[str], bool]
) -> Iterator[SeenMessage]:
    reader = ResultReader()
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart) and is_read(part.tool_name):
                reader.add_call(part.tool_call_id, part.tool_name, part.args)
            elif isinstance(part, ToolReturnPart) and is_read(part.tool_name):
                text = part.model_response_str()
                yield reader.result(part.tool_call_id, text, part.tool_name)
        prompts = [part for part in message.parts if isinstance(part, UserPromptPart)]
        if prompts:
            yield SeenMessage("user", _prompt_text(prompts[-1]))
        elif message.kind == "response":
            yield SeenMessage("assistant")


def _prompt_text(part: UserPromptPart) -> str:
    content = part.content
    texts = [content] if isinstance(content, str) else content
    return "\n".join(text for text in texts if isinstance(text, str))
