"""Drives crewAI: agents that work alone on messages, and for a hand-off a crew.

A chat is the list of messages that an output has, and the state of its agents. What
crewAI writes around a backstory and a request is cut off here, as the suite knows both.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, Final

from crewai import Agent, BaseLLM, Crew, Task
from crewai.agents.agent_builder.base_agent import BaseAgent
from crewai.events import LLMStreamChunkEvent, crewai_event_bus
from crewai.events.types.llm_events import LLMCallType
from crewai.llms.base_llm import llm_call_context
from crewai.tools import tool

from satchel.adapters.crewai import attach
from tests.adapters import driver as suite
from tests.adapters.driver import Message, Seen

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

    def call(self, messages: Any, tools: Any = None, *_: Any, **named: Any) -> Any:
        """Say what the model says, with the events of crewAI's own models."""
        about = {each: named.get(each) for each in ("from_task", "from_agent")}
        with llm_call_context():
            self._emit_call_started_event(messages, tools, **about)
            spoken = self._say(messages, tools)
            kind = LLMCallType.TOOL_CALL
            if isinstance(spoken, str):
                kind = LLMCallType.LLM_CALL
                if self.stream:
                    self._emit_stream_chunk_event(spoken, **about)
            self._emit_call_completed_event(spoken, kind, **about)
        return spoken

    def _say(self, messages: Any, tools: Any) -> str | list[dict[str, Any]]:
        shown = [*_shown(messages)]
        functions = [each["function"] for each in tools or ()]
        seen = Seen(
            system="\n\n".join(each.text for each in shown if each.role == "other"),
            tools=tuple(each["name"] for each in functions),
            schemas={each["name"]: each["parameters"] for each in functions},
            messages=tuple(each for each in shown if each.role != "other"),
        )
        self.seen.append(seen)
        spoken = self.ask(seen)
        if isinstance(spoken, str):
            return spoken
        return [
            {
                "id": call.id or f"{len(messages)}-{at}",
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": json.dumps(call.arguments),
                },
            }
            for at, call in enumerate(spoken)
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
            expected = (f"{each['name']}({each['arguments']})" for each in calls)
            yield Message("assistant", text or " ".join(expected))
        else:
            yield Message("user", text.removeprefix(TASK))


class CrewRig(suite.BaseRig):
    """One agent that works alone; a chat is handed over with each message."""

    def __init__(self, setup: suite.Setup) -> None:
        super().__init__([])
        self._agents = {
            stream: _agent("desk", setup, self.seen, stream=stream)
            for stream in (False, True)
        }
        self._chats: dict[str, tuple[list[Any], dict[str, Any]]] = {}
        self._chunks: list[str] = []
        crewai_event_bus.on(LLMStreamChunkEvent)(self._take)

    def _take(self, _: object, event: LLMStreamChunkEvent) -> None:
        self._chunks.append(event.chunk)

    async def run(
        self, text: str, chat: str, who: dict[str, Any], mode: suite.Mode
    ) -> str | suite.Paused:
        history, state = self._chats.setdefault(chat, ([], {}))
        WHO.set(who)
        STATE.set(state)
        messages: Any = [*history, {"role": "user", "content": text}]
        agent = self._agents[mode == "stream"]
        if mode == "sync":
            output: Any = await asyncio.to_thread(agent.kickoff, messages)
        else:
            output = await agent.akickoff(messages)
        history[:] = [each for each in output.messages if each["role"] != "system"]
        await asyncio.to_thread(crewai_event_bus.flush)
        assert mode != "stream" or output.raw in self._chunks
        return str(output.raw)

    def save(self, chat: str = "one") -> str:
        return json.dumps(self._chats[chat])

    def restore(self, saved: str, chat: str = "one") -> None:
        messages, state = json.loads(saved)
        self._chats[chat] = messages, state

    def trim(self, chat: str = "one") -> None:
        self._chats[chat][0].clear()

    def keep_instead(self, state: object, chat: str = "one") -> None:
        stored = self._chats[chat][1]
        del stored["desk"]
        if state is not None:
            stored["desk"] = state


class DelegatingRig(CrewRig):
    """A crew of two, the first of whom may delegate."""

    def __init__(self, first: suite.Setup, second: suite.Setup) -> None:
        super().__init__(first)
        self._crew: list[BaseAgent] = [
            _agent("desk", first, self.seen, allow_delegation=True),
            _agent(SECOND, second, self.seen),
        ]

    async def say(
        self, text: str, *, who: Mapping[str, Any] | None = None, **_: Any
    ) -> str | suite.Paused:
        WHO.set(who or {})
        STATE.set({})
        task = Task(description=text, expected_output="help", agent=self._crew[0])
        crew = Crew(agents=self._crew, tasks=[task])
        return str(await crew.kickoff_async())


class CrewAI:
    """Drives crewAI."""

    name = "crewai"
    distribution = "crewai"
    limits: Mapping[str, str] = {
        "test_the_event_loop_does_not_wait_for_files[always0]": (
            "crewAI prepares an agent in its event loop"
        ),
        "test_a_script_that_prints_much": (
            "crewAI keeps a long result itself, and the model reads it in parts"
        ),
    }
    lacks: Mapping[str, str] = {
        **dict.fromkeys(
            ("approval", "edits"),
            "crewAI stores a flow and goes on with it between two of its methods; "
            "before a tool call a hook may wait for an answer, or abort, and nothing "
            "is there to go on from: give attach an approve",
        ),
        "cancelled tools": "crewAI calls tools in threads, which it waits for",
    }

    def build(self, setup: suite.Setup) -> CrewRig:
        return CrewRig(setup)

    def build_pair(self, first: suite.Setup, second: suite.Setup) -> CrewRig:
        return DelegatingRig(first, second)

    async def attach_twice(self, setup: suite.Setup) -> None:
        attach(setup.skills, to=_agent("desk", setup, []))

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        return tool(name)(function)


def _agent(
    role: str,
    setup: suite.Setup,
    seen: list[Seen],
    *,
    stream: bool = False,
    **named: Any,
) -> Agent:
    llm = Fake(model="fake", ask=setup.model, seen=[], stream=stream)
    llm.seen = seen  # pydantic would copy it
    agent = Agent(
        role=role,
        goal="help",
        backstory=setup.base,
        llm=llm,
        tools=[tool(each.__name__)(each) for each in setup.own_tools],
        **named,
    )
    options = {
        "who": _who,
        "state": lambda _: STATE.get(),
        **setup.options_of(_who),
    }
    return attach(setup.skills, to=agent, **options)


def _who(_: object) -> Mapping[str, Any]:
    return WHO.get()


DRIVER = CrewAI()
