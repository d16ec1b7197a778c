"""Drives the OpenAI Agents SDK: its runner, its sessions, its `RunState`.

The model is the SDK's own `ScriptedModel`, one for each call.
"""

from __future__ import annotations

import asyncio
import json
import threading
from inspect import signature
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

from agents import (
    Agent,
    FunctionTool,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    RunState,
    SQLiteSession,
    function_tool,
)
from agents.testing import ScriptedModel, assistant_message, function_call

from satchel.adapters.openai_agents import attach
from tests.adapters.driver import Message, Paused, Seen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping

    from agents import RunResult, RunResultStreaming, TResponseInputItem

    from tests.adapters import driver as suite

CONFIG = RunConfig(tracing_disabled=True)


class Fake(Model):
    """Asks the suite's model, and answers by a scripted one."""

    def __init__(self, model: suite.Model, seen: list[Seen]) -> None:
        self._model = model
        self._seen = seen

    async def get_response(self, *given: Any, **named: Any) -> ModelResponse:
        return await self._step(*given, **named).get_response(*given, **named)

    async def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
        step = self._step(*given, **named)
        async for event in step.stream_response(*given, **named):
            yield event

    def _step(self, *given: Any, **named: Any) -> ScriptedModel:
        bound = signature(ScriptedModel.get_response).bind(self, *given, **named)
        call = bound.arguments
        messages = tuple(_messages(call["input"]))
        offered = [(t.name, _schema(t)) for t in call["tools"]]
        offered += [(h.tool_name, h.input_json_schema) for h in call["handoffs"]]
        extra = [m.text for m in messages if m.role == "other"]
        seen = Seen(
            system="\n\n".join((call["system_instructions"] or "", *extra)).strip(),
            tools=tuple(name for name, _ in offered),
            schemas=dict(offered),
            messages=tuple(m for m in messages if m.role != "other"),
        )
        self._seen.append(seen)
        said = self._model(seen)
        if isinstance(said, str):
            return ScriptedModel([[assistant_message(said)]])
        start = len(messages)
        return ScriptedModel(
            [
                [
                    function_call(c.name, dict(c.arguments), call_id=f"c{start}-{n}")
                    for n, c in enumerate(said)
                ]
            ]
        )


def _schema(tool: Any) -> Any:
    return tool.params_json_schema if isinstance(tool, FunctionTool) else {}


def _messages(items: Iterable[TResponseInputItem]) -> Iterator[Message]:
    """Yield the messages; calls that stand side by side are one."""
    names: dict[str, str] = {}
    given = cast("Iterable[dict[str, Any]]", items)
    for is_call, group in groupby(given, lambda item: "arguments" in item):
        if is_call:
            calls = [*group]
            names |= {call["call_id"]: call["name"] for call in calls}
            told = (f"{call['name']}({call['arguments']})" for call in calls)
            yield Message("assistant", " ".join(told))
        else:
            yield from (_message(item, names) for item in group)


def _message(item: dict[str, Any], names: Mapping[str, str]) -> Message:
    if "output" in item:
        return Message("tool", item["output"], names[item["call_id"]])
    content = item["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    role = item["role"]
    return Message(role if role in {"user", "assistant"} else "other", text)


class SdkRig:
    """Agents of the SDK; a chat is a session and the state in its runs' context."""

    def __init__(self, agent: Agent[Any], seen: list[Seen]) -> None:
        self.seen = seen
        self._agent = agent
        self._current: dict[str, str] = {}
        self._sessions: dict[str, SQLiteSession] = {}
        self._states: dict[str, dict[str, Any]] = {}

    async def say(
        self,
        text: str,
        *,
        chat: str = "one",
        who: Mapping[str, Any] | None = None,
        mode: suite.Mode = "async",
    ) -> str | Paused:
        state = self._states.setdefault(chat, {})
        context = {"who": dict(who or {}), "satchel": state}
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

    async def decide(self, paused: Paused, *, approve: bool) -> str | Paused:
        chat = paused.state["chat"]
        state = await RunState.from_json(self._agent, paused.state["run"])
        (state.approve if approve else state.reject)(state.get_interruptions()[0])
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

    def _session(self, chat: str) -> SQLiteSession:
        return self._sessions.setdefault(chat, SQLiteSession(chat))

    def _told(self, chat: str, result: RunResult | RunResultStreaming) -> str | Paused:
        if not result.interruptions:
            return str(result.final_output)
        item = result.interruptions[0]
        run = json.loads(json.dumps(result.to_state().to_json()))
        arguments = json.loads(item.arguments or "{}")
        return Paused(item.name or "", arguments, {"chat": chat, "run": run})


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
    limits: Mapping[str, str] = {}

    def build(self, setup: suite.Setup) -> SdkRig:
        seen: list[Seen] = []
        return SdkRig(_agent("desk", setup, seen), seen)

    def build_pair(self, first: suite.Setup, second: suite.Setup) -> SdkRig:
        seen: list[Seen] = []
        taking_over = _agent("second", second, seen)
        return SdkRig(_agent("first", first, seen, [taking_over]), seen)

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
        model=Fake(setup.model, seen),
    )
    return attach(
        setup.skills, to=agent, who=lambda run: run.context["who"], **setup.options
    )


DRIVER = OpenAIAgents()
