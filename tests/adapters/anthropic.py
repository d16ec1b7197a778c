"""Drives Anthropic's SDK against a fake API: a loop of our own, and its tool runner.

``async`` is a loop over `AsyncAnthropic`; ``sync`` the tool runner, which lets the API
keep the messages where it can; ``stream`` the streaming one of the asynchronous client.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from functools import wraps
from importlib.metadata import version
from itertools import count
from typing import TYPE_CHECKING, Any, cast

import anthropic as sdk
import httpx2
from anthropic.lib.tools import beta_async_tool, beta_tool

from satchel.adapters import anthropic
from tests.adapters import driver as suite
from tests.adapters.providers import (
    LoopRig,
    Stored,
    assistant,
    attached,
    blocks_in,
    blocks_of,
    message_of,
    streamed,
    text_in,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tests.adapters.driver import Mode, Rig, Setup

HAND_OVER = "transfer_to_second"
MODEL: Any = {"model": "claude-fake", "max_tokens": 1024}


class FakeApi:
    """Answers requests of the SDK as the script says, and keeps what they held."""

    def __init__(self, script: suite.Model) -> None:
        self.script = script
        self.seen: list[suite.Seen] = []
        self.bodies: list[dict[str, Any]] = []
        self.betas: list[str] = []
        self.extra: dict[str, Any] = {}
        self._kept: dict[str, dict[str, Any]] = {}
        self._numbers = count(1)  # many threads may ask at once
        transport = httpx2.MockTransport(self._answer)
        self.client = sdk.Anthropic(
            api_key="none", http_client=sdk.DefaultHttpxClient(transport=transport)
        )
        self.async_client = sdk.AsyncAnthropic(
            api_key="none",
            http_client=sdk.DefaultAsyncHttpxClient(transport=transport),
        )

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        body: dict[str, Any] = json.loads(request.content)
        self.bodies.append(body)
        self.betas.append(request.headers.get("anthropic-beta", ""))
        whole = self._whole(body)
        seen = _seen(whole)
        self.seen.append(seen)
        number = str(next(self._numbers))
        message = message_of(blocks_of(self.script(seen), number), number) | self.extra
        reply = {"role": "assistant", "content": message["content"]}
        self._kept[message["id"]] = {**whole, "messages": [*whole["messages"], reply]}
        if not body.get("stream"):
            return httpx2.Response(200, content=json.dumps(message))
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, content=streamed(message), headers=headers)

    def _whole(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the whole conversation: the API may have kept the beginning of it."""
        before = (body.get("thread") or {}).get("previous_message_id")
        if before is None:
            return body
        stored = self._kept[before]
        return {**stored, **body, "messages": [*stored["messages"], *body["messages"]]}


def _seen(body: Mapping[str, Any]) -> suite.Seen:
    tools = {tool["name"]: tool for tool in body.get("tools", ())}
    for message in body["messages"]:
        if message["role"] == "system":
            blocks = [b for b in message["content"] if b["type"] == "tool_addition"]
            added = [block["tool"]["definition"] for block in blocks]
            tools |= {tool["name"]: tool for tool in added}
    return suite.Seen(
        text_in(body.get("system") or ""),
        tuple(tools),
        {name: tool.get("input_schema") for name, tool in tools.items()},
        tuple(_shown(body["messages"])),
    )


def _shown(messages: Iterable[Mapping[str, Any]]) -> Iterator[suite.Message]:
    names: dict[str, str] = {}
    for message in messages:
        blocks = blocks_in(message["content"])
        for block in blocks:
            if block["type"] == "tool_use":
                names[block["id"]] = block["name"]
            elif block["type"] == "tool_result":
                name = names.get(block["tool_use_id"], "")
                yield suite.Message("tool", text_in(block["content"]), name)
        text = text_in(blocks)
        if message["role"] == "assistant":
            yield assistant(text, blocks)
        elif message["role"] == "user" and text:
            yield suite.Message("user", text)


class AnthropicRig(LoopRig):
    """Conversations over one pair of clients; the first agent may hand over."""

    def __init__(self, *setups: Setup) -> None:
        self.apis = [FakeApi(setup.model) for setup in setups]
        super().__init__(self.apis[0].seen, *setups)
        for api in self.apis[1:]:
            api.seen = self.seen

    async def run(
        self, text: str, chat: str, who: dict[str, Any], mode: Mode
    ) -> str | suite.Paused:
        run = Run(self, chat, self.stored(chat, text), who)
        if mode == "sync":
            return await asyncio.to_thread(run.by_runner)
        return await (run.by_loop() if mode == "async" else run.by_stream())

    async def resume(self, of: Any, answers: Any) -> str | suite.Paused:
        stored = self.chats[of["chat"]]
        stored.answers |= {call: answer.reply() for call, answer in answers.items()}
        return await Run(self, of["chat"], stored, of["who"]).by_loop()


