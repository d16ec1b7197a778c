"""Satchel on the Claude Agent SDK: an MCP server in this process, and hooks.

::

    client = attach(skills, to=ClaudeSDKClient(options))

What a conversation has loaded is read from its transcript, which Claude Code keeps, or
from the ``session_store``. Where the policy says ask, ``can_use_tool`` is asked; without
one the run ends with a ``deferred_tool_use``, to be resumed with its answer.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, overload

from satchel.adapters import framework
from satchel.errors import DuplicateToolError
from satchel.model import Seen
from satchel.runtime.conversation.history import LOAD_TOOLS, READ_TOOL
from satchel.tools import Tool, result_text

if TYPE_CHECKING:
    from typing import Unpack

    from satchel.runtime.front import Satchel
    from satchel.runtime.session import Session, SessionOptions

with framework("Claude Agent SDK", "claude-agent-sdk"):
    from claude_agent_sdk import (
        ClaudeAgentOptions,
        ClaudeSDKClient,
        HookMatcher,
        McpSdkServerConfig,
        PermissionResultAllow,
        SdkMcpTool,
        SessionMessage,
        create_sdk_mcp_server,
        get_session_messages,
        get_session_messages_from_store,
    )
    from mcp import types
    from mcp.server.lowlevel import Server

__all__ = ["attach"]

Who: TypeAlias = (
    "Mapping[str, Any] | Callable[[ClaudeAgentOptions], Mapping[str, Any]] | None"
)
Deps: TypeAlias = "Callable[[ClaudeAgentOptions], object] | None"
Hook: TypeAlias = "Callable[[Any, str | None, Any], Awaitable[Any]]"

_SERVER: Final = "satchel"
_OPENED: Final = "satchel_skills"
"""Serves what skills carry, so that it alone is asked anew when a skill is loaded;
Claude Code sorts tools by name, and so these stand behind those that are always there."""
_OURS: Final = ("mcp__satchel__", "mcp__satchel_skills__")
_CALL_ID: Final = "claudecode/toolUseId"
_READS: Final = {READ_TOOL, "find_skills", *(name for name, _ in LOAD_TOOLS.values())}
_META: Final = {"anthropic/maxResultSizeChars": 500_000}
"""Claude Code puts longer results into files; this is the most that it keeps."""
_TALKS: Final = 1024
"""Conversations that are held at once; others are read from their transcripts anew."""


@overload
def attach(
    skills: Satchel,
    *,
    to: ClaudeSDKClient,
    who: Who = None,
    deps: Deps = None,
    answers: Mapping[str, bool] | None = None,
    **options: Unpack[SessionOptions],
) -> ClaudeSDKClient: ...


@overload
def attach(
    skills: Satchel,
    *,
    to: ClaudeAgentOptions | None = None,
    who: Who = None,
    deps: Deps = None,
    answers: Mapping[str, bool] | None = None,
    **options: Unpack[SessionOptions],
) -> ClaudeAgentOptions: ...


def attach(
    skills: Satchel,
    *,
    to: ClaudeSDKClient | ClaudeAgentOptions | None = None,
    who: Who = None,
    deps: Deps = None,
    answers: Mapping[str, bool] | None = None,
    **options: Unpack[SessionOptions],
) -> ClaudeSDKClient | ClaudeAgentOptions:
    """Return a copy of a client that is not connected yet, or of options.

    The tools of a skill open within the run only where it is given a client: it is the
    client that makes Claude Code look for them. With options alone, as for ``query``,
    they open with the conversation's next run. Attach for each conversation: options
    hold its system prompt.

    Args:
        skills: What is attached.
        to: What it is attached to; by default options with nothing in them.
        who: For whom a run is, or what tells it from the options.
        deps: What tells the objects that tools are given from the options.
        answers: Whether a call that was deferred is approved, by its
            ``deferred_tool_use.id``; for options that ``resume`` its conversation.
        options: As for `satchel.Satchel.session`. With ``approve`` nobody else is asked.

    Raises:
        DuplicateToolError: The options have a server of this name already.
        ValueError: Their ``mcp_servers`` or ``system_prompt`` is a file.
    """
    client = to if isinstance(to, ClaudeSDKClient) else None
    given = client.options if client else to or ClaudeAgentOptions()
    attached = _Skills(skills, given, who, deps, answers or {}, options)
    if client is None:
        return attached.options()
    made = attached.client = copy(client)
    made.options = attached.options()
    return made


@dataclass
class _Talk:
    """One conversation of an agent, or of a sub-agent within one."""

    session: Session
    history: list[Seen] = field(default_factory=list)
    turn: ExitStack = field(default_factory=ExitStack)

    def add(self, *seen: Seen) -> None:
        self.history += seen
        self.session.see(self.history)


class _Skills:
    """Serves the conversations that are held with one set of options."""

    def __init__(
        self,
        skills: Satchel,
        given: ClaudeAgentOptions,
        who: Who,
        deps: Deps,
        answers: Mapping[str, bool],
        options: SessionOptions,
    ) -> None:
        self.client: ClaudeSDKClient | None = None
        self._skills = skills
        self._given = given
        self._who = who(given) if callable(who) else who
        self._deps = deps(given) if deps else None
        self._answers = answers
        self._options = options
        self._talks: OrderedDict[tuple[str, str], _Talk] = OrderedDict()
        self._calls: dict[str, tuple[str, str]] = {}
        self._approved = {call for call, yes in answers.items() if yes}
        self._first = self._open(None)
        self._start = self._first.dump()
        self._listed: set[str] = set()
        self._speaks = given.resume or ""

    def options(self) -> ClaudeAgentOptions:
        """Return the options with the section, the tools and what follows them."""
        given, text = self._given, self._first.instructions()
        if not text and not self._first.tools():
            return replace(given)
        servers = given.mcp_servers
        if not isinstance(servers, dict):
            raise TypeError("mcp_servers is a file; give its servers as a dict")
        for name in (_SERVER, _OPENED):
            if name in servers:
                raise DuplicateToolError(name, "the agent's servers", "satchel")
        ours = {
            _SERVER: Server(
                _SERVER, on_list_tools=self._list_first, on_call_tool=self._call_tool
            ),
            _OPENED: Server(
                _OPENED, on_list_tools=self._list_opened, on_call_tool=self._call_tool
            ),
        }
        hooks: dict[Any, list[HookMatcher]] = dict(given.hooks or {})
        for event, matcher, hook in self._hooks():
            hooks[event] = [*hooks.get(event, ()), HookMatcher(matcher, [hook])]
        return replace(
            given,
            system_prompt=_with(given.system_prompt, self._first),
            mcp_servers=servers
            | {
                name: McpSdkServerConfig(type="sdk", name=name, instance=server)
                for name, server in ours.items()
            },
            hooks=hooks,
            can_use_tool=self._asked if given.can_use_tool else None,
        )

    def _hooks(self) -> Iterator[tuple[str, str | None, Hook]]:
        yield "UserPromptSubmit", None, self._on_prompt
        yield "PreToolUse", "|".join(f"{each}.*" for each in _OURS), self._on_call
        yield "PostToolBatch", None, self._on_results
        yield "SessionStart", "compact", self._on_compaction
        yield "SubagentStart", None, self._on_subagent

    # Conversations

    def _open(self, state: Mapping[str, object] | None) -> Session:
        return self._skills.session(
            who=self._who, deps=self._deps, resume=state, **self._options
        )

    async def _talk(self, session_id: str, agent_id: str = "") -> _Talk:
        """Return a conversation, read from its transcript where it is not known."""
        key = session_id, agent_id
        if key not in self._talks:
            talk = _Talk(await asyncio.to_thread(self._open, self._start))
            if session_id and not agent_id:
                talk.add(*_seen(await self._messages(session_id)))
            self._talks.setdefault(key, talk)
            if len(self._talks) > _TALKS:
                self._talks.popitem(last=False)
        self._talks.move_to_end(key)
        return self._talks[key]

    async def _messages(self, session_id: str) -> list[SessionMessage]:
        given = self._given
        folder = str(given.cwd) if given.cwd else None
        if given.session_store is not None:
            return await get_session_messages_from_store(
                given.session_store, session_id, folder
            )
        return await asyncio.to_thread(get_session_messages, session_id, folder)

    # The server

    async def _list_first(self, _: object, __: object) -> types.ListToolsResult:
        """List the tools that are there before anything is loaded."""
        tools = self._first.tools()
        return types.ListToolsResult(tools=[await _listing(tool) for tool in tools])

    async def _list_opened(self, _: object, __: object) -> types.ListToolsResult:
        """List what has opened in the conversation that is on, or in a part of it."""
        if self._speaks:
            await self._talk(self._speaks)
        talks = [talk for key, talk in self._talks.items() if key[0] == self._speaks]
        opened = {t.name: t for talk in talks for t in self._opened(talk.session)}
        self._listed = {*opened}
        tools = [await _listing(tool) for tool in opened.values()]
        return types.ListToolsResult(tools=tools)

    def _opened(self, session: Session) -> list[Tool]:
        first = {tool.name for tool in self._first.tools()}
        return [tool for tool in session.tools() if tool.name not in first]

    async def _call_tool(
        self, context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Carry out a call. Never raises: what goes wrong is a result."""
        call = str((params.meta or {}).get(_CALL_ID, ""))
        talk = await self._talk(*self._calls.pop(call, (self._speaks, "")))
        name, arguments = params.name, params.arguments or {}
        approved = True if call in self._approved else None
        self._approved.discard(call)
        tool = talk.session.tools().get(name)
        if tool is not None and isinstance(tool.native, SdkMcpTool):
            result = await talk.session.arefusal(name, arguments, approved=approved)
            if result is None:
                return await _native(tool.native, "tools/call", context, params)
        else:
            result = await talk.session.acall(name, arguments, approved=approved)
        text = result_text(result)
        talk.add(Seen("tool", text, name, arguments))
        failed = isinstance(result, Mapping) and "error" in result
        return types.CallToolResult(
            content=[types.TextContent(text=text)], is_error=failed
        )

    # The hooks

    async def _on_prompt(self, given: Any, _: str | None, __: Any) -> Any:
        """Begin a turn."""
        self._speaks = given["session_id"]
        talk = await self._talk(self._speaks)
        talk.turn.close()
        talk.turn.enter_context(talk.session.turn())
        talk.add(Seen("user"))
        await self._reopen(talk)
        return {}

    async def _on_call(self, given: Any, call: str | None, _: Any) -> Any:
        """Allow a call, or have somebody asked."""
        key = given["session_id"], given.get("agent_id", "")
        talk = await self._talk(*key)
        call = call or given["tool_use_id"]
        name, arguments = _short(given["tool_name"]), given["tool_input"]
        self._calls[call] = key
        decision = talk.session.decide(name, arguments)
        if decision.verdict != "ask" or self._options.get("approve"):
            return _permission("allow")
        if call in self._answers:
            if self._answers[call]:
                return _permission("allow")
            said = talk.session.refusal(name, arguments, approved=False)
            return _permission("deny", result_text(said))
        if self._given.can_use_tool:
            return _permission("ask", decision.reason)
        return _permission("defer", decision.reason)

    async def _asked(self, name: str, arguments: dict[str, Any], context: Any) -> Any:
        """Note that the application's own callback allowed a call."""
        ask = self._given.can_use_tool
        assert ask is not None
        answer = await ask(name, arguments, context)
        call = context.tool_use_id
        if isinstance(answer, PermissionResultAllow) and call in self._calls:
            self._approved.add(call)
        return answer

    async def _on_results(self, given: Any, _: str | None, __: Any) -> Any:
        """Show the tools that have opened, before the next call of the model."""
        await self._reopen(
            await self._talk(given["session_id"], given.get("agent_id", ""))
        )
        return {}

    async def _on_compaction(self, given: Any, _: str | None, __: Any) -> Any:
        """State again what is in use: no message shows it any more."""
        talk = await self._talk(given["session_id"])
        talk.history.clear()
        talk.add()
        return _context("SessionStart", await asyncio.to_thread(talk.session.restated))

    async def _on_subagent(self, given: Any, _: str | None, __: Any) -> Any:
        """Show the catalog to a sub-agent that has its tools."""
        agent = (self._given.agents or {}).get(given["agent_type"])
        tools = agent.tools if agent else None
        if tools is not None and not any(
            t.startswith(f"mcp__{_SERVER}") for t in tools
        ):
            return {}
        return _context("SubagentStart", self._first.instructions())

    async def _reopen(self, talk: _Talk) -> None:
        """Have Claude Code list the tools again, if there are new ones."""
        if self.client is None:
            return
        if {tool.name for tool in self._opened(talk.session)} <= self._listed:
            return
        await self.client.toggle_mcp_server(_OPENED, enabled=False)
        await self.client.toggle_mcp_server(_OPENED, enabled=True)


