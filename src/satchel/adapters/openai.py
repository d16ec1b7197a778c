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

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypedDict, cast

from satchel.adapters._base import Conversation, SessionFactory, framework
from satchel.errors import ToolError, error_payload
from satchel.model import SeenMessage
from satchel.runtime import question_text
from satchel.tools import Tool, result_text

if TYPE_CHECKING:
    from typing import Unpack

    from satchel.protocols import Approval
    from satchel.runtime import Satchel, Session, SessionOptions

with framework("OpenAI's SDK", "openai"):
    from openai.types.chat import ChatCompletion
    from openai.types.responses import Response

__all__ = [
    "Call",
    "Chat",
    "CompletionsRequest",
    "Given",
    "ResponsesRequest",
    "attach",
]

Given: TypeAlias = Response | ChatCompletion | Sequence[Any]
"""What a model said, or messages of either API, as dictionaries or as the SDK's."""

_ROLES: Final[Mapping[object, Literal["user", "assistant"]]] = {
    "user": "user",
    "assistant": "assistant",
}
_LEADING: Final = frozenset({"system", "developer"})
_NO_OBJECT: Final = "the arguments are no JSON object"
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
class Call:
    """A tool call of a model; ``arguments`` is None where they are no JSON object.

    ``question`` is for a person, where one has to approve.
    """

    id: str
    name: str
    arguments: Mapping[str, object] | None
    api: Literal["responses", "completions"]
    question: str = ""

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
        TypeError: An argument is not known, or of another type.
        ValueError: No style has that name.
        DuplicateToolError: One of your tools has the name of a skill's.
    """
    own = [*tools]
    names = [name for tool in own if (name := _name(tool))]
    attached: SessionFactory[None] = SessionFactory(skills, who, None, options)
    talk = attached.open(None, resume, deps=deps)
    talk.session.tools(beside=names)
    return Chat(talk, own, frozenset(names))


@dataclass(eq=False, slots=True)
class Chat:
    """One conversation with skills; made by `attach`. Safe across threads.

    A turn begins with each message of the user: within it a file is read once.
    """

    _talk: Conversation
    _own: list[Any]
    _names: frozenset[str]
    _calls: dict[str, Call] = field(default_factory=dict[str, Call])
    _sent: tuple[SeenMessage, ...] | None = None

    @property
    def session(self) -> "Session":
        """What is behind it: what is in use, `satchel.Session.invoke`."""
        return self._talk.session

    def responses(
        self,
        input: str | Sequence[Any],  # noqa: A002 - as the SDK has it
        *,
        instructions: str = "",
        previous_response_id: str | None = None,
        conversation: str | Mapping[str, Any] | None = None,
    ) -> ResponsesRequest:
        """Return the arguments of the next ``client.responses.create``.

        ``input`` is handed on as it is. Where the provider keeps the messages, what is
        new is enough: this object remembers what it has seen of the rest.
        """
        items = (
            [{"role": "user", "content": input}] if isinstance(input, str) else input
        )
        self._see(items, is_more=bool(previous_response_id or conversation))
        tools = [*self._own, *map(_for_responses, self._talk.tools(self._names))]
        request: dict[str, Any] = {
            "instructions": self.session.instructions(instructions),
            "tools": tools,
            "previous_response_id": previous_response_id,
            "conversation": conversation,
        }
        given = {key: value for key, value in request.items() if value}
        return cast("ResponsesRequest", {"input": input, **given})

    def completions(self, messages: Sequence[Any]) -> CompletionsRequest:
        """Return the arguments of the next ``client.chat.completions.create``.

        Skills stand behind the last of the leading messages of the system, or the
        developer, and in one of their own where there is none. ``messages`` itself
        stays as it is.
        """
        self._see(messages)
        tools = [*self._own, *map(_for_completions, self._talk.tools(self._names))]
        request: CompletionsRequest = {"messages": self._prompted(messages)}
        return {**request, "tools": tools} if tools else request

    def waiting(self, given: Given) -> list[Call]:
        """Return the calls without a result that somebody has to approve first.

        None where the conversation has an ``approve`` of its own to ask.
        """
        return [
            replace(call, question=question_text(question))
            for call in self._ours(given)
            if (question := self._talk.asked(call.name, call.arguments or {}))
            is not None
        ]

    def yours(self, given: Given) -> list[Call]:
        """Return the calls without a result that are of your own tools."""
        return [each for each in self._unanswered(given) if each.name in self._names]

    def run(
        self, given: Given, *, approved: "Mapping[str, Approval] | None" = None
    ) -> list[Any]:
        """Carry out the calls without a result; return the results, to be appended.

        Calls of your own tools are left to you: see `yours`. Never raises: an error is
        a result, and so is a call that is not approved.

        Args:
            given: What the model said, or the messages with it at their end.
            approved: Answers about calls that wait, by their ids: True, False, or a
                `satchel.model.Reply` with words for the model, or other arguments.
        """
        calls = self._ours(given)
        return [call.result(self._call(call, approved or {})) for call in calls]

    async def arun(
        self, given: Given, *, approved: "Mapping[str, Approval] | None" = None
    ) -> list[Any]:
        """Do as `run` does, side by side; waits for asynchronous tools."""
        calls = self._ours(given)
        results = (self._acall(call, approved or {}) for call in calls)
        done = await asyncio.gather(*results)
        return [call.result(each) for call, each in zip(calls, done, strict=True)]

    def dump(self) -> dict[str, object]:
        """Return what `attach` can resume from, safe for JSON; no text."""
        return self._talk.keep()

    def _see(self, messages: Iterable[Any], *, is_more: bool = False) -> None:
        before = (self._sent or ()) if is_more else ()
        self._sent = (*before, *self._seen(messages))
        if self._sent and self._sent[-1].role == "user":
            self._talk.begin_turn()
        self._talk.see(self._sent)

    def _seen(self, messages: Iterable[Any]) -> Iterator[SeenMessage]:
        for each in messages:
            calls = [*_calls(each)]
            self._calls.update({call.id: call for call in calls})
            answered = _answers(each)
            if answered:
                call = self._calls.get(answered)
                text = _text(_get(each, "output") or _get(each, "content"))
                name = call.name if call else ""
                yield SeenMessage("tool", text, name, (call and call.arguments) or {})
            elif calls:
                yield SeenMessage("assistant")
            elif role := _get(each, "role"):
                yield SeenMessage(
                    _ROLES.get(role, "system"), _text(_get(each, "content"))
                )

    def _unanswered(self, given: Given) -> list[Call]:
        items = _items(given)
        if self._sent is None:  # another process has sent it
            self._see(items)
        calls: dict[str, Call] = {}
        for each in items:
            calls |= {call.id: call for call in _calls(each)}
            calls.pop(_answers(each), None)
        self._calls |= calls
        return [*calls.values()]

    def _ours(self, given: Given) -> list[Call]:
        calls = self._unanswered(given)
        return [call for call in calls if call.name not in self._names]

    def _prompted(self, messages: Sequence[Any]) -> list[Any]:
        leading = 0
        while leading < len(messages) and _get(messages[leading], "role") in _LEADING:
            leading += 1
        if not leading:
            text = self.session.instructions()
            first = [{"role": "system", "content": text}] if text else []
            return [*first, *messages]
        last = messages[leading - 1]
        content = _get(last, "content")
        if isinstance(content, str):
            text = self.session.instructions(content)
            prompted: dict[str, Any] = {**last, "content": text}
        elif text := self.session.instructions():
            part = {"type": "text", "text": text}
            prompted = {**last, "content": [*content, part]}
        else:
            prompted = last
        return [*messages[: leading - 1], prompted, *messages[leading:]]

    def _call(self, call: Call, approved: "Mapping[str, Approval]") -> object:
        name, given, answer = call.name, call.arguments, approved.get(call.id)
        if given is None:
            return error_payload(ToolError(name, _NO_OBJECT))
        native = self._native(name)
        if native is None:
            return self._talk.answer(name, given, approved=answer, call_id=call.id)
        permit = self._talk.permit(name, given, approved=answer, call_id=call.id)
        return permit.refusal or native.call(permit.arguments)

    async def _acall(self, call: Call, approved: "Mapping[str, Approval]") -> object:
        name, given, answer = call.name, call.arguments, approved.get(call.id)
        if given is None:
            return error_payload(ToolError(name, _NO_OBJECT))
        native = self._native(name)
        if native is None:
            return await self._talk.aanswer(
                name, given, approved=answer, call_id=call.id
            )
        permit = await self._talk.apermit(name, given, approved=answer, call_id=call.id)
        return permit.refusal or await native.acall(permit.arguments)

    def _native(self, name: str) -> Tool | None:
        """Return a function of the SDK's tool runner, as a tool."""
        tool = self._talk.tool(name)
        execute = getattr(tool and tool.native, "execute", None)
        if tool is None or not callable(execute):
            return None
        takes = getattr(tool.native, "_parsed_tool", None)  # made by `from_tool`

        def handler(**given: object) -> object:
            return execute(takes.model(**given) if takes is not None else given)

        schema = cast("Any", tool.native).tool.get("parameters") or {}
        return Tool(name, tool.description, {"properties": {}, **schema}, handler)


