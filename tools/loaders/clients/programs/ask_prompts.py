"""The text that a framework puts before a model for a folder of skills.

It runs in the framework's own environment. The folder comes after the framework's name
and a tab.
"""

# The frameworks' own types are not here, and what makes their prompts is private.
# mypy: ignore-errors
# ruff: noqa: SLF001

import asyncio
import contextlib
import inspect
from pathlib import Path
from typing import Any


def look(named_folder: str) -> str:
    """Return the text."""
    name, _, folder = named_folder.partition("\t")
    text = globals()[f"_{name}"](folder)
    return asyncio.run(text) if inspect.isawaitable(text) else text


async def _agent_framework(folder: str) -> str:
    from agent_framework import FileSkillsSource, SkillsProvider, SkillsSourceContext

    found = await FileSkillsSource([folder]).get_skills(SkillsSourceContext(agent=None))
    return SkillsProvider._create_instructions(None, found)


async def _agentscope(folder: str) -> str:
    from agentscope.skill import LocalSkillLoader
    from agentscope.tool import Toolkit

    loader = LocalSkillLoader(folder, scan_subdir=True)
    return await Toolkit(skills_or_loaders=[loader]).get_skill_instructions()


async def _agentskills(folder: str) -> str:
    from agentskills_core import SkillRegistry
    from agentskills_fs import LocalFileSystemSkillProvider

    registry = SkillRegistry()
    await registry.register_all(LocalFileSystemSkillProvider(Path(folder)))
    return await registry.get_skills_catalog()


def _agno(folder: str) -> str:
    from agno.skills import LocalSkills, Skills

    return Skills(loaders=[LocalSkills(folder)]).get_system_prompt_snippet()


def _crewai(folder: str) -> str:
    from crewai.skills.loader import discover_skills, format_skill_context

    return "\n".join(map(format_skill_context, discover_skills(Path(folder))))


def _deepagents(folder: str) -> str:
    from deepagents.backends import FilesystemBackend
    from deepagents.middleware.skills import SkillsMiddleware

    backend = FilesystemBackend(root_dir="/", virtual_mode=False)
    middleware = SkillsMiddleware(backend=backend, sources=[folder])
    update = middleware.before_agent({}, None, {})
    return middleware._format_skills_list(update["skills_metadata"])


def _google_adk(folder: str) -> str:
    from google.adk.skills import load_skills_from_dir
    from google.adk.skills.prompt import format_skills_as_xml

    return format_skills_as_xml(load_skills_from_dir(folder))


def _haystack(folder: str) -> str:
    from haystack.skill_stores.file_system import FileSystemSkillStore
    from haystack.tools.skills import SkillToolset

    tools = SkillToolset(FileSystemSkillStore(folder))
    tools.warm_up()
    return tools._load_skill_description()


async def _openai_agents(folder: str) -> str:
    from agents.sandbox import Manifest, SandboxPathGrant
    from agents.sandbox.capabilities import LocalDirLazySkillSource, Skills
    from agents.sandbox.entries import LocalDir

    source = LocalDirLazySkillSource(source=LocalDir(src=Path(folder)))
    grants = (SandboxPathGrant(path=folder, read_only=True),)
    return await Skills(lazy_from=source).instructions(
        Manifest(extra_path_grants=grants)
    )


def _openhands(folder: str) -> str:
    import litellm  # noqa: F401 - else its own threads lock each other out
    from openhands.sdk.skills import load_skills_from_dir, to_prompt

    return to_prompt([*load_skills_from_dir(folder)[2].values()])


async def _pydantic_ai_harness(folder: str) -> str:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.workspaces import LocalWorkspaceBackend
    from pydantic_ai_harness import Skills

    seen: list[str] = []

    def answer(_: list[object], info: Any) -> ModelResponse:  # noqa: ANN401
        tools = [tool.description or "" for tool in info.function_tools]
        seen.append("\n".join([info.instructions or "", *tools]))
        return ModelResponse(parts=[TextPart("ok")])

    skills = Skills([folder], workspace=LocalWorkspaceBackend("/"))
    await Agent(FunctionModel(answer), capabilities=[skills]).run("hello")
    return seen[0]


def _skills_ref(folder: str) -> str:
    from skills_ref import read_properties, to_prompt

    # It takes packs and no folder: one that cannot be read is left out here.
    readable: list[Path] = []
    for pack in sorted(Path(folder).iterdir()):
        with contextlib.suppress(Exception):
            read_properties(pack)
            readable.append(pack)
    return to_prompt(readable)


def _strands(folder: str) -> str:
    from strands import Skill
    from strands.vended_plugins.skills import AgentSkills

    return AgentSkills(skills=Skill.from_directory(folder))._generate_skills_xml()


async def _fastmcp(folder: str) -> str:
    # It has no prompt: a client of the server lists resources.
    from fastmcp.server.providers.skills import SkillsDirectoryProvider

    found = SkillsDirectoryProvider([folder]).providers
    items = (
        f"- {each.skill_info.name}: {each.skill_info.description}" for each in found
    )
    return "\n".join(items)
