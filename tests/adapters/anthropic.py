"""Drives Anthropic's SDK against a fake API: a loop of our own, and its tool runner.

``async`` is a loop over `AsyncAnthropic`; ``sync`` the tool runner, which lets the API
keep the messages where it can; ``stream`` the streaming one of the asynchronous client.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from functools import wraps
from itertools import count
from typing import TYPE_CHECKING, Any, cast

import anthropic as sdk
import httpx2
from anthropic.lib.tools import beta_async_tool, beta_tool

from satchel.adapters import anthropic
from tests.adapters import driver as suite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from satchel.model import Reply
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
        message = _message(self.script(seen), f"msg_{next(self._numbers)}") | self.extra
        reply = {"role": "assistant", "content": message["content"]}
        self._kept[message["id"]] = {**whole, "messages": [*whole["messages"], reply]}
        if not body.get("stream"):
            return httpx2.Response(200, json=message)
        events = "".join(
            f"event: {each['type']}\ndata: {json.dumps(each)}\n\n"
            for each in _events(message)
        )
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, content=events.encode(), headers=headers)

    def _whole(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the whole conversation: the API may have kept the beginning of it."""
        before = (body.get("thread") or {}).get("previous_message_id")
        if before is None:
            return body
        stored = self._kept[before]
        return {**stored, **body, "messages": [*stored["messages"], *body["messages"]]}


