"""Skills for Anthropic's SDK: its tool runner, and loops of your own.

One `attach` is one conversation. Its messages stay yours, and so does the loop::

    chat = attach(skills, who=ana)
    while True:
        message = client.messages.create(model=..., **chat.request(messages))
        messages.append({"role": "assistant", "content": message.content})
        results = chat.run(message)
        if not results:
            break
        messages.append({"role": "user", "content": results})

Or the SDK's tool runner does it: ``chat.tool_runner(client, messages=..., ...)``.
"""

# Longer than other adapters: the SDK has a loop and two forms of all its values, and
# keeps nothing itself.
# ruff: noqa: ANN401 - blocks and tools: dictionaries, or any of a hundred classes

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    TypeAlias,
    TypedDict,
    cast,
    overload,
)

from satchel.adapters._base import Conversation, SessionFactory, framework, is_error
from satchel.errors import ToolError as OurToolError
from satchel.model import Json, SeenMessage
from satchel.runtime import question_text
from satchel.tools import Tool, result_text

if TYPE_CHECKING:
    from typing import Unpack

    from satchel.protocols import Approval
    from satchel.runtime import Satchel, Session, SessionOptions

with framework("Anthropic's SDK", "anthropic"):
    from anthropic import Anthropic, AsyncAnthropic
    from anthropic.lib.tools import (
        BetaAsyncBuiltinFunctionTool,
        BetaAsyncFunctionTool,
        BetaAsyncStreamingToolRunner,
        BetaAsyncToolRunner,
        BetaBuiltinFunctionTool,
        BetaFunctionTool,
        BetaStreamingToolRunner,
        BetaToolRunner,
        ToolError,
    )
    from anthropic.types import Message
    from anthropic.types.beta import BetaMessage

__all__ = ["Call", "Chat", "Given", "Request", "attach"]

Given: TypeAlias = Message | BetaMessage | Sequence[Any]
"""What a model said, or messages with it at their end, as dictionaries or the SDK's."""

INLINE_TOOLS: Final = "inline-tools-2026-09-15"
"""The beta by which the tool runner gives a model more tools in the middle of a run."""

_ROLES: Final = {role: SeenMessage(role) for role in ("user", "assistant")}
_SYSTEM: Final = SeenMessage("system")
_SYNC: Final = (BetaFunctionTool, BetaBuiltinFunctionTool)
_ASYNC: Final = (BetaAsyncFunctionTool, BetaAsyncBuiltinFunctionTool)


