"""An adapter of your own: skills in a chat-completions loop, as for LiteLLM.

`attach` takes any function that is called like ``litellm.completion`` and returns a
chat completion as a dictionary. docs/contributing/adapter.md explains the six steps::

    agent = attach(skills, complete, system="You are the desk.", tools=[order_status])
    chat = Chat()
    answer = agent.run(chat, "I want my money back.", who={"user": "ana"})
    while isinstance(answer, list):  # calls that a person has to approve
        answers = {call.id: input(call.question) == "yes" for call in answer}
        answer = agent.run(chat, who={"user": "ana"}, answers=answers)
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, Unpack

from satchel import Run, Satchel
from satchel.adapters import (
    Conversation,
    ResultReader,
    SessionFactory,
    arguments_or_empty,
)
from satchel.model import SeenMessage
from satchel.protocols import Approval
from satchel.runtime import SessionOptions, question_text
from satchel.tools import Tool, Toolbox, result_text

Who: TypeAlias = Mapping[str, Any]
Answers: TypeAlias = Mapping[str, Approval]


@dataclass
class Chat:
    """One conversation, as an application stores it: all of it is safe for JSON."""

    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    state: dict[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call that a person has to approve before the run goes on."""

    id: str
    name: str
    arguments: Mapping[str, object]
    question: str


def attach(
    skills: Satchel,
    complete: Callable[..., Any],
    *,
    system: str = "",
    tools: Iterable[Callable[..., object]] = (),
    deps: Callable[[Who], object] | None = None,
    **options: Unpack[SessionOptions],
) -> "Agent":
    """Return an agent with skills around a model.

    Args:
        skills: Whose skills.
        complete: Calls the model; an asynchronous function for `Agent.arun`.
        system: The agent's own instructions.
        tools: The agent's own tools, as functions.
        deps: Returns what tools get as ``Run.deps``.
        options: As for `satchel.Satchel.session`.

    Raises:
        TypeError: An argument is unknown or has the wrong type.
        ValueError: No style has that name.
        DuplicateToolError: One of the tools has the name of a skill's tool.
    """
    sessions: SessionFactory[Who] = SessionFactory(
        skills, dict, deps, options, holds_own_tools=True
    )
    own = Toolbox.of("the agent", tools)
    sessions.check_names(tool.name for tool in own)
    return Agent(sessions, own, system, complete)


@dataclass(frozen=True)
class Agent:
    """A loop of model calls and tool calls. One object serves many chats at once."""

    sessions: SessionFactory[Who]
    own: Toolbox
    system: str
    complete: Callable[..., Any]

    def run(
        self,
        chat: Chat,
        text: str = "",
        *,
        who: Who | None = None,
        answers: Answers | None = None,
    ) -> str | list[Waiting]:
        """Return what the model says in the end, or the calls that wait for answers.

        Args:
            chat: The conversation; its messages and its state are updated.
            text: What the user says; nothing, to go on after an approval.
            who: For whom the run is.
            answers: What a person answered, by the ids of the calls that wait.
        """
        turn = _Turn(self, chat, text, who, answers)
        while (done := turn.result()) is None:
            if turn.pending():
                turn.add_results([turn.call(call) for call in turn.pending()])
            else:
                turn.add_reply(self.complete(**turn.request()))
        return done

    async def arun(
        self,
        chat: Chat,
        text: str = "",
        *,
        who: Who | None = None,
        answers: Answers | None = None,
    ) -> str | list[Waiting]:
        """Do as `run` does; makes the calls of a step side by side."""
        turn = await asyncio.to_thread(_Turn, self, chat, text, who, answers)
        while (done := turn.result()) is None:
            if turn.pending():
                results = await asyncio.gather(*map(turn.acall, turn.pending()))
                turn.add_results(results)
            else:
                request = await asyncio.to_thread(turn.request)
                turn.add_reply(await self.complete(**request))
        return done


