"""Drives an agent of Agno, its sessions in the database that it has for tests."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, cast

from agno.agent import Agent
from agno.db.base import SessionType
from agno.db.in_memory import InMemoryDb
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse
from agno.run.base import RunStatus
from agno.run.requirement import RunRequirement
from agno.session import AgentSession
from agno.team import Team
from agno.tools import tool

from satchel.adapters import agno
from tests.adapters import driver as suite
from tests.adapters.driver import Mode, Rig, Setup


class FakeModel(Model):
    """Says what the script says, and keeps what it saw."""

    def __init__(self, script: suite.Model, seen: list[suite.Seen]) -> None:
        super().__init__(id="fake", name="fake", provider="fake")
        self.script = script
        self.seen = seen

    def invoke(self, *_: Any, **given: Any) -> ModelResponse:
        functions = [tool["function"] for tool in given.get("tools") or ()]
        messages: list[Message] = given["messages"]
        seen = suite.Seen(
            "\n".join(str(m.content) for m in messages if m.role == "system"),
            tuple(each["name"] for each in functions),
            {each["name"]: each["parameters"] for each in functions},
            tuple(_shown(m) for m in messages if m.role != "system"),
        )
        self.seen.append(seen)
        output = self.script(seen)
        if isinstance(output, str):
            return ModelResponse(role="assistant", content=output)
        calls = []
        for at, call in enumerate(output):
            arguments = dict(call.arguments)
            if call.name == "delegate_task_to_member":  # the suite gives some text
                arguments["member_id"] = "second"
            function = {"name": call.name, "arguments": json.dumps(arguments)}
            id_ = call.id or f"c{len(messages)}-{at}"
            calls.append({"id": id_, "type": "function", "function": function})
        return ModelResponse(role="assistant", tool_calls=calls)

    async def ainvoke(self, *_: Any, **given: Any) -> ModelResponse:
        await asyncio.sleep(0)
        return FakeModel.invoke(self, **given)

    def invoke_stream(self, *_: Any, **given: Any) -> Iterator[ModelResponse]:
        yield FakeModel.invoke(self, **given)

    async def ainvoke_stream(
        self, *_: Any, **given: Any
    ) -> AsyncIterator[ModelResponse]:
        yield await FakeModel.ainvoke(self, **given)

    def _parse_provider_response(self, response: Any, **_: Any) -> ModelResponse:
        raise NotImplementedError

    def _parse_provider_response_delta(self, response: Any) -> ModelResponse:
        raise NotImplementedError


def _shown(message: Message) -> suite.Message:
    if message.role == "tool":
        return suite.Message("tool", str(message.content), message.tool_name or "")
    if message.role == "assistant":
        calls = [each["function"] for each in message.tool_calls or ()]
        expected = (f"{each['name']}({each['arguments']})" for each in calls)
        return suite.Message("assistant", str(message.content or " ".join(expected)))
    return suite.Message("user", str(message.content))


def in_memory() -> InMemoryDb:
    make: Any = InMemoryDb  # has no types
    return cast("InMemoryDb", make())


def attached(setup: Setup, to: Any) -> Any:
    """Attach as the suite asks for it."""
    who = lambda run: run.dependencies["who"]  # noqa: E731
    return agno.attach(setup.skills, to=to, who=who, **setup.options_of(who))


def agent_of(setup: Setup, seen: list[suite.Seen], **more: Any) -> Agent:
    agent = Agent(
        model=FakeModel(setup.model, seen),
        tools=[*setup.own_tools],
        system_message=setup.base,
        add_history_to_context=True,
        num_history_runs=20,
        telemetry=False,
        **more,
    )
    return cast("Agent", attached(setup, agent))


class AgnoRig(suite.BaseRig):
    """An agent or a team, and the sessions in its database as conversations."""

    def __init__(self, agent: Any, db: InMemoryDb, seen: list[suite.Seen]) -> None:
        super().__init__(seen)
        self.agent = agent
        self.db = db

    async def run(
        self, text: str, chat: str, who: dict[str, Any], mode: Mode
    ) -> str | suite.Paused:
        given = {"session_id": chat, "dependencies": {"who": who}}
        if mode == "sync":
            run = await asyncio.to_thread(self.agent.run, text, **given)
        elif mode == "async":
            run = await self.agent.arun(text, **given)
        else:
            stream = self.agent.arun(text, stream=True, yield_run_output=True, **given)
            *_, run = [each async for each in stream]
        return self._said(run, who)

    async def resume(self, of: Any, answers: Any) -> str | suite.Paused:
        requirements = [RunRequirement.from_dict(each) for each in of["requirements"]]
        for requirement, answer in zip(requirements, answers.values(), strict=True):
            if not answer.approve:
                requirement.reject(answer.words or None)
                continue
            if answer.arguments is not None:
                assert requirement.tool_execution is not None
                requirement.tool_execution.tool_args = dict(answer.arguments)
            cast("Any", requirement).confirm()
        run = await self.agent.acontinue_run(
            run_id=of["run"],
            session_id=of["chat"],
            requirements=requirements,
            dependencies={"who": of["who"]},
        )
        return self._said(run, of["who"])

    def _said(self, run: Any, who: Any) -> str | suite.Paused:
        if run.status == RunStatus.error:
            raise RuntimeError(run.content)
        if not run.is_paused:
            return cast("str", run.content)
        requirements = run.active_requirements
        calls = [each.tool_execution for each in requirements]
        waiting = [
            (
                str(at),
                call.tool_name,
                call.tool_args or {},
                call.confirmation_note or "",
            )
            for at, call in enumerate(calls)
        ]
        of = {"run": run.run_id, "chat": run.session_id, "who": who}
        of["requirements"] = [each.to_dict() for each in requirements]
        return self.paused(of, waiting)

    def save(self, chat: str = "one") -> str:
        return json.dumps(self._stored(chat).to_dict())

    def restore(self, saved: str, chat: str = "one") -> None:
        self._store(AgentSession.from_dict(json.loads(saved)), chat)

    def trim(self, chat: str = "one") -> None:
        session = self._stored(chat)
        session.runs = []
        self._store(session, chat)

    def keep_instead(self, state: object, chat: str = "one") -> None:
        session = self._stored(chat)
        stored = cast("dict[str, Any]", (session.session_data or {})["session_state"])
        stored["satchel"] = state
        if state is None:
            del stored["satchel"]
        self._store(session, chat)

    def _stored(self, chat: str) -> AgentSession:
        session = self.db.get_session(chat, SessionType.AGENT)
        assert isinstance(session, AgentSession)
        return session

    def _store(self, session: AgentSession | None, chat: str) -> None:
        assert session is not None
        self.db.delete_session(chat)  # what is stored keeps its runs
        self.db.upsert_session(session)


class Agno:
    """Builds agents of Agno, and a team of two."""

    name = "agno"
    distribution = "agno"
    limits: Mapping[str, str] = {}

    def build(self, setup: Setup) -> Rig:
        db, seen = in_memory(), list[suite.Seen]()
        return AgnoRig(agent_of(setup, seen, db=db), db, seen)

    def build_pair(self, first: Setup, second: Setup) -> Rig:
        """Return a team whose leader is the first, and its member the second."""
        db, seen = in_memory(), list[suite.Seen]()
        team = Team(
            model=FakeModel(first.model, seen),
            members=[agent_of(second, seen, name="second", id="second")],
            system_message=first.base,
            db=db,
            telemetry=False,
        )
        return AgnoRig(attached(first, team), db, seen)

    async def attach_twice(self, setup: Setup) -> None:
        attached(setup, agent_of(setup, []))

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        return tool(name=name)(function)


DRIVER = Agno()
