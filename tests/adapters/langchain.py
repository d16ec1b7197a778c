"""Drives LangChain's ``create_agent``, with a checkpointer that keeps all in memory."""

import asyncio
import base64
import json
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain.agents import AgentState, create_agent
from langchain.tools import ToolRuntime
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command, Overwrite
from pydantic import Field

from satchel.adapters import langchain
from tests.adapters import driver as suite
from tests.adapters.driver import Mode, Rig, Setup


class FakeModel(BaseChatModel):
    """Says what the script says, and keeps what it saw."""

    script: Any
    seen: list[suite.Seen] = Field(default_factory=list[suite.Seen])
    requests: list[list[Any]] = Field(default_factory=list[list[Any]])

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        return self.bind(tools=[convert_to_openai_tool(each) for each in tools])

    def _generate(
        self, messages: list[BaseMessage], *_: Any, tools: Any = (), **__: Any
    ) -> ChatResult:
        message = self._say(messages, tools)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self, messages: list[BaseMessage], *_: Any, tools: Any = (), **__: Any
    ) -> Iterator[ChatGenerationChunk]:
        output = self._say(messages, tools)
        calls = [
            tool_call_chunk(
                name=c["name"], args=json.dumps(c["args"]), id=c["id"], index=n
            )
            for n, c in enumerate(output.tool_calls)
        ]
        chunk = AIMessageChunk(
            content=output.content, tool_call_chunks=calls, id=output.id
        )
        yield ChatGenerationChunk(message=chunk)

    def _say(self, messages: list[BaseMessage], tools: Any) -> AIMessage:
        functions = [each["function"] for each in tools]
        system = [m.text for m in messages if isinstance(m, SystemMessage)]
        seen = suite.Seen(
            "\n".join(system),
            tuple(each["name"] for each in functions),
            {each["name"]: each["parameters"] for each in functions},
            tuple(_shown(m) for m in messages if not isinstance(m, SystemMessage)),
        )
        self.seen.append(seen)
        self.requests.append(list(messages))
        output = self.script(seen)
        if isinstance(output, str):
            return AIMessage(output)
        number = len(messages)
        calls = [
            {
                "name": call.name,
                "args": dict(call.arguments),
                "id": call.id or f"c{number}-{at}",
            }
            for at, call in enumerate(output)
        ]
        return AIMessage("", tool_calls=calls)


def _shown(message: BaseMessage) -> suite.Message:
    if isinstance(message, ToolMessage):
        return suite.Message("tool", message.text, message.name or "")
    if isinstance(message, AIMessage):
        calls = (f"{c['name']}({json.dumps(c['args'])})" for c in message.tool_calls)
        return suite.Message("assistant", message.text or " ".join(calls))
    role = "user" if isinstance(message, HumanMessage) else "other"
    return suite.Message(role, message.text)  # type: ignore[arg-type]


def fake_model(script: suite.Model) -> FakeModel:
    return FakeModel(script=script)


@dataclass
class Context:
    """What an application would hand to a run."""

    who: Mapping[str, Any]


def middleware(setup: Setup) -> Any:
    """Attach as the suite asks for it."""
    return langchain.attach(
        setup.skills,
        who=lambda runtime: runtime.context.who,
        **setup.options_of(lambda runtime: runtime.context.who),
    )


def agent_of(setup: Setup, model: BaseChatModel, *tools: Any, **more: Any) -> Any:
    own = [StructuredTool.from_function(each) for each in setup.own_tools]
    return create_agent(
        model,
        [*own, *tools],
        system_prompt=setup.base,
        middleware=[middleware(setup)],
        context_schema=Context,
        **more,
    )