class _Turn:
    """One run of the loop: each file of a skill is read at most once in it."""

    def __init__(
        self,
        agent: Agent,
        chat: Chat,
        text: str,
        who: Who | None,
        answers: Answers | None,
    ) -> None:
        self.agent = agent
        self.chat = chat
        self.who = who or {}
        self.answers = dict(answers or {})
        # 1. Open the session of this conversation, or resume it from its state.
        self.conversation: Conversation = agent.sessions.open(self.who, chat.state)
        if text:
            chat.messages.append({"role": "user", "content": text})

    def request(self) -> dict[str, Any]:
        """Return the arguments of the next model call."""
        messages, own = self.chat.messages, self.agent.own
        # 2. Show the session what the model will see.
        self.conversation.see(_seen(messages))
        # 3. Offer the agent's own tools, then those of skills, and the instructions.
        tools = [*own, *self.conversation.tools(tool.name for tool in own)]
        system = self.conversation.session.instructions(self.agent.system)
        first = [{"role": "system", "content": system}] if system else []
        request: dict[str, Any] = {"messages": [*first, *messages]}
        return {**request, "tools": [*map(_function, tools)]} if tools else request

    def result(self) -> str | list[Waiting] | None:
        """Return what ends the run; None where it goes on."""
        last = self.chat.messages[-1]
        if last["role"] == "assistant" and not last.get("tool_calls"):
            return str(last["content"])
        waiting: list[Waiting] = []
        for call in self.pending():
            # 4. Ask where a person has to approve a call.
            name, arguments = _name(call), _arguments(call)
            question = self.conversation.question(name, arguments)
            if question is not None and call["id"] not in self.answers:
                given, text = arguments_or_empty(arguments), question_text(question)
                waiting.append(Waiting(call["id"], name, given, text))
        if waiting:  # the state says what was asked about
            self.chat.state = self.conversation.save()
        return waiting or None

    def pending(self) -> list[dict[str, Any]]:
        """Return the calls of the last message, which have no results yet."""
        calls: list[dict[str, Any]] = self.chat.messages[-1].get("tool_calls") or []
        return calls

    def call(self, call: dict[str, Any]) -> object:
        """Make a call. Never raises: an error is a result."""
        name, arguments = _name(call), _arguments(call)
        if self.agent.own.get(name):
            # A policy may require that a skill was read before one of your own tools.
            refusal = self.conversation.hold(name, arguments)
            return refusal or self.agent.own.call(name, arguments, Run(self.who))
        # 5. Make the call; the answer counts once, because the call has an id. A later
        # call of the same id is another one.
        return self.conversation.call(name, arguments, **self._approval(call))

    async def acall(self, call: dict[str, Any]) -> object:
        """Do as `call` does; waits for asynchronous tools and approvers."""
        name, arguments = _name(call), _arguments(call)
        if self.agent.own.get(name):
            refusal = self.conversation.hold(name, arguments)
            return refusal or await self.agent.own.acall(name, arguments, Run(self.who))
        return await self.conversation.acall(name, arguments, **self._approval(call))

    def _approval(self, call: dict[str, Any]) -> dict[str, Any]:
        return {"approved": self.answers.pop(call["id"], None), "call_id": call["id"]}

    def add_reply(self, completion: Mapping[str, Any]) -> None:
        """Append what the model said."""
        self._append(completion["choices"][0]["message"])

    def add_results(self, results: Iterable[object]) -> None:
        """Append the results of the pending calls."""
        for call, result in zip(self.pending(), results, strict=True):
            text = result_text(result)
            self._append({"role": "tool", "tool_call_id": call["id"], "content": text})

    def _append(self, message: dict[str, Any]) -> None:
        self.chat.messages.append(message)
        # 6. Save the state next to the messages.
        self.chat.state = self.conversation.save()


def _seen(messages: Iterable[dict[str, Any]]) -> Iterator[SeenMessage]:
    """Yield messages as a session takes them, results with their calls."""
    reader = ResultReader()
    for message in messages:
        for call in message.get("tool_calls") or ():
            reader.add_call(call["id"], _name(call), _arguments(call))
        text = message.get("content") or ""
        if message["role"] == "tool":
            yield reader.result(message["tool_call_id"], text)
        else:
            yield SeenMessage(message["role"], text)


def _name(call: Mapping[str, Any]) -> str:
    return str(call["function"]["name"])


def _arguments(call: Mapping[str, Any]) -> str:
    return str(call["function"]["arguments"] or "{}")


def _function(tool: Tool) -> dict[str, Any]:
    parameters = dict(tool.parameters)
    function = {"name": tool.name, "description": tool.description}
    return {"type": "function", "function": {**function, "parameters": parameters}}
