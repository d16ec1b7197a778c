"""Strands Agents: the plugin ``AgentSkills``; each conversation begins again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strands import Agent, AgentSkills, tool
from strands.agent.conversation_manager import NullConversationManager
from strands.models import Model

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
    from collections.abc import AsyncIterator

    from benchmarks.attached._script import Open, Say

PEER = "strands"


class _Model(Model):
    def __init__(self, script: Script) -> None:
        self._script = script

    def update_config(self, **_: Any) -> None:  # noqa: ANN401
        """Take nothing."""

    def get_config(self) -> Any:  # noqa: ANN401
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:  # noqa: ANN401
        raise NotImplementedError

    async def stream(
        self,
        messages: Any,  # noqa: ANN401
        tool_specs: Any = None,  # noqa: ANN401
        system_prompt: str | None = None,
        **_: Any,  # noqa: ANN401
    ) -> AsyncIterator[Any]:
        said = self._script.answer(system_prompt, tool_specs, messages)
        yield {"messageStart": {"role": "assistant"}}
        if said is None:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": DONE}}}
        else:
            name, arguments = said
            use = {"toolUseId": f"c{self._script.calls}", "name": name}
            yield {"contentBlockStart": {"start": {"toolUse": use}}}
            given = {"input": text_of(arguments)}
            yield {"contentBlockDelta": {"delta": {"toolUse": given}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if said else "end_turn"}}


def _agent(folder: str, script: Script, *plugins: Any) -> Open:  # noqa: ANN401
    tools = [tool(each) for each in own_tools(folder)]
    agent = Agent(
        model=_Model(script),
        tools=tools,
        system_prompt=BASE,
        plugins=[*plugins],
        conversation_manager=NullConversationManager(),
        callback_handler=None,
    )
    blank = agent.take_snapshot(preset="session")

    def begin() -> Say:
        agent.load_snapshot(blank)
        agent.system_prompt = BASE  # no part of a session, and a plugin's goes on in it
        return agent.invoke_async

    return begin


async def _bare(folder: str, script: Script) -> Open:
    return _agent(folder, script)


async def _theirs(folder: str, script: Script) -> Open:
    return _agent(folder, script, AgentSkills(skills=folder))


async def _ours(folder: str, script: Script) -> Open:
    from satchel.adapters.strands import attach

    return _agent(folder, script, attach(open_satchel(folder)))


SETUPS = (
    Setup("bare", _bare, read_by_tool, ""),
    Setup("AgentSkills", _theirs, load_by("skills", "skill_name")),
    Setup("satchel", _ours, load_by_satchel),
)


def show(script: Script) -> tuple[str, str]:
    """Return the system prompt and the tools."""
    return script.system, "\n".join(map(text_of, script.tools))


def heard(script: Script) -> str:
    """Return the last tool's result."""
    result = script.messages[-1]["content"][-1]["toolResult"]
    return "\n".join(part["text"] for part in result["content"])