def _with(given: Any, session: Session) -> Any:  # noqa: ANN401 - a str or its dicts
    """Return a system prompt with the session's part behind it."""
    if given is None or isinstance(given, str):
        return session.instructions(given or "")
    key = {"preset": "append", "custom": "prompt"}.get(given["type"])
    if key is None:
        raise ValueError("system_prompt is a file; give its text")
    return {**given, key: session.instructions(given.get(key, ""))}


def _seen(messages: Iterable[SessionMessage]) -> Iterator[Seen]:
    """Yield what a session reads of a transcript: results, of the rest the role."""
    calls: dict[str, Mapping[str, Any]] = {}
    for message in messages:
        content = message.message.get("content")
        blocks = content if isinstance(content, list) else []
        for block in blocks:
            if block.get("type") == "tool_use":
                calls[block["id"]] = block
            elif block.get("type") == "tool_result":
                call = calls.get(block["tool_use_id"], {})
                name = _short(str(call.get("name", "")))
                yield Seen("tool", _text(block), name, call.get("input", {}))
        if not any(block.get("type") == "tool_result" for block in blocks):
            yield Seen(message.type)


def _short(name: str) -> str:
    """Return the name of one of our tools without that of its server."""
    for ours in _OURS:
        name = name.removeprefix(ours)
    return name


def _text(block: Mapping[str, Any]) -> str:
    content = block.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(each.get("text", "") for each in content)


async def _listing(tool: Tool) -> types.Tool:
    """Return a tool as the server lists it; a native one as its own server does."""
    if isinstance(tool.native, SdkMcpTool):
        return (await _native(tool.native, "tools/list", None, None)).tools[0]
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.parameters),
        annotations=types.ToolAnnotations(read_only_hint=tool.name in _READS),
        _meta=_META,
    )


async def _native(tool: SdkMcpTool[Any], method: str, context: Any, params: Any) -> Any:  # noqa: ANN401 - what the server returns
    """Have the SDK's own server list or call its own tool."""
    server = create_sdk_mcp_server(_SERVER, tools=[tool])["instance"]
    entry = cast("Any", server).get_request_handler(method)
    return await entry.handler(context, params)


def _permission(decision: str, reason: str = "") -> dict[str, Any]:
    said = {"permissionDecisionReason": reason} if reason else {}
    specific = {"hookEventName": "PreToolUse", "permissionDecision": decision, **said}
    return {"hookSpecificOutput": specific}


def _context(event: str, text: str) -> dict[str, Any]:
    if not text:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
