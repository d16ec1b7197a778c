"""The body of a request: whole before anything is done with it, within size and time.

A request of MCP or of ``/v1`` is a few kilobytes. One that is read before its turn
comes means that a slow sender takes nobody's place, and that it is refused cleanly.
"""

from asyncio import timeout
from typing import TYPE_CHECKING, Final, cast

from satchel.serve.guard.refusals import Refusal

if TYPE_CHECKING:
    from starlette.types import Message, Receive

    from satchel.serve.guard.requests import Seen
    from satchel.serve.guard.settings import GuardSettings

__all__ = ["Bodies", "Gone", "replayed"]

_CLOSE: Final = ((b"connection", b"close"),)
_TOO_SLOW: Final = Refusal(
    408, "too-slow", "the body of the request did not arrive in time", _CLOSE
)
_TOO_MANY: Final = Refusal(
    503,
    "too-busy",
    "too many requests are being received; try again",
    (*_CLOSE, (b"retry-after", b"1")),
)


class Gone(Exception):
    """The client went away before its request was whole."""


class Bodies:
    """Reads bodies; at most so many at a time."""

    def __init__(self, settings: "GuardSettings") -> None:
        self._max_bytes = settings.max_body_bytes
        self._timeout_s = settings.body_timeout_s
        self._free = settings.max_bodies
        self._too_large = Refusal(
            413,
            "too-large",
            f"the body of a request may have {self._max_bytes:,} bytes",
            _CLOSE,
        )

    async def read(self, seen: "Seen", receive: "Receive") -> bytes | Refusal:
        """Return the whole body of a request, or why it is not read.

        Raises:
            Gone: There is nobody any more to answer.
        """
        declared = seen.first(b"content-length")
        if declared.isdecimal() and int(declared) > self._max_bytes:
            return self._too_large
        if not self._free:
            return _TOO_MANY
        self._free -= 1
        try:
            async with timeout(self._timeout_s):
                return await self._whole(receive)
        except TimeoutError:
            return _TOO_SLOW
        finally:
            self._free += 1

    async def _whole(self, receive: "Receive") -> bytes | Refusal:
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise Gone
            part = cast("bytes", message.get("body", b""))
            size += len(part)
            if size > self._max_bytes:
                return self._too_large
            parts.append(part)
            if not message.get("more_body", False):
                return b"".join(parts)


def replayed(body: bytes, receive: "Receive") -> "Receive":
    """Return a channel that gives ``body`` once, and then what the client does."""
    pending = [body]

    async def again() -> "Message":
        if pending:
            return {"type": "http.request", "body": pending.pop(), "more_body": False}
        return await receive()

    return again
