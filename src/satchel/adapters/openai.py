"""Skills for loops of your own over OpenAI's SDK, by Responses or Chat Completions.

One `attach` is one conversation. Its messages stay yours, and so does the loop::

    chat = attach(skills, who=ana)
    while True:
        response = client.responses.create(model=..., **chat.responses(items))
        items += response.output
        results = chat.run(response)
        if not results:
            break
        items += results
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypedDict, cast

from satchel.adapters._base import framework
from satchel.adapters._loop import ChatLoop, ModelCall
from satchel.adapters._translation import field_of, seen_message, text_of
from satchel.errors import ToolError
from satchel.model import SeenMessage
from satchel.tools import Tool, arguments_of, result_text

if TYPE_CHECKING:
    from typing import Unpack

    from satchel.runtime import Satchel, SessionOptions

with framework("OpenAI's SDK", "openai"):
    from openai.types.chat import ChatCompletion
    from openai.types.responses import Response

__all__ = ["Chat", "attach"]

Given: TypeAlias = Response | ChatCompletion | Sequence[Any]
"""What a model said, or messages of either API, as dictionaries or as the SDK's."""

_LEADING: Final = frozenset({"system", "developer"})
_PARTS: Final = frozenset({"input_text", "input_image", "input_file"})


class ResponsesRequest(TypedDict, total=False):
    """What ``client.responses.create`` is given; what is empty is left out."""

    input: Any
    instructions: str
    tools: list[Any]
    previous_response_id: str
    conversation: Any


class CompletionsRequest(TypedDict, total=False):
    """What ``client.chat.completions.create`` is given; ``tools`` if there are any."""

    messages: list[Any]
    tools: list[Any]


@dataclass(frozen=True, slots=True)
class Call(ModelCall):
    """A tool call of a model; ``arguments`` is None where they are no JSON object.

    ``question`` is for a person, where one has to approve.
    """

    api: Literal["responses", "completions"] = field(kw_only=True)

    def result(self, value: object) -> dict[str, Any]:
        """Return the message that answers it: text, JSON, or parts of Responses."""
        if self.api == "completions":
            text = result_text(value)
            return {"role": "tool", "tool_call_id": self.id, "content": text}
        output = value if _is_parts(value) else result_text(value)
        return {"type": "function_call_output", "call_id": self.id, "output": output}


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
        tools: Your own, in the form of the API that you call. They are offered first,
            and calls of them are left to you.
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

    _calls: dict[str, Call] = field(default_factory=dict[str, Call])
    _sent: tuple[SeenMessage, ...] | None = None

    def responses(
        self,
        input: str | Sequence[Any],  # noqa: A002 - as the SDK has it
        *,
        instructions: str = "",
        previous_response_id: str | None = None,
        conversation: str | Mapping[str, Any] | None = None,
    ) -> ResponsesRequest:
        """Return the arguments of the next ``client.responses.create``.

        ``input`` is passed on unchanged. Where the provider keeps the messages, new
        ones are enough: this object remembers the rest.
        """
        is_text = isinstance(input, str)
        items = [{"role": "user", "content": input}] if is_text else input
        self._see(items, is_more=bool(previous_response_id or conversation))
        request: dict[str, Any] = {
            "instructions": self.session.instructions(instructions),
            "tools": self._tools(_for_responses),
            "previous_response_id": previous_response_id,
            "conversation": conversation,
        }
        filled = {key: value for key, value in request.items() if value}
        return cast("ResponsesRequest", {"input": input, **filled})

    def completions(self, messages: Sequence[Any]) -> CompletionsRequest:
        """Return the arguments of the next ``client.chat.completions.create``.

        Skills come after the text of the last of the leading system or developer
        messages, or in a message of their own where there is none. ``messages`` itself
        is not changed.
        """
        self._see(messages)
        tools = self._tools(_for_completions)
        request: CompletionsRequest = {"messages": self._prompted(messages)}
        return {**request, "tools": tools} if tools else request

    def yours(self, given: Given) -> list[Call]:
        """Return the calls without a result that are of your own tools."""
        return [call for call in self._unanswered(given) if call.name in self._names]

    def _tools(self, form: Callable[[Tool], Any]) -> list[Any]:
        return [*self._own, *map(form, self._conversation.tools(self._names))]

    def _see(self, messages: Iterable[Any], *, is_more: bool = False) -> None:
        before = (self._sent or ()) if is_more else ()
        self._sent = (*before, *self._seen(messages))
        if self._sent and self._sent[-1].role == "user":
            self._conversation.begin_turn()
        self._conversation.see(self._sent)

    def _seen(self, messages: Iterable[Any]) -> Iterator[SeenMessage]:
        for message in messages:
            calls = [*_calls(message)]
            # Where the provider keeps the messages, a result comes without its call.
            self._calls.update({call.id: call for call in calls})
            if call_id := _answered(message):
                content = field_of(message, "output") or field_of(message, "content")
                call = self._calls.get(call_id)
                name, arguments = (call.name, call.arguments) if call else ("", None)
                yield SeenMessage("tool", text_of(content), name, arguments or {})
            elif calls:
                yield SeenMessage("assistant")
            elif role := field_of(message, "role"):
                yield seen_message(role, text_of(field_of(message, "content")))

    def _unanswered(self, given: Given) -> list[Call]:
        messages = _messages(given)
        if self._sent is None:  # another process has sent them
            self._see(messages)
        calls: dict[str, Call] = {}
        for message in messages:
            calls |= {call.id: call for call in _calls(message)}
            calls.pop(_answered(message), None)
        self._calls |= calls
        return [*calls.values()]

    def _pending(self, given: Given) -> list[Call]:
        calls = self._unanswered(given)
        return [call for call in calls if call.name not in self._names]

    def _message(self, call: Call, result: object) -> dict[str, Any]:
        return call.result(result)

    def _prompted(self, messages: Sequence[Any]) -> list[Any]:
        roles = [field_of(message, "role") for message in messages]
        # Later system messages are part of the conversation: they stay where they are.
        others = (at for at, role in enumerate(roles) if role not in _LEADING)
        leading = next(others, len(roles))
        if not leading:
            text = self.session.instructions()
            first = [{"role": "system", "content": text}] if text else []
            return [*first, *messages]
        last = messages[leading - 1]
        content = field_of(last, "content")
        if isinstance(content, str):
            text = self.session.instructions(content)
            prompted: dict[str, Any] = {**last, "content": text}
        elif text := self.session.instructions():
            part = {"type": "text", "text": text}
            prompted = {**last, "content": [*content, part]}
        else:
            prompted = last
        return [*messages[: leading - 1], prompted, *messages[leading:]]

    def _native(self, call: Call) -> Tool | None:
        tool = self._conversation.tool(call.name)
        execute = getattr(tool and tool.native, "execute", None)
        if tool is None or not callable(execute):
            return None
        parsed = getattr(tool.native, "_parsed_tool", None)  # made by `from_tool`

        def handler(**given: object) -> object:
            return execute(given if parsed is None else parsed.model(**given))

        schema = cast("Any", tool.native).tool.get("parameters") or {}
        parameters = {"properties": {}, **schema}
        return Tool(call.name, tool.description, parameters, handler)