def _for_responses(tool: Tool) -> Any:  # noqa: ANN401 - any of the SDK's kinds of tool
    if isinstance(tool.native, Mapping):
        return tool.native  # one that the provider runs
    if tool.native is not None:
        return dict(cast("Any", tool.native).tool)
    return {"type": "function", **_function(tool), "strict": False}


def _for_completions(tool: Tool) -> Any:  # noqa: ANN401 - as above
    if isinstance(tool.native, Mapping):
        return tool.native
    function = _function(tool)
    if tool.native is not None:
        function = dict(cast("Any", tool.native).tool)
        del function["type"]
    return {"type": "function", "function": function}


def _function(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }


def _name(tool: object) -> str:
    """Return the name of a function of either form; empty for what has none."""
    name = _get(tool, "name") or _get(_get(tool, "function"), "name")
    return name if isinstance(name, str) else ""


def _get(item: object, key: str) -> Any:  # noqa: ANN401 - of a dictionary or a model
    if isinstance(item, Mapping):
        return cast("Mapping[str, Any]", item).get(key)
    return getattr(item, key, None)


def _items(given: Given) -> Sequence[Any]:
    if isinstance(given, Response):
        return given.output
    if isinstance(given, ChatCompletion):
        return [given.choices[0].message]
    return given


