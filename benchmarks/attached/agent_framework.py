"""Microsoft Agent Framework: ``SkillsProvider.from_paths``, its cache switched on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    InMemoryHistoryProvider,
    Message,
    SkillsProvider,
)

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
    from collections.abc import Awaitable, Mapping, Sequence

    from benchmarks.attached._script import Open, Say

PEER = "agent_framework"


class _Client(
    FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]
):
    """A client with the layers that all of the framework's own have."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self._script = script

    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **_: Any,  # noqa: ANN401
    ) -> Awaitable[ChatResponse[Any]]:
        del stream

        async def respond() -> ChatResponse[Any]:
            said = self._script.answer(
                options.get("instructions"), options["tools"], messages
            )
            if said is None:
                return ChatResponse(messages=[Message("assistant", [DONE])])
            name, arguments = said
            call = Content.from_function_call(
                f"c{self._script.calls}", name, arguments=arguments
            )
            return ChatResponse(messages=[Message("assistant", [call])])

        return respond()


def _agent(folder: str, script: Script, *providers: Any) -> Open:  # noqa: ANN401
    agent = Agent(
        _Client(script),
        BASE,
        name="desk",
        tools=own_tools(folder),
        context_providers=[InMemoryHistoryProvider(), *providers],
    )

    def begin() -> Say:
        session = AgentSession()
        return lambda text: agent.run(text, session=session)

    return begin


async def _bare(folder: str, script: Script) -> Open:
    return _agent(folder, script)


async def _theirs(folder: str, script: Script) -> Open:
    provider = SkillsProvider.from_paths(
        folder,
        disable_load_skill_approval=True,
        disable_read_skill_resource_approval=True,
    )
    return _agent(folder, script, provider)


async def _ours(folder: str, script: Script) -> Open:
    from satchel.adapters.agent_framework import attach

    return _agent(folder, script, attach(open_satchel(folder)))


SETUPS = (
    Setup("bare", _bare, read_by_tool, ""),
    Setup("SkillsProvider", _theirs, load_by("load_skill", "skill_name")),
    Setup("satchel", _ours, load_by_satchel),
)


def show(script: Script) -> tuple[str, str]:
    """Return the instructions and the tools."""
    tools = [tool.to_json_schema_spec() for tool in script.tools]
    return script.system, "\n".join(map(text_of, tools))


def heard(script: Script) -> str:
    """Return the last tool's result."""
    return str(script.messages[-1].contents[-1].result)
