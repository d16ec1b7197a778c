"""Drives smolagents: one agent object, and for each chat the run that it is in.

A `ToolCallingAgent` answers by calling ``final_answer``; here that is the assistant's
text. All results of one step are one text for a model of smolagents; here they are
taken apart, where each begins.
"""

from __future__ import annotations

import asyncio
import base64
import inspect
import json
import pickle
import re
from contextvars import ContextVar
from copy import copy
from typing import TYPE_CHECKING, Any, Final

from smolagents import ChatMessage, LogLevel, MessageRole, Model, Tool, ToolCallingAgent
from smolagents.agents import EMPTY_PROMPT_TEMPLATES, PromptTemplates
from smolagents.models import (
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
    get_tool_json_schema,
)

from satchel.adapters.smolagents import _literal, attach
from tests.adapters import driver as suite
from tests.adapters.driver import Call, Message, Seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from smolagents.memory import ActionStep


WHO: ContextVar[Mapping[str, Any]] = ContextVar("who")
RUNNING: ContextVar[list[Any]] = ContextVar("running")
FINAL: Final = "final_answer"
PROMPTS: Final = PromptTemplates(
    system_prompt="{{custom_instructions}}",
    planning=EMPTY_PROMPT_TEMPLATES["planning"],
    managed_agent={"task": "{{task}}", "report": "{{final_answer}}"},
    final_answer=EMPTY_PROMPT_TEMPLATES["final_answer"],
)
TYPES: Final = {str: "string", int: "integer"}


class Fake(Model):
    """Asks the suite's model."""

    def __init__(self, model: suite.Model, seen: list[Seen]) -> None:
        super().__init__(model_id="fake")
        self._model = model
        self._seen = seen

    def generate(
        self,
        messages: list[ChatMessage],
        *_: Any,
        tools_to_call_from: list[Tool] | None = None,
        **__: Any,
    ) -> ChatMessage:
        calls = self._step(messages, tools_to_call_from or [])
        return ChatMessage(MessageRole.ASSISTANT, None, tool_calls=calls)

    def generate_stream(
        self,
        messages: list[ChatMessage],
        *_: Any,
        tools_to_call_from: list[Tool] | None = None,
        **__: Any,
    ) -> Iterator[ChatMessageStreamDelta]:
        for at, call in enumerate(self._step(messages, tools_to_call_from or [])):
            arguments = json.dumps(call.function.arguments)
            function = ChatMessageToolCallFunction(arguments, call.function.name)
            delta = ChatMessageToolCallStreamDelta(at, call.id, call.type, function)
            yield ChatMessageStreamDelta(tool_calls=[delta])

    def _step(
        self, messages: list[ChatMessage], tools: Iterable[Tool]
    ) -> list[ChatMessageToolCall]:
        schemas = {each.name: get_tool_json_schema(each)["function"] for each in tools}
        shown = [*_shown(messages)]
        seen = Seen(
            system="\n\n".join(each.text for each in shown if each.role == "other"),
            tools=tuple(schemas),
            schemas={name: each["parameters"] for name, each in schemas.items()},
            messages=tuple(each for each in shown if each.role != "other"),
        )
        self._seen.append(seen)
        spoken = self._model(seen)
        calls = [Call(FINAL, {"answer": spoken})] if isinstance(spoken, str) else spoken
        return [
            ChatMessageToolCall(
                ChatMessageToolCallFunction(dict(call.arguments), call.name),
                call.id or f"{len(messages)}-{at}",
                "function",
            )
            for at, call in enumerate(calls)
        ]


def _shown(messages: Iterable[ChatMessage]) -> Iterator[Message]:
    names: list[str] = []
    for message in messages:
        assert isinstance(message.content, list)
        text = message.content[0]["text"]
        if message.role == MessageRole.SYSTEM:
            yield Message("other", text)
        elif message.role == MessageRole.USER:
            yield Message("user", text.removeprefix("New task:\n"))
        elif message.role == MessageRole.TOOL_CALL:
            calls = _literal(text.removeprefix("Calling tools:\n"))
            functions = [call["function"] for call in calls]
            names = [function["name"] for function in functions]
            expected = (f"{each['name']}({each['arguments']})" for each in functions)
            answer = functions[0]["arguments"].get("answer") if names == [FINAL] else ""
            yield Message("assistant", answer or " ".join(expected))
        elif message.role == MessageRole.TOOL_RESPONSE and names != [FINAL]:
            yield from _results(text.removeprefix("Observation:\n"), names)


