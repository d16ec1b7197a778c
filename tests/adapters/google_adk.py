"""Drives Google ADK: `LlmAgent`s on a fake `BaseLlm`, sessions replayed from events."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any, Final, cast

from google.adk.agents import LlmAgent
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.agents.run_config import RunConfig
from google.adk.events import Event, EventActions
from google.adk.events.event_actions import EventCompaction
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.sessions import Session
from google.adk.tools.function_tool import FunctionTool
from google.genai import types
from pydantic import ConfigDict, Field

from satchel.adapters.google_adk import attach
from tests.adapters import driver as suite
from tests.adapters.driver import Mode, Rig, Setup

APP: Final = "suite"
USER: Final = "somebody"
CONFIRM: Final = "adk_request_confirmation"
"""The call by which ADK tells the application that somebody has to answer."""


class FakeLlm(BaseLlm):
    """Says what the script says."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    model: str = "fake"
    script: Any
    name: str = "desk"
    seen: Any = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse]:
        self.seen.append(_seen(llm_request, self.name))
        output = self.script(self.seen[-1])
        if isinstance(output, str):
            parts = [types.Part(text=output)]
            if stream:
                content = types.Content(role="model", parts=parts)
                yield LlmResponse(content=content, partial=True)
        else:
            parts = [types.Part.from_function_call(**_call(call)) for call in output]
            for part, call in zip(parts, output, strict=True):
                assert part.function_call is not None
                part.function_call.id = call.id or None  # ADK makes one
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def fake_model(script: suite.Model) -> FakeLlm:
    return FakeLlm(script=script)


def _call(call: suite.Call) -> dict[str, Any]:
    # The suite knows no names of agents.
    hands_over = call.name == "transfer_to_agent"
    args = {"agent_name": "second"} if hands_over else dict(call.arguments)
    return {"name": call.name, "args": args}


def answer_to(call_id: str, response: dict[str, Any]) -> types.Part:
    """Return what the application answers to a request for confirmation."""
    answer = types.FunctionResponse(id=call_id, name=CONFIRM, response=response)
    return types.Part(function_response=answer)


class AdkRig(suite.BaseRig):
    """A runner with its sessions; what a run is for is in the session's state."""

    def __init__(self, runner: InMemoryRunner, seen: list[suite.Seen]) -> None:
        super().__init__(seen)
        self.runner = runner
        self.seen_names: set[str] = set()

    async def run(
        self, text: str, chat: str, who: dict[str, Any], mode: Mode
    ) -> str | suite.Paused:
        if chat not in self.seen_names:
            self.seen_names.add(chat)
            await self._create(chat, who)
        return await self._run([types.Part(text=text)], chat, mode)

    async def resume(self, of: str, answers: Any) -> str | suite.Paused:
        parts = []
        for call_id, answer in answers.items():
            payload = {"words": answer.words, "arguments": answer.arguments}
            response = {"confirmed": answer.approve, "payload": payload}
            parts.append(answer_to(call_id, response))
        return await self._run(parts, of, "async")

    async def _run(
        self, parts: list[types.Part], chat: str, mode: Mode
    ) -> str | suite.Paused:
        streaming = {"streaming_mode": "sse" if mode == "stream" else None}
        given: dict[str, Any] = {
            "user_id": USER,
            "session_id": chat,
            "new_message": types.Content(role="user", parts=parts),
            "run_config": RunConfig.model_validate(streaming),
        }
        if mode == "sync":
            events = await asyncio.to_thread(lambda: [*self.runner.run(**given)])
        else:
            events = [event async for event in self.runner.run_async(**given)]
        waiting = []
        for event in events:
            for call in event.get_function_calls():
                if call.name == CONFIRM:
                    args: Any = call.args
                    asked, hint = args["originalFunctionCall"], args["toolConfirmation"]
                    question = asked["name"], asked["args"], hint["hint"]
                    waiting.append((call.id, *question))
        if waiting:
            return self.paused(chat, waiting)
        last = next(event for event in reversed(events) if event.is_final_response())
        return "".join(part.text or "" for part in _parts(last.content))

    def save(self, chat: str = "one") -> str:
        saved: str = _wait(self._session(chat)).model_dump_json()
        return saved

    def restore(self, saved: str, chat: str = "one") -> None:
        self.seen_names.add(chat)
        _wait(self._replay(Session.model_validate_json(saved), chat))

    def trim(self, chat: str = "one") -> None:
        _wait(self._compact(chat))

    def keep_instead(self, state: object, chat: str = "one") -> None:
        """Write the state as anyone who calls ADK's own API may."""
        _wait(self._write({"satchel:desk": state}, chat))

    async def _write(self, delta: dict[str, Any], chat: str) -> None:
        event = Event(author="user", actions=EventActions(state_delta=delta))
        service = self.runner.session_service
        await service.append_event(await self._session(chat), event)

    async def _create(self, chat: str, who: Mapping[str, Any] | None) -> Session:
        service, state = self.runner.session_service, {"who": dict(who or {})}
        return await service.create_session(
            app_name=APP, user_id=USER, session_id=chat, state=state
        )

    async def _session(self, chat: str) -> Session:
        service = self.runner.session_service
        session = await service.get_session(app_name=APP, user_id=USER, session_id=chat)
        assert session is not None
        return session

    async def _replay(self, saved: Session, chat: str) -> None:
        """Build a session up from its events, as they are in a database."""
        session = await self._create(chat, saved.state["who"])
        for event in saved.events:
            await self.runner.session_service.append_event(session, event)

    async def _compact(self, chat: str) -> None:
        """Put a summary in the place of all events, as ADK's own compaction does."""
        session = await self._session(chat)
        summary = types.Content(role="model", parts=[types.Part(text="We talked.")])
        compaction = EventCompaction(
            start_timestamp=session.events[0].timestamp,
            end_timestamp=session.events[-1].timestamp,
            compacted_content=summary,
        )
        event = Event(author="user", actions=EventActions(compaction=compaction))
        await self.runner.session_service.append_event(session, event)


