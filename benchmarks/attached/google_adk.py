"""Google ADK: ``SkillToolset`` over all packs, naming them or not.

``EAGER`` puts all of them into the instructions, as Satchel does; ``LAZY``, which is
its default, none: the model has to ask for the list in a call of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.skills import load_skills_from_dir
from google.adk.tools.skill_toolset import SkillDiscoveryMode, SkillToolset
from google.genai import types

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
    from collections.abc import AsyncGenerator

    from benchmarks.attached._script import Open, Say

PEER = "google_adk"


class _Model(BaseLlm):
    script: Any

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - theirs
    ) -> AsyncGenerator[LlmResponse, None]:
        del stream
        config = llm_request.config
        said = self.script.answer(
            config.system_instruction, config.tools, llm_request.contents
        )
        if said is None:
            part = types.Part.from_text(text=DONE)
        else:
            part = types.Part.from_function_call(name=said[0], args=said[1])
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def _agent(folder: str, script: Script, *toolsets: Any) -> Open:  # noqa: ANN401
    agent = LlmAgent(
        name="desk",
        model=_Model(model="fake", script=script),
        instruction=BASE,
        tools=[*own_tools(folder), *toolsets],
    )
    runner = InMemoryRunner(agent=agent, app_name="bench")

    def begin() -> Say:
        session = None

        async def say(text: str) -> None:
            nonlocal session
            session = session or await runner.session_service.create_session(
                app_name="bench", user_id="somebody"
            )
            message = types.Content(role="user", parts=[types.Part(text=text)])
            async for _ in runner.run_async(
                user_id="somebody",
                session_id=session.id,
                new_message=message,
                run_config=RunConfig(max_llm_calls=0),
            ):
                pass

        return say

    return begin


async def _bare(folder: str, script: Script) -> Open:
    return _agent(folder, script)


def _toolset(folder: str, mode: SkillDiscoveryMode) -> SkillToolset:
    return SkillToolset(load_skills_from_dir(folder), discovery_mode=mode)


async def _eager(folder: str, script: Script) -> Open:
    return _agent(folder, script, _toolset(folder, SkillDiscoveryMode.EAGER))


async def _lazy(folder: str, script: Script) -> Open:
    return _agent(folder, script, _toolset(folder, SkillDiscoveryMode.LAZY))


async def _ours(folder: str, script: Script) -> Open:
    from satchel.adapters.google_adk import attach

    return _agent(folder, script, attach(open_satchel(folder)))


_LOAD = load_by("load_skill", "skill_name")

SETUPS = (
    Setup("bare", _bare, read_by_tool, ""),
    Setup("SkillToolset, eager", _eager, _LOAD),
    Setup("SkillToolset, lazy", _lazy, _LOAD, lists=False),
    Setup("satchel", _ours, load_by_satchel),
)


def show(script: Script) -> tuple[str, str]:
    """Return the system instruction and the declarations of the tools."""
    declared = [each for tool in script.tools for each in tool.function_declarations]
    shown = [each.model_dump(mode="json", exclude_none=True) for each in declared]
    return script.system, "\n".join(map(text_of, shown))


def heard(script: Script) -> str:
    """Return the last tool's result."""
    part = script.messages[-1].parts[-1]
    return text_of(part.function_response.response)
