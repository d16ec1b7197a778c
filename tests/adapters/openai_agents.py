"""Drives the OpenAI Agents SDK: its runner, its sessions, its `RunState`."""

from __future__ import annotations

import asyncio
import json
import threading
from copy import deepcopy
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from agents import (
    Agent,
    FunctionTool,
    Model,
    ModelResponse,
    RunConfig,
    RunContextWrapper,
    Runner,
    RunState,
    SQLiteSession,
    Usage,
    function_tool,
)
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from satchel.adapters.openai_agents import attach
from tests.adapters import driver as suite
from tests.adapters.driver import Message, Paused, Seen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping

    from agents import RunResult, RunResultStreaming

CONFIG = RunConfig(tool_not_found_behavior="return_error_to_model")
"""As the page has it: else a call of a tool that is not there ends a run."""


@dataclass(frozen=True)
class ModelCall:
    """What the SDK gives a model."""

    system: str
    messages: list[dict[str, Any]]
    tools: list[Any]
    handoffs: list[Any]


def text(spoken: str) -> ResponseOutputMessage:
    """Return a message of the model."""
    part = ResponseOutputText(text=spoken, type="output_text", annotations=[])
    return ResponseOutputMessage(
        id="msg", content=[part], role="assistant", status="completed", type="message"
    )


def call(name: str, arguments: object, id: str) -> ResponseFunctionToolCall:
    """Return a tool call of the model."""
    return ResponseFunctionToolCall(
        name=name, arguments=json.dumps(arguments), call_id=id, type="function_call"
    )


