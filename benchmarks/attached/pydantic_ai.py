"""Pydantic AI: its harness's ``Skills``, and deferred capabilities of the core.

``Skills`` reads the packs at the start of each run. What it makes of them is a deferred
capability for each; these can also be made once, which is less work and stays as it is
until the process ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_ai import Agent
from pydantic_ai.capabilities import Capability
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.workspaces import LocalWorkspaceBackend
from pydantic_ai_harness import Skills

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
    from pydantic_ai.messages import ModelMessage

    from benchmarks.attached._script import Open, Say

PEER = "pydantic_ai_harness"


def agent(folder: str, script: Script, *capabilities: Any) -> Open:  # noqa: ANN401
    """Return an agent with those capabilities, which says what the script does."""

    async def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        said = script.answer(info.instructions, info.function_tools, messages)
        if said is None:
            return ModelResponse([TextPart(DONE)])
        return ModelResponse([ToolCallPart(*said)])

    made = Agent(
        FunctionModel(model),
        instructions=BASE,
        tools=own_tools(folder),
        capabilities=[*capabilities],
    )

    def begin() -> Say:
        history: list[ModelMessage] = []

        async def say(text: str) -> None:
            result = await made.run(text, message_history=history)
            history[:] = result.all_messages()

        return say

    return begin


async def _bare(folder: str, script: Script) -> Open:
    return agent(folder, script)


def _skills(folder: str) -> Skills[Any]:
    return Skills(".", workspace=LocalWorkspaceBackend(folder))


async def _theirs(folder: str, script: Script) -> Open:
    return agent(folder, script, _skills(folder))


async def _made_once(folder: str, script: Script) -> Open:
    catalog = await _skills(folder).load()
    made = [
        Capability[Any](
            id=skill.name,
            description=skill.description,
            instructions=skill.render(),
            defer_loading=True,
        )
        for skill in catalog.skills
    ]
    return agent(folder, script, *made)


async def _ours(folder: str, script: Script) -> Open:
    from satchel.adapters.pydantic_ai import attach

    return agent(folder, script, attach(open_satchel(folder)))


_LOAD = load_by("load_capability", "id")

SETUPS = (
    Setup("bare", _bare, read_by_tool, ""),
    Setup("Skills", _theirs, _LOAD),
    Setup("deferred capabilities", _made_once, _LOAD),
    Setup("satchel", _ours, load_by_satchel),
)


def show(script: Script) -> tuple[str, str]:
    """Return the instructions and the tools."""
    tools = [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters_json_schema,
        }
        for tool in script.tools
    ]
    return script.system, "\n".join(map(text_of, tools))


def heard(script: Script) -> str:
    """Return the last tool's result."""
    result, *instructions = script.messages[-1].parts
    texts = [result.model_response_str(), *(part.content for part in instructions)]
    return "\n".join(texts)