class LangChainRig(suite.BaseRig):
    """One graph, and the threads of its checkpointer as conversations."""

    def __init__(self, graph: Any, saver: InMemorySaver, *models: FakeModel) -> None:
        super().__init__(models[0].seen)
        self._graph = graph
        self._saver = saver

    async def run(
        self, text: str, chat: str, who: dict[str, Any], mode: Mode
    ) -> str | suite.Paused:
        given = {"messages": [HumanMessage(text)]}
        return await self._run(given, chat, who, mode)

    async def resume(self, of: Any, answers: Any) -> str | suite.Paused:
        decisions: list[dict[str, Any]] = []
        for key, answer in answers.items():
            decision: dict[str, Any] = {"type": "approve"}
            if not answer.approve:
                decision = {"type": "reject", "message": answer.words}
            elif answer.arguments is not None:
                edited = {"name": of["tools"][int(key)], "args": dict(answer.arguments)}
                decision = {"type": "edit", "edited_action": edited}
            decisions.append(decision)
        given: Command[Any] = Command(resume={"decisions": decisions})
        return await self._run(given, of["chat"], of["who"])

    async def _run(
        self, given: Any, chat: str, who: dict[str, Any], mode: Mode = "async"
    ) -> str | suite.Paused:
        run = {"config": _thread(chat), "context": Context(who)}
        if mode == "sync":
            result = await asyncio.to_thread(self._graph.invoke, given, **run)
        elif mode == "async":
            result = await self._graph.ainvoke(given, **run)
        else:
            modes = ["messages", "values"]
            stream = self._graph.astream(given, stream_mode=modes, **run)
            *_, result = [part async for kind, part in stream if kind == "values"]
        if pauses := result.get("__interrupt__"):
            [asked] = pauses
            calls = asked.value["action_requests"]
            waiting = [
                (str(at), call["name"], call["args"], call["description"])
                for at, call in enumerate(calls)
            ]
            tools = [call["name"] for call in calls]
            return self.paused({"chat": chat, "who": who, "tools": tools}, waiting)
        return cast("str", result["messages"][-1].text)

    def save(self, chat: str = "one") -> str:
        saver = self._saver
        stored = (
            {ns: dict(each) for ns, each in saver.storage[chat].items()},
            {k: dict(each) for k, each in saver.writes.items() if k[0] == chat},
            {k: each for k, each in saver.blobs.items() if k[0] == chat},
        )
        return base64.b64encode(pickle.dumps(stored)).decode()

    def restore(self, saved: str, chat: str = "one") -> None:
        storage, writes, blobs = pickle.loads(base64.b64decode(saved))  # noqa: S301
        for ns, each in storage.items():
            self._saver.storage[chat][ns].update(each)
        for key, each in writes.items():
            self._saver.writes[key].update(each)
        self._saver.blobs.update(blobs)

    def trim(self, chat: str = "one") -> None:
        update = {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES)]}
        self._graph.update_state(_thread(chat), update)

    def keep_instead(self, state: object, chat: str = "one") -> None:
        self._graph.update_state(_thread(chat), {"satchel": Overwrite(state)})


def _thread(chat: str) -> RunnableConfig:
    return {"configurable": {"thread_id": chat}}


@tool("transfer_to_second")
def hand_over(runtime: ToolRuntime[Context, AgentState[Any]]) -> Any:
    """Hand over to the second desk."""
    call = runtime.tool_call_id or ""
    done = ToolMessage("over to the second desk", tool_call_id=call)
    update = {"messages": [*runtime.state["messages"], done]}
    return Command(goto="second", update=update, graph=Command.PARENT)


class LangChain:
    """Builds agents of LangChain."""

    name = "langchain"
    distribution = "langchain"
    limits: Mapping[str, str] = {}

    def build(self, setup: Setup) -> Rig:
        model, saver = fake_model(setup.model), InMemorySaver()
        graph = agent_of(setup, model, checkpointer=saver)
        return cast("Rig", LangChainRig(graph, saver, model))

    def build_pair(self, first: Setup, second: Setup) -> Rig:
        """Return two agents as nodes of one graph, as LangChain's page on it does."""
        models = fake_model(first.model), fake_model(second.model)
        models[1].seen = models[0].seen
        saver = InMemorySaver()
        graph = StateGraph(AgentState, context_schema=Context)
        graph.add_node("first", agent_of(first, models[0], hand_over))
        graph.add_node("second", agent_of(second, models[1]))
        graph.add_edge(START, "first")
        return cast("Rig", LangChainRig(graph.compile(saver), saver, *models))

    async def attach_twice(self, setup: Setup) -> None:
        twice = [middleware(setup), middleware(setup)]
        graph = create_agent(fake_model(setup.model), [], middleware=twice)
        await graph.ainvoke({"messages": [HumanMessage("hi")]}, context=Context({}))

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        return StructuredTool.from_function(function, name=name)


DRIVER = LangChain()
