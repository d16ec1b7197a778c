"""Drives crewAI: agents that work alone on messages, and for a hand-off a crew.

A chat is the list of messages that an output has, and the state of its agents. What
crewAI writes around a backstory and a request is cut off here, as the suite knows both.
"""

from __future__ import annotations

import asyncio
import json
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool

from satchel.adapters.crewai import attach
from tests.adapters.driver import Message, Seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tests.adapters import driver as suite

WHO: ContextVar[Mapping[str, Any]] = ContextVar("who")
STATE: ContextVar[dict[str, Any]] = ContextVar("state")
GOAL: Final = "\nYour personal goal is: help"
TASK: Final = "\nCurrent Task: "
SECOND: Final = "book the trip to Basel"
"""The role of who takes over: what the suite writes into every field of a hand-off."""


class Fake(BaseLLM):
    """Asks the suite's model; calls tools natively."""

    ask: Any
    seen: list[Seen]

    def supports_function_calling(self) -> bool:
        return True

    def call(
        self, messages: Any, tools: Any = None, *_: Any, **__: Any
    ) -> str | list[dict[str, Any]]:
        shown = [*_shown(messages)]
        functions = [each["function"] for each in tools or ()]
        seen = Seen(
            system="\n\n".join(each.text for each in shown if each.role == "other"),
            tools=tuple(each["name"] for each in functions),
            schemas={each["name"]: each["parameters"] for each in functions},
            messages=tuple(each for each in shown if each.role != "other"),
        )
        self.seen.append(seen)
        said = self.ask(seen)
        if isinstance(said, str):
            return said
        return [
            {
                "id": f"{len(messages)}-{at}",
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": json.dumps(call.arguments),
                },
            }
            for at, call in enumerate(said)
        ]

    async def acall(self, *given: Any, **named: Any) -> Any:
        return await asyncio.to_thread(self.call, *given, **named)


def _shown(messages: Iterable[Mapping[str, Any]]) -> Iterator[Message]:
    for message in messages:
        text = message["content"] or ""
        if message["role"] == "system":
            yield Message("other", text.partition(". ")[2].replace(GOAL, "", 1))
        elif message["role"] == "tool":
            yield Message("tool", text, message["name"])
        elif message["role"] == "assistant":
            calls = (each["function"] for each in message.get("tool_calls", ()))
            told = (f"{each['name']}({each['arguments']})" for each in calls)
            yield Message("assistant", text or " ".join(told))
        else:
            yield Message("user", text.removeprefix(TASK))


class CrewRig:
    """One agent that works alone; a chat is handed over with each message."""

    def __init__(self, agent: Agent, seen: list[Seen]) -> None:
        self.seen = seen
        self._agent = agent
        self._chats: dict[str, tuple[list[Any], dict[str, Any]]] = {}

    async def say(
        self,
        text: str,
        *,
        chat: str = "one",
        who: Mapping[str, Any] | None = None,
        mode: suite.Mode = "async",
    ) -> str | suite.Paused:
        history, state = self._chats.setdefault(chat, ([], {}))
        WHO.set(who or {})
        STATE.set(state)
        messages = [*history, {"role": "user", "content": text}]
        if mode == "sync":
            output = await asyncio.to_thread(self._agent.kickoff, messages)
        else:
            output = await self._agent.akickoff(messages)
        assert not asyncio.iscoroutine(output)
        history[:] = [each for each in output.messages if each["role"] != "system"]
        return output.raw

    async def decide(
        self, paused: suite.Paused, *, approve: bool
    ) -> str | suite.Paused:
        raise NotImplementedError

    def save(self, chat: str = "one") -> str:
        return json.dumps(self._chats[chat])

    def restore(self, saved: str, chat: str = "one") -> None:
        messages, state = json.loads(saved)
        self._chats[chat] = messages, state

    def trim(self, chat: str = "one") -> None:
        self._chats[chat][0].clear()


class DelegatingRig(CrewRig):
    """A crew of two, the first of whom may delegate."""

    def __init__(self, first: Agent, second: Agent, seen: list[Seen]) -> None:
        super().__init__(first, seen)
        self._agents = [first, second]

    async def say(
        self,
        text: str,
        *,
        chat: str = "one",
        who: Mapping[str, Any] | None = None,
        mode: suite.Mode = "async",
    ) -> str | suite.Paused:
        WHO.set(who or {})
        STATE.set({})
        task = Task(description=text, expected_output="help", agent=self._agents[0])
        crew = Crew(agents=self._agents, tasks=[task])
        return (await crew.kickoff_async()).raw


class CrewAI:
    """Drives crewAI."""

    name = "crewai"
    distribution = "crewai"
    limits: Mapping[str, str] = dict.fromkeys(
        (
            "test_an_approval_pauses_the_run",
            "test_an_approval_resumes_elsewhere",
            "test_each_call_is_approved_by_itself",
            "test_declined_is_a_result_and_retryable",
        ),
        "crewAI pauses flows, between two of their methods, and asks about an agent's "
        "final answer; it stops for no tool call: give attach an approve",
    )

    def build(self, setup: suite.Setup) -> CrewRig:
        seen: list[Seen] = []
        return CrewRig(_agent("desk", setup, seen), seen)

    def build_pair(self, first: suite.Setup, second: suite.Setup) -> CrewRig:
        seen: list[Seen] = []
        agent = _agent("desk", first, seen, allow_delegation=True)
        return DelegatingRig(agent, _agent(SECOND, second, seen), seen)

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        return tool(name)(function)


def _agent(role: str, setup: suite.Setup, seen: list[Seen], **named: Any) -> Agent:
    llm = Fake(model="fake", ask=setup.model, seen=seen)
    llm.seen = seen
    agent = Agent(
        role=role,
        goal="help",
        backstory=setup.base,
        llm=llm,
        tools=[tool(each.__name__)(each) for each in setup.own_tools],
        **named,
    )
    options = {
        "who": lambda _: WHO.get(),
        "state": lambda _: STATE.get(),
        **setup.options,
    }
    return attach(setup.skills, to=agent, **options)


DRIVER = CrewAI()