def _results(text: str, names: list[str]) -> Iterator[Message]:
    """Yield the results of skills' loads by themselves, others as they stand."""
    apart = re.split(r"\n(?=<skill_context |Skill: |File: |Error: |{\"error\")", text)
    results = apart if len(apart) == len(names) else [text]
    yield from (Message("tool", each, name) for name, each in zip(names, results))  # noqa: B905


class SmolRig(suite.BaseRig):
    """One agent; a chat goes on with the agent that its run tells of."""

    def __init__(self, agent: ToolCallingAgent, seen: list[Seen]) -> None:
        super().__init__(seen)
        self._agent = agent
        self._streaming: Any = copy(agent)
        self._streaming.stream_outputs = True
        self._chats: dict[str, Any] = {}

    async def run(
        self, text: str, chat: str, who: dict[str, Any], mode: suite.Mode
    ) -> str | suite.Paused:
        WHO.set(who)
        RUNNING.set([])
        spoken = await asyncio.to_thread(self._run, text, chat, mode)
        self._chats[chat] = RUNNING.get()[-1]
        return spoken

    def save(self, chat: str = "one") -> str:
        memory = self._chats[chat].memory
        steps = base64.b64encode(pickle.dumps(memory.steps)).decode()
        return json.dumps([steps, memory.skills])

    def restore(self, saved: str, chat: str = "one") -> None:
        steps, skills = json.loads(saved)
        agent: Any = copy(self._agent)
        agent.memory.steps = pickle.loads(base64.b64decode(steps))  # noqa: S301
        agent.memory.skills = skills
        self._chats[chat] = agent

    def trim(self, chat: str = "one") -> None:
        self._chats[chat].memory.steps = []

    def keep_instead(self, state: object, chat: str = "one") -> None:
        memory = vars(self._chats[chat].memory)
        if state is None:
            del memory["skills"]
        else:
            memory["skills"] = state

    def _run(self, text: str, chat: str, mode: suite.Mode) -> str:
        fresh = self._streaming if mode == "stream" else self._agent
        agent = self._chats.get(chat, fresh)
        if mode == "stream":
            *_, last = agent.run(text, stream=True, reset=agent is fresh)
            return str(last.output)
        return str(agent.run(text, reset=agent is fresh))


class Smolagents:
    """Drives smolagents."""

    name = "smolagents"
    distribution = "smolagents"
    limits: Mapping[str, str] = {}
    lacks: Mapping[str, str] = {
        **dict.fromkeys(
            ("approval", "edits"),
            "smolagents carries out a step's calls as soon as the model has made them, "
            "and its interrupt takes effect after them: no call waits; give attach an "
            "approve",
        ),
        "cancelled tools": "smolagents runs in a thread; its interrupt waits for tools",
    }

    def build(self, setup: suite.Setup) -> SmolRig:
        seen: list[Seen] = []
        return SmolRig(_agent(setup, seen), seen)

    def build_pair(self, first: suite.Setup, second: suite.Setup) -> SmolRig:
        seen: list[Seen] = []
        named = {"name": "delegate_to_second", "description": "The second desk."}
        managed = _agent(second, seen, **named)
        return SmolRig(_agent(first, seen, managed_agents=[managed]), seen)

    async def attach_twice(self, setup: suite.Setup) -> None:
        attach(setup.skills, to=_agent(setup, []))

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        return Native(function, name)


class Native(Tool):
    """A tool around a function whose docstring tells nothing of its parameters."""

    skip_forward_signature_validation = True
    output_type = "string"

    def __init__(self, function: Callable[..., object], name: str = "") -> None:
        self.name = name or function.__name__
        self.description = function.__doc__ or ""
        hints = inspect.get_annotations(function, eval_str=True)
        hints.pop("return")
        self.inputs = {
            each: {"type": TYPES[hint], "description": each}
            for each, hint in hints.items()
        }
        vars(self)["forward"] = function
        super().__init__()


def _agent(setup: suite.Setup, seen: list[Seen], **named: Any) -> ToolCallingAgent:
    agent = ToolCallingAgent(
        [Native(each) for each in setup.own_tools],
        Fake(setup.model, seen),
        PROMPTS,
        instructions=setup.base,
        verbosity_level=LogLevel.OFF,
        step_callbacks=[_keep],
        **named,
    )
    options = {"who": _who, **setup.options_of(_who)}
    return attach(setup.skills, to=agent, **options)


def _who(_: object) -> Mapping[str, Any]:
    return WHO.get()


def _keep(_: ActionStep, agent: Any) -> None:
    """Keep the agent that runs: a manager ends after those that it manages."""
    RUNNING.get().append(agent)


DRIVER = Smolagents()