class Request(TypedDict, total=False):
    """What ``client.messages.create`` is given; what is empty is left out."""

    messages: Any
    system: Any
    tools: list[Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of a model; ``question`` is for whoever has to approve it."""

    id: str
    name: str
    arguments: Mapping[str, object]
    question: str = ""


def attach(
    skills: "Satchel",
    *,
    tools: Iterable[Any] = (),
    who: Mapping[str, Any] | None = None,
    deps: object = None,
    resume: Mapping[str, object] | str | None = None,
    **options: "Unpack[SessionOptions]",
) -> "Chat":
    """Return a conversation with skills: what to send, and how to answer calls.

    Args:
        skills: Whose skills.
        tools: Your own: definitions as the API takes them, or functions made by
            ``beta_tool``. They are offered first. `Chat.run` leaves calls of them to
            you; the tool runner calls its functions.
        who: For whom the conversation is.
        deps: What tools get as ``Run.deps``.
        resume: What `Chat.dump` gave. Without it, what is in use is what the messages
            show.
        options: As for `satchel.Satchel.session`.

    Raises:
        TypeError: An argument is not known, or of another type.
        ValueError: No style has that name.
        DuplicateToolError: One of your tools has the name of a skill's.
    """
    own = [*tools]
    names = frozenset(name for tool in own if (name := _name(tool)))
    attached: SessionFactory[None] = SessionFactory(skills, who, None, options)
    talk = attached.open(None, resume, deps=deps)
    talk.session.tools(beside=names)
    return Chat(talk, own, names)


@dataclass(eq=False, slots=True)
class Chat:
    """One conversation with skills; made by `attach`. Safe across threads.

    A turn begins with each message of the user: within it a file is read once.
    """

    _talk: Conversation
    _own: list[Any]
    _names: frozenset[str]
    _is_seen: bool = False
    _cleared: int = 0

    @property
    def session(self) -> "Session":
        """What is behind it: what is in use, `satchel.Session.invoke`."""
        return self._talk.session

    def request(
        self,
        messages: Sequence[Any],
        *,
        system: str | Sequence[Any] = "",
        cache_control: Mapping[str, str] | None = None,
    ) -> Request:
        """Return the arguments of the next ``messages.create``, or ``stream``.

        It reads files where skills are worn or stated again, so an event loop leaves it
        to a thread.

        Args:
            messages: All of the conversation; handed on as they are.
            system: Your own instructions. Blocks stay as they are, with their cache
                points, and skills are more blocks behind them.
            cache_control: A cache point to put behind what stays the same for the whole
                conversation, in front of skills that are stated again.
        """
        self.see(messages)
        prompt = self.system(system, cache_control=cache_control)
        tools = self.tools()
        request: Request = {"messages": messages}
        if prompt:
            request["system"] = prompt
        if tools:
            request["tools"] = tools
        return request

    def see(self, messages: Sequence[Any]) -> None:
        """Take the messages that the model sees next; `request` does it by itself."""
        seen = _seen(messages, self._cleared)
        if seen and seen[-1].role == "user":
            self._talk.begin_turn()
        self._talk.see(seen)
        self._is_seen = True

    def system(
        self,
        base: str | Sequence[Any] = "",
        *,
        cache_control: Mapping[str, str] | None = None,
    ) -> Any:
        """Return the system prompt alone, for what `request` was given last."""
        if isinstance(base, str) and cache_control is None:
            return self.session.instructions(base)
        text = base if isinstance(base, str) else ""
        blocks = [] if isinstance(base, str) else [*base]
        whole, reinjected = self.session.instructions(text), self.session.reinjected()
        frozen = whole.removesuffix(reinjected).rstrip("\n") if reinjected else whole
        gap = "\n\n" if blocks else ""
        if frozen:
            point = {"cache_control": cache_control} if cache_control else {}
            blocks.append({"type": "text", "text": f"{gap}{frozen}", **point})
        if reinjected:
            blocks.append({"type": "text", "text": f"\n\n{reinjected}"})
        return blocks

    def tools(self) -> list[Any]:
        """Return the definitions of the tools alone, yours first."""
        ours = self._talk.tools(beside=self._names)
        return [*map(_entry, self._own), *map(_definition, ours)]

    def waiting(self, given: Given) -> list[Call]:
        """Return the calls without a result that somebody has to approve first.

        None where the conversation has an ``approve`` of its own to ask.
        """
        return [
            replace(call, question=question_text(question))
            for call in self._unanswered(given)
            if (question := self._talk.asked(call.name, call.arguments)) is not None
        ]

    def call(self, call: Call, *, approved: "Approval | None" = None) -> object:
        """Make one call; return its result as it is. Never raises."""
        talk, native = self._talk, self._native(call)
        given = call.name, call.arguments
        if native is None:
            return talk.answer(*given, approved=approved, call_id=call.id)
        permit = talk.permit(*given, approved=approved, call_id=call.id)
        return permit.refusal or native.call(permit.arguments)

    async def acall(self, call: Call, *, approved: "Approval | None" = None) -> object:
        """Do as `call` does; waits for asynchronous tools."""
        talk, native = self._talk, self._native(call)
        given = call.name, call.arguments
        if native is None:
            return await talk.aanswer(*given, approved=approved, call_id=call.id)
        permit = await talk.apermit(*given, approved=approved, call_id=call.id)
        return permit.refusal or await native.acall(permit.arguments)

    def run(
        self, given: Given, *, approved: "Mapping[str, Approval] | None" = None
    ) -> list[Any]:
        """Carry out the calls without a result; return the blocks with the results.

        Calls of your own tools are left out. Never raises: an error is a result, and
        so is a call that is not approved.

        Args:
            given: What the model said, or the messages with it at their end.
            approved: Answers about calls that wait, by their ids: True, False, or a
                `satchel.model.Reply` with words for the model, or other arguments.
        """
        answers = approved or {}
        return [
            _block(call, self.call(call, approved=answers.get(call.id)))
            for call in self._unanswered(given)
        ]

    async def arun(
        self, given: Given, *, approved: "Mapping[str, Approval] | None" = None
    ) -> list[Any]:
        """Do as `run` does, side by side; waits for asynchronous tools."""
        answers = approved or {}
        calls = self._unanswered(given)
        results = (self.acall(call, approved=answers.get(call.id)) for call in calls)
        done = await asyncio.gather(*results)
        return [_block(*each) for each in zip(calls, done, strict=True)]

    @overload
    def tool_runner(
        self, client: Anthropic, *, stream: Literal[True], **params: Any
    ) -> BetaStreamingToolRunner[Any]: ...
    @overload
    def tool_runner(
        self, client: AsyncAnthropic, *, stream: Literal[True], **params: Any
    ) -> BetaAsyncStreamingToolRunner[Any]: ...
    @overload
    def tool_runner(
        self, client: Anthropic, *, stream: Literal[False] = ..., **params: Any
    ) -> BetaToolRunner[Any]: ...
    @overload
    def tool_runner(
        self, client: AsyncAnthropic, *, stream: Literal[False] = ..., **params: Any
    ) -> BetaAsyncToolRunner[Any]: ...
    def tool_runner(
        self,
        client: Anthropic | AsyncAnthropic,
        *,
        system: str | Sequence[Any] = "",
        **params: Any,
    ) -> object:
        """Return the SDK's own ``client.beta.messages.tool_runner`` with skills.

        Tools that open in the middle of the run are given to the model by
        ``runner.add_tools``, which leaves the prompt cache as it is and needs the beta
        `INLINE_TOOLS`: it is asked for where a skill carries tools. A call that waits
        for approval is answered with an error; to let it wait, look at `waiting` in the
        loop, stop there, and go on with `run`.

        Args:
            client: A synchronous one takes synchronous tools of yours, and the other
                way round.
            system: As for `request`.
            params: What the runner takes: ``messages``, ``model``, ``max_tokens``,
                ``stream`` and so on; not ``tools``, which `attach` took.
        """
        # What the provider clears by itself cannot be told while the runner runs.
        is_edited = bool(params.get("context_management"))
        self.see(() if is_edited else params.get("messages", ()))
        run = _Run(self, is_edited=is_edited)
        # Clients of other clouds are of classes of their own.
        is_async = hasattr(type(client), "__aenter__")
        run.kind = _AsyncRunnable if is_async else _Runnable
        if any(entry.tools for entry in self.session.catalog.entries):
            params["betas"] = [*params.get("betas", ()), INLINE_TOOLS]
        if prompt := self.system(system):
            params["system"] = prompt
        run.runner = client.beta.messages.tool_runner(
            tools=[*self._own, *run.more()], **params
        )
        return run.runner

    def dump(self) -> dict[str, object]:
        """Return what `attach` can resume from, safe for JSON; no text."""
        return self._talk.keep()

    def _unanswered(self, given: Given) -> list[Call]:
        if isinstance(given, (Message, BetaMessage)):
            self._cleared = _cleared_by(given)
            items: Sequence[Any] = [given]
        else:
            items = given
        if not self._is_seen:  # another process has sent it
            self.see(items)
        calls: dict[str, Call] = {}
        for item in items:
            for block in _blocks(item):
                if (call := _call_of(block)) is not None:
                    calls[call.id] = call
                elif _get(block, "type") == "tool_result":
                    calls.pop(_get(block, "tool_use_id"), None)
        return [call for call in calls.values() if call.name not in self._names]

    def _native(self, call: Call) -> Tool | None:
        """Return one of the SDK's own tools that a skill carries, as a tool of ours."""
        tool = self._talk.tool(call.name)
        native = tool.native if tool is not None else None
        return _ours(native, call) if isinstance(native, (*_SYNC, *_ASYNC)) else None


class _Run:
    """What one tool runner was given, so that it is given what opens later."""

    kind: "type[_Runnable | _AsyncRunnable]"
    runner: Any

    def __init__(self, chat: Chat, *, is_edited: bool) -> None:
        self._chat = chat
        self._is_edited = is_edited
        self._given: set[str] = set()

    def more(self) -> list[Any]:
        """Return the tools that it was not given yet."""
        tools = [t for t in self._chat.session.tools() if t.name not in self._given]
        self._given.update(tool.name for tool in tools)
        return [
            tool.native if isinstance(tool.native, Mapping) else self.kind(self, tool)
            for tool in tools
        ]

    def look(self) -> Chat:
        """Return the conversation, after showing it the runner's messages."""
        if not self._is_edited:
            with suppress(_LookedError):
                self.runner.set_messages_params(self._show)
        return self._chat

    def told(self, result: object) -> Any:
        """Return a result as the runner takes it, after giving it what has opened.

        Raises:
            ToolError: It is an error.
        """
        if more := self.more():
            self.runner.add_tools(*more)
        content = _content(result)
        if is_error(result):
            raise ToolError(content)
        return content

    def _show(self, params: Mapping[str, Any]) -> Any:
        self._chat.see([*params["messages"], {"role": "assistant"}])
        raise _LookedError  # so that the runner changes nothing


class _LookedError(Exception):
    """A runner hands its messages only to a function that may change them."""


class _Known:
    """A skill's tool, and the runner that calls it."""

    def __init__(self, run: _Run, tool: Tool) -> None:
        self._run = run
        self._definition = _definition(tool)

    def to_dict(self) -> Any:
        return self._definition

    def _call(self, given: object) -> Call:
        return _call_to(self._definition["name"], given)


class _Runnable(_Known, BetaBuiltinFunctionTool):
    """One for the runner of a synchronous client."""

    def call(self, input: object) -> Any:  # noqa: A002 - as the SDK names it
        return self._run.told(self._run.look().call(self._call(input)))


class _AsyncRunnable(_Known, BetaAsyncBuiltinFunctionTool):
    """One for the runner of an asynchronous client."""

    async def call(self, input: object) -> Any:  # noqa: A002 - as the SDK names it
        return self._run.told(await self._run.look().acall(self._call(input)))


def _entry(tool: Any) -> Any:
    """Return what the API takes for a tool of the SDK; a definition as it is."""
    return tool.to_dict() if hasattr(tool, "to_dict") else tool


def _definition(tool: Tool) -> Any:
    """Return what the API takes; of the SDK's own tools, what they say themselves."""
    if isinstance(tool.native, (Mapping, *_SYNC, *_ASYNC)):
        return _entry(tool.native)
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": dict(tool.parameters),
    }


