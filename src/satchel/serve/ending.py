"""How a server ends: streams at once, connections once their clients know of it.

A client that keeps a connection would send its next request into one that is closed.
"""

from typing import TYPE_CHECKING, Final, cast

from anyio import CancelScope
from starlette.datastructures import Headers

from satchel.serve.guard.refusals import Refusal, refuse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Ending"]

_STREAM: Final = "text/event-stream"


_NOT_READY: Final = Refusal(
    503, "shutting-down", "this server ends; ask another", ((b"connection", b"close"),)
)


def _closing(message: "Message") -> list[tuple[bytes, bytes]]:
    headers = cast("Iterable[tuple[bytes, bytes]]", message.get("headers", ()))
    kept = [pair for pair in headers if pair[0].lower() != b"connection"]
    return [*kept, (b"connection", b"close")]


class Ending:
    """Goes around an application, and knows the streams of events that are open."""

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app
        self._open: set[CancelScope] = set()
        self._drains = False

    def drain(self) -> None:
        """Let every answer from now on close its connection; ``/readyz`` says no."""
        self._drains = True

    def end(self) -> None:
        """End the streams that are open, as if each had come to its end."""
        for scope in tuple(self._open):
            scope.cancel()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer; an answer that is a stream may be ended from outside."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._drains and scope["path"] == "/readyz":
            await refuse(_NOT_READY, send, head=scope["method"] == "HEAD")
            return
        ours = CancelScope()

        async def watch(message: "Message") -> None:
            if message["type"] == "http.response.start":
                kind = Headers(raw=message.get("headers", [])).get("content-type", "")
                if kind.startswith(_STREAM):
                    self._open.add(ours)
                if self._drains:
                    message = {**message, "headers": _closing(message)}
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