def _for_responses(tool: Tool) -> Any:  # noqa: ANN401 - any of the SDK's kinds of tool
    if isinstance(tool.native, Mapping):
        return tool.native  # one that the provider runs
    if tool.native is not None:
        return dict(cast("Any", tool.native).tool)
    # A strict schema may have no optional parameters, and a skill's tool may.
    return {"type": "function", **_function(tool), "strict": False}


def _for_completions(tool: Tool) -> Any:  # noqa: ANN401 - as above
    if isinstance(tool.native, Mapping):
        return tool.native
    function = _function(tool)
    if tool.native is not None:
        function = dict(cast("Any", tool.native).tool)
        # Completions has the type outside of the function.
        del function["type"]
    return {"type": "function", "function": function}


def _function(tool: Tool) -> dict[str, Any]:
    about = {"name": tool.name, "description": tool.description}
    return {**about, "parameters": dict(tool.parameters)}


def _messages(given: Given) -> Sequence[Any]:
    if isinstance(given, Response):
        return given.output
    if isinstance(given, ChatCompletion):
        return [given.choices[0].message]
    return given


def _calls(item: object) -> Iterator[Call]:
    if field_of(item, "type") == "function_call":
        yield _call(field_of(item, "call_id"), item, "responses")
    for call in field_of(item, "tool_calls") or ():
        function = field_of(call, "function")
        if function is not None:
            yield _call(field_of(call, "id"), function, "completions")


def _call(id: str, function: object, api: Literal["responses", "completions"]) -> Call:
    name = field_of(function, "name")
    try:
        # Some models give an empty text where there are no arguments.
        arguments = arguments_of(name, field_of(function, "arguments") or "{}")
    except ToolError:
        return Call(id, name, None, api=api)
    return Call(id, name, arguments, api=api)


def _answered(item: object) -> str:
    """Return the id of the call that a message answers; empty where it answers none."""
    if field_of(item, "type") == "function_call_output":
        return str(field_of(item, "call_id"))
    is_result = field_of(item, "role") == "tool"
    return str(field_of(item, "tool_call_id")) if is_result else ""


def _is_parts(result: object) -> bool:
    """Tell whether a result is texts, images and files as Responses takes them."""
    parts = cast("list[object]", result) if isinstance(result, list) else []
    return bool(parts) and all(field_of(part, "type") in _PARTS for part in parts)
