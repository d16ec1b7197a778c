"""Ending streams when the server ends: they would stay open until their clients go."""

from typing import TYPE_CHECKING, Final

from anyio import CancelScope
from starlette.datastructures import Headers

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Ending"]

_STREAM: Final = "text/event-stream"


class Ending:
    """Goes around an application, and knows the streams of events that are open."""

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app
        self._open: set[CancelScope] = set()

    def end(self) -> None:
        """End the streams that are open, as if each had come to its end."""
        for scope in tuple(self._open):
            scope.cancel()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer; an answer that is a stream may be ended from outside."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        ours = CancelScope()

        async def watch(message: "Message") -> None:
            if message["type"] == "http.response.start":
                kind = Headers(raw=message.get("headers", [])).get("content-type", "")
                if kind.startswith(_STREAM):
                    self._open.add(ours)
            elif not message.get("more_body", False):
                self._open.discard(ours)  # it has come to its end
            await send(message)

        try:
            with ours:
                await self._app(scope, receive, watch)
        finally:
            self._open.discard(ours)
        if ours.cancelled_caught:
            await send({"type": "http.response.body", "body": b""})
