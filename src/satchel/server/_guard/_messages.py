"""One request as the guard reads it, and its response on the way out."""

from asyncio import timeout
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, cast

from satchel.server._errors import ErrorAnswer, send_error, send_json
from satchel.server._guard._hosts import Headers, add_cors_headers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Message, Scope, Send

CRASH: Final = ErrorAnswer(
    500, "internal-error", "something went wrong here; it was logged"
)
_SESSION: Final = b"mcp-session-id"


@dataclass(frozen=True, slots=True)
class GuardedRequest:
    """The parts of a request that decide; names of headers are in lower case.

    ``peer`` is the address that it comes from.
    """

    method: str
    path: str
    headers: dict[bytes, list[bytes]]
    peer: str

    @classmethod
    def of(cls, scope: "Scope") -> "GuardedRequest":
        """Read it from an ASGI scope."""
        headers: dict[bytes, list[bytes]] = {}
        pairs = cast("Iterable[tuple[bytes, bytes]]", scope["headers"])
        for name, value in pairs:
            headers.setdefault(name.lower(), []).append(value)
        client = cast("tuple[str, int] | None", scope.get("client"))
        peer = client[0] if client else ""
        return cls(str(scope["method"]), str(scope["path"]), headers, peer)

    def all(self, name: bytes) -> list[bytes]:
        """Return the values of a header, in their order."""
        return self.headers.get(name, [])

    def first(self, name: bytes) -> str:
        """Return the first value of a header, empty where there is none."""
        values = self.headers.get(name)
        return values[0].decode("latin-1") if values else ""


class GuardedResponse:
    """The response to one request.

    The body of a 500 that the application wrote is dropped: it may quote an exception.
    A client that takes no bytes for ``timeout_s`` seconds is given up.
    """

    def __init__(self, request: GuardedRequest, send: "Send", timeout_s: float) -> None:
        self._request = request
        self._send = send
        self._timeout_s = timeout_s
        self.status = 0
        """The HTTP status that was sent; 0 as long as none was."""
        self.is_stream = False
        """Whether it stays open until its client disconnects."""
        self._crashed = False
        self.status_only = False
        """Send "ready" or "not ready" as the body: the details are for others."""
        self.private = False
        """Forbid caches that serve several callers to keep it."""
        self.stalled = False
        """Whether the client was given up."""
        self.session = ""
        """The session of MCP's earlier era that a successful response names."""

    async def send(self, message: "Message") -> None:
        """Pass on a message of the application.

        Raises:
            TimeoutError: The client took no bytes for too long.
        """
        if message["type"] == "http.response.start":
            status = cast("int", message["status"])
            self._crashed = status == CRASH.status
            if self._crashed:
                return
            if self.status_only:
                word = "ready" if status < HTTPStatus.BAD_REQUEST else "not ready"
                head = self._request.method == "HEAD"
                await send_json(status, {"status": word}, self.send_own, head=head)
            else:
                await self._send(self._start(status, message))
        elif not (self._crashed or self.status_only):
            await self._send_part(message)

    async def send_error(self, error: ErrorAnswer) -> None:
        """Send an error, unless a response has been started."""
        if not self.status:
            head = self._request.method == "HEAD"
            await send_error(error, self.send_own, head=head)

    async def send_own(self, message: "Message") -> None:
        """Send a message of the guard itself, whatever its status is."""
        if message["type"] == "http.response.start":
            await self._send(self._start(cast("int", message["status"]), message))
        else:
            await self._send_part(message)

    def _start(self, status: int, message: "Message") -> "Message":
        """Return the message with the guard's headers, and note the status."""
        self.status = status
        headers: Headers = [*message.get("headers", ())]
        if status < HTTPStatus.BAD_REQUEST:
            self.session = dict(headers).get(_SESSION, b"").decode("latin-1")
        add_cors_headers(headers, self._request)
        if self.private:
            headers = [_private(name, value) for name, value in headers]
            if (b"vary", b"Authorization") not in headers:
                headers.append((b"vary", b"Authorization"))
        return {**message, "headers": headers}

    async def _send_part(self, message: "Message") -> None:
        if self.stalled:
            raise TimeoutError
        try:
            async with timeout(self._timeout_s):
                await self._send(message)
        except TimeoutError:
            self.stalled = True
            raise


def _private(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    if name.lower() != b"cache-control":
        return name, value
    parts = [part.strip() for part in value.split(b",")]
    others = [part for part in parts if part.lower() not in (b"public", b"private")]
    return name, b", ".join([b"private", *others])