class FakeModel(Model):
    """Answers by a function; ``calls`` are what it was given."""

    def __init__(self, answer: Callable[[ModelCall], list[Any]]) -> None:
        self.calls: list[ModelCall] = []
        self._answer = answer

    async def get_response(self, *given: Any, **named: Any) -> ModelResponse:
        names = ("system_instructions", "input", "_", "tools", "_", "handoffs")
        asked = dict(zip(names, given, strict=False)) | named
        made = ModelCall(
            asked["system_instructions"] or "",
            deepcopy(asked["input"]),
            asked["tools"],
            asked["handoffs"],
        )
        self.calls.append(made)
        return ModelResponse(self._answer(made), Usage(), None)

    async def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
        made = await self.get_response(*given, **named)
        response = Response(
            id="resp",
            created_at=0,
            model="fake",
            object="response",
            output=made.output,
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(
            response=response, sequence_number=0, type="response.completed"
        )


def fake_model(model: suite.Model, seen: list[Seen] | None = None) -> FakeModel:
    """Return a model that asks the suite's, and notes what that was shown."""
    shown = [] if seen is None else seen

    def answer(given: ModelCall) -> list[Any]:
        messages = [*_messages(given.messages)]
        offered = [(each.name, _schema(each)) for each in given.tools]
        offered += [(each.tool_name, each.input_json_schema) for each in given.handoffs]
        message = [m.text for m in messages if m.role == "other"]
        now = Seen(
            system="\n\n".join((given.system, *message)).strip(),
            tools=tuple(name for name, _ in offered),
            schemas=dict(offered),
            messages=tuple(m for m in messages if m.role != "other"),
        )
        shown.append(now)
        spoken = model(now)
        if isinstance(spoken, str):
            return [text(spoken)]
        start = len(given.messages)
        return [
            call(each.name, dict(each.arguments), each.id or f"c{start}-{at}")
            for at, each in enumerate(spoken)
        ]

    return FakeModel(answer)


def _schema(tool: Any) -> Any:
    return tool.params_json_schema if isinstance(tool, FunctionTool) else {}


def _messages(items: Iterable[dict[str, Any]]) -> Iterator[Message]:
    """Yield the messages; calls that stand side by side are one."""
    names: dict[str, str] = {}
    for is_call, group in groupby(items, lambda item: "arguments" in item):
        if is_call:
            calls = [*group]
            names |= {each["call_id"]: each["name"] for each in calls}
            message = (f"{each['name']}({each['arguments']})" for each in calls)
            yield Message("assistant", " ".join(message))
        else:
            yield from (_message(item, names) for item in group)


def _message(item: dict[str, Any], names: Mapping[str, str]) -> Message:
    if "output" in item:
        return Message("tool", item["output"], names[item["call_id"]])
    content = item["content"]
    spoken = content if isinstance(content, str) else content[0]["text"]
    if item["role"] not in {"user", "assistant"}:
        return Message("other", spoken)
    return Message(item["role"], spoken)


class SdkRig(suite.BaseRig):
    """Agents of the SDK; a chat is a session and the state in its runs' context."""

    def __init__(self, agent: Agent[Any], seen: list[Seen]) -> None:
        super().__init__(seen)
        self._agent = agent
        self._current: dict[str, str] = {}
        self._sessions: dict[str, SQLiteSession] = {}
        self._states: dict[str, dict[str, Any]] = {}

    async def run(
        self, text: str, chat: str, who: dict[str, Any], mode: suite.Mode
    ) -> str | Paused:
        state = self._states.setdefault(chat, {})
        context = {"who": who, "satchel": state}
        how: dict[str, Any] = {
            "context": context,
            "session": self._session(chat),
            "run_config": CONFIG,
        }
        result: RunResult | RunResultStreaming
        if mode == "sync":
            result = await asyncio.to_thread(_run_sync, self._agent, text, how)
        elif mode == "async":
            result = await Runner.run(self._agent, text, **how)
        else:
            result = Runner.run_streamed(self._agent, text, **how)
            async for _ in result.stream_events():
                pass
        return self._told(chat, result)

    async def resume(self, of: Any, answers: Any) -> str | Paused:
        [answer] = answers.values()
        assert answer.arguments is None, "the SDK has no edits"
        chat = of["chat"]
        state = await RunState.from_json(self._agent, of["run"])
        item = state.get_interruptions()[0]
        if answer.approve:
            state.approve(item)
        else:
            state.reject(item, rejection_message=answer.words or None)
        session = self._session(chat)
        result = await Runner.run(
            self._agent, state, session=session, run_config=CONFIG
        )
        self._states[chat] = result.context_wrapper.context["satchel"]
        return self._told(chat, result)

    def save(self, chat: str = "one") -> str:
        items = _wait_for(self._session(chat).get_items())
        return json.dumps([items, self._states.get(chat, {})])

    def restore(self, saved: str, chat: str = "one") -> None:
        items, self._states[chat] = json.loads(saved)
        _wait_for(self._session(chat).add_items(items))

    def trim(self, chat: str = "one") -> None:
        _wait_for(self._session(chat).clear_session())

    def keep_instead(self, state: object, chat: str = "one") -> None:
        self._states[chat]["desk"] = state

    def _session(self, chat: str) -> SQLiteSession:
        return self._sessions.setdefault(chat, SQLiteSession(chat))

    def _told(self, chat: str, result: RunResult | RunResultStreaming) -> str | Paused:
        if not result.interruptions:
            return str(result.final_output)
        item = result.interruptions[0]
        run = json.loads(json.dumps(result.to_state().to_json()))
        arguments = json.loads(item.arguments or "{}")
        waiting = ("", item.name or "", arguments, "")
        return self.paused({"chat": chat, "run": run}, [waiting])


def _run_sync(agent: Agent[Any], text: str, how: Mapping[str, Any]) -> RunResult:
    """Run as a program without asyncio would, and close the loop that this leaves."""
    try:
        return Runner.run_sync(agent, text, **how)
    finally:
        asyncio.get_event_loop_policy().get_event_loop().close()
        asyncio.set_event_loop(None)


def _wait_for(coroutine: Any) -> Any:
    """Wait in a thread: a test's own event loop is running already."""
    got: list[Any] = []
    thread = threading.Thread(target=lambda: got.append(asyncio.run(coroutine)))
    thread.start()
    thread.join()
    return got[0]


class OpenAIAgents:
    """Drives the SDK."""

    name = "openai_agents"
    distribution = "openai-agents"
    limits: Mapping[str, str] = {
        "test_a_question_says_what_is_asked": (
            "the SDK's interruption has the tool and its arguments, and no text"
        ),
        "test_arguments_may_hold_any_text": (
            "the SDK cannot encode half of a character, and ends the run before any"
            " tool or hook is asked"
        ),
        "test_calls_of_one_id_in_one_conversation": (
            "the SDK takes a later call of an id in one run for the same call, and does"
            " not make it"
        ),
    }
    lacks: Mapping[str, str] = {
        "advice": "the SDK answers a call of an unknown tool by itself",
        "edits": ("the SDK's approvals have no edits"),
    }

    def build(self, setup: suite.Setup) -> SdkRig:
        seen: list[Seen] = []
        return SdkRig(_agent("desk", setup, seen), seen)

    def build_pair(self, first: suite.Setup, second: suite.Setup) -> SdkRig:
        seen: list[Seen] = []
        taking_over = _agent("second", second, seen)
        return SdkRig(_agent("first", first, seen, [taking_over]), seen)

    async def attach_twice(self, setup: suite.Setup) -> None:
        attach(setup.skills, to=_agent("desk", setup, []))

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        return function_tool(function, name_override=name)


def _agent(
    name: str,
    setup: suite.Setup,
    seen: list[Seen],
    handoffs: Iterable[Agent[Any]] = (),
) -> Agent[Any]:
    agent: Agent[Any] = Agent(
        name,
        instructions=setup.base,
        tools=[function_tool(each) for each in setup.own_tools],
        handoffs=[*handoffs],
        model=fake_model(setup.model, seen),
    )
    return attach(setup.skills, to=agent, who=_who, **setup.options_of(_who))


def _who(run: RunContextWrapper[Any]) -> Mapping[str, Any]:
    who: Mapping[str, Any] = run.context["who"]
    return who


DRIVER = OpenAIAgents()