def _name(tool: object) -> str:
    """Return the name of a tool of either form; empty for what has none."""
    name = _get(tool, "name")
    return name if isinstance(name, str) else ""


def _seen(messages: Iterable[Any], cleared: int) -> list[SeenMessage]:
    """Return what the model sees: nothing from before a compaction, or cleared."""
    seen: list[SeenMessage] = []
    calls: dict[object, Call] = {}
    for message in messages:
        for block in _blocks(message):
            kind = _get(block, "type")
            if kind == "compaction":  # the API leaves out what stands in front of it
                seen.clear()
            elif kind == "tool_result":
                cleared -= 1
                if cleared < 0:
                    seen.append(_result_seen(block, calls))
            elif (call := _call_of(block)) is not None:
                calls[call.id] = call
        if not _is_answer(message):
            seen.append(_ROLES.get(_get(message, "role"), _SYSTEM))
    return seen


def _result_seen(block: Any, calls: Mapping[object, Call]) -> SeenMessage:
    call = calls.get(_get(block, "tool_use_id"))
    name, arguments = (call.name, call.arguments) if call else ("", {})
    return SeenMessage("tool", _text(_get(block, "content")), name, arguments)


def _is_answer(message: Any) -> bool:
    """Tell whether a message of the user's role holds results alone."""
    return {_get(block, "type") for block in _blocks(message)} == {"tool_result"}