def _calls(item: object) -> Iterator[Call]:
    """Yield the calls of functions in one message of either API."""
    if _get(item, "type") == "function_call":
        yield _call(_get(item, "call_id"), item, "responses")
    for each in _get(item, "tool_calls") or ():
        function = _get(each, "function")
        if function is not None:
            yield _call(_get(each, "id"), function, "completions")


def _call(
    id: str,
    function: object,
    api: Literal["responses", "completions"],
) -> Call:
    try:
        given = json.loads(_get(function, "arguments") or "{}")
    except ValueError:
        given = None
    arguments = given if isinstance(given, dict) else None
    return Call(id, _get(function, "name"), arguments, api)


def _answers(item: object) -> str:
    """Return the id of the call that a message answers; empty where it is no answer."""
    if _get(item, "type") == "function_call_output":
        return str(_get(item, "call_id"))
    return str(_get(item, "tool_call_id")) if _get(item, "role") == "tool" else ""


def _text(content: object) -> str:
    """Return the text of a message's content, or of a tool's output."""
    if isinstance(content, str):
        return content
    parts = cast("list[object]", content) if isinstance(content, list) else []
    return "\n".join(
        text for each in parts if isinstance(text := _get(each, "text"), str)
    )


def _is_parts(result: object) -> bool:
    """Tell whether a result is texts, images and files as Responses takes them."""
    parts = cast("list[object]", result) if isinstance(result, list) else []
    return bool(parts) and all(_get(each, "type") in _PARTS for each in parts)
