"""Drives LlamaIndex' ``FunctionAgent``; conversations are contexts, kept as JSON."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, cast

from llama_index.core.agent.workflow import AgentStream, AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, ChatResponse, LLMMetadata, MessageRole
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent
from pydantic import Field
from workflows.events import WorkflowIdleEvent

from satchel.adapters import llama_index
from tests.adapters import driver as suite
from tests.adapters.driver import Call, Mode, Rig, Setup

SECOND = "second"
LIMIT = 100_000


class FakeLLM(FunctionCallingLLM):
    """Says what the script says, and keeps what it saw."""

    script: Any
    seen: list[suite.Seen] = Field(default_factory=list[suite.Seen])
    requests: list[list[ChatMessage]] = Field(default_factory=list[list[ChatMessage]])

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            is_function_calling_model=True, is_chat_model=True, context_window=LIMIT
        )

    def _prepare_chat_with_tools(
        self, tools: Sequence[Any], *_: Any, chat_history: Any = None, **__: Any
    ) -> dict[str, Any]:
        return {"messages": chat_history, "tools": tools}

    def get_tool_calls_from_response(
        self, response: ChatResponse, *_: Any, **__: Any
    ) -> list[ToolSelection]:
        return [
            ToolSelection(
                tool_id=block.tool_call_id or "",
                tool_name=block.tool_name,
                tool_kwargs=cast("dict[str, Any]", block.tool_kwargs),
            )
            for block in response.message.blocks
            if isinstance(block, ToolCallBlock)
        ]

    def chat(self, messages: Any, tools: Any = (), **_: Any) -> ChatResponse:
        functions = [tool.metadata.to_openai_tool()["function"] for tool in tools]
        system = [m.content or "" for m in messages if m.role is MessageRole.SYSTEM]
        seen = suite.Seen(
            "\n".join(system),
            tuple(function["name"] for function in functions),
            {function["name"]: function["parameters"] for function in functions},
            tuple(_shown(m) for m in messages if m.role is not MessageRole.SYSTEM),
        )
        self.seen.append(seen)
        self.requests.append(list(messages))
        output = self.script(seen)
        if isinstance(output, str):
            return ChatResponse(message=ChatMessage(output, role="assistant"))
        blocks = [
            ToolCallBlock(
                tool_call_id=call.id or f"c{len(messages)}-{at}",
                tool_name=call.name,
                tool_kwargs=_given(call),
            )
            for at, call in enumerate(output)
        ]
        return ChatResponse(message=ChatMessage(role="assistant", blocks=blocks))

    async def achat(self, messages: Any, **more: Any) -> ChatResponse:
        return self.chat(messages, **more)

    async def astream_chat(self, messages: Any, **more: Any) -> Any:
        async def stream() -> AsyncIterator[ChatResponse]:
            output = self.chat(messages, **more)
            output.delta = output.message.content
            yield output

        return stream()

    def _unused(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    stream_chat = complete = acomplete = stream_complete = astream_complete = _unused


def _given(call: Call) -> dict[str, Any]:
    """Return the arguments; a model that hands over takes a name from the schema."""
    given = dict(call.arguments)
    return given | {"to_agent": SECOND} if call.name == "handoff" else given


def _shown(message: ChatMessage) -> suite.Message:
    text = message.content or ""
    if message.role is MessageRole.TOOL:
        return suite.Message("tool", text)
    if message.role is MessageRole.ASSISTANT:
        calls = [b for b in message.blocks if isinstance(b, ToolCallBlock)]
        expected = (f"{c.tool_name}({json.dumps(c.tool_kwargs)})" for c in calls)
        return suite.Message("assistant", text or " ".join(expected))
    return suite.Message("user" if message.role is MessageRole.USER else "other", text)


class Memory(ChatMemoryBuffer):
    """LlamaIndex' memory in a form that can be stored.

    As it is, a context leaves it out, with a warning, where pydantic is 2.14 or newer.
    """

    @classmethod
    def new(cls, messages: list[ChatMessage] | None = None) -> Any:
        return cls.from_defaults(messages, token_limit=LIMIT)

    def to_dict(self, **_: Any) -> dict[str, Any]:
        return {"messages": [m.model_dump(mode="json") for m in self.get_all()]}

    @classmethod
    def from_dict(cls, data: dict[str, Any], **_: Any) -> Any:
        return cls.new([ChatMessage.model_validate(m) for m in data["messages"]])


async def who_of(ctx: Context) -> Mapping[str, Any]:
    """Return for whom a run is; an application puts that into the context's store."""
    who: Mapping[str, Any] = await ctx.store.get("who", default={})
    return who