def _blocks(message: Any) -> Sequence[Any]:
    content = _get(message, "content")
    return content if isinstance(content, (list, tuple)) else ()


def _call_of(block: Any) -> Call | None:
    """Return the tool call in a block; those of the provider's toolsets are its own."""
    if _get(block, "type") != "tool_use" or _get(block, "toolset_name") is not None:
        return None
    return _call_to(_get(block, "name"), _get(block, "input"), _get(block, "id"))


def _call_to(name: str, given: object, id: str = "") -> Call:
    arguments = (
        cast("Mapping[str, object]", given) if isinstance(given, Mapping) else {}
    )
    return Call(id, name, arguments)


def _cleared_by(message: Any) -> int:
    """Return how many of the oldest results the API kept from the model."""
    edits = _get(_get(message, "context_management"), "applied_edits") or ()
    return sum(_get(edit, "cleared_tool_uses") or 0 for edit in edits)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = (
        cast("Iterable[Any]", content) if isinstance(content, (list, tuple)) else ()
    )
    return "\n".join(text for b in blocks if isinstance(text := _get(b, "text"), str))


def _block(call: Call, result: object) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call.id, "content": _content(result)}
    return {**block, "is_error": True} if is_error(result) else block


def _content(result: object) -> Any:
    """Return text, or the blocks that one of the SDK's own tools gave."""
    match result:
        case [{"type": str()}, *_]:
            return result
        case _:
            return result_text(result)


def _ours(native: Any, call: Call) -> Tool:
    """Return a tool of the SDK as one of ours, which never raises."""

    def handler(**given: object) -> object:
        with _telling(call):
            return native.call(given)

    async def ahandler(**given: object) -> object:
        with _telling(call):
            return await native.call(given)

    takes: dict[str, Json] = {"properties": {name: {} for name in call.arguments}}
    return Tool(
        call.name, "", takes, ahandler if isinstance(native, _ASYNC) else handler
    )


@contextmanager
def _telling(call: Call) -> Iterator[None]:
    """Let through what a tool of the SDK tells the model when it fails."""
    try:
        yield
    except ToolError as error:
        raise OurToolError(call.name, _text(error.content)) from error


def _get(value: object, name: str) -> Any:
    """Return a field of a dictionary or of one of the SDK's objects."""
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value).get(name)
    return getattr(value, name, None)
