"""What the drivers of providers' SDKs share: stored chats, and Anthropic's messages."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.adapters.driver import BaseRig, Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from satchel.model import Reply
    from tests.adapters.driver import Say, Seen, Setup


@dataclass
class Stored:
    """One conversation as an application stores it; ``states`` are by agent."""

    messages: list[Any] = field(default_factory=list[Any])
    states: list[Any] = field(default_factory=lambda: [None, None])
    active: int = 0
    answers: dict[str, Reply] = field(default_factory=dict)


class LoopRig(BaseRig):
    """Conversations in a loop of the application's own."""

    def __init__(self, seen: list[Seen], *setups: Setup) -> None:
        super().__init__(seen)
        self.setups = setups
        self.chats: dict[str, Stored] = {}

    def stored(self, chat: str, text: str) -> Stored:
        """Return a conversation with what the user says now."""
        stored = self.chats.setdefault(chat, Stored())
        stored.messages.append({"role": "user", "content": text})
        return stored

    def save(self, chat: str = "one") -> str:
        stored = self.chats[chat]
        return json.dumps([stored.messages, stored.states, stored.active])

    def restore(self, saved: str, chat: str = "one") -> None:
        self.chats[chat] = Stored(*json.loads(saved))

    def trim(self, chat: str = "one") -> None:
        self.chats[chat].messages.clear()

    def keep_instead(self, state: object, chat: str = "one") -> None:
        self.chats[chat].states[0] = state


def attached(attach: Callable[..., Any], setup: Setup, **given: Any) -> Any:
    """Attach as the suite asks for it; ``deps`` is a value here."""
    options = setup.options_of(lambda _: given.get("who") or {})
    deps = options.pop("deps", None)
    made = deps() if deps else None
    return attach(setup.skills, deps=made, **given, **options)


def blocks_of(output: Say, id: str) -> list[dict[str, Any]]:
    """Return what a model says as Anthropic's blocks."""
    if isinstance(output, str):
        return [{"type": "text", "text": output}]
    return [
        {
            "type": "tool_use",
            "id": call.id or f"toolu_{id}_{at}",
            "name": call.name,
            "input": dict(call.arguments),
        }
        for at, call in enumerate(output)
    ]


def message_of(content: list[dict[str, Any]], id: str, stop: str = "") -> Any:
    """Return blocks as a message of Anthropic's API."""
    calls = any(block["type"] == "tool_use" for block in content)
    return {
        "id": f"msg_{id}",
        "type": "message",
        "role": "assistant",
        "model": "claude-fake",
        "content": content,
        "stop_reason": stop or ("tool_use" if calls else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def streamed(message: dict[str, Any]) -> bytes:
    """Return a message as the API streams it."""
    lines = (f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in _events(message))
    return "".join(lines).encode()


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    start = {**message, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": start}
    for at, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty: dict[str, Any] = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            written = json.dumps(block["input"])
            delta = {"type": "input_json_delta", "partial_json": written}
        yield {"type": "content_block_start", "index": at, "content_block": empty}
        yield {"type": "content_block_delta", "index": at, "delta": delta}
        yield {"type": "content_block_stop", "index": at}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": message["usage"]}
    yield {"type": "message_stop"}


def blocks_in(content: Any) -> list[dict[str, Any]]:
    """Return the blocks of a message, whose content may be a text."""
    is_text = isinstance(content, str)
    return [{"type": "text", "text": content}] if is_text else content


def text_in(content: Any) -> str:
    """Return the text of a message or a result."""
    return "".join(b["text"] for b in blocks_in(content) if "text" in b)


def calls_shown(blocks: list[dict[str, Any]]) -> str:
    """Return the calls in a message as the suite shows them."""
    calls = (block for block in blocks if block["type"] == "tool_use")
    return " ".join(f"{call['name']}({json.dumps(call['input'])})" for call in calls)


def assistant(text: str, blocks: list[dict[str, Any]]) -> Message:
    """Return a message of the model: its text, or else its calls."""
    return Message("assistant", text or calls_shown(blocks))
