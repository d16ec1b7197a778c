"""deepagents: ``SkillsMiddleware`` on LangChain's ``create_agent``.

Its skills are read by the tool of ``FilesystemMiddleware``, which brings more tools and
a prompt. An agent may have that one anyway, so it is counted with the bare agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deepagents.backends import FilesystemBackend
from deepagents.middleware import FilesystemMiddleware
from deepagents.middleware.skills import SkillsMiddleware
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver

from benchmarks.attached._script import (
    BASE,
    DONE,
    Script,
    Setup,
    load_by_satchel,
    open_satchel,
    own_tools,
    read_by_tool,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import BaseMessage

    from benchmarks.attached._script import Call, Open, Say

PEER = "deepagents"


class _Model(BaseChatModel):
    script: Any

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:  # noqa: ANN401
        return self.bind(tools=tools)

    def _generate(
        self,
        messages: list[BaseMessage],
        *_: Any,  # noqa: ANN401
        tools: Any = (),  # noqa: ANN401
        **__: Any,  # noqa: ANN401
    ) -> ChatResult:
        said = self.script.answer(messages[0], tools, messages)
        message = AIMessage(DONE)
        if said is not None:
            name, arguments = said
            call = {"name": name, "args": arguments, "id": f"c{self.script.calls}"}
            message = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        *_: Any,  # noqa: ANN401
        **more: Any,  # noqa: ANN401
    ) -> ChatResult:
        return self._generate(messages, **more)


def _agent(folder: str, script: Script, *middleware: Any) -> Open:  # noqa: ANN401
    graph = create_agent(
        _Model(script=script),
        [StructuredTool.from_function(each) for each in own_tools(folder)],
        system_prompt=BASE,
        middleware=middleware,
        checkpointer=InMemorySaver(),
    )
    begun = 0

    def begin() -> Say:
        nonlocal begun
        begun += 1
        thread = {"configurable": {"thread_id": str(begun)}, "recursion_limit": 1000}
        return lambda text: graph.ainvoke({"messages": [("user", text)]}, thread)

    return begin


def _backend(folder: str) -> FilesystemBackend:
    return FilesystemBackend(root_dir=folder, virtual_mode=True)


async def _bare(folder: str, script: Script) -> Open:
    return _agent(folder, script)


async def _with_files(folder: str, script: Script) -> Open:
    return _agent(folder, script, FilesystemMiddleware(backend=_backend(folder)))


async def _theirs(folder: str, script: Script) -> Open:
    backend = _backend(folder)
    files = FilesystemMiddleware(backend=backend)
    return _agent(
        folder, script, files, SkillsMiddleware(backend=backend, sources=["/"])
    )


async def _ours(folder: str, script: Script) -> Open:
    from satchel.adapters.langchain import attach

    return _agent(folder, script, attach(open_satchel(folder)))


def _read_file(_folder: str, name: str) -> Call:
    return "read_file", {"file_path": f"/{name}/SKILL.md", "limit": 1000}


SETUPS = (
    Setup("bare", _bare, read_by_tool, ""),
    Setup("bare, with file tools", _with_files, _read_file, ""),
    Setup("SkillsMiddleware", _theirs, _read_file, "bare, with file tools"),
    Setup("satchel", _ours, load_by_satchel),
)


def show(script: Script) -> tuple[str, str]:
    """Return the system message and the tools."""
    tools = [convert_to_openai_tool(tool)["function"] for tool in script.tools]
    return script.system.text, "\n".join(map(text_of, tools))


def heard(script: Script) -> str:
    """Return the last tool's result."""
    return str(script.messages[-1].text)
