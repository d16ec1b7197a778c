"""Agno: ``Skills`` over ``LocalSkills``, which reads everything when it is made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.base import Model
from agno.models.response import ModelResponse
from agno.skills import LocalSkills, Skills

from benchmarks.attached._script import (
    BASE,
    DONE,
    Script,
    Setup,
    load_by,
    load_by_satchel,
    open_satchel,
    own_tools,
    read_by_tool,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agno.models.message import Message

    from benchmarks.attached._script import Open, Say

PEER = "agno"


class _Model(Model):
    def __init__(self, script: Script) -> None:
        super().__init__(id="fake")
        self._script = script

    async def ainvoke(
        self,
        messages: list[Message],
        *_: Any,  # noqa: ANN401
        tools: Any = None,  # noqa: ANN401
        **__: Any,  # noqa: ANN401
    ) -> ModelResponse:
        said = self._script.answer(messages[0], tools, messages)
        if said is None:
            return ModelResponse(role="assistant", content=DONE)
        function = {"name": said[0], "arguments": json.dumps(said[1])}
        call = {"id": f"c{self._script.calls}", "type": "function"}
        return ModelResponse(
            role="assistant", tool_calls=[{**call, "function": function}]
        )

    def invoke(self, *_: Any, **__: Any) -> Any:  # noqa: ANN401
        raise NotImplementedError

    def invoke_stream(self, *_: Any, **__: Any) -> Any:  # noqa: ANN401
        raise NotImplementedError

    def ainvoke_stream(self, *_: Any, **__: Any) -> Any:  # noqa: ANN401
        raise NotImplementedError

    def _parse_provider_response(self, *_: Any, **__: Any) -> Any:  # noqa: ANN401
        raise NotImplementedError

    def _parse_provider_response_delta(self, *_: Any, **__: Any) -> Any:  # noqa: ANN401
        raise NotImplementedError


def _agent(folder: str, script: Script, **more: Any) -> Agent:  # noqa: ANN401
    return Agent(
        model=_Model(script),
        name="desk",
        instructions=BASE,
        tools=own_tools(folder),
        db=InMemoryDb(),
        add_history_to_context=True,
        num_history_runs=1000,
        telemetry=False,
        **more,
    )


def _opens(agent: Agent) -> Open:
    begun = 0

    def begin() -> Say:
        nonlocal begun
        begun += 1
        session = str(begun)

        async def say(text: str) -> None:
            await agent.arun(text, session_id=session)

        return say

    return begin


async def _bare(folder: str, script: Script) -> Open:
    return _opens(_agent(folder, script))


async def _theirs(folder: str, script: Script) -> Open:
    return _opens(_agent(folder, script, skills=Skills([LocalSkills(folder)])))


async def _ours(folder: str, script: Script) -> Open:
    from satchel.adapters.agno import attach

    return _opens(attach(open_satchel(folder), to=_agent(folder, script)))


SETUPS = (
    Setup("bare", _bare, read_by_tool, ""),
    Setup("Skills", _theirs, load_by("get_skill_instructions", "skill_name")),
    Setup("satchel", _ours, load_by_satchel),
)


def show(script: Script) -> tuple[str, str]:
    """Return the system message and the tools."""
    tools: list[Mapping[str, Any]] = [tool["function"] for tool in script.tools]
    return str(script.system.content), "\n".join(map(text_of, tools))


def heard(script: Script) -> str:
    """Return the last tool's result."""
    # Its list goes on to grow after the model was called.
    results = [m.content for m in script.messages if m.role == "tool"]
    return str(results[-1])
