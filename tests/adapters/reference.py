"""The reference: what an adapter does, in a loop with nothing around it.

It proves the suite, and shows what `satchel.adapters._base` asks of an adapter: `open`
the conversation, `see` the messages before each model call, then take the instructions
and the tools; `answer` calls; `keep` the state next to the history. Messages are those
of `satchel.agent._agent`.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from satchel.adapters._base import Conversation, SessionFactory, Turn
from satchel.agent import Call, Message
from satchel.model import Reply, SeenMessage as History
from satchel.runtime import question_text
from satchel.tools import Run, Toolbox, result_text, tool_from_function
from tests.adapters import driver as suite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tests.adapters.driver import Mode, Rig, Setup

HAND_OVER = "transfer_to_second"


@dataclass
class Chat:
    """One conversation: its history, and for each agent what its session dumped."""

    messages: list[Message] = field(default_factory=list[Message])
    states: list[Any] = field(default_factory=lambda: [None, None])
    active: int = 0


class ReferenceRig:
    """Agents that share their conversations; the first may hand over to the second."""

    def __init__(self, *setups: Setup) -> None:
        self.seen: list[suite.Seen] = []
        self._setups = setups
        self._attached = [_attached(each) for each in setups]
        self._own = [Toolbox.of("desk", each.own_tools) for each in setups]
        self._chats: dict[str, Chat] = {}

    async def say(
        self,
        text: str,
        *,
        chat: str = "one",
        who: Mapping[str, Any] | None = None,
        mode: Mode = "async",
    ) -> str | suite.Paused:
        chat_ = self._chats.setdefault(chat, Chat())
        chat_.messages.append(Message("user", text))
        run = _Run(self, chat, chat_, dict(who or {}), {}, is_sync=mode == "sync")
        if mode == "sync":
            return await asyncio.to_thread(asyncio.run, run.go_on())
        return await run.go_on()

    async def decide(
        self,
        paused: suite.Paused,
        *,
        approve: bool,
        words: str = "",
        arguments: Mapping[str, object] | None = None,
    ) -> str | suite.Paused:
        state = paused.state
        given = ["yes_once" if approve else "no", words, arguments]
        answers = state["answers"] | {state["asked"]: given}
        chat = self._chats[state["chat"]]
        return await _Run(self, state["chat"], chat, state["who"], answers).go_on()

    def save(self, chat: str = "one") -> str:
        kept = self._chats[chat]
        messages = [message.to_dict() for message in kept.messages]
        return json.dumps([messages, kept.states, kept.active])

    def restore(self, saved: str, chat: str = "one") -> None:
        messages, states, active = json.loads(saved)
        self._chats[chat] = Chat([*map(Message.from_dict, messages)], states, active)

    def trim(self, chat: str = "one") -> None:
        self._chats[chat].messages.clear()

    def keep_instead(self, state: object, chat: str = "one") -> None:
        self._chats[chat].states[0] = state


def _attached(setup: Setup) -> SessionFactory[Mapping[str, Any]]:
    """Attach as the suite asks for it; a run's context is for whom it is."""
    options = dict(setup.options)
    deps = options.pop("deps", None)
    return SessionFactory(setup.skills, dict, deps, cast("Any", options))


