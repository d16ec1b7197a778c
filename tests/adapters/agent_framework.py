"""Drives Microsoft Agent Framework with a chat client that follows a script."""

import asyncio
import json
from collections.abc import (
    AsyncIterable,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from importlib.metadata import version
from typing import Any

from agent_framework import (
    Agent,
    AgentResponse,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
    InMemoryHistoryProvider,
    Message,
    ResponseStream,
    tool,
)

from satchel.adapters.agent_framework import attach
from tests.adapters import driver as suite
from tests.adapters.driver import Mode, Model, Rig, Setup


class ScriptedClient(
    FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]
):
    """A chat client with the layers that all of the framework's own have."""

    def __init__(self, model: Model, seen: list[suite.Seen], **options: Any) -> None:
        super().__init__(**options)
        self._model = model
        self._seen = seen

    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **_: Any,
    ) -> Awaitable[ChatResponse[Any]] | ResponseStream[Any, Any]:
        async def respond() -> ChatResponse[Any]:
            return ChatResponse(messages=[self._say(messages, options)])

        async def updates() -> AsyncIterable[ChatResponseUpdate]:
            message = self._say(messages, options)
            for content in message.contents:
                yield ChatResponseUpdate(contents=[content], role="assistant")

        if not stream:
            return respond()
        return ResponseStream(updates(), finalizer=ChatResponse.from_updates)

    def _say(self, messages: Sequence[Message], options: Mapping[str, Any]) -> Message:
        tools: list[FunctionTool] = options.get("tools") or []
        seen = suite.Seen(
            system=options.get("instructions") or "",
            tools=tuple(tool.name for tool in tools),
            schemas={tool.name: tool.parameters() for tool in tools},
            messages=tuple(_shown(messages)),
        )
        self._seen.append(seen)
        output = self._model(seen)
        if isinstance(output, str):
            return Message("assistant", [output])
        at = len(self._seen)
        calls = [
            Content.from_function_call(
                call.id or f"{at}-{n}",
                call.name,
                arguments=json.dumps(call.arguments),
            )
            for n, call in enumerate(output)
        ]
        return Message("assistant", calls)


def _shown(messages: Sequence[Message]) -> Iterator[suite.Message]:
    for message in messages:
        if message.role == "tool":
            for content in message.contents:
                yield suite.Message("tool", str(content.result))
        elif message.role == "user":
            yield suite.Message("user", message.text)
        elif message.role == "assistant":
            calls = (f"{c.name}({c.arguments})" for c in message.contents if c.name)
            yield suite.Message("assistant", message.text or " ".join(calls))


def _who(session: AgentSession) -> Mapping[str, Any]:
    who: Mapping[str, Any] = session.state["who"]
    return who


class AgentRig(suite.BaseRig):
    """An agent, and a session of the framework's for each conversation."""

    def __init__(
        self, setup: Setup, seen: list[suite.Seen], *tools: Any, name: str = "desk"
    ) -> None:
        super().__init__(seen)
        self.agent = Agent(
            ScriptedClient(setup.model, seen),
            setup.base,
            name=name,
            tools=[*setup.own_tools, *tools],
            context_providers=[
                InMemoryHistoryProvider(),
                attach(setup.skills, who=_who, **setup.options_of(_who)),
            ],
        )
        self._sessions: dict[str, AgentSession] = {}

    async def run(
        self, text: str, chat: str, who: dict[str, Any], mode: Mode
    ) -> str | suite.Paused:
        session = self._sessions.setdefault(chat, AgentSession())
        session.state["who"] = who
        return await self._run(Message("user", [text]), chat, mode)

    async def resume(self, of: Any, answers: Any) -> str | suite.Paused:
        [answer] = answers.values()
        assert answer.arguments is None, "the framework has no edits"
        request = Content.from_dict(of["request"])
        content = request.to_function_approval_response(answer.approve)
        return await self._run(Message("user", [content]), of["chat"])

    def save(self, chat: str = "one") -> str:
        return json.dumps(self._sessions[chat].to_dict())

    def restore(self, saved: str, chat: str = "one") -> None:
        self._sessions[chat] = AgentSession.from_dict(json.loads(saved))

    def trim(self, chat: str = "one") -> None:
        self._sessions[chat].state[InMemoryHistoryProvider.DEFAULT_SOURCE_ID].clear()

    def keep_instead(self, state: object, chat: str = "one") -> None:
        self._sessions[chat].state["satchel"]["desk"] = state

    async def _run(
        self, message: Message, chat: str, mode: Mode = "async"
    ) -> str | suite.Paused:
        session = self._sessions[chat]
        response: AgentResponse[Any]
        if mode == "sync":  # the framework has no sync call; this is what people write
            run = self.agent.run(message, session=session)
            response = await asyncio.to_thread(asyncio.run, _awaited(run))
        elif mode == "async":
            response = await self.agent.run(message, session=session)
        else:
            stream = self.agent.run(message, session=session, stream=True)
            async for _ in stream:
                pass
            response = await stream.get_final_response()
        for request in response.user_input_requests:
            call = request.function_call
            assert call is not None
            waiting = ("", call.name or "", call.parse_arguments() or {}, "")
            return self.paused({"request": request.to_dict(), "chat": chat}, [waiting])
        return response.text


async def _awaited(run: Awaitable[Any]) -> Any:
    return await run


_REUSED: dict[str, str] = {}
if version("agent-framework-core").startswith("1.19."):
    _REUSED["test_calls_of_one_id_in_one_conversation"] = (
        "1.19 pays each, and shows the model one result for all calls of one id"
    )


class AgentFramework:
    """Builds agents of Microsoft Agent Framework."""

    name = "agent_framework"
    distribution = "agent-framework-core"
    limits: Mapping[str, str] = {
        "test_words_of_a_rejection_are_read": (
            "the framework's approval response has no words"
        ),
        "test_a_question_says_what_is_asked": (
            "the framework's request has the tool and its arguments, and no text"
        ),
    } | _REUSED
    lacks: Mapping[str, str] = {
        "advice": "the framework answers a call of an unknown tool by itself",
        "edits": (
            "the framework's approval response has no edits: it is bound to the call"
        ),
    }

    def build(self, setup: Setup) -> Rig:
        return AgentRig(setup, [])

    def build_pair(self, first: Setup, second: Setup) -> Rig:
        seen: list[suite.Seen] = []
        other = AgentRig(second, seen, name="second").agent
        hand_over = other.as_tool(name="transfer_to_second", propagate_session=True)
        return AgentRig(first, seen, hand_over)

    async def attach_twice(self, setup: Setup) -> None:
        rig = AgentRig(setup, [])
        rig.agent.context_providers.append(attach(setup.skills, who=_who))
        await rig.say("hi")

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        return tool(function, name=name)


DRIVER = AgentFramework()
