"""An endpoint of Chat Completions on loopback, which answers as a test says."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from satchel import Satchel
from satchel_lab.evals import EvalCase
from tests.fakes import FakeSource, pack

PDF = EvalCase("fill in a tax form", ("pdf-forms",))
TRAIN = EvalCase("book a train", ("travel",))
JOKE = EvalCase("tell me a joke")
CASES = [PDF, TRAIN, JOKE]


def library(about_pdf: str = "Use to fill in PDF forms.") -> Satchel:
    packs: dict[str, dict[str, str | bytes]] = {
        "pdf-forms": {"SKILL.md": pack("pdf-forms", about_pdf)},
        "travel": {"SKILL.md": pack("travel", "Use to book trains.")},
    }
    return Satchel(FakeSource("skills", packs))


def message(*calls: tuple[str, object], content: str | None = None) -> dict[str, Any]:
    """Return the body of an answer with these tool calls."""
    listed = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": given if isinstance(given, str) else json.dumps(given),
            },
        }
        for number, (name, given) in enumerate(calls)
    ]
    return {
        "choices": [
            {"message": {"role": "assistant", "content": content, "tool_calls": listed}}
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }


def good(request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer as a good model would, in each style."""
    query = request["messages"][-1]["content"]
    skills = {case.query: case.expected for case in (PDF, TRAIN)}
    if query not in skills:
        return message(content="Knock, knock.")
    load = next(
        tool["function"]
        for tool in request["tools"]
        if tool["function"]["name"].startswith("load_skill")
    )
    parameter = load["parameters"]["required"][0]
    return message((load["name"], {parameter: skills[query][0]}))


class Handler(BaseHTTPRequestHandler):
    """One request; what a test brings writes the answer."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        request = json.loads(self.rfile.read(length))
        with self.server.lock:
            self.server.requests.append(request)
            self.server.headers.append(dict(self.headers))
        try:
            self.server.behave(self, request)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def reply(
        self,
        body: object,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        *,
        length: int | None = None,
    ) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        fields = {
            "Content-Type": "application/json",
            "Content-Length": str(len(data) if length is None else length),
            **(headers or {}),
        }
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        if length is not None:
            self.drop()

    def drop(self) -> None:
        """Close the connection, whatever was sent."""
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    # A handler that hangs is left behind.
    block_on_close = False

    def __init__(self, behave: Callable[[Handler, Mapping[str, Any]], object]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behave = behave
        self.lock = threading.Lock()
        self.requests: list[Mapping[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.ended = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing: clients leave in the middle of an answer."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


@contextmanager
def endpoint(
    behave: Callable[[Handler, Mapping[str, Any]], object] = lambda handler, request: (
        handler.reply(good(request))
    ),
) -> Iterator[Server]:
    with Server(behave) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.ended.set()
            server.shutdown()
            thread.join()