def _message(output: suite.Say, id: str) -> dict[str, Any]:
    if isinstance(output, str):
        content: list[Any] = [{"type": "text", "text": output}]
    else:
        content = [
            {
                "type": "tool_use",
                "id": f"toolu_{id}_{at}",
                "name": call.name,
                "input": dict(call.arguments),
            }
            for at, call in enumerate(output)
        ]
    return {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": "claude-fake",
        "content": content,
        "stop_reason": "end_turn" if isinstance(output, str) else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    start = {**message, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": start}
    for at, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty: dict[str, Any] = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            written = json.dumps(block["input"])
            delta = {"type": "input_json_delta", "partial_json": written}
        yield {"type": "content_block_start", "index": at, "content_block": empty}
        yield {"type": "content_block_delta", "index": at, "delta": delta}
        yield {"type": "content_block_stop", "index": at}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def _seen(body: Mapping[str, Any]) -> suite.Seen:
    system = body.get("system") or ""
    tools = {tool["name"]: tool for tool in body.get("tools", ())}
    for message in body["messages"]:
        if message["role"] == "system":
            tools |= _added(message["content"])
    return suite.Seen(
        system if isinstance(system, str) else "".join(b["text"] for b in system),
        tuple(tools),
        {name: tool.get("input_schema") for name, tool in tools.items()},
        tuple(_shown(body["messages"])),
    )


def _added(blocks: Any) -> dict[str, Any]:
    definitions = (
        block["tool"]["definition"]
        for block in blocks
        if block["type"] == "tool_addition"
    )
    return {each["name"]: each for each in definitions}


def _shown(messages: Iterable[Mapping[str, Any]]) -> Iterator[suite.Message]:
    names: dict[str, str] = {}
    for message in messages:
        content = message["content"]
        blocks = (
            [{"type": "text", "text": content}] if isinstance(content, str) else content
        )
        calls = [block for block in blocks if block["type"] == "tool_use"]
        names |= {call["id"]: call["name"] for call in calls}
        for block in blocks:
            if block["type"] == "tool_result":
                name = names.get(block["tool_use_id"], "")
                yield suite.Message("tool", _text(block["content"]), name)
        text = "".join(b["text"] for b in blocks if b["type"] == "text")
        if message["role"] == "assistant":
            called = (f"{c['name']}({json.dumps(c['input'])})" for c in calls)
            yield suite.Message("assistant", text or " ".join(called))
        elif message["role"] == "user" and text:
            yield suite.Message("user", text)


def _text(content: Any) -> str:
    return (
        content
        if isinstance(content, str)
        else "".join(each["text"] for each in content)
    )


@dataclass
class Kept:
    """One conversation, as an application would store it."""

    messages: list[Any] = field(default_factory=list[Any])
    states: list[Any] = field(default_factory=lambda: [None, None])
    active: int = 0
    answers: dict[str, Reply] = field(default_factory=dict)


class AnthropicRig(suite.BaseRig):
    """Conversations over one pair of clients; the first agent may hand over."""

    def __init__(self, *setups: Setup) -> None:
        self.apis = [FakeApi(setup.model) for setup in setups]
        super().__init__(self.apis[0].seen)
        for api in self.apis[1:]:
            api.seen = self.seen
        self._setups = setups
        self._kept: dict[str, Kept] = {}

    async def run(
        self, text: str, chat: str, who: dict[str, Any], mode: Mode
    ) -> str | suite.Paused:
        stored = self._kept.setdefault(chat, Kept())
        stored.messages.append({"role": "user", "content": text})
        run = Run(self, chat, stored, who)
        if mode == "sync":
            return await asyncio.to_thread(run.by_runner)
        return await (run.by_loop() if mode == "async" else run.by_stream())

    async def resume(self, of: Any, answers: Any) -> str | suite.Paused:
        stored = self._kept[of["chat"]]
        stored.answers |= {call: answer.reply() for call, answer in answers.items()}
        return await Run(self, of["chat"], stored, of["who"]).by_loop()

    def save(self, chat: str = "one") -> str:
        stored = self._kept[chat]
        return json.dumps([stored.messages, stored.states, stored.active])

    def restore(self, saved: str, chat: str = "one") -> None:
        self._kept[chat] = Kept(*json.loads(saved))

    def trim(self, chat: str = "one") -> None:
        self._kept[chat].messages.clear()

    def keep_instead(self, state: object, chat: str = "one") -> None:
        self._kept[chat].states[0] = cast("Any", state)


def attach(setup: Setup, **given: Any) -> anthropic.Chat:
    options = dict(setup.options)
    deps = options.pop("deps", None)
    made = deps() if deps else None
    return anthropic.attach(setup.skills, deps=made, **given, **options)


@dataclass
class Run:
    """One run of the agent whose turn it is."""

    rig: AnthropicRig
    name: str
    stored: Kept
    who: dict[str, Any]

    def __post_init__(self) -> None:
        self.at = self.stored.active
        self.setup = self.rig._setups[self.at]
        self.api = self.rig.apis[self.at]
        self.own = list(self.setup.own_tools)
        if self.at < len(self.rig._setups) - 1:
            self.own.append(self._hand_over())

    def _hand_over(self) -> Callable[..., object]:
        def transfer_to_second() -> str:
            """Hand over to the second desk."""
            self.stored.active = 1
            return "over to the second desk"

        return transfer_to_second

    def _attach(self, tools: list[Any]) -> anthropic.Chat:
        state = self.stored.states[self.at]
        return attach(self.setup, tools=tools, who=self.who, resume=state)

    async def by_loop(self) -> str | suite.Paused:
        own = {each.__name__: beta_tool(cast("Any", each)) for each in self.own}
        chat = self._attach([*own.values()])
        messages, client = self.stored.messages, self.api.async_client
        while True:
            if messages[-1]["role"] == "user":
                request = chat.request(messages, system=self.setup.base)
                self._keep(await client.messages.create(**MODEL, **request))
                self.stored.states[self.at] = chat.dump()
            if (paused := self._paused(chat, messages)) is not None:
                return paused
            results = await chat.arun(messages, approved=self.stored.answers)
            self.stored.states[self.at] = chat.dump()
            results += _by_own(own, messages[-1]["content"])
            if not results:
                return str(messages[-1]["content"][0]["text"])
            messages.append({"role": "user", "content": results})
            if self.stored.active != self.at:
                return await Run(self.rig, self.name, self.stored, self.who).by_loop()

    def _paused(self, chat: anthropic.Chat, given: Any) -> suite.Paused | None:
        waiting = [
            (call.id, call.name, call.arguments, call.question)
            for call in chat.waiting(given)
            if call.id not in self.stored.answers
        ]
        of = {"chat": self.name, "who": self.who}
        return self.rig.paused(of, waiting) if waiting else None

    def by_runner(self) -> str | suite.Paused:
        chat = self._attach([beta_tool(cast("Any", each)) for each in self.own])
        runner = chat.tool_runner(
            self.api.client,
            messages=[*self.stored.messages],
            system=self.setup.base,
            **MODEL,
        )
        for message in runner:
            self._keep(message)
            if (paused := self._paused(chat, message)) is not None:
                self.stored.states[self.at] = chat.dump()
                return paused
            self._keep_results(runner.generate_tool_call_response())
        self.stored.states[self.at] = chat.dump()
        return str(self.stored.messages[-1]["content"][0]["text"])

    async def by_stream(self) -> str | suite.Paused:
        chat = self._attach([_async_tool(each) for each in self.own])
        runner = chat.tool_runner(
            self.api.async_client,
            messages=[*self.stored.messages],
            system=self.setup.base,
            stream=True,
            **MODEL,
        )
        async for stream in runner:
            message = await stream.get_final_message()
            self._keep(message)
            if (paused := self._paused(chat, message)) is not None:
                self.stored.states[self.at] = chat.dump()
                return paused
            self._keep_results(await runner.generate_tool_call_response())
        self.stored.states[self.at] = chat.dump()
        return str(self.stored.messages[-1]["content"][0]["text"])

    def _keep(self, message: Any) -> None:
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


def _async_tool(function: Callable[..., object]) -> Any:
    @wraps(function)
    async def call(*args: Any, **given: Any) -> Any:
        return function(*args, **given)

    return beta_async_tool(call)


def fake_model(script: suite.Model) -> FakeApi:
    return FakeApi(script)


class AnthropicDriver:
    """Builds loops over Anthropic's SDK."""

    name = "anthropic"
    distribution = "anthropic"
    limits: Mapping[str, str] = {}
    lacks: Mapping[str, str] = {
        "threads": "a request is made where the loop of the user makes it",
    }

    def build(self, setup: Setup) -> Rig:
        attach(setup)  # each conversation is attached; here what is wrong shows
        return AnthropicRig(setup)

    def build_pair(self, first: Setup, second: Setup) -> Rig:
        return AnthropicRig(first, second)

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        return beta_tool(cast("Any", function), name=name)


DRIVER = AnthropicDriver()
