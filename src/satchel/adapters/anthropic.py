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

# ruff: noqa: ANN401 - blocks and tools: dictionaries, or any of a hundred classes

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypedDict, overload

from satchel.adapters._base import framework, is_error
from satchel.adapters._loop import ChatLoop, ModelCall
from satchel.adapters._translation import (
    ResultReader,
    arguments_or_empty,
    field_of,
    name_of,
    seen_message,
    text_of,
)
from satchel.errors import ToolError as SatchelToolError
from satchel.model import Json, SeenMessage
from satchel.tools import Tool, result_text

if TYPE_CHECKING:
    from typing import Unpack

    from satchel.runtime import Satchel, SessionOptions

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

__all__ = ["Chat", "attach"]

Given: TypeAlias = Message | BetaMessage | Sequence[Any]
"""What a model said, or messages with it at their end, as dictionaries or the SDK's."""

# The beta by which the tool runner gives a model more tools in the middle of a run.
INLINE_TOOLS: Final = "inline-tools-2026-09-15"

_SYNC: Final = (BetaFunctionTool, BetaBuiltinFunctionTool)
_ASYNC: Final = (BetaAsyncFunctionTool, BetaAsyncBuiltinFunctionTool)


class Request(TypedDict, total=False):
    """What ``client.messages.create`` is given; what is empty is left out."""

    messages: Any
    system: Any
    tools: list[Any]


