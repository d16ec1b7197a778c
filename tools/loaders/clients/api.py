"""A model on this machine that says "ok", and remembers what it was asked.

It answers as the APIs of Anthropic, OpenAI (both of them) and Gemini do: as far as
clients need to end a turn.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, Self, cast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

_USAGE: Final = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


class FakeApi:
    """Serves on a free port of this machine while it is entered."""

    def __init__(self) -> None:
        """Bind the port."""
        self.asked: list[dict[str, Any]] = []
        self._server = _Server(self.asked)
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, args=(0.02,), daemon=True)

    @property
    def address(self) -> str:
        """Where it answers, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def texts(self) -> list[str]:
        """Return every string in what was asked, the last request first."""
        return [text for request in reversed(self.asked) for text in _strings(request)]

    def __enter__(self) -> Self:
        """Begin to serve."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in cast("dict[str, object]", value).values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in cast("list[object]", value):
            yield from _strings(each)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, asked: list[dict[str, Any]]) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.asked = asked


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""
        del format, args

    def do_GET(self) -> None:
        models = {"object": "list", "data": [{"id": "fake", "object": "model"}]}
        self._send(json.dumps(models) if "models" in self.path else "{}")

    def do_POST(self) -> None:
        try:
            request: dict[str, Any] = json.loads(self._body() or b"{}")
        except ValueError:
            request = {}
        cast("_Server", self.server).asked.append(request)
        streams = "stream" in self.path or bool(request.get("stream"))
        text = answer(self.path.partition("?")[0], streams=streams)
        self._send(text, "text/event-stream" if streams else "application/json")

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts: list[bytes] = []
        while size := int(self.rfile.readline().strip() or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _send(self, text: str, kind: str = "application/json") -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def answer(path: str, *, streams: bool) -> str:
    """Return the body that says "ok" in the way of the API that has this path."""
    if path.endswith("/messages"):
        return _named(_anthropic()) if streams else json.dumps(_message())
    if path.endswith("/responses"):
        return _named(_responses())
    if path.endswith("/chat/completions"):
        return _chat() if streams else json.dumps(_completion())
    if "enerateContent" in path:
        text = json.dumps(_gemini())
        return f"data: {text}\r\n\r\n" if streams else text
    return json.dumps({"input_tokens": 1, "totalTokens": 1})


def _named(events: list[dict[str, Any]]) -> str:
    return "".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events
    )


def _message() -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "fake",
        "content": [{"type": "text", "text": "ok"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _anthropic() -> list[dict[str, Any]]:
    text = {"type": "text_delta", "text": "ok"}
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    opened: dict[str, Any] = _message() | {"content": [], "stop_reason": None}
    return [
        {"type": "message_start", "message": opened},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "text", "text": ""},
        },
        {"type": "content_block_delta", "index": 0, "delta": text},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


def _responses() -> list[dict[str, Any]]:
    said: dict[str, Any] = {
        "type": "message",
        "id": "m1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "ok", "annotations": []}],
    }
    response: dict[str, Any] = {"id": "r1", "object": "response"}
    usage = {
        "input_tokens": 1,
        "output_tokens": 1,
        "total_tokens": 2,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    begun: dict[str, Any] = response | {"status": "in_progress", "output": []}
    ended = response | {"status": "completed", "output": [said], "usage": usage}
    return [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.done", "output_index": 0, "item": said},
        {"type": "response.completed", "response": ended},
    ]


def _chat() -> str:
    said: dict[str, Any] = {"index": 0, "delta": {"role": "assistant", "content": "ok"}}
    ended: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": "stop"}
    head: dict[str, Any] = {"id": "c1", "object": "chat.completion.chunk", "created": 1}
    chunks: list[dict[str, Any]] = [
        {**head, "model": "fake", "choices": [{**said, "finish_reason": None}]},
        {**head, "model": "fake", "choices": [ended], "usage": _USAGE},
    ]
    text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return f"{text}data: [DONE]\n\n"


def _completion() -> dict[str, Any]:
    said = {"role": "assistant", "content": "ok"}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "fake",
        "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
        "usage": _USAGE,
    }


def _gemini() -> dict[str, Any]:
    said = {"role": "model", "parts": [{"text": "ok"}]}
    return {
        "candidates": [{"content": said, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 1,
            "candidatesTokenCount": 1,
            "totalTokenCount": 2,
        },
    }
