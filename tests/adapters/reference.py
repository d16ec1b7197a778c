"""The reference: examples/litellm_loop.py against a fake client, with no framework.

It proves the suite, and the example of docs/contributing/adapter.md with it.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast
from uuid import uuid4

from examples.litellm_loop import Agent, Chat, attach
from satchel import Run
from satchel.tools import tool_from_function
from tests.adapters import driver as suite
from tests.adapters.driver import Mode, Rig, Setup


class FakeClient:
    """Answers requests as the script says, and keeps what they held."""

    def __init__(self, model: suite.Model, seen: list[suite.Seen]) -> None:
        self.model = model
        self.seen = seen

    def completion(self, messages: Any, tools: Any = ()) -> dict[str, Any]:
        functions = [tool["function"] for tool in tools]
        schemas = {each["name"]: each["parameters"] for each in functions}
        system = [m["content"] for m in messages if m["role"] == "system"]
        shown = suite.Seen(
            "\n".join(system), tuple(schemas), schemas, tuple(_shown(messages))
        )
        self.seen.append(shown)
        output = self.model(shown)
        number = uuid4().hex
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if isinstance(output, str):
            message["content"] = output
        else:
            message["tool_calls"] = [
                {
                    "id": call.id or f"{number}-{at}",
                    "function": {
                        "name": call.name,
                        "arguments": json.dumps(call.arguments),
                    },
                }
                for at, call in enumerate(output)
            ]
        return {"choices": [{"message": message}]}

    async def acompletion(self, **request: Any) -> dict[str, Any]:
        await asyncio.sleep(0)
        return self.completion(**request)


def _shown(messages: Iterable[Mapping[str, Any]]) -> Iterator[suite.Message]:
    names: dict[str, str] = {}
    for message in messages:
        functions = [call["function"] for call in message.get("tool_calls") or ()]
        names |= {c["id"]: c["function"]["name"] for c in message.get("tool_calls", ())}
        calls = " ".join(f"{each['name']}({each['arguments']})" for each in functions)
        if message["role"] != "system":
            tool = names.get(message.get("tool_call_id", ""), "")
            yield suite.Message(message["role"], message["content"] or calls, tool)


class ReferenceRig(suite.BaseRig):
    """An agent of the example; its chats are stored as JSON."""

    def __init__(
        self, setup: Setup, seen: list[suite.Seen], *tools: Callable[..., object]
    ) -> None:
        super().__init__(seen)
        client = FakeClient(setup.model, seen)
        complete = client.completion, client.acompletion
        own, options = [*setup.own_tools, *tools], cast("Any", setup.options_of(dict))
        self.agents = [
            attach(setup.skills, each, system=setup.base, tools=own, **options)
            for each in complete
        ]
        self.chats: dict[str, Chat] = {}

    @property
    def agent(self) -> Agent:
        return self.agents[1]

    async def run(
        self, text: str, chat: str, who: dict[str, Any], mode: Mode
    ) -> str | suite.Paused:
        return await self._go_on(chat, who, mode, text, {})

    async def resume(
        self, state: dict[str, Any], answers: dict[str, suite.Answer]
    ) -> str | suite.Paused:
        replies = {key: answer.reply() for key, answer in answers.items()}
        return await self._go_on(state["chat"], state["who"], "async", "", replies)

    async def _go_on(
        self, name: str, who: Any, mode: Mode, text: str, answers: Any
    ) -> str | suite.Paused:
        chat, how = self.chats.setdefault(name, Chat()), {"who": who}
        if mode == "sync":
            done = await asyncio.to_thread(
                self.agents[0].run, chat, text, answers=answers, **how
            )
        else:
            done = await self.agent.arun(chat, text, answers=answers, **how)
        if isinstance(done, str):
            return done
        waiting = [(c.id, c.name, dict(c.arguments), c.question) for c in done]
        return self.paused({"chat": name, "who": who}, waiting)

    def save(self, chat: str = "one") -> str:
        return json.dumps([self.chats[chat].messages, self.chats[chat].state])

    def restore(self, saved: str, chat: str = "one") -> None:
        self.chats[chat] = Chat(*json.loads(saved))

    def trim(self, chat: str = "one") -> None:
        self.chats[chat].messages.clear()

    def keep_instead(self, state: object, chat: str = "one") -> None:
        self.chats[chat].state = cast("Any", state)


class Reference:
    """Drives the example."""

    name = "reference"
    distribution = "satchel"
    limits: Mapping[str, str] = {
        "test_an_act_after_a_hand_over[sync]": "its hand-over is a coroutine"
    }

    def build(self, setup: Setup) -> Rig:
        return ReferenceRig(setup, [])

    def build_pair(self, first: Setup, second: Setup) -> Rig:
        seen: list[suite.Seen] = []
        deputy = ReferenceRig(second, seen)

        async def transfer_to_second(run: Run) -> str:
            """Hand over to the second desk."""
            done = await deputy.agent.arun(Chat(), "book the trip", who=run.who)
            assert not isinstance(done, list)
            return done

        return ReferenceRig(first, seen, transfer_to_second)

    async def attach_twice(self, _: Setup, /) -> None:
        raise ValueError("give one Satchel all of them: nothing takes another here")

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        return tool_from_function(function, name=name)


DRIVER = Reference()