@dataclass(frozen=True, slots=True)
class Call(ModelCall):
    """A tool call of a model; ``question`` is for the person who has to approve it."""

    arguments: Mapping[str, object]


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
        TypeError: An argument is unknown or has the wrong type.
        ValueError: No style has that name.
        DuplicateToolError: One of your tools has the name of a skill's tool.
    """
    return Chat.attached(skills, tools, who, deps, resume, options)


@dataclass(eq=False, slots=True)
class Chat(ChatLoop[Given, Call]):
    """One conversation with skills; made by `attach`. Safe across threads.

    A turn begins with each message of the user: within it a file is read once.
    """

    _is_seen: bool = False
    _cleared: int = 0

    def request(
        self,
        messages: Sequence[Any],
        *,
        system: str | Sequence[Any] = "",
        cache_control: Mapping[str, str] | None = None,
    ) -> Request:
        """Return the arguments of the next ``messages.create``, or ``stream``.

        It reads files where skills are always on or repeated, so call it in a thread
        when an event loop runs.

        Args:
            messages: All of the conversation; passed on unchanged.
            system: Your own instructions. Blocks are not changed, nor their cache
                points, and skills are more blocks after them.
            cache_control: A cache point to put after what stays the same for the whole
                conversation, before skills that are repeated.
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
        """Take in the messages that the model sees next; `request` does this too."""
        seen = _seen(messages, self._cleared)
        if seen and seen[-1].role == "user":
            self._conversation.begin_turn()
        self._conversation.see(seen)
        self._is_seen = True

    def system(
        self,
        base: str | Sequence[Any] = "",
        *,
        cache_control: Mapping[str, str] | None = None,
    ) -> Any:
        """Return the system prompt alone, for the messages that were seen last."""
        if isinstance(base, str) and cache_control is None:
            return self.session.instructions(base)
        text = base if isinstance(base, str) else ""
        blocks = [] if isinstance(base, str) else [*base]
        whole, repeated = self.session.instructions(text), self.session.reinjected()
        # What is repeated changes between calls, so it comes after the cache point.
        frozen = whole.removesuffix(repeated).rstrip("\n") if repeated else whole
        gap = "\n\n" if blocks else ""
        if frozen:
            point = {"cache_control": cache_control} if cache_control else {}
            blocks.append({"type": "text", "text": f"{gap}{frozen}", **point})
        if repeated:
            blocks.append({"type": "text", "text": f"\n\n{repeated}"})
        return blocks

    def tools(self) -> list[Any]:
        """Return the definitions of the tools alone, yours first."""
        tools = self._conversation.tools(self._names)
        return [*map(_entry, self._own), *map(_definition, tools)]

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

        The model gets tools that open in the middle of the run by
        ``runner.add_tools``, which does not change the prompt cache and needs the beta
        `INLINE_TOOLS`: it is switched on where a skill has tools. A call that waits for
        approval is answered with an error; to let it wait, check `waiting` in the loop,
        stop there, and go on with `run`.

        Args:
            client: With a synchronous one your own tools have to be synchronous, with
                an asynchronous one asynchronous.
            system: As for `request`.
            params: What the runner takes: ``messages``, ``model``, ``max_tokens``,
                ``stream`` and so on; not ``tools``, which `attach` takes.
        """
        # While the runner runs, nobody can see what the provider clears by itself: a
        # session that has seen no messages gives each text in full.
        is_edited = bool(params.get("context_management"))
        messages = [*params.get("messages", ())]
        self.see(() if is_edited else messages)
        run = _Run(self, messages, is_edited=is_edited)
        # Clients of other clouds are of classes of their own.
        is_async = hasattr(type(client), "__aenter__")
        run.kind = _AsyncRunnable if is_async else _Runnable
        if any(entry.tools for entry in self.session.catalog.entries):
            params["betas"] = [*params.get("betas", ()), INLINE_TOOLS]
        if prompt := self.system(system):
            params["system"] = prompt
        run.runner = client.beta.messages.tool_runner(
            tools=[*map(run.held, self._own), *run.new_tools()], **params
        )
        return run.runner

    def _pending(self, given: Given) -> list[Call]:
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
                elif field_of(block, "type") == "tool_result":
                    calls.pop(field_of(block, "tool_use_id"), None)
        return [call for call in calls.values() if call.name not in self._names]

    def _message(self, call: Call, result: object) -> dict[str, Any]:
        answer = {"type": "tool_result", "tool_use_id": call.id}
        answer["content"] = _content(result)
        return {**answer, "is_error": True} if is_error(result) else answer

    def _native(self, call: Call) -> Tool | None:
        native = getattr(self._conversation.tool(call.name), "native", None)
        is_own = isinstance(native, (*_SYNC, *_ASYNC))
        return _satchel_tool(native, call) if is_own else None


class _Run:
    """One tool runner, the tools that it has, and those that open later."""

    kind: "type[_Runnable | _AsyncRunnable]"
    runner: Any

    def __init__(self, chat: Chat, messages: list[Any], *, is_edited: bool) -> None:
        self._chat = chat
        self._is_edited = is_edited
        self._messages = messages  # of the last model call, or of the first
        self._names: set[str] = set()

    def new_tools(self) -> list[Any]:
        tools = [t for t in self._chat.session.tools() if t.name not in self._names]
        self._names.update(tool.name for tool in tools)
        return [
            tool.native if isinstance(tool.native, Mapping) else self.kind(self, tool)
            for tool in tools
        ]

    def held(self, tool: Any) -> Any:
        """Return one of the user's own tools so that it waits for a skill it needs."""
        if not self._chat.session.needs_skill(name_of(tool)):
            return tool
        if isinstance(tool, _SYNC):
            return _Held(self, tool)
        return _AsyncHeld(self, tool) if isinstance(tool, _ASYNC) else tool

    def chat(self) -> Chat:
        """Return the conversation, which has seen the runner's messages."""
        with suppress(_SeenError):
            self.runner.set_messages_params(self._show)
        return self._chat

    def content(self, result: object) -> Any:
        """Return a result as the runner takes it; tools that opened are added to it."""
        if tools := self.new_tools():
            self.runner.add_tools(*tools)
        content = _content(result)
        if is_error(result):
            raise ToolError(content)
        return content

    def _show(self, params: Mapping[str, Any]) -> Any:
        messages = [*params["messages"]]
        if messages != self._messages:  # the model was called again
            self._messages = messages
            self._chat.see(())
        # With an assistant's message at the end no new turn begins: the user said
        # nothing.
        if not self._is_edited:
            self._chat.see([*messages, {"role": "assistant"}])
        raise _SeenError  # so that the runner changes nothing


class _SeenError(Exception):
    """A runner passes its messages only to a function that may change them."""


class _SkillTool:
    """A skill's tool, and the runner that calls it."""

    def __init__(self, run: _Run, tool: Tool) -> None:
        self._run = run
        self._definition = _definition(tool)

    def to_dict(self) -> Any:
        return self._definition

    def _call(self, given: object) -> Call:
        return Call("", self._definition["name"], arguments_or_empty(given))


class _OwnTool:
    """One of the user's own tools that needs a skill, and the runner that calls it."""

    def __init__(self, run: _Run, tool: Any) -> None:
        self._run = run
        self._tool = tool

    def to_dict(self) -> Any:
        return self._tool.to_dict()


class _Held(_OwnTool, BetaBuiltinFunctionTool):
    """One for the runner of a synchronous client."""

    def call(self, input: object) -> Any:  # noqa: A002 - as the SDK names it
        session, given = self._run.chat().session, arguments_or_empty(input)
        refusal = session.required(self._tool.name, arguments=given)
        return self._tool.call(input) if refusal is None else self._run.content(refusal)


