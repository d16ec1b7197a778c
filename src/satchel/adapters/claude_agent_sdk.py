"""Satchel on the Claude Agent SDK: MCP servers in this process, and hooks.

::

    client = attach(skills, to=ClaudeSDKClient(options))

What a conversation has loaded is read from its transcript, which Claude Code stores, or
from the ``session_store``. Where the policy says ask, ``can_use_tool`` is called; where
there is none, the run ends with a ``deferred_tool_use``, to be resumed with its answer.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Container, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

from satchel.adapters._arguments import check_kind
from satchel.adapters._base import (
    Conversation,
    Deps,
    SessionFactory,
    Who,
    framework,
    is_error,
)
from satchel.adapters._translation import (
    NO_PARAMETERS,
    ResultReader,
    already_attached,
    text_of,
)
from satchel.errors import ToolError, error_payload
from satchel.load import READ_TOOL, wording
from satchel.model import LOAD_TOOLS, SeenMessage
from satchel.runtime import loads_in_text, question_text
from satchel.tools import Tool, result_text

if TYPE_CHECKING:
    from typing import Unpack

    from satchel.protocols import Approval
    from satchel.runtime import CallApproval, Satchel, Session, SessionOptions

with framework("Claude Agent SDK", "claude-agent-sdk"):
    from claude_agent_sdk import (
        ClaudeAgentOptions,
        ClaudeSDKClient,
        HookCallback,
        HookMatcher,
        McpSdkServerConfig,
        PermissionResult,
        PermissionResultAllow,
        PermissionResultDeny,
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
Given: TypeAlias = Mapping[str, Any]
Output: TypeAlias = dict[str, Any]
# The ids of a conversation, and of a sub-agent within it; empty for the main one.
Key: TypeAlias = tuple[str, str]
# The ids of these and of a call.
Call: TypeAlias = tuple[str, str, str]

_SERVER: Final = "satchel"
# Serves the tools of skills, so that it alone is listed again when one is loaded;
# Claude Code sorts tools by name, so these come after the others.
_OPENED: Final = "satchel_skills"
_PREFIXES: Final = (f"mcp__{_SERVER}__", f"mcp__{_OPENED}__")
_READS: Final = {READ_TOOL, "find_skills", *(name for name, _ in LOAD_TOOLS.values())}
# Longer results go into files; this is the most that Claude Code shows in place.
_META: Final = {"anthropic/maxResultSizeChars": 500_000}
# Claude Code keeps one deferred call of a step, and drops others silently.
_ONE_AT_A_TIME: Final = "approval-required: another waits; then make this one again"
# Conversations in memory at once; others are read from their transcripts again.
_MAX_CONVERSATIONS: Final = 1024
# What a yes to a call is for, by the ids of its conversation and its own. It is here,
# since another `attach` may bring the answer; a restart forgets it.
_SHOWN: Final[OrderedDict[Call, str]] = OrderedDict()
_MAX_SHOWN: Final = 10_000


def attach(
    skills: Satchel,
    *,
    to: To,
    who: Who[ClaudeAgentOptions] = None,
    deps: Deps[ClaudeAgentOptions] = None,
    answers: Mapping[str, Approval] | None = None,
    **options: Unpack[SessionOptions],
) -> To:
    """Return a copy of a client that is not connected yet, or of options.

    The tools of a skill open within the run only where this gets a client, which tells
    Claude Code to list them. With options alone, as for ``query``, they open with the
    next run of the conversation. Options contain a system prompt, so attach for each
    conversation.

    Args:
        skills: What is attached.
        to: What it is attached to.
        who: For whom a run is: a mapping, or a function of the options.
        deps: A function of the options, which returns what tools get as ``Run.deps``.
        answers: What a person answered about a call that was deferred, by the id of its
            ``deferred_tool_use``: True, False, or a `satchel.model.Reply` with words
            for the model or other arguments; for options that ``resume`` its
            conversation.
        options: As for `satchel.Satchel.session`. With ``approve`` only that is asked.

    Raises:
        TypeError: Their ``mcp_servers`` or ``system_prompt`` is a file; an argument is
            unknown or has the wrong type.
        ValueError: They have skills already, or no style has that name.
    """
    kinds = (ClaudeAgentOptions, ClaudeSDKClient)
    check_kind("to", to, kinds, "a ClaudeSDKClient or its ClaudeAgentOptions")
    client = copy(to) if isinstance(to, ClaudeSDKClient) else None
    given = cast("ClaudeAgentOptions", client.options if client else to)
    sessions = SessionFactory(skills, who, deps, options, holds_own_tools=True)
    attached = _Skills(sessions, given, answers or {}, client).options()
    if client is not None:
        client.options = attached
    return cast("To", client or attached)


@dataclass
class _Transcript:
    """One conversation of an agent, or of a sub-agent within one, and its messages."""

    conversation: Conversation
    messages: list[SeenMessage] = field(default_factory=list[SeenMessage])

    def add(self, *messages: SeenMessage) -> None:
        """See messages as the next call of the model does.

        Results of a step are only kept until it ends: its calls were written before.
        """
        self.messages += messages
        # Claude Code may clear old results, and says so to nobody.
        self.conversation.see(self.messages, is_final=False)


@dataclass
class _Skills:
    """Serves the conversations with one set of options."""

    sessions: SessionFactory[ClaudeAgentOptions]
    given: ClaudeAgentOptions
    answers: Mapping[str, Approval]
    client: ClaudeSDKClient | None

    def __post_init__(self) -> None:
        self._transcripts: OrderedDict[Key, _Transcript] = OrderedDict()
        self._calls: dict[str, Call] = {}
        self._waiting: set[Key] = set()
        self._replies = dict(self.answers)
        self._answered: set[str] = set()
        self._listed: set[str] = set()
        self._current = self.given.resume or ""
        first = self.sessions.open(self.given)
        self._first, self._start = first.session, first.save()

    def options(self) -> ClaudeAgentOptions:
        given, servers = self.given, self.given.mcp_servers
        has_any = self._first.instructions() or self._first.tools()
        # Without skills, too, an act waits for one that is not there.
        if not has_any and not self.sessions.requires:
            return replace(given)
        if not isinstance(servers, dict):
            raise TypeError("mcp_servers is a file; give its servers as a dict")
        every = dict(servers)
        for name, listing in ((_SERVER, self._first_tools), (_OPENED, self._opened)):
            if name in servers:
                raise already_attached()
            server = Server(name, on_list_tools=listing, on_call_tool=self._call_tool)
            every[name] = McpSdkServerConfig(type="sdk", name=name, instance=server)
        hooks: dict[Any, list[HookMatcher]] = dict(given.hooks or {})
        ours = "|".join(f"{prefix}.*" for prefix in _PREFIXES)
        for event, matcher, hook in (
            ("UserPromptSubmit", None, self._on_prompt),
            ("PreToolUse", None, self._on_own_call if self.sessions.requires else None),
            ("PreToolUse", ours, self._on_call),
            ("PostToolBatch", None, self._on_results),
            ("SessionStart", "compact", self._on_compaction),
            ("SubagentStart", None, self._on_subagent),
        ):
            if hook is not None:
                entry = HookMatcher(matcher, [cast("HookCallback", hook)])
                # The application's own hooks go first.
                hooks[event] = [*hooks.get(event, ()), entry]
        return replace(
            given,
            system_prompt=_with(given.system_prompt, self._first),
            mcp_servers=every,
            hooks=hooks,
            # With a callback Claude Code asks it; only without one are calls deferred.
            can_use_tool=self._can_use_tool if given.can_use_tool else None,
        )

    async def _transcript(self, session_id: str, agent_id: str = "") -> _Transcript:
        """Return a conversation; one that is not in memory is read again."""
        key = session_id, agent_id
        if key not in self._transcripts:
            opened = asyncio.to_thread(self.sessions.open, self.given, self._start)
            transcript = _Transcript(await opened)
            if session_id and not agent_id:
                stored = await self._messages(session_id)
                transcript.add(*_seen(stored))
                self._answered.update(_called(stored, self.answers))
            # Another task may have opened it while this one waited: the first one
            # stays.
            self._transcripts.setdefault(key, transcript)
            if len(self._transcripts) > _MAX_CONVERSATIONS:
                self._transcripts.popitem(last=False)
        self._transcripts.move_to_end(key)
        return self._transcripts[key]

    async def _messages(self, session_id: str) -> list[SessionMessage]:
        store = self.given.session_store
        folder = str(self.given.cwd) if self.given.cwd else None
        if store is not None:
            return await get_session_messages_from_store(store, session_id, folder)
        return await asyncio.to_thread(get_session_messages, session_id, folder)

    async def _first_tools(self, *_: object) -> types.ListToolsResult:
        tools = [await _listing(tool) for tool in self._first.tools()]
        return types.ListToolsResult(tools=tools)

    async def _opened(self, *_: object) -> types.ListToolsResult:
        """List what has opened in the current conversation, or in a part of it."""
        current = self._current
        if current:
            await self._transcript(current)
        parts = [part for key, part in self._transcripts.items() if key[0] == current]
        opened = {tool.name: tool for part in parts for tool in self._new_in(part)}
        # Claude Code would wait again for one that is gone.
        for name in self._answered - {tool.name for tool in self._first.tools()}:
            opened.setdefault(name, Tool(name, "", NO_PARAMETERS, dict))
        self._listed = {*opened}
        tools = [await _listing(tool) for tool in opened.values()]
        return types.ListToolsResult(tools=tools)

    def _new_in(self, transcript: _Transcript) -> list[Tool]:
        first = {tool.name for tool in self._first.tools()}
        tools = transcript.conversation.tools()
        return [tool for tool in tools if tool.name not in first]

    async def _call_tool(
        self, context: object, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        call_id = str((params.meta or {}).get("claudecode/toolUseId", ""))
        # A call over MCP names no conversation: `_on_call` has noted it by the id of
        # the call.
        call = self._calls.pop(call_id, (self._current, "", call_id))
        transcript = await self._transcript(*call[:2])
        conversation = transcript.conversation
        name, arguments = params.name, params.arguments or {}
        reply = self._replies.pop(call_id, None)
        # A model may use the ids of another conversation.
        approval: CallApproval = {"approved": reply, "call_id": "/".join(call)}
        tool = conversation.tool(name)
        if tool is not None and isinstance(tool.native, SdkMcpTool):
            permit = await conversation.apermit(name, arguments, **approval)
            result = permit.refusal
            if result is None:
                given = params.model_copy(update={"arguments": {**permit.arguments}})
                served = await _served(tool.native, "tools/call", context, given)
                return cast("types.CallToolResult", served)
        else:
            result = await conversation.acall(name, arguments, **approval)
        text = types.TextContent(text=result_text(result))
        transcript.messages.append(SeenMessage("tool", text.text, name, arguments))
        return types.CallToolResult(content=[text], is_error=is_error(result))

    async def _on_prompt(self, given: Given, *_: object) -> Output:
        self._current = given["session_id"]
        # A call that waited is decided or dropped when the user speaks again.
        self._waiting -= {key for key in self._waiting if key[0] == self._current}
        transcript = await self._transcript(self._current)
        transcript.conversation.begin_turn()
        transcript.add(SeenMessage("user", given.get("prompt", "")))
        await self._show_opened(transcript)
        session = transcript.conversation.session
        suggests = session.settings.suggest
        text = await asyncio.to_thread(session.suggested) if suggests else ""
        return _context("UserPromptSubmit", text)

    async def _on_call(self, given: Given, call_id: str, _: object) -> Output:
        """Allow a call, or have a person asked."""
        key = given["session_id"], given.get("agent_id", "")
        conversation = (await self._transcript(*key)).conversation
        name, arguments = _short(given["tool_name"]), given["tool_input"]
        self._calls[call_id] = call = (*key, call_id)
        if call_id in self.answers:
            answer = self.answers[call_id]
            self._answered.discard(name)
            permit = conversation.permit(name, arguments, approved=answer)
            refusal = permit.refusal or await self._changed(call, name, arguments)
            if refusal is not None:
                return _permission("deny", result_text(refusal))
            return _permission("allow")
        question = conversation.question(name, arguments)
        if question is None:
            return _permission("allow")
        text = question_text(question)
        _SHOWN[call] = question.identity
        if len(_SHOWN) > _MAX_SHOWN:
            _SHOWN.popitem(last=False)
        if self.given.can_use_tool:
            return _permission("ask", text)
        if key in self._waiting:
            return _permission("deny", _ONE_AT_A_TIME)
        self._waiting.add(key)
        return _permission("defer", text)

    async def _changed(self, call: Call, name: str, arguments: Given) -> object | None:
        """Return the refusal of a call that was shown with other bytes, or None."""
        conversation = (await self._transcript(*call[:2])).conversation
        # With the id it is the same question where `approve` is given by now.
        question = conversation.question(name, arguments, call[2])
        if question is None or _SHOWN.get(call, "") in {"", question.identity}:
            return None
        return error_payload(ToolError(name, wording.SCRIPT_CHANGED))

    async def _on_own_call(self, given: Given, *_: object) -> Output:
        """Refuse a call of a tool that is not ours until its skill was read."""
        name, arguments = given["tool_name"], given["tool_input"]
        if name.startswith(_PREFIXES):
            return {}
        key = given["session_id"], given.get("agent_id", "")
        try:
            transcript = await self._transcript(*key)
            session = transcript.conversation.session
            refusal = await session.arequired(name, arguments=arguments)
        except Exception as error:  # noqa: BLE001 - Claude Code goes on where a hook fails
            problem = f"whether its skill was read is unknown: {type(error).__name__}"
            return _permission("deny", f"Not done: {name}; {problem}")
        if refusal is None:
            return {}
        transcript.messages.append(SeenMessage("tool", refusal, name, arguments))
        return _permission("deny", refusal)

    async def _can_use_tool(
        self, name: str, arguments: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResult:
        """Ask the application's own callback, and note which of our calls it allows."""
        ask: Any = self.given.can_use_tool
        answer: PermissionResult = await ask(name, arguments, context)
        call = self._calls.get(context.tool_use_id or "")
        if call is not None and isinstance(answer, PermissionResultAllow):
            # Its own arguments may be in place of those that the question was about.
            refusal = await self._changed(call, _short(name), arguments)
            if refusal is not None:
                return PermissionResultDeny(message=result_text(refusal))
            self._replies[call[2]] = True
        return answer

    async def _on_results(self, given: Given, *_: object) -> Output:
        """See a step's results, and show the tools that have opened with them."""
        key = given["session_id"], given.get("agent_id", "")
        transcript = await self._transcript(*key)
        transcript.add()
        await self._show_opened(transcript)
        return {}

    async def _on_compaction(self, given: Given, *_: object) -> Output:
        """Repeat the skills that are loaded: no message shows them any more."""
        transcript = await self._transcript(given["session_id"])
        # With no messages left the session knows that no skill is shown any more.
        transcript.messages.clear()
        transcript.add()
        session = transcript.conversation.session
        repeated = await asyncio.to_thread(session.reinjected)
        name = LOAD_TOOLS[session.style][1]
        for use in session.activations:
            for load in loads_in_text(session.style, repeated, {use.id}):
                transcript.messages.append(replace(load, arguments={name: use.id}))
        return _context("SessionStart", repeated)

    async def _on_subagent(self, given: Given, *_: object) -> Output:
        """Show the catalog to a sub-agent that has the tools for it."""
        agent = (self.given.agents or {}).get(given["agent_type"])
        tools = [_PREFIXES[0]] if agent is None or agent.tools is None else agent.tools
        has_ours = any(tool.startswith(f"mcp__{_SERVER}") for tool in tools)
        return _context("SubagentStart", self._first.instructions()) if has_ours else {}

    async def _show_opened(self, transcript: _Transcript) -> None:
        """Make Claude Code list the tools of skills again, if there are new ones."""
        new = {tool.name for tool in self._new_in(transcript)} - self._listed
        # Claude Code lists a server's tools when it is switched on.
        if new and self.client is not None:
            await self.client.toggle_mcp_server(_OPENED, enabled=False)
            await self.client.toggle_mcp_server(_OPENED, enabled=True)


