"""Drives Pydantic AI: agents on a `FunctionModel`, histories stored as JSON."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic_ai import (
    Agent,
    AgentRunResult,
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    Tool,
    ToolApproved,
    ToolDenied,
)
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from satchel.adapters.pydantic_ai import attach
from tests.adapters import driver as suite

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from tests.adapters.driver import Mode, Rig, Say, Setup

Said: TypeAlias = str | DeferredToolRequests


@dataclass
class Deps:
    """What a run of the desk is given; ``forgets`` drops what was said before it."""

    who: Mapping[str, Any]
    forgets: bool = False


class PydanticRig(suite.BaseRig):
    """One agent; each conversation is its list of messages."""

    agent: Agent[Deps, Said]

    def __init__(self) -> None:
        super().__init__([])
        self.chats: dict[str, list[ModelMessage]] = {}
        self.trimmed: set[str] = set()

    async def run(
        self, text: str, chat: str, who: dict[str, Any], mode: Mode
    ) -> str | suite.Paused:
        deps = Deps(who, chat in self.trimmed)
        self.trimmed.discard(chat)
        return await self._run(chat, deps, mode, user_prompt=text)

    async def resume(self, of: Any, answers: Any) -> str | suite.Paused:
        approvals = {call: _approval(answer) for call, answer in answers.items()}
        results = DeferredToolResults(approvals=approvals)
        return await self._run(
            of["chat"], Deps(of["who"]), "async", deferred_tool_results=results
        )

    async def _run(
        self, chat: str, deps: Deps, mode: Mode, **given: Any
    ) -> str | suite.Paused:
        given |= {"deps": deps, "message_history": self.chats.get(chat)}
        output: Said
        if mode == "stream":
            async with self.agent.run_stream(**given) as streamed:
                output = await streamed.get_output()
                self.chats[chat] = streamed.all_messages()
        elif mode == "sync":
            result = await asyncio.to_thread(_run_sync, self.agent, given)
            output, self.chats[chat] = result.output, result.all_messages()
        else:
            result = await self.agent.run(**given)
            output, self.chats[chat] = result.output, result.all_messages()
        if isinstance(output, str):
            return output
        calls = [
            (
                call.tool_call_id,
                call.tool_name,
                call.args_as_dict(),
                output.metadata[call.tool_call_id]["question"],
            )
            for call in output.approvals
        ]
        who = dict(deps.who)
        return self.paused({"chat": chat, "who": who}, calls)

    def save(self, chat: str = "one") -> str:
        return ModelMessagesTypeAdapter.dump_json(self.chats[chat]).decode()

    def restore(self, saved: str, chat: str = "one") -> None:
        self.chats[chat] = ModelMessagesTypeAdapter.validate_json(saved)

    def trim(self, chat: str = "one") -> None:
        self.trimmed.add(chat)

    def keep_instead(self, state: object, chat: str = "one") -> None:
        for message in self.chats[chat]:
            if message.metadata:
                message.metadata["satchel"] = {"agent": state}


def _approval(answer: suite.Answer) -> bool | ToolApproved | ToolDenied:
    if answer.arguments is not None:
        return ToolApproved(override_args=dict(answer.arguments))
    return ToolDenied(answer.words) if answer.words else answer.approve


def _run_sync(
    agent: Agent[Deps, Said], given: Mapping[str, Any]
) -> AgentRunResult[Said]:
    try:
        return agent.run_sync(**given)
    finally:  # it leaves one to each thread
        asyncio.get_event_loop().close()
        asyncio.set_event_loop(None)


def _forget(ctx: RunContext[Deps], messages: list[ModelMessage]) -> list[ModelMessage]:
    """Keep nothing but what the user says now: a compaction with an empty summary."""
    if not ctx.deps.forgets:
        return messages
    ctx.deps.forgets = False
    return messages[-1:]


def fake_model(
    script: suite.Model, seen: list[suite.Seen] | None = None
) -> FunctionModel:
    seen = [] if seen is None else seen

    def record(messages: list[ModelMessage], info: AgentInfo) -> Say:
        seen.append(_seen(messages, info))
        return script(seen[-1])

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        spoken = record(messages, info)
        if isinstance(spoken, str):
            return ModelResponse([TextPart(spoken)])
        # As text, like most providers.
        parts = (ToolCallPart(c.name, json.dumps(c.arguments)) for c in spoken)
        return ModelResponse(
            [
                replace(part, tool_call_id=call.id or part.tool_call_id)
                for part, call in zip(parts, spoken, strict=True)
            ]
        )

    async def stream(
        messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        spoken = record(messages, info)
        if isinstance(spoken, str):
            yield spoken
            return
        for at, call in enumerate(spoken):
            given = json.dumps(call.arguments)
            yield {at: DeltaToolCall(call.name, given, tool_call_id=call.id or None)}

    return FunctionModel(model, stream_function=stream)


def _agent(setup: Setup, seen: list[suite.Seen], *more: Any) -> Agent[Deps, Said]:
    skills = attach(setup.skills, who=_who, **setup.options_of(_who))
    return Agent(
        fake_model(setup.model, seen),
        deps_type=Deps,
        instructions=setup.base,
        output_type=[str, DeferredToolRequests],
        tools=[*setup.own_tools, *more],
        capabilities=[skills, ProcessHistory(_forget)],
    )


def _who(ctx: RunContext[Deps]) -> Mapping[str, Any]:
    return ctx.deps.who


def _seen(messages: list[ModelMessage], info: AgentInfo) -> suite.Seen:
    return suite.Seen(
        system=info.instructions or "",
        tools=tuple(tool.name for tool in info.function_tools),
        schemas={t.name: t.parameters_json_schema for t in info.function_tools},
        messages=tuple(_shown(messages)),
    )


def _shown(messages: list[ModelMessage]) -> Iterator[suite.Message]:
    for message in messages:
        if isinstance(message, ModelResponse):
            calls = [
                f"{part.tool_name}({part.args_as_json_str()})"
                for part in message.parts
                if isinstance(part, ToolCallPart)
            ]
            yield suite.Message("assistant", message.text or " ".join(calls))
            continue
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                text = str(part.content)
                # So the framework tells which tools have opened.
                is_note = text.startswith("<system>")
                yield suite.Message("other" if is_note else "user", text)
            elif isinstance(part, ToolReturnPart):
                text = part.model_response_str()
                yield suite.Message("tool", text, part.tool_name)
            elif isinstance(part, RetryPromptPart) and part.tool_name:
                # So older releases answer a call of a tool that is not there.
                yield suite.Message("tool", part.model_response(), part.tool_name)
            else:
                yield suite.Message("other", str(part))


class PydanticAI:
    """Drives the agents above."""

    name = "pydantic_ai"
    distribution = "pydantic-ai-slim"
    limits: Mapping[str, str] = {}
    lacks: Mapping[str, str] = {
        "advice": "Pydantic AI answers a call of an unknown tool by itself",
        "threads": "Pydantic AI awaits toolsets in its event loop",
    }

    def build(self, setup: Setup) -> Rig:
        rig = PydanticRig()
        rig.agent = _agent(setup, rig.seen)
        return rig

    def build_pair(self, first: Setup, second: Setup) -> Rig:
        rig = PydanticRig()
        deputy = _agent(second, rig.seen)

        async def delegate_to_second(ctx: RunContext[Deps], task: str) -> str:
            """Let the second desk do it."""
            return str((await deputy.run(task, deps=ctx.deps)).output)

        rig.agent = _agent(first, rig.seen, delegate_to_second)
        return rig

    async def attach_twice(self, setup: Setup) -> None:
        twice = [attach(setup.skills, who=_who) for _ in range(2)]
        agent = Agent(fake_model(setup.model), deps_type=Deps, capabilities=twice)
        await agent.run("hi", deps=Deps({}))

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        return Tool(function, name=name)


DRIVER = PydanticAI()
