"""Drives the Claude Agent SDK: its own Claude Code, and a fake of Anthropic's API.

The SDK comes with the program that it starts. That program is given an address of this
machine in place of the real API, a folder of its own for all that it keeps, and a proxy
that refuses, so that nothing leaves the machine.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import tempfile
import threading
import weakref
from dataclasses import dataclass, field, replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast
from uuid import uuid4

from claude_agent_sdk import (
    AgentDefinition,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    InMemorySessionStore,
    ResultMessage,
    SdkMcpTool,
    create_sdk_mcp_server,
    project_key_for_directory,
)

from satchel.adapters.claude_agent_sdk import attach
from satchel.tools import result_text, tool_from_function
from tests.adapters import driver as suite
from tests.adapters.providers import (
    assistant,
    blocks_in,
    blocks_of,
    message_of,
    streamed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Mapping
    from concurrent.futures import Future

    from satchel.model import Reply
    from tests.adapters.driver import Mode, Model, Rig, Setup

Result = TypeVar("Result")
AT_ONCE: Final = 4
"""Programs that run at once; each takes some 200 MB."""

# What Claude Code itself puts before and behind what others write.
_ITS_OWN: Final = (
    "x-anthropic-billing-header",
    "You are a Claude agent",
    "<system-reminder>\n# Environment",
    "<system-reminder>\nYou are powered by",
    "<system-reminder>\n<total_tokens>",
    "<system-reminder>\nToday's date",
    "This session is being continued from a previous conversation",
    "Continue from where you left off.",
    "<command-name>/compact",
    "<local-command-",
)
_BY_SERVER: Final = "Claude Code names tools by their servers: two never meet"
_SORTED: Final = (
    "Claude Code sorts tools by name: what opens stands behind Satchel's own, but "
    "among what other skills opened"
)
_HIDDEN: Final = (
    "Claude Code may clear old results for a model and says so to nobody: a skill that "
    "is loaded again is given in full"
)
_SUMMARY: Final = "CRITICAL: Respond with TEXT ONLY"


@cache
def _home() -> Path:
    """Return the folder that Claude Code has for its home, in this process."""
    home = Path(tempfile.mkdtemp(prefix="satchel-claude-"))
    atexit.register(rmtree, home, ignore_errors=True)
    return home


def environment(port: int) -> dict[str, str]:
    """Return what makes Claude Code ask a port of this machine, and nobody else."""
    nobody = "http://127.0.0.1:9"
    return {
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_AUTH_TOKEN": "",
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_OAUTH_TOKEN": "",
        "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS": "500",
        "CLAUDE_CODE_TMPDIR": str(_home()),
        "CLAUDE_CONFIG_DIR": str(_home() / "config"),
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
        "HOME": str(_home()),
        "HTTPS_PROXY": nobody,
        "HTTP_PROXY": nobody,
        "NO_PROXY": "127.0.0.1",
        "TMPDIR": str(_home()),
    }


class FakeApi(ThreadingHTTPServer):
    """Answers for Anthropic's API with what a model of the suite says."""

    daemon_threads = True

    def __init__(self, model: Model, seen: list[suite.Seen]) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.model = model
        self.seen = seen
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def say(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the blocks of the model's message."""
        if _SUMMARY in json.dumps(request["messages"][-1]):
            return [{"type": "text", "text": "<summary>Nothing yet.</summary>"}]
        seen = _shown(request)
        self.seen.append(seen)
        output = self.model(seen)
        names = {_short(tool["name"]): tool["name"] for tool in request["tools"]}
        blocks = blocks_of(output, uuid4().hex)
        for block in blocks:
            if block["type"] == "tool_use":
                name = block["name"]
                if name == "delegate":
                    chosen = {"subagent_type": "second", "run_in_background": False}
                    block["input"] |= chosen
                block["name"] = names.get(_short(name), f"mcp__satchel__{name}")
        return blocks


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        request = json.loads(self.rfile.read(length))
        if self.path.partition("?")[0] != "/v1/messages":
            self._send("application/json", b'{"input_tokens": 1}')
            return
        blocks = cast("FakeApi", self.server).say(request)
        message = message_of(blocks, uuid4().hex)
        self._send("text/event-stream", streamed(message))

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _shown(request: Mapping[str, Any]) -> suite.Seen:
    tools = {_short(tool["name"]): tool["input_schema"] for tool in request["tools"]}
    system = [each["text"] for each in request["system"]]
    return suite.Seen(
        system="\n".join(text for text in system if not text.startswith(_ITS_OWN)),
        tools=tuple(tools),
        schemas=tools,
        messages=tuple(_messages(request["messages"])),
    )


def _short(name: str) -> str:
    """Return a tool's name without that of its server."""
    if name == "Agent":  # as the suite wants what hands over to be called
        return "delegate"
    return name.rpartition("__")[2] if name.startswith("mcp__") else name


def _messages(given: list[dict[str, Any]]) -> Iterator[suite.Message]:
    asked: dict[str, int] = {}
    for message in given:
        blocks = blocks_in(message["content"])
        calls = [block for block in blocks if block["type"] == "tool_use"]
        asked |= {call["id"]: len(asked) + at for at, call in enumerate(calls)}
        texts = [
            block["text"]
            for block in blocks
            if block["type"] == "text" and not block["text"].startswith(_ITS_OWN)
        ]
        results = [block for block in blocks if block["type"] == "tool_result"]
        # Claude Code puts calls of one step in the order in which they ended.
        for block in sorted(results, key=lambda result: asked[result["tool_use_id"]]):
            yield suite.Message("tool", _result(block["content"]))
        if message["role"] == "assistant":
            yield assistant(" ".join(texts), blocks)
        for text in texts if message["role"] == "user" else ():
            is_told = text.startswith("<system-reminder>")
            yield suite.Message("other" if is_told else "user", text)


def _result(content: str | list[dict[str, Any]]) -> str:
    """Return a tool's result, without what Claude Code puts behind it."""
    texts = [block["text"] for block in blocks_in(content)]
    stored = [text for text in texts if not text.startswith(_ITS_OWN)]
    return "\n".join(stored).partition("\n\n<system-reminder>")[0].rstrip("\n")


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """Return the event loop that all clients live in, in a thread of its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


@dataclass
class Chat:
    """A conversation: its id once there is one, its client while it is connected."""

    session_id: str | None = None
    client: ClaudeSDKClient | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def leave(self) -> None:
        client, self.client = self.client, None
        if client is not None:
            await client.disconnect()


@dataclass
class ClaudeRig:
    """Clients with the same options, one for each conversation."""

    setup: Setup
    options: ClaudeAgentOptions
    seen: list[suite.Seen]
    chats: dict[str, Chat] = field(default_factory=dict[str, Chat])

    def __post_init__(self) -> None:
        self.store = InMemorySessionStore()
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def say(
        self,
        text: str,
        *,
        chat: str = "one",
        who: Mapping[str, Any] | None = None,
        mode: Mode = "async",
    ) -> str | suite.Paused:
        """Say it; the SDK has no sync call, so "sync" is one that waits in a thread."""
        output = self._say(text, chat, dict(who or {}), mode)
        running = _begin(output)
        if mode == "sync":
            return await asyncio.to_thread(running.result)
        return await asyncio.wrap_future(running)

    async def decide(
        self,
        paused: suite.Paused,
        *,
        approve: bool,
        words: str = "",
        arguments: Mapping[str, object] | None = None,
    ) -> str | suite.Paused:
        state = paused.state
        self.chats.setdefault(state["chat"], Chat()).session_id = state["session_id"]
        reply = suite.Answer(approve, words, arguments).reply()
        answers = {state["call"]: reply}
        output = self._say(None, state["chat"], state["who"], "async", answers)
        return await asyncio.wrap_future(_begin(output))

    def save(self, chat: str = "one") -> str:
        session_id = self.chats[chat].session_id
        return json.dumps([session_id, self.store.get_entries(self._key(session_id))])

    def restore(self, saved: str, chat: str = "one") -> None:
        session_id, entries = json.loads(saved)
        self.chats[chat] = Chat(session_id)
        _wait(self.store.append(self._key(session_id), entries))

    def trim(self, chat: str = "one") -> None:
        """Have Claude Code compact the conversation."""
        client = self.chats[chat].client
        assert client is not None

        async def compact() -> None:
            await client.query("/compact")
            async for _ in client.receive_response():
                pass

        _wait(compact())

    def keep_instead(self, state: object, chat: str = "one") -> None:
        """Do nothing: the transcript is all that is kept."""

    def _key(self, session_id: str | None) -> Any:
        folder = project_key_for_directory(self.options.cwd)
        return {"project_key": folder, "session_id": session_id}

    async def _say(
        self,
        text: str | None,
        name: str,
        who: dict[str, Any],
        mode: Mode,
        answers: Mapping[str, Reply] | None = None,
    ) -> str | suite.Paused:
        chat = self.chats.setdefault(name, Chat())
        async with self._turns, chat.turn:
            await self._make_room()
            if chat.client is None:
                chat.client = await self._connected(chat, who, mode, answers)
            if text is not None:
                await chat.client.query(text)
            try:
                result = await _result_of(chat.client)
            except asyncio.CancelledError:
                await chat.leave()  # as an `async with` of the client does
                raise
            chat.session_id = result.session_id
            waits = result.deferred_tool_use
            if waits is None:
                return result.result or ""
            await chat.leave()
        state = {"chat": name, "session_id": chat.session_id, "who": who}
        state["call"] = waits.id
        return suite.Paused(_short(waits.name), waits.input, state)

    async def _connected(
        self,
        chat: Chat,
        who: dict[str, Any],
        mode: Mode,
        answers: Mapping[str, Reply] | None,
    ) -> ClaudeSDKClient:
        options = replace(self.options, resume=chat.session_id)
        options.include_partial_messages = mode == "stream"
        given = {"who": who, "answers": answers, **self.setup.options_of(lambda _: who)}
        client = attach(self.setup.skills, to=ClaudeSDKClient(options), **given)
        await client.connect()
        return client

    async def _make_room(self) -> None:
        """Disconnect clients that nobody has spoken with lately."""
        idle = [c for c in self.chats.values() if c.client and not c.turn.locked()]
        for chat in idle[:-AT_ONCE]:
            await chat.leave()


async def _result_of(client: ClaudeSDKClient) -> ResultMessage:
    result = [m async for m in client.receive_response()][-1]
    assert isinstance(result, ResultMessage), result
    return result


def _begin(coroutine: Coroutine[Any, Any, Result]) -> Future[Result]:
    return asyncio.run_coroutine_threadsafe(coroutine, _loop())


def _wait(coroutine: Coroutine[Any, Any, Any]) -> None:
    _begin(coroutine).result()


def _leave(chats: dict[str, Chat], leaving: set[Future[None]]) -> None:
    """Begin to disconnect clients; anyone who closes the driver waits for it."""
    for chat in chats.values():
        leaving.add(_begin(chat.leave()))


def own_tool(function: Callable[..., object]) -> SdkMcpTool[Any]:
    """Return the SDK's own tool around a function."""
    made = tool_from_function(function)

    async def handler(arguments: dict[str, Any]) -> dict[str, Any]:
        text = result_text(await made.acall(arguments))
        return {"content": [{"type": "text", "text": text}]}

    schema = dict(made.parameters)
    return SdkMcpTool(made.name, made.description, schema, handler)


def options_of(setup: Setup, seen: list[suite.Seen]) -> ClaudeAgentOptions:
    """Return options for the fake API, with the application's own tools."""
    folder = Path(tempfile.gettempdir()) / "satchel-claude"
    folder.mkdir(exist_ok=True)
    own = [own_tool(function) for function in setup.own_tools]
    options = ClaudeAgentOptions(
        tools=[],
        system_prompt=setup.base,
        setting_sources=[],
        cwd=folder,
        env=environment(FakeApi(setup.model, seen).server_port),
        model="claude-sonnet-4-5",
    )
    if own:
        options.mcp_servers = {"desk": create_sdk_mcp_server("desk", tools=own)}
        options.allowed_tools = ["mcp__desk"]
    return options


_ONE_DEFERRED = (
    "Claude Code defers one call of a step; another is refused, to be made again;"
    " with can_use_tool each is asked for by itself"
)


class ClaudeAgentSdk:
    """Builds clients of the Claude Agent SDK."""

    name = "claude_agent_sdk"
    distribution = "claude-agent-sdk"
    lacks: Mapping[str, str] = {
        "advice": "Claude Code answers a call of a tool that is not listed by itself"
    }
    limits: Mapping[str, str] = {
        "test_a_hand_off": (
            "a sub-agent has the MCP servers and tools of its session: it cannot have "
            "skills that the main agent has not"
        ),
        "test_a_tool_of_a_skills_name_is_loud": _BY_SERVER,
        "test_a_carried_tool_of_an_own_name_is_loud": _BY_SERVER,
        "test_a_file_read_again_is_a_note": _HIDDEN,
        "test_calls_of_one_id_in_one_conversation": (
            "Claude Code takes a later call of an id for the one that was answered"
        ),
        "test_carried_tools_stay_open": _SORTED,
        "test_loaded_again_is_a_note": _HIDDEN,
        "test_results_of_own_tools_change_nothing": _HIDDEN,
        "test_each_call_is_approved_by_itself": _ONE_DEFERRED,
        "test_prompt_and_tool_order_are_stable": _SORTED,
        "test_two_equal_calls_and_one_yes": _ONE_DEFERRED,
        "test_a_question_says_what_is_asked": (
            "a deferred call has its id, name and arguments; Claude Code shows the text"
            " that goes with it to nobody; with can_use_tool it is asked with it"
        ),
    }

    def __init__(self) -> None:
        self._leave: set[weakref.finalize[Any, Any]] = set()
        self._leaving: set[Future[None]] = set()

    def close(self) -> None:
        """Disconnect anyone who is connected."""
        for leave in self._leave:
            leave()
        for done in self._leaving:
            done.result()

    def build(self, setup: Setup) -> ClaudeRig:
        os.environ.setdefault("CLAUDE_CONFIG_DIR", str(_home() / "config"))
        seen: list[suite.Seen] = []
        options = options_of(setup, seen)
        given = setup.options_of(lambda _: {})
        attach(setup.skills, to=options, **given)  # as each chat does
        rig = ClaudeRig(setup, options, seen)
        rig.options.session_store = rig.store
        self._leave.add(weakref.finalize(rig, _leave, rig.chats, self._leaving))
        return rig

    def build_pair(self, first: Setup, second: Setup) -> Rig:
        def model(seen: suite.Seen) -> suite.Say:
            asked = second if second.base in seen.system else first
            return asked.model(seen)

        own = (*first.own_tools, *second.own_tools)  # those of a session are of both
        both = suite.Setup(first.skills, model, first.base, own, first.options)
        rig = self.build(both)
        agent = AgentDefinition("The second desk.", second.base, background=False)
        rig.options.agents = {"second": agent}
        rig.options.tools = ["Agent"]
        return rig

    async def attach_twice(self, setup: Setup) -> None:
        options = options_of(setup, [])
        attach(setup.skills, to=attach(setup.skills, to=options))

    def native_tool(self, name: str, function: Callable[..., object]) -> object:
        return replace(own_tool(function), name=name)


DRIVER = ClaudeAgentSdk()
