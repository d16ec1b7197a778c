"""Satchel on the Claude Agent SDK: MCP servers in this process, and hooks.

::

    client = attach(skills, to=ClaudeSDKClient(options))

What a conversation has loaded is read from its transcript, which Claude Code keeps, or
from the ``session_store``. Where the policy says ask, ``can_use_tool`` is called; else
the run ends with a ``deferred_tool_use``, to be resumed with its answer.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

from satchel.adapters._base import Conversation, SessionFactory, framework, is_error
from satchel.errors import DuplicateToolError
from satchel.model import Reply, SeenMessage
from satchel.runtime import LOAD_TOOLS, READ_TOOL, question_text
from satchel.tools import Tool, result_text

if TYPE_CHECKING:
    from typing import Unpack

    from satchel.protocols import Approval
    from satchel.runtime import Satchel, Session, SessionOptions

with framework("Claude Agent SDK", "claude-agent-sdk"):
    from claude_agent_sdk import (
        ClaudeAgentOptions,
        ClaudeSDKClient,
        HookCallback,
        HookMatcher,
        McpSdkServerConfig,
        PermissionResult,
        PermissionResultAllow,
        SdkMcpTool,
        SessionMessage,
        ToolPermissionContext,
        create_sdk_mcp_server,
        get_session_messages,
        get_session_messages_from_store,
    )
    from mcp import types
    from mcp.server.lowlevel import Server

__all__ = ["attach"]

To = TypeVar("To", bound="ClaudeAgentOptions | ClaudeSDKClient")
Who: TypeAlias = (
    "Mapping[str, Any] | Callable[[ClaudeAgentOptions], Mapping[str, Any]] | None"
)
Deps: TypeAlias = "Callable[[ClaudeAgentOptions], object] | None"
Given: TypeAlias = Mapping[str, Any]
Said: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, str]
"""The ids of a conversation, and of a sub-agent within it; empty for the main one."""

_SERVER: Final = "satchel"
_OPENED: Final = "satchel_skills"
"""Serves what skills carry, so that it alone is asked anew when one is loaded; Claude
Code sorts tools by name, and so these stand behind those that are always there."""
_PREFIXES: Final = (f"mcp__{_SERVER}__", f"mcp__{_OPENED}__")
_READS: Final = {READ_TOOL, "find_skills", *(name for name, _ in LOAD_TOOLS.values())}
_META: Final = {"anthropic/maxResultSizeChars": 500_000}
"""Longer results go into files; this is the most that Claude Code keeps in place."""
_ONE_AT_A_TIME: Final = "approval-required: another waits; then make this one again"
"""Claude Code keeps one deferred call of a step, and drops others without a word."""
_TALKS: Final = 1024
"""Conversations that are held at once; others are read from their transcripts anew."""


def attach(
    skills: Satchel,
    *,
    to: To,
    who: Who = None,
    deps: Deps = None,
    answers: Mapping[str, Approval] | None = None,
    **options: Unpack[SessionOptions],
) -> To:
    """Return a copy of a client that is not connected yet, or of options.

    The tools of a skill open within the run only where this is given a client: it is
    the client that has Claude Code look for them. With options alone, as for ``query``,
    they open with the next run of the conversation. Options hold a system prompt, so
    attach for each conversation.

    Args:
        skills: What is attached.
        to: What it is attached to.
        who: For whom a run is, or what tells it from the options.
        deps: What tells the objects that tools are given from the options.
        answers: What somebody said to a call that was deferred, by the id of its
            ``deferred_tool_use``: True, False, or a `satchel.model.Reply` with words
            for the model or other arguments; for options that ``resume`` its
            conversation.
        options: As for `satchel.Satchel.session`. With ``approve`` it alone is asked.

    Raises:
        DuplicateToolError: The options have a server of one of these names already.
        TypeError: Their ``mcp_servers`` or ``system_prompt`` is a file; an argument is
            not known, or of another type.
        ValueError: No style has that name.
    """
    client = copy(to) if isinstance(to, ClaudeSDKClient) else None
    given = cast("ClaudeAgentOptions", client.options if client else to)
    shared: SessionFactory[ClaudeAgentOptions] = SessionFactory(
        skills, who, deps, options
    )
    sessions = _Skills(shared, given, answers or {}, client)
    if client is None:
        return cast("To", sessions.options())
    client.options = sessions.options()
    return cast("To", client)


@dataclass
class _Talk:
    """One conversation of an agent, or of a sub-agent within one."""

    conversation: Conversation
    history: list[SeenMessage] = field(default_factory=list[SeenMessage])

    @property
    def session(self) -> Session:
        return self.conversation.session

    def add(self, *seen: SeenMessage) -> None:
        self.history += seen
        self.conversation.see(self.history)


@dataclass
class _Skills:
    """Serves the conversations that are held with one set of options."""

    shared: SessionFactory[ClaudeAgentOptions]
    given: ClaudeAgentOptions
    answers: Mapping[str, Approval]
    client: ClaudeSDKClient | None

    def __post_init__(self) -> None:
        self._talks: OrderedDict[Key, _Talk] = OrderedDict()
        self._calls: dict[str, Key] = {}
        self._waiting: set[Key] = set()
        self._replies = dict(self.answers)
        self._listed: set[str] = set()
        self._speaks = self.given.resume or ""
        first = self.shared.open(self.given)
        self._first, self._start = first.session, first.keep()

    def options(self) -> ClaudeAgentOptions:
        """Return the options with the section, the tools and what follows them."""
        given, servers = self.given, self.given.mcp_servers
        if not self._first.instructions() and not self._first.tools():
            return replace(given)
        if not isinstance(servers, dict):
            raise TypeError("mcp_servers is a file; give its servers as a dict")
        ours = dict(servers)
        for name, listing in ((_SERVER, self._first_tools), (_OPENED, self._opened)):
            if name in servers:
                raise DuplicateToolError(name, "the agent's servers", "satchel")
            server = Server(name, on_list_tools=listing, on_call_tool=self._call_tool)
            ours[name] = McpSdkServerConfig(type="sdk", name=name, instance=server)
        hooks: dict[Any, list[HookMatcher]] = dict(given.hooks or {})
        for event, matcher, hook in self._hooks():
            entry = HookMatcher(matcher, [cast("HookCallback", hook)])
            hooks[event] = [*hooks.get(event, ()), entry]
        return replace(
            given,
            system_prompt=_with(given.system_prompt, self._first),
            mcp_servers=ours,
            hooks=hooks,
            can_use_tool=self._asked if given.can_use_tool else None,
        )

    def _hooks(
        self,
    ) -> Iterator[tuple[str, str | None, Callable[..., Awaitable[Said]]]]:
        yield "UserPromptSubmit", None, self._on_prompt
        yield "PreToolUse", "|".join(f"{each}.*" for each in _PREFIXES), self._on_call
        yield "PostToolBatch", None, self._on_results
        yield "SessionStart", "compact", self._on_compaction
        yield "SubagentStart", None, self._on_subagent

    async def _conversation(self, session_id: str, agent_id: str = "") -> _Talk:
        """Return a conversation, read from its transcript where it is not known."""
        key = session_id, agent_id
        if key not in self._talks:
            opened = asyncio.to_thread(self.shared.open, self.given, self._start)
            conversation = _Talk(await opened)
            if session_id and not agent_id:
                conversation.add(*_seen(await self._messages(session_id)))
            self._talks.setdefault(key, conversation)
            if len(self._talks) > _TALKS:
                self._talks.popitem(last=False)
        self._talks.move_to_end(key)
        return self._talks[key]

    async def _messages(self, session_id: str) -> list[SessionMessage]:
        store = self.given.session_store
        folder = str(self.given.cwd) if self.given.cwd else None
        if store is not None:
            return await get_session_messages_from_store(store, session_id, folder)
        return await asyncio.to_thread(get_session_messages, session_id, folder)

    async def _first_tools(self, *_: object) -> types.ListToolsResult:
        """List the tools that are there before anything is loaded."""
        tools = [await _listing(tool) for tool in self._first.tools()]
        return types.ListToolsResult(tools=tools)

    async def _opened(self, *_: object) -> types.ListToolsResult:
        """List what has opened in the conversation that is on, or in a part of it."""
        if self._speaks:
            await self._conversation(self._speaks)
        talks = [
            conversation
            for key, conversation in self._talks.items()
            if key[0] == self._speaks
        ]
        opened = {
            tool.name: tool
            for conversation in talks
            for tool in self._new_in(conversation)
        }
        self._listed = {*opened}
        tools = [await _listing(tool) for tool in opened.values()]
        return types.ListToolsResult(tools=tools)

    def _new_in(self, conversation: _Talk) -> list[Tool]:
        first = {tool.name for tool in self._first.tools()}
        tools = conversation.conversation.tools()
        return [tool for tool in tools if tool.name not in first]

    async def _call_tool(
        self, context: object, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Carry out a call. Never raises: what goes wrong is a result."""
        call = str((params.meta or {}).get("claudecode/toolUseId", ""))
        conversation = await self._conversation(
            *self._calls.pop(call, (self._speaks, ""))
        )
        name, arguments = params.name, params.arguments or {}
        how: Any = {"approved": self._replies.pop(call, None), "call_id": call}
        tool = conversation.conversation.tool(name)
        if tool is not None and isinstance(tool.native, SdkMcpTool):
            permit = await conversation.conversation.apermit(name, arguments, **how)
            result = permit.refusal
            if result is None:
                given = params.model_copy(update={"arguments": {**permit.arguments}})
                done = await _served(tool.native, "tools/call", context, given)
                return cast("types.CallToolResult", done)
        else:
            result = await conversation.conversation.acall(name, arguments, **how)
        text = types.TextContent(text=result_text(result))
        conversation.add(SeenMessage("tool", text.text, name, arguments))
        return types.CallToolResult(content=[text], is_error=is_error(result))

    async def _on_prompt(self, given: Given, *_: object) -> Said:
        """Begin a turn."""
        self._speaks = given["session_id"]
        self._waiting -= {key for key in self._waiting if key[0] == self._speaks}
        conversation = await self._conversation(self._speaks)
        conversation.conversation.begin_turn()
        conversation.add(SeenMessage("user"))
        await self._show_opened(conversation)
        return {}

    async def _on_call(self, given: Given, call: str, _: object) -> Said:
        """Allow a call, or have somebody asked."""
        key = given["session_id"], given.get("agent_id", "")
        conversation = (await self._conversation(*key)).conversation
        name, arguments = _short(given["tool_name"]), given["tool_input"]
        self._calls[call] = key
        question = conversation.question(name, arguments)
        if question is None:
            return _permission("allow")
        if call in self.answers:
            answer = self.answers[call]
            if _is_yes(answer):
                return _permission("allow")
            said = conversation.session.refusal(name, arguments, approved=answer)
            return _permission("deny", result_text(said))
        text = question_text(question)
        if self.given.can_use_tool:
            return _permission("ask", text)
        if key in self._waiting:
            return _permission("deny", _ONE_AT_A_TIME)
        self._waiting.add(key)
        return _permission("defer", text)

    async def _asked(
        self, name: str, arguments: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResult:
        """Ask the application's own callback, and note what it allows of ours."""
        ask = cast(
            "Callable[..., Awaitable[PermissionResult]]", self.given.can_use_tool
        )
        answer = await ask(name, arguments, context)
        call = context.tool_use_id or ""
        if isinstance(answer, PermissionResultAllow) and call in self._calls:
            self._replies[call] = True
        return answer

    async def _on_results(self, given: Given, *_: object) -> Said:
        """Show the tools that have opened, before the next call of the model."""
        key = given["session_id"], given.get("agent_id", "")
        await self._show_opened(await self._conversation(*key))
        return {}

    async def _on_compaction(self, given: Given, *_: object) -> Said:
        """State again what is in use: no message shows it any more."""
        conversation = await self._conversation(given["session_id"])
        conversation.history.clear()
        conversation.add()
        reinjected = await asyncio.to_thread(conversation.session.reinjected)
        return _context("SessionStart", reinjected)

    async def _on_subagent(self, given: Given, *_: object) -> Said:
        """Show the catalog to a sub-agent that has the tools for it."""
        agent = (self.given.agents or {}).get(given["agent_type"])
        tools = [_PREFIXES[0]] if agent is None or agent.tools is None else agent.tools
        has_ours = any(tool.startswith(f"mcp__{_SERVER}") for tool in tools)
        return _context("SubagentStart", self._first.instructions()) if has_ours else {}

    async def _show_opened(self, conversation: _Talk) -> None:
        """Have Claude Code list the tools of skills again, if there are new ones."""
        if {tool.name for tool in self._new_in(conversation)} <= self._listed:
            return
        if self.client is not None:
            await self.client.toggle_mcp_server(_OPENED, enabled=False)
            await self.client.toggle_mcp_server(_OPENED, enabled=True)


def _is_yes(answer: Approval) -> bool:
    if isinstance(answer, Reply):
        answer = answer.answer
    return answer is True or answer in ("yes_once", "yes_in_session")


def _with(given: Any, session: Session) -> Any:  # noqa: ANN401 - text, or its dicts
    """Return a system prompt with the session's part behind it."""
    if given is None or isinstance(given, str):
        return session.instructions(given or "")
    key = {"preset": "append", "custom": "prompt"}.get(given["type"])
    if key is None:
        raise TypeError("system_prompt is a file; give its text")
    return {**given, key: session.instructions(given.get(key, ""))}


def _seen(messages: Iterable[SessionMessage]) -> Iterator[SeenMessage]:
    """Yield what a session reads of a transcript: results, of the rest the role."""
    calls: dict[str, Given] = {}
    for message in messages:
        content = message.message.get("content")
        blocks = content if isinstance(content, list) else []
        results = [block for block in blocks if block["type"] == "tool_result"]
        calls |= {each["id"]: each for each in blocks if each["type"] == "tool_use"}
        for block in results:
            call = calls.get(block["tool_use_id"], {})
            name = _short(call.get("name", ""))
            yield SeenMessage("tool", _text(block), name, call.get("input", {}))
        if not results:
            yield SeenMessage(message.type)


def _short(name: str) -> str:
    """Return the name of one of our tools without that of its server."""
    return name.removeprefix(_PREFIXES[0]).removeprefix(_PREFIXES[1])


def _text(result: Given) -> str:
    said = result.get("content") or ""
    return said if isinstance(said, str) else "\n".join(b.get("text", "") for b in said)


async def _listing(tool: Tool) -> types.Tool:
    """Return a tool as a server lists it; a native one as its own server would."""
    if isinstance(tool.native, SdkMcpTool):
        listed = await _served(tool.native, "tools/list", None, None)
        return cast("types.ListToolsResult", listed).tools[0]
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.parameters),
        annotations=types.ToolAnnotations(read_only_hint=tool.name in _READS),
        _meta=_META,
    )


async def _served(
    tool: SdkMcpTool[Any], method: str, context: object, params: object
) -> object:
    """Have a server of the SDK list or call its own tool."""
    server: Any = create_sdk_mcp_server(_OPENED, tools=[tool])["instance"]
    return await server.get_request_handler(method).handler(context, params)


def _permission(decision: str, reason: str = "") -> Said:
    said = {"permissionDecisionReason": reason} if reason else {}
    specific = {"hookEventName": "PreToolUse", "permissionDecision": decision, **said}
    return {"hookSpecificOutput": specific}


def _context(event: str, text: str) -> Said:
    told = {"hookEventName": event, "additionalContext": text}
    return {"hookSpecificOutput": told} if text else {}