class _AsyncHeld(_OwnTool, BetaAsyncBuiltinFunctionTool):
    """One for the runner of an asynchronous client."""

    async def call(self, input: object) -> Any:  # noqa: A002 - as the SDK names it
        session, given = self._run.chat().session, arguments_or_empty(input)
        refusal = await session.arequired(self._tool.name, arguments=given)
        if refusal is None:
            return await self._tool.call(input)
        return self._run.content(refusal)


class _Runnable(_SkillTool, BetaBuiltinFunctionTool):
    """One for the runner of a synchronous client."""

    def call(self, input: object) -> Any:  # noqa: A002 - as the SDK names it
        return self._run.content(self._run.chat().call(self._call(input)))


class _AsyncRunnable(_SkillTool, BetaAsyncBuiltinFunctionTool):
    """One for the runner of an asynchronous client."""

    async def call(self, input: object) -> Any:  # noqa: A002 - as the SDK names it
        return self._run.content(await self._run.chat().acall(self._call(input)))


def _entry(tool: Any) -> Any:
    """Return the definition of a tool of the SDK, or a definition unchanged."""
    return tool.to_dict() if hasattr(tool, "to_dict") else tool


def _definition(tool: Tool) -> Any:
    """Return what the API takes for a tool; the SDK's own tools define themselves."""
    if isinstance(tool.native, (Mapping, *_SYNC, *_ASYNC)):
        return _entry(tool.native)
    about = {"name": tool.name, "description": tool.description}
    return {**about, "input_schema": dict(tool.parameters)}


def _seen(messages: Iterable[Any], cleared: int) -> list[SeenMessage]:
    seen: list[SeenMessage] = []
    reader = ResultReader()
    for message in messages:
        for block in _blocks(message):
            kind = field_of(block, "type")
            if kind == "compaction":  # the API leaves out everything before it
                seen.clear()
            elif kind == "tool_result":
                cleared -= 1
                # The API clears the oldest results first; the model does not see them.
                if cleared < 0:
                    text = text_of(field_of(block, "content"))
                    seen.append(reader.result(field_of(block, "tool_use_id"), text))
            elif (call := _call_of(block)) is not None:
                reader.add_call(call.id, call.name, call.arguments)
        if not _is_answer(message):
            text = text_of(field_of(message, "content"))
            seen.append(seen_message(field_of(message, "role"), text))
    return seen


def _is_answer(message: Any) -> bool:
    """Tell whether a message of the user's role holds results alone."""
    return {field_of(block, "type") for block in _blocks(message)} == {"tool_result"}


def _blocks(message: Any) -> Sequence[Any]:
    content = field_of(message, "content")
    return content if isinstance(content, (list, tuple)) else ()


def _call_of(block: Any) -> Call | None:
    """Return the tool call in a block; calls of the provider's toolsets are its own."""
    kind, toolset = field_of(block, "type"), field_of(block, "toolset_name")
    if kind != "tool_use" or toolset is not None:
        return None
    arguments = arguments_or_empty(field_of(block, "input"))
    return Call(field_of(block, "id"), field_of(block, "name"), arguments)


def _cleared_by(message: Any) -> int:
    """Return how many of the oldest results the API kept from the model."""
    edits = field_of(field_of(message, "context_management"), "applied_edits") or ()
    return sum(field_of(edit, "cleared_tool_uses") or 0 for edit in edits)


def _content(result: object) -> Any:
    """Return text, or the blocks that one of the SDK's own tools gave."""
    match result:
        case [{"type": str()}, *_]:
            return result
        case _:
            return result_text(result)


def _satchel_tool(native: Any, call: Call) -> Tool:
    """Return a tool of the SDK as one of Satchel's, which never raises."""

    def handler(**given: object) -> object:
        with _tool_errors(call):
            return native.call(given)

    async def ahandler(**given: object) -> object:
        with _tool_errors(call):
            return await native.call(given)

    # The SDK checks the arguments; Satchel only has to let their names through.
    takes: dict[str, Json] = {"properties": {name: {} for name in call.arguments}}
    is_async = isinstance(native, _ASYNC)
    return Tool(call.name, "", takes, ahandler if is_async else handler)


@contextmanager
def _tool_errors(call: Call) -> Iterator[None]:
    """Let through what a tool of the SDK writes for the model when it fails."""
    try:
        yield
    except ToolError as error:
        raise SatchelToolError(call.name, text_of(error.content)) from error