@dataclass
class _Run:
    """One run of an agent: model calls and tool calls, until there is a text."""

    rig: ReferenceRig
    name: str
    chat: Chat
    who: dict[str, Any]
    answers: Mapping[str, Any]
    is_sync: bool = False
    turn: Turn = field(default_factory=Turn)

    async def go_on(self) -> str | suite.Paused:
        while True:
            setup = self.rig._setups[self.chat.active]
            conversation = self._open()
            own = self._own_tools()
            reply = self.chat.messages[-1]
            if not reply.calls:
                reply = self._ask(setup, conversation, own)
                self.chat.messages.append(reply)
            if not reply.calls:
                self.chat.states[self.chat.active] = conversation.save()
                return reply.text
            paused = self._pending(conversation, reply)
            if paused is not None:
                return paused
            await self._carry_out(conversation, own, reply)

    def _open(self) -> Conversation:
        at = self.chat.active
        attached = self.rig._attached[at]
        return attached.open(self.who, self.chat.states[at], turn=self.turn)

    def _own_tools(self) -> Toolbox:
        own = self.rig._own[self.chat.active]
        if self.chat.active or len(self.rig._setups) == 1:
            return own

        def hand_over() -> str:
            """Hand over to the second desk."""
            self.chat.active = 1
            return "over to the second desk"

        tool = tool_from_function(hand_over, name=HAND_OVER)
        return Toolbox("desk", (*own, tool))

    def _ask(self, setup: Setup, conversation: Conversation, own: Toolbox) -> Message:
        conversation.see(_history(self.chat.messages))
        tools = Toolbox.joined("desk", (own, conversation.tools()))
        seen = suite.Seen(
            system=conversation.session.instructions(setup.base),
            tools=tuple(tool.name for tool in tools),
            schemas={tool.name: tool.parameters for tool in tools},
            messages=tuple(_shown(self.chat.messages)),
        )
        self.rig.seen.append(seen)
        said = setup.model(seen)
        if isinstance(said, str):
            return Message("assistant", said)
        number = uuid4().hex
        calls = (
            Call(f"{number}-{at}", call.name, call.arguments)
            for at, call in enumerate(said)
        )
        return Message("assistant", calls=tuple(calls))

    def _pending(
        self, conversation: Conversation, reply: Message
    ) -> suite.Paused | None:
        """Return the first call that waits for an answer, if no callback gives it."""
        for call in reply.calls:
            if call.id in self.answers:
                continue
            question = conversation.question(call.name, call.arguments)
            if question is not None:
                state = {"chat": self.name, "who": self.who, "asked": call.id}
                state["answers"] = dict(self.answers)
                text = question_text(question)
                return suite.Paused(call.name, call.arguments, state, text)
        return None

    async def _carry_out(
        self, conversation: Conversation, own: Toolbox, reply: Message
    ) -> None:
        at = self.chat.active

        async def call(call: Call) -> Message:
            given, answer = (call.name, call.arguments), self.answers.get(call.id)
            how: Any = {"approved": answer and Reply(*answer), "call_id": call.id}
            if own.get(call.name):
                result = await own.acall(*given, Run(self.who))
            elif self.is_sync:
                result = conversation.call(*given, **how)
            else:
                result = await conversation.acall(*given, **how)
            return Message("tool", result_text(result), (), call.id, call.name)

        results = await asyncio.gather(*map(call, reply.calls))
        self.chat.messages += results
        self.chat.states[at] = conversation.save()


def _history(messages: Iterable[Message]) -> Iterator[History]:
    arguments: dict[str, Mapping[str, object]] = {}
    for message in messages:
        arguments |= {call.id: call.arguments for call in message.calls}
        given = arguments.get(message.call_id, {})
        yield History(message.role, message.text, message.tool, given)


def _shown(messages: Iterable[Message]) -> Iterator[suite.Message]:
    for message in messages:
        calls = (f"{call.name}({json.dumps(call.arguments)})" for call in message.calls)
        text = message.text or " ".join(calls)
        yield suite.Message(message.role, text, message.tool)


class Reference:
    """Drives the loop above."""

    name = "reference"
    distribution = "satchel"
    limits: Mapping[str, str] = {
        "test_an_asynchronous_callback_is_awaited[sync]": "its loop runs in a task"
    }
    lacks: Mapping[str, str] = {
        "threads": "the loop leaves it to its users to call it in a thread",
    }

    def build(self, setup: Setup) -> Rig:
        return cast("Rig", ReferenceRig(setup))

    def build_pair(self, first: Setup, second: Setup) -> Rig:
        return cast("Rig", ReferenceRig(first, second))

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        return tool_from_function(function, name=name)


DRIVER = Reference()
