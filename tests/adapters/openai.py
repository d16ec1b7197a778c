"""Drives OpenAI's SDK: loops over Responses and Chat Completions, no network.

The table tells of Responses; `tests.adapters.test_openai` runs the same suite over Chat
Completions.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import openai
from openai import AsyncOpenAI, OpenAI
from openai.lib.streaming.chat import ChatCompletionStreamState

from satchel.adapters.openai import Chat, attach
from satchel.tools import Run, Toolbox, tool_from_function
from tests.adapters import driver as suite
from tests.adapters.driver import Message, Paused, Seen
from tests.adapters.providers import LoopRig, Stored, attached, text_in

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping

    from satchel.tools import Tool

try:
    import httpx2 as httpx
except ImportError:  # with an SDK before 2.50
    import httpx  # type: ignore[import-not-found, no-redef]
try:
    from openai.lib.responses_tool_runner import RegisteredFunction
except ImportError:
    LIMITS = {
        "test_a_native_tool_is_carried": "before 3.40 there are no tool objects",
        "native": "before 3.40 there are no tool objects",
    }
else:
    LIMITS = {}

HAND_OVER = "transfer_to_second"
Steps: TypeAlias = "Generator[Any, list[Any], str | Paused]"
"""A loop: yields requests, and chats with the answers about calls that wait."""


class Responses:
    """``client.responses.create``."""

    def own(self, tool: Tool) -> Any:
        """Return a tool in the form that the API takes."""
        schema = dict(tool.parameters)
        return {"type": "function", "name": tool.name, "parameters": schema}

    def request(self, chat: Chat, items: list[Any], base: str) -> Mapping[str, Any]:
        """Return the arguments of a call, from what the adapter says."""
        return cast("Mapping[str, Any]", chat.responses(items, instructions=base))

    def create(self, client: Any) -> Callable[..., Any]:
        return cast("Callable[..., Any]", client.responses.create)

    def spoken(self, events: Iterable[Any]) -> list[Any]:
        """Return what the model said: from a response, or the events of a stream."""
        response = [*events][-1]
        response = getattr(response, "response", response)  # of response.completed
        return [item.to_dict() for item in response.output]

    def shown(self, body: Any) -> Seen:
        """Return what a model was sent."""
        messages: list[Message] = []
        names: dict[str, str] = {}
        for is_call, group in groupby(body["input"], lambda item: "arguments" in item):
            items = [*group]
            if is_call:
                names |= {item["call_id"]: item["name"] for item in items}
                expected = (f"{item['name']}({item['arguments']})" for item in items)
                messages.append(Message("assistant", " ".join(expected)))
                continue
            for item in items:
                if "output" in item:
                    name = names[item["call_id"]]
                    messages.append(Message("tool", item["output"], name))
                elif item["role"] == "user":
                    messages.append(Message("user", item["content"]))
                else:
                    messages.append(Message("assistant", item["content"][0]["text"]))
        tools = {tool["name"]: tool["parameters"] for tool in body.get("tools", ())}
        system = body.get("instructions", "")
        return Seen(system, tuple(tools), tools, tuple(messages))

    def reply(self, spoken: suite.Say, number: int) -> dict[str, Any]:
        output: list[dict[str, Any]]
        if isinstance(spoken, str):
            part = {"type": "output_text", "text": spoken, "annotations": []}
            message = {"type": "message", "id": "msg", "role": "assistant"}
            output = [{**message, "status": "completed", "content": [part]}]
        else:
            output = [
                {
                    "type": "function_call",
                    "id": f"fc{number}-{at}",
                    "call_id": call.id or f"c{number}-{at}",
                    "name": call.name,
                    "arguments": json.dumps(dict(call.arguments)),
                    "status": "completed",
                }
                for at, call in enumerate(spoken)
            ]
        return {
            "id": "resp",
            "object": "response",
            "created_at": 0,
            "model": "fake",
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }

    def events(self, reply: dict[str, Any]) -> Iterator[dict[str, Any]]:
        started = {**reply, "output": []}
        yield {"type": "response.created", "sequence_number": 0, "response": started}
        yield {"type": "response.completed", "sequence_number": 1, "response": reply}


class Completions:
    """``client.chat.completions.create``."""

    def own(self, tool: Tool) -> Any:
        function = {"name": tool.name, "parameters": dict(tool.parameters)}
        return {"type": "function", "function": function}

    def request(self, chat: Chat, items: list[Any], base: str) -> Mapping[str, Any]:
        first = [{"role": "system", "content": base}] if base else []
        return cast("Mapping[str, Any]", chat.completions([*first, *items]))

    def create(self, client: Any) -> Callable[..., Any]:
        return cast("Callable[..., Any]", client.chat.completions.create)

    def spoken(self, events: Iterable[Any]) -> list[Any]:
        got = [*events]
        if got[0].object == "chat.completion":
            message = got[0].choices[0].message
        else:
            state: Any = ChatCompletionStreamState()
            for chunk in got:
                state.handle_chunk(chunk)
            message = state.get_final_completion().choices[0].message
        return [message.to_dict()]

    def shown(self, body: Any) -> Seen:
        system: list[str] = []
        messages: list[Message] = []
        names: dict[str, str] = {}
        for item in body["messages"]:
            text = item.get("content") or ""
            if item["role"] == "system":
                system.append(text)
            elif item["role"] == "tool":
                messages.append(Message("tool", text, names[item["tool_call_id"]]))
            else:
                for call in item.get("tool_calls") or ():
                    function = call["function"]
                    names[call["id"]] = function["name"]
                    text += f" {function['name']}({function['arguments']})"
                messages.append(Message(item["role"], text.strip()))
        functions = [tool["function"] for tool in body.get("tools", ())]
        tools = {each["name"]: each["parameters"] for each in functions}
        return Seen("\n\n".join(system), tuple(tools), tools, tuple(messages))

    def reply(self, spoken: suite.Say, number: int) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if isinstance(spoken, str):
            message["content"] = spoken
        else:
            message["tool_calls"] = [
                {
                    "id": call.id or f"c{number}-{at}",
                    "type": "function",
                    "function": {
                        "name": call.name,
                        "arguments": json.dumps(dict(call.arguments)),
                    },
                }
                for at, call in enumerate(spoken)
            ]
        reason = "stop" if isinstance(spoken, str) else "tool_calls"
        choice = {"index": 0, "finish_reason": reason, "message": message}
        return {**_COMPLETION, "object": "chat.completion", "choices": [choice]}

    def events(self, reply: dict[str, Any]) -> Iterator[dict[str, Any]]:
        message = reply["choices"][0]["message"]
        deltas = [{"role": "assistant", "content": message["content"] or ""}]
        for at, call in enumerate(message.get("tool_calls", ())):
            function = call["function"]
            start = {**call, "index": at, "function": {**function, "arguments": ""}}
            rest = {"index": at, "function": {"arguments": function["arguments"]}}
            deltas += [{"tool_calls": [start]}, {"tool_calls": [rest]}]
        reasons = [*[None] * len(deltas), reply["choices"][0]["finish_reason"]]
        for delta, reason in zip([*deltas, {}], reasons, strict=True):
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            chunk = {**_COMPLETION, "object": "chat.completion.chunk"}
            yield {**chunk, "choices": [choice]}


Api: TypeAlias = Responses | Completions

_COMPLETION = {"id": "c", "created": 0, "model": "fake"}


def transport(api: Api, model: suite.Model, seen: list[Seen]) -> httpx.MockTransport:
    """Return a network in which the suite's model answers."""

    def handler(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        now = api.shown(body)
        seen.append(now)
        reply = api.reply(model(now), len(now.messages))
        if not body.get("stream"):
            return httpx.Response(200, json=reply)
        lines = [f"data: {json.dumps(event)}\n\n" for event in api.events(reply)]
        text = "".join([*lines, "data: [DONE]\n\n"])
        headers = {"content-type": "text/event-stream"}
        return httpx.Response(200, text=text, headers=headers)

    return httpx.MockTransport(handler)


def clients(network: httpx.MockTransport) -> tuple[OpenAI, AsyncOpenAI]:
    """Return a client of each kind."""
    http = openai.DefaultHttpxClient(transport=network)
    ahttp = openai.DefaultAsyncHttpxClient(transport=network)
    return (
        OpenAI(api_key="-", http_client=http),
        AsyncOpenAI(api_key="-", http_client=ahttp),
    )


class OpenAIRig(LoopRig):
    """A loop as its users write it; the first agent may hand over to the second."""

    def __init__(self, api: Api, *setups: suite.Setup) -> None:
        super().__init__([], *setups)
        self._api = api
        self._clients = [clients(transport(api, x.model, self.seen)) for x in setups]
        self._own = [Toolbox.of("desk", setup.own_tools) for setup in setups]

    async def run(
        self, text: str, chat: str, who: dict[str, Any], mode: suite.Mode
    ) -> str | Paused:
        stored = self.stored(chat, text)
        return await self._drive(stored, self._steps(chat, who, {}), mode)

    async def resume(self, of: Any, answers: Any) -> str | Paused:
        approved = {call: answer.reply() for call, answer in answers.items()}
        steps = self._steps(of["chat"], of["who"], approved)
        return await self._drive(self.chats[of["chat"]], steps, "async")

    def _steps(self, name: str, who: dict[str, Any], approved: dict[str, Any]) -> Steps:
        """Yield what is to be sent or made, and take what the model or tools said."""
        stored = self.chats[name]
        chats: dict[int, Chat] = {}
        while True:
            if stored.active not in chats:
                chats[stored.active] = self._chat(stored, who)
            chat = chats[stored.active]
            last = stored.messages[-1]
            if last.get("role") == "user" or _is_result(last):
                base = self.setups[stored.active].base
                spoken = yield self._api.request(chat, stored.messages, base)
                stored.messages += spoken
            waiting = [
                (call.id, call.name, call.arguments or {}, call.question)
                for call in chat.waiting(stored.messages)
                if call.id not in approved
            ]
            stored.states[stored.active] = chat.dump()
            if waiting:
                return self.paused({"chat": name, "who": who}, waiting)
            at, answers = stored.active, approved
            stored.messages += yield chat, answers
            approved = {}  # for the calls of this step
            stored.states[at] = chat.dump()
            for call in chat.yours(stored.messages):
                done = self._own_tools(stored).call(
                    call.name, call.arguments or {}, Run(who)
                )
                stored.messages.append(call.result(done))
            if not _is_result(stored.messages[-1]):
                return text_in(stored.messages[-1]["content"])

    def _chat(self, stored: Stored, who: dict[str, Any]) -> Chat:
        tools = [self._api.own(tool) for tool in self._own_tools(stored)]
        given = {"tools": tools, "who": who, "resume": stored.states[stored.active]}
        chat: Chat = attached(attach, self.setups[stored.active], **given)
        return chat

    def _own_tools(self, stored: Stored) -> Toolbox:
        own = self._own[stored.active]
        if stored.active or len(self.setups) == 1:
            return own

        def hand_over() -> str:
            """Hand over to the second desk."""
            stored.active = 1
            return "over to the second desk"

        return Toolbox("desk", (*own, tool_from_function(hand_over, name=HAND_OVER)))

    async def _drive(
        self, stored: Stored, steps: Steps, mode: suite.Mode
    ) -> str | Paused:
        sent: list[Any] | None = None
        while True:
            try:
                step = steps.send(cast("list[Any]", sent))
            except StopIteration as stopped:
                return cast("str | Paused", stopped.value)
            client, aclient = self._clients[stored.active]
            if isinstance(step, tuple):
                chat, approved = step
                if mode == "sync":
                    sent = await asyncio.to_thread(
                        chat.run, stored.messages, approved=approved
                    )
                else:
                    sent = await chat.arun(stored.messages, approved=approved)
            elif mode == "sync":
                create = self._api.create(client)
                got = await asyncio.to_thread(create, model="fake", **step)
                sent = self._api.spoken([got])
            else:
                create, is_stream = self._api.create(aclient), mode == "stream"
                got = await create(model="fake", stream=is_stream, **step)
                events = [event async for event in got] if is_stream else [got]
                sent = self._api.spoken(events)


def _is_result(item: Mapping[str, Any]) -> bool:
    return item.get("type") == "function_call_output" or item.get("role") == "tool"


@dataclass
class OpenAISdk:
    """Drives a loop over one of the APIs."""

    api: Api
    name: str = "openai"
    distribution: str = "openai"
    limits: Mapping[str, str] = field(default_factory=lambda: LIMITS)
    lacks: Mapping[str, str] = field(
        default_factory=lambda: {
            "threads": "a request is made where the loop of the user makes it",
            "required acts": "a loop of the user's own calls the user's own tools,"
            " which nobody sees: wrap the function with Session.requiring",
        }
    )

    def build(self, setup: suite.Setup) -> OpenAIRig:
        attached(attach, setup)  # each conversation is; here what is wrong shows
        return OpenAIRig(self.api, setup)

    def build_pair(self, first: suite.Setup, second: suite.Setup) -> OpenAIRig:
        return OpenAIRig(self.api, first, second)

    async def attach_twice(self, setup: suite.Setup) -> None:
        tools = attached(attach, setup).responses("hi")["tools"]
        attached(attach, setup, tools=tools)

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        """Return what the SDK's tool runner takes, under the name it is offered by."""
        tool = Responses().own(tool_from_function(function, name=name))

        def execute(given: dict[str, object]) -> str:
            return str(function(**given))

        return {name: RegisteredFunction(tool, execute)}


DRIVER = OpenAISdk(Responses())
COMPLETIONS = OpenAISdk(Completions(), "openai:COMPLETIONS")