def agent_of(setup: Setup, llm: FakeLLM, **more: Any) -> FunctionAgent:
    agent = FunctionAgent(
        llm=llm, system_prompt=setup.base, tools=[*setup.own_tools], **more
    )
    return llama_index.attach(
        setup.skills, to=agent, who=who_of, **setup.options_of(dict)
    )


class LlamaIndexRig(suite.BaseRig):
    """One workflow; its conversations are kept as JSON between runs."""

    def __init__(self, workflow: Any, llm: FakeLLM) -> None:
        super().__init__(llm.seen)
        self.workflow = workflow
        self.llm = llm
        self.stored: dict[str, str] = {}

    async def run(
        self, text: str, chat: str, who: dict[str, Any], mode: Mode
    ) -> str | suite.Paused:
        async def go() -> str | suite.Paused:
            ctx = self._context(chat)
            await ctx.store.set("who", who)
            handler = self.workflow.run(text, ctx=ctx, memory=Memory.new())
            try:
                return await self._followed(handler, chat, is_stream=mode == "stream")
            except asyncio.CancelledError:
                await handler.cancel_run()  # the way to cancel a run: it has a task
                raise

        # LlamaIndex has no other synchronous call than to run an event loop.
        if mode == "sync":
            return await asyncio.to_thread(asyncio.run, go())
        return await go()

    async def resume(self, of: str, answers: Any) -> str | suite.Paused:
        [(call_id, answer)] = answers.items()
        handler = self.workflow.run(ctx=self._context(of))
        response = "yes" if answer.approve else answer.words or "no"
        given: dict[str, Any] = {"response": response, "call_id": call_id}
        if answer.arguments is not None:
            given["arguments"] = dict(answer.arguments)
        handler.ctx.send_event(HumanResponseEvent(**given))
        return await self._followed(handler, of)

    async def _followed(
        self, handler: Any, chat: str, *, is_stream: bool = False
    ) -> str | suite.Paused:
        """Follow a run until it ends, or until nothing but an answer is waited for."""
        output, asked = "", None
        async for event in handler.stream_events(expose_internal=True):
            if isinstance(event, AgentStream):
                output += event.delta
            if isinstance(event, InputRequiredEvent):
                asked = event
            if isinstance(event, WorkflowIdleEvent) and asked is not None:
                self.stored[chat] = json.dumps(handler.ctx.to_dict())
                await handler.cancel_run()
                call = asked.call_id, asked.tool, asked.arguments, asked.prefix
                return self.paused(chat, [call])
        result = await handler
        self.stored[chat] = json.dumps(handler.ctx.to_dict())
        return output if is_stream else str(result)

    def _context(self, chat: str) -> Context[Any]:
        if chat not in self.stored:
            return Context(self.workflow)
        return Context.from_dict(self.workflow, json.loads(self.stored[chat]))

    def save(self, chat: str = "one") -> str:
        return self.stored[chat]

    def restore(self, saved: str, chat: str = "one") -> None:
        self.stored[chat] = saved

    def trim(self, chat: str = "one") -> None:
        stored = json.loads(self.stored[chat])
        data = stored["state"]["state_data"]["_data"]
        memory = json.loads(data["memory"])
        memory["value"] = {"messages": []}
        data["memory"] = json.dumps(memory)
        self.stored[chat] = json.dumps(stored)

    def keep_instead(self, state: object, chat: str = "one") -> None:
        stored = json.loads(self.stored[chat])
        data = stored["state"]["state_data"]["_data"]
        agents = json.loads(data["satchel"])
        kept_by = agents.get("value", agents)
        for agent in kept_by:
            kept_by[agent]["session"] = state
        data["satchel"] = json.dumps(agents)
        self.stored[chat] = json.dumps(stored)


class LlamaIndex:
    """Builds agents of LlamaIndex."""

    name = "llama_index"
    distribution = "llama-index-core"
    limits: Mapping[str, str] = {}

    def build(self, setup: Setup) -> Rig:
        llm = FakeLLM(script=setup.model)
        return LlamaIndexRig(agent_of(setup, llm), llm)

    def build_pair(self, first: Setup, second: Setup) -> Rig:
        llms = FakeLLM(script=first.model), FakeLLM(script=second.model)
        llms[1].seen = llms[0].seen
        agents = [
            agent_of(first, llms[0], name="first", description="The first desk."),
            agent_of(second, llms[1], name=SECOND, description="The second desk."),
        ]
        workflow = AgentWorkflow(cast("Any", agents), root_agent="first")
        return LlamaIndexRig(workflow, llms[0])

    async def attach_twice(self, setup: Setup) -> None:
        agent = agent_of(setup, FakeLLM(script=setup.model))
        llama_index.attach(setup.skills, to=agent)

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        return FunctionTool.from_defaults(function, name=name)


DRIVER = LlamaIndex()