def _wait(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run to the end next to the loop that runs: the suite saves from within one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def _who(ctx: ReadonlyContext) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", ctx.state["who"])


def _agent(setup: Setup, llm: FakeLlm, **given: Any) -> LlmAgent:
    skills = attach(setup.skills, who=_who, **setup.options_of(_who))
    if setup.skills.policy.requirements:
        given["before_tool_callback"] = skills.before_tool_callback
    return LlmAgent(
        name=llm.name,
        model=llm,
        instruction=setup.base,
        tools=[*setup.own_tools, skills],
        **given,
    )


def _parts(content: types.Content | None) -> list[types.Part]:
    return (content.parts if content else None) or []


def _seen(request: LlmRequest, name: str) -> suite.Seen:
    # ADK tells each agent its name; what is left is the application's and ours.
    identity = f'You are an agent. Your internal name is "{name}".'
    system = str(request.config.system_instruction or "").replace(identity, "")
    declarations = [
        declaration
        for tool in request.config.tools or []
        for declaration in cast("types.Tool", tool).function_declarations or []
    ]
    return suite.Seen(
        system=system,
        tools=tuple(str(declaration.name) for declaration in declarations),
        schemas={str(found.name): _schema(found) for found in declarations},
        messages=tuple(_shown(request.contents)),
    )


def _schema(declaration: types.FunctionDeclaration) -> Any:
    if declaration.parameters_json_schema is not None:
        return declaration.parameters_json_schema
    parameters = declaration.parameters
    return parameters.model_dump(exclude_none=True) if parameters else {}


def _shown(contents: list[types.Content]) -> Iterator[suite.Message]:
    for content in contents:
        parts = _parts(content)
        calls = [part.function_call for part in parts if part.function_call]
        text = "".join(part.text or "" for part in parts)
        if content.role == "model":
            message = [f"{call.name}({json.dumps(call.args)})" for call in calls]
            yield suite.Message("assistant", text or " ".join(message))
            continue
        for part in parts:
            if (answer := part.function_response) is not None:
                yield suite.Message("tool", _text(answer), answer.name or "")
        if text:
            # So the framework tells an agent what another one has said.
            is_note = text.startswith("For context:")
            yield suite.Message("other" if is_note else "user", text)


def _text(answer: types.FunctionResponse) -> str:
    response = answer.response or {}
    output = response.get("result", response)
    return output if isinstance(output, str) else json.dumps(output)


_RAISES: Final = dict.fromkeys(
    (
        "test_a_closed_tool_is_not_called",
        "test_an_unknown_tool_is_a_result",
        "test_a_tool_that_is_gone_is_a_result",
        "test_a_load_and_a_call_in_one_step",
        "test_a_made_up_result_opens_nothing",
        "test_a_denied_native_tool_is_not_called",
        "test_a_script_is_denied",
    ),
    "before 2.0 ADK ends a run in which a tool is called that is not there; an"
    " on_tool_error_callback of the agent can answer for it",
)


_REUSED: Final = {
    "test_calls_of_one_id_in_one_conversation": (
        "before 2.0 ADK takes the answer about an id for the one of an earlier call,"
        " and asks again"
    )
}


class GoogleAdk:
    """Drives the agents above."""

    name = "google_adk"
    distribution = "google-adk"
    limits: Mapping[str, str] = (
        {**_RAISES, **_REUSED} if version("google-adk") < "2" else {}
    )
    lacks: Mapping[str, str] = {
        "advice": "ADK answers a call of a tool that is not offered by itself",
        "history": "ADK asks for the tools before it shows the messages",
        "threads": "ADK awaits toolsets in its event loop",
    }

    def build(self, setup: Setup) -> Rig:
        llm = fake_model(setup.model)
        runner = InMemoryRunner(_agent(setup, llm), app_name=APP)
        return AdkRig(runner, llm.seen)

    def build_pair(self, first: Setup, second: Setup) -> Rig:
        llm = FakeLlm(script=first.model, name="first")
        deputy = FakeLlm(script=second.model, name="second", seen=llm.seen)
        agent = _agent(first, llm, sub_agents=[_agent(second, deputy)])
        runner = InMemoryRunner(agent, app_name=APP)
        return AdkRig(runner, llm.seen)

    async def attach_twice(self, setup: Setup) -> None:
        agent = _agent(setup, fake_model(setup.model))
        agent.tools.append(attach(setup.skills, who=_who))
        runner = InMemoryRunner(agent, app_name=APP)
        await AdkRig(runner, []).say("hi")

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        tool = FunctionTool(function)
        assert tool.name == name
        return tool


DRIVER = GoogleAdk()
