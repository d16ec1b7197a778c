"""Drives one agent of Strands, with a snapshot of it for each conversation."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, cast

from strands import Agent, Snapshot, tool
from strands.models import Model
from strands.multiagent import Swarm

from satchel.adapters import strands
from tests.adapters import driver as suite
from tests.adapters.driver import Mode, Rig, Setup


class FakeModel(Model):
    """Says what the script says, and keeps what it saw."""

    def __init__(self, script: suite.Model, seen: list[suite.Seen]) -> None:
        self.script = script
        self.seen = seen
        self.prompts: list[Any] = []

    def update_config(self, **_: Any) -> None:
        """Take nothing."""

    def get_config(self) -> Any:
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream(
        self,
        messages: Any,
        tool_specs: Any = None,
        system_prompt: str | None = None,
        **more: Any,
    ) -> AsyncIterator[Any]:
        await asyncio.sleep(0)
        self.prompts.append(more.get("system_prompt_content"))
        specs = tool_specs or ()
        seen = suite.Seen(
            system_prompt or "",
            tuple(spec["name"] for spec in specs),
            {spec["name"]: spec["inputSchema"]["json"] for spec in specs},
            tuple(_shown(messages)),
        )
        self.seen.append(seen)
        output = self.script(seen)
        yield {"messageStart": {"role": "assistant"}}
        for event in _blocks(output, len(messages)):
            yield event
        reason = "end_turn" if isinstance(output, str) else "tool_use"
        yield {"messageStop": {"stopReason": reason}}


def _blocks(output: suite.Say, number: int) -> Iterator[Any]:
    if isinstance(output, str):
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": output}}}
        yield {"contentBlockStop": {}}
        return
    for at, call in enumerate(output):
        given = dict(call.arguments)
        if call.name == "handoff_to_agent":  # the suite gives some text for all
            given["agent_name"] = "second"
        use = {"toolUseId": call.id or f"c{number}-{at}", "name": call.name}
        yield {"contentBlockStart": {"start": {"toolUse": use}}}
        delta = {"toolUse": {"input": json.dumps(given)}}
        yield {"contentBlockDelta": {"delta": delta}}
        yield {"contentBlockStop": {}}


def _shown(messages: Any) -> Iterator[suite.Message]:
    names: dict[str, str] = {}
    for message in messages:
        for block in message["content"]:
            if "text" in block:
                yield suite.Message(message["role"], block["text"])
            elif "toolUse" in block:
                use = block["toolUse"]
                names[use["toolUseId"]] = use["name"]
            elif "toolResult" in block:
                result = block["toolResult"]
                text = "".join(part["text"] for part in result["content"])
                yield suite.Message("tool", text, names[result["toolUseId"]])
        uses = [part["toolUse"] for part in message["content"] if "toolUse" in part]
        if uses:
            calls = (f"{use['name']}({json.dumps(use['input'])})" for use in uses)
            yield suite.Message("assistant", " ".join(calls))


def plugin(setup: Setup) -> Any:
    """Attach as the suite asks for it."""
    who = lambda state: state["who"]  # noqa: E731
    return strands.attach(setup.skills, who=who, **setup.options_of(who))


def agent_of(setup: Setup, seen: list[suite.Seen], **more: Any) -> Agent:
    return Agent(
        model=FakeModel(setup.model, seen),
        tools=[tool(each) for each in setup.own_tools],
        system_prompt=setup.base,
        plugins=[plugin(setup)],
        callback_handler=None,
        **more,
    )


async def run(agent: Any, given: Any, who: Mapping[str, Any], mode: Mode) -> Any:
    """Run an agent, or a swarm of them, in one of the three ways."""
    state = {"who": dict(who)}
    if mode == "sync":
        return await asyncio.to_thread(agent, given, invocation_state=state)
    if mode == "async":
        return await agent.invoke_async(given, invocation_state=state)
    events = [e async for e in agent.stream_async(given, invocation_state=state)]
    return events[-1]["result"]


class StrandsRig(suite.BaseRig):
    """One agent; the conversation that speaks is put into it for that time."""

    def __init__(self, agent: Agent, seen: list[suite.Seen]) -> None:
        super().__init__(seen)
        self.agent = agent
        self._blank = agent.take_snapshot(preset="session").to_dict()
        self._chats: dict[str, Any] = {}

    async def run(
        self, text: str, chat: str, who: dict[str, Any], mode: Mode
    ) -> str | suite.Paused:
        return await self._run(text, chat, who, mode)

    async def resume(self, of: Any, answers: Any) -> str | suite.Paused:
        [(pause, answer)] = answers.items()
        response: Any = "y" if answer.approve else answer.words or "n"
        if answer.approve and answer.arguments is not None:
            response = {"arguments": dict(answer.arguments)}
        given = [{"interruptResponse": {"interruptId": pause, "response": response}}]
        return await self._run(given, of["chat"], of["who"])

    async def _run(
        self, given: Any, chat: str, who: dict[str, Any], mode: Mode = "async"
    ) -> str | suite.Paused:
        stored = self._chats.get(chat, self._blank)
        self.agent.load_snapshot(Snapshot.from_dict(stored))
        result = await run(self.agent, given, who, mode)
        self._chats[chat] = self.agent.take_snapshot(preset="session").to_dict()
        if result.stop_reason != "interrupt":
            return str(result).strip()
        pause = result.interrupts[0]  # the others are asked for again
        keys = "tool", "arguments", "question"
        waiting = (pause.id, *(pause.reason[key] for key in keys))
        return self.paused({"chat": chat, "who": who}, [waiting])

    def save(self, chat: str = "one") -> str:
        return json.dumps(self._chats[chat])

    def restore(self, saved: str, chat: str = "one") -> None:
        self._chats[chat] = json.loads(saved)

    def trim(self, chat: str = "one") -> None:
        self._chats[chat]["data"]["messages"] = []

    def keep_instead(self, state: object, chat: str = "one") -> None:
        stored = self._chats[chat]["data"]["state"]
        stored.pop("satchel", None)
        if state is not None:
            stored["satchel"] = state


class SwarmRig:
    """Two agents, the first of which may hand over; for one conversation."""

    def __init__(self, swarm: Swarm, seen: list[suite.Seen]) -> None:
        self.swarm = swarm
        self.seen = seen

    async def say(
        self, text: str, *, who: Mapping[str, Any] | None = None, mode: Mode = "async"
    ) -> str:
        result = await run(self.swarm, text, who or {}, mode)
        return str(result.results["second"].result).strip()


class Strands:
    """Builds agents of Strands."""

    name = "strands"
    distribution = "strands-agents"
    limits: Mapping[str, str] = {
        "test_two_users_at_once": "a Strands agent holds one conversation and refuses a"
        " run while another lasts (ConcurrencyException)",
        "test_fifty_users_at_once": "a Strands agent holds one conversation and refuses"
        " a run while another lasts (ConcurrencyException); an agent for each, with one"
        " plugin for all fifty, does it: tests/adapters/test_strands.py",
    }

    def build(self, setup: Setup) -> Rig:
        seen: list[suite.Seen] = []
        return StrandsRig(agent_of(setup, seen), seen)

    def build_pair(self, first: Setup, second: Setup) -> Rig:
        seen: list[suite.Seen] = []
        pair = ("first", first), ("second", second)
        agents = [agent_of(setup, seen, name=name) for name, setup in pair]
        return cast("Rig", SwarmRig(Swarm(agents, entry_point=agents[0]), seen))

    async def attach_twice(self, setup: Setup) -> None:
        twice = [plugin(setup), plugin(setup)]
        model = FakeModel(setup.model, [])
        await Agent(model=model, plugins=twice).invoke_async("hi")

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        return tool(name=name)(function)


DRIVER = Strands()