@dataclass
class Run:
    """One run of the agent whose turn it is."""

    rig: AnthropicRig
    name: str
    stored: Stored
    who: dict[str, Any]

    def __post_init__(self) -> None:
        self.at = self.stored.active
        self.setup = self.rig.setups[self.at]
        self.api = self.rig.apis[self.at]
        self.own = list(self.setup.own_tools)
        if self.at < len(self.rig.setups) - 1:
            self.own.append(self._hand_over())

    def _hand_over(self) -> Callable[..., object]:
        def transfer_to_second() -> str:
            """Hand over to the second desk."""
            self.stored.active = 1
            return "over to the second desk"

        return transfer_to_second

    def _attach(self, tools: list[Any]) -> anthropic.Chat:
        state = self.stored.states[self.at]
        given = {"tools": tools, "who": self.who, "resume": state}
        chat: anthropic.Chat = attached(anthropic.attach, self.setup, **given)
        return chat

    def runner(
        self, client: Any, tool: Callable[[Any], Any], **params: Any
    ) -> tuple[anthropic.Chat, Any]:
        """Return the conversation, and a tool runner in it."""
        chat = self._attach([tool(function) for function in self.own])
        messages, base = [*self.stored.messages], self.setup.base
        runner = chat.tool_runner(
            client, messages=messages, system=base, **MODEL, **params
        )
        return chat, runner

    def end(self, chat: anthropic.Chat) -> str:
        """Store the state; return what the model said in the end."""
        self.stored.states[self.at] = chat.dump()
        return text_in(self.stored.messages[-1]["content"])

    async def by_loop(self) -> str | suite.Paused:
        own = {each.__name__: _tool(each) for each in self.own}
        chat = self._attach([*own.values()])
        messages, client = self.stored.messages, self.api.async_client
        while True:
            if messages[-1]["role"] == "user":
                request = chat.request(messages, system=self.setup.base)
                self.keep(await client.messages.create(**MODEL, **request))
                self.stored.states[self.at] = chat.dump()
            if (paused := self._paused(chat, messages)) is not None:
                return paused
            results = await chat.arun(messages, approved=self.stored.answers)
            self.stored.answers = {}  # for the calls of this step
            self.stored.states[self.at] = chat.dump()
            results += _by_own(own, messages[-1]["content"])
            if not results:
                return text_in(messages[-1]["content"])
            messages.append({"role": "user", "content": results})
            if self.stored.active != self.at:
                return await Run(self.rig, self.name, self.stored, self.who).by_loop()

    def _paused(self, chat: anthropic.Chat, given: Any) -> suite.Paused | None:
        waiting = [
            (call.id, call.name, call.arguments, call.question)
            for call in chat.waiting(given)
            if call.id not in self.stored.answers
        ]
        if not waiting:
            return None
        self.stored.states[self.at] = chat.dump()
        return self.rig.paused({"chat": self.name, "who": self.who}, waiting)

    def by_runner(self) -> str | suite.Paused:
        chat, runner = self.runner(self.api.client, _tool)
        for message in runner:
            self.keep(message)
            if (paused := self._paused(chat, message)) is not None:
                return paused
            self._keep_results(runner.generate_tool_call_response())
        return self.end(chat)

    async def by_stream(self) -> str | suite.Paused:
        chat, runner = self.runner(self.api.async_client, _async_tool, stream=True)
        async for stream in runner:
            message = await stream.get_final_message()
            self.keep(message)
            if (paused := self._paused(chat, message)) is not None:
                return paused
            self._keep_results(await runner.generate_tool_call_response())
        return self.end(chat)

    def keep(self, message: Any) -> None:
        content = [block.to_dict() for block in message.content]
        self.stored.messages.append({"role": "assistant", "content": content})

    def _keep_results(self, results: Any) -> None:
        if results is not None:
            self.stored.messages.append(results)


def _by_own(own: Mapping[str, Any], blocks: Iterable[Any]) -> list[Any]:
    return [
        {
            "type": "tool_result",
            "tool_use_id": block["id"],
            "content": own[block["name"]].call(block["input"]),
        }
        for block in blocks
        if block["type"] == "tool_use" and block["name"] in own
    ]


def _tool(function: Callable[..., object]) -> Any:
    return beta_tool(cast("Any", function))


def _async_tool(function: Callable[..., object]) -> Any:
    @wraps(function)
    async def call(*args: Any, **given: Any) -> Any:
        return function(*args, **given)

    return beta_async_tool(call)


def fake_model(script: suite.Model) -> FakeApi:
    return FakeApi(script)


_BEFORE_2: Mapping[str, str] = (
    {
        "test_arguments_may_hold_any_text[sync]": (
            "before 2.0 the tool runner, too, has to send such arguments back"
        )
    }
    if version("anthropic") < "2"
    else {}
)


class AnthropicDriver:
    """Builds loops over Anthropic's SDK."""

    name = "anthropic"
    distribution = "anthropic"
    limits: Mapping[str, str] = {
        **_BEFORE_2,
        "test_arguments_may_hold_any_text[async]": (
            "the SDK cannot send such arguments back; its tool runner need not"
        ),
        "test_arguments_may_hold_any_text[stream]": (
            "the SDK cannot parse such arguments in a stream"
        ),
        "test_an_act_after_a_hand_over": (
            "the tool runner is of one agent: a hand-over begins the run of another"
        ),
    }
    lacks: Mapping[str, str] = {
        "threads": "a request is made where the loop of the user makes it",
        "required acts[async]": "a loop of the user's own calls the user's own tools,"
        " which nobody sees; the tool runner does wait: wrap the function with"
        " Session.requiring",
    }

    def build(self, setup: Setup) -> Rig:
        attached(anthropic.attach, setup)  # each conversation is; what is wrong shows
        return AnthropicRig(setup)

    def build_pair(self, first: Setup, second: Setup) -> Rig:
        return AnthropicRig(first, second)

    async def attach_twice(self, setup: Setup) -> None:
        attached(
            anthropic.attach, setup, tools=attached(anthropic.attach, setup).tools()
        )

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        return beta_tool(cast("Any", function), name=name)


DRIVER = AnthropicDriver()
