"""Drives an agent of Haystack around its mock of a chat generator."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from haystack.components.agents import Agent
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage, ChatRole, StreamingChunk, ToolCall
from haystack.tools import AgentTool
from haystack.tools.from_function import create_tool_from_function
from haystack.tools.tool import Tool

from satchel.adapters import haystack
from tests.adapters import driver as suite
from tests.adapters.driver import Mode, Rig, Setup

HAND_OVER = "delegate_to_second"


def fake(model: suite.Model, seen: list[suite.Seen]) -> MockChatGenerator:
    """Return a generator that says what the model says, and keeps what it saw."""

    def respond(messages: list[ChatMessage], tools: Any) -> ChatMessage | str:
        offered: list[Tool] = list(tools or ())
        saw = suite.Seen(
            "\n".join(m.text or "" for m in messages if m.is_from(ChatRole.SYSTEM)),
            tuple(tool.name for tool in offered),
            {tool.name: tool.parameters for tool in offered},
            tuple(_shown(m) for m in messages if not m.is_from(ChatRole.SYSTEM)),
        )
        seen.append(saw)
        output = model(saw)
        if isinstance(output, str):
            return output
        calls = [
            ToolCall(call.name, _arguments(call), call.id or f"c{len(messages)}-{at}")
            for at, call in enumerate(output)
        ]
        return ChatMessage.from_assistant(tool_calls=calls)

    return MockChatGenerator(response_fn=respond)


def _arguments(call: suite.Call) -> dict[str, Any]:
    if call.name == HAND_OVER:  # the suite gives some text for all that it asks
        task = {"role": "user", "content": call.arguments["messages"]}
        return {"messages": [task]}
    return dict(call.arguments)


def _shown(message: ChatMessage) -> suite.Message:
    if result := message.tool_call_result:
        return suite.Message("tool", str(result.result), result.origin.tool_name)
    if message.is_from(ChatRole.ASSISTANT):
        calls = (
            f"{call.tool_name}({json.dumps(call.arguments)})"
            for call in message.tool_calls
        )
        return suite.Message("assistant", message.text or " ".join(calls))
    return suite.Message("user", message.text or "")


def agent_of(
    setup: Setup, seen: list[suite.Seen], *more: Tool, **settings: Any
) -> Agent:
    own = [create_tool_from_function(each) for each in setup.own_tools]
    agent = Agent(
        chat_generator=fake(setup.model, seen),
        tools=[*own, *more],
        system_prompt=setup.base or None,
        **settings,
    )
    who = lambda state: state.data["hook_context"]["who"]  # noqa: E731
    return haystack.attach(setup.skills, to=agent, who=who, **setup.options_of(who))


@dataclass
class Chat:
    """What an application keeps of a conversation; all of it goes into JSON."""

    messages: list[ChatMessage] = field(default_factory=list[ChatMessage])
    satchel: dict[str, Any] | None = None


class HaystackRig(suite.BaseRig):
    """An agent, and conversations as its users keep them: from result to run."""

    def __init__(self, agent: Agent, seen: list[suite.Seen]) -> None:
        super().__init__(seen)
        self.agent = agent
        self.chats: dict[str, Chat] = {}

    async def run(
        self, text: str, chat: str, who: dict[str, Any], mode: Mode
    ) -> str | suite.Paused:
        chat_ = self.chats.setdefault(chat, Chat())
        chat_.messages = [*chat_.messages, ChatMessage.from_user(text)]
        return await self._run(chat, {"who": who}, mode)

    async def resume(self, of: Any, answers: Any) -> str | suite.Paused:
        approvals: dict[str, Any] = {}
        for call, answer in answers.items():
            approvals[call] = answer.approve
            if answer.approve and answer.arguments is not None:
                approvals[call] = {"arguments": dict(answer.arguments)}
            elif not answer.approve and answer.words:
                approvals[call] = {"message": answer.words}
        context = {"who": of["who"], "approvals": approvals}
        return await self._run(of["chat"], context, "async")

    async def _run(
        self, chat: str, context: dict[str, Any], mode: Mode
    ) -> str | suite.Paused:
        stored = self.chats[chat]
        given: dict[str, Any] = {
            "messages": stored.messages,
            "satchel": stored.satchel,
            "hook_context": context,
        }
        if mode == "sync":
            result = await asyncio.to_thread(self.agent.run, **given)
        elif mode == "async":
            result = await self.agent.run_async(**given)
        else:
            chunks: list[str] = []

            async def take(chunk: StreamingChunk) -> None:
                chunks.append(chunk.content)

            result = await self.agent.run_async(**given, streaming_callback=take)
            text = cast("ChatMessage", result["last_message"]).text
            assert text is None or text in "".join(chunks)
        messages: list[ChatMessage] = result["messages"]
        stored.messages = [m for m in messages if not m.is_from(ChatRole.SYSTEM)]
        stored.satchel = result["satchel"]
        if result["exit_reason"] == "approval_required":
            keys = "id", "tool", "arguments", "question"
            waiting = [[c[key] for key in keys] for c in result["satchel_waiting"]]
            return self.paused({"chat": chat, "who": context["who"]}, waiting)
        return cast("str", result["last_message"].text)

    def save(self, chat: str = "one") -> str:
        stored = self.chats[chat]
        return json.dumps([[m.to_dict() for m in stored.messages], stored.satchel])

    def restore(self, saved: str, chat: str = "one") -> None:
        messages, satchel = json.loads(saved)
        self.chats[chat] = Chat([*map(ChatMessage.from_dict, messages)], satchel)

    def trim(self, chat: str = "one") -> None:
        self.chats[chat].messages = []

    def keep_instead(self, state: object, chat: str = "one") -> None:
        self.chats[chat].satchel = cast("dict[str, Any] | None", state)


class Haystack:
    """Builds agents of Haystack, and one that has another as a tool."""

    name = "haystack"
    distribution = "haystack-ai"
    limits: Mapping[str, str] = {}
    lacks: Mapping[str, str] = {
        "advice": "Haystack answers a call of an unknown tool by itself"
    }

    def build(self, setup: Setup) -> Rig:
        seen = list[suite.Seen]()
        return HaystackRig(agent_of(setup, seen), seen)

    def build_pair(self, first: Setup, second: Setup) -> Rig:
        seen = list[suite.Seen]()
        hand_over = AgentTool(
            agent=agent_of(second, seen),
            name=HAND_OVER,
            description="Hand over to the second desk.",
            inputs_from_state={"hook_context": "hook_context"},
        )
        return HaystackRig(agent_of(first, seen, hand_over), seen)

    async def attach_twice(self, setup: Setup) -> None:
        haystack.attach(setup.skills, to=agent_of(setup, []))

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        return create_tool_from_function(function, name=name)


DRIVER = Haystack()
