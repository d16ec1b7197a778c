"""One line for each request that is answered."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from satchel.text import clip
from satchel_server._library import CALLER_NAME

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_CHARS: Final = 200

# With these two an MCP client says in which request it calls which tool.
_MCP_HEADERS: Final = (b"mcp-method", b"mcp-name")


def log_requests(app: "ASGIApp", add: Callable[[str], object]) -> "ASGIApp":
    """Return the application that gives ``add`` a line for each answer that begins.

    What follows the question mark is left out: it is what people search for.
    """

    async def logged(scope: "Scope", receive: "Receive", send: "Send") -> None:
        begun = time.perf_counter()

        async def watch(message: "Message") -> None:
            if message["type"] == "http.response.start":
                took_ms = 1000 * (time.perf_counter() - begun)
                add(f"{_asked(scope)}: {message['status']} in {took_ms:.0f} ms")
            await send(message)

        await app(scope, receive, watch if scope["type"] == "http" else send)

    return logged


def _asked(scope: "Scope") -> str:
    host = scope["client"][0] if scope.get("client") else "-"
    # The guard has let it in by now, and says who it is.
    caller = scope.get(CALLER_NAME)
    host = f"{host} {caller}" if caller else host
    headers = dict(scope["headers"])
    named = [
        headers[name].decode("latin-1") for name in _MCP_HEADERS if name in headers
    ]
    asked = " ".join((scope["method"], scope["path"], *named))
    return f"{host} {clip(asked, MAX_CHARS)}"