def _with(given: Any, session: Session) -> Any:  # noqa: ANN401 - text, or its dicts
    if given is None or isinstance(given, str):
        return session.instructions(given or "")
    key = {"preset": "append", "custom": "prompt"}.get(given["type"])
    if key is None:
        raise TypeError("system_prompt is a file; give its text")
    return {**given, key: session.instructions(given.get(key, ""))}


def _seen(messages: Iterable[SessionMessage]) -> Iterator[SeenMessage]:
    reader = ResultReader()
    for message in messages:
        content = message.message.get("content")
        blocks = content if isinstance(content, list) else []
        results = [block for block in blocks if block["type"] == "tool_result"]
        for block in blocks:
            if block["type"] == "tool_use":
                reader.add_call(block["id"], _short(block["name"]), block["input"])
        for block in results:
            result = reader.result(block["tool_use_id"], text_of(block.get("content")))
            # Claude Code says before what a hook refused which hook it was.
            head = f"PreToolUse:{result.tool} hook error: "
            yield replace(result, text=result.text.removeprefix(head))
        if not results:
            yield SeenMessage(message.type, text_of(content))


def _called(messages: Iterable[SessionMessage], ids: Container[str]) -> Iterator[str]:
    """Yield the names of the tools that calls of these ids are of."""
    for message in messages:
        content = message.message.get("content")
        for block in content if isinstance(content, list) else []:
            if block["type"] == "tool_use" and block["id"] in ids:
                yield _short(block["name"])


def _short(name: str) -> str:
    """Return the name of one of our tools without that of its server."""
    return name.removeprefix(_PREFIXES[0]).removeprefix(_PREFIXES[1])


async def _listing(tool: Tool) -> types.Tool:
    """Return a tool as a server lists it; the SDK's own server lists a native one."""
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


def _permission(decision: str, reason: str = "") -> Output:
    output = {"hookEventName": "PreToolUse", "permissionDecision": decision}
    if reason:
        output["permissionDecisionReason"] = reason
    return {"hookSpecificOutput": output}


def _context(event: str, text: str) -> Output:
    output = {"hookEventName": event, "additionalContext": text}
    return {"hookSpecificOutput": output} if text else {}
