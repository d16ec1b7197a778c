"""One request as the guard reads it, and its response on the way out."""

from asyncio import timeout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from satchel.server._errors import Refusal, send_json, send_refusal
from satchel.server._guard._hosts import Headers, add_cors_headers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Message, Scope, Send


@dataclass(frozen=True, slots=True)
class GuardedRequest:
    """A request, as much of it as decides; header names are in lower case.

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


_CRASH: Final = Refusal(
    500, "internal-error", "something went wrong here; it was logged"
)
_SESSION: Final = b"mcp-session-id"


class GuardedResponse:
    """The answer to one request.

    No body of a 500 goes out that others wrote: it may quote an exception. A client
    that takes nothing for ``timeout_s`` seconds is given up.
    """

    def __init__(self, seen: "GuardedRequest", send: "Send", timeout_s: float) -> None:
        self._seen = seen
        self._send = send
        self._timeout_s = timeout_s
        self._started = False
        self.status = 0
        """The HTTP status that went out; 0 as long as none has."""
        self.is_stream = False
        """Whether it stays open until its client goes."""
        self._crashed = False
        self.ended = False
        self.terse = False
        """Keep the body back and say yes or no instead: the details are for others."""
        self.private = False
        """Let nobody keep the answer who serves several callers."""
        self.stalled = False
        """Whether the client was given up."""
        self.session = ""
        """The session of MCP's earlier era that a good answer belongs to."""

    async def send(self, message: "Message") -> None:
        """Pass a message of the application on.

        Raises:
            TimeoutError: The client took nothing for too long.
        """
        if message["type"] == "http.response.start":
            status = cast("int", message["status"])
            self._crashed = status == _CRASH.status
            if not (self._crashed or self.terse):
                await self._start(message)
            elif self.terse and not self._crashed:
                await self._say_whether(status)
        elif not (self._crashed or self.terse):
            await self._pass(message)

    async def refuse(self, refusal: Refusal) -> None:
        """Answer with a refusal, where nothing has been answered yet."""
        if not self._started:
            self._crashed = self.terse = False
            await send_refusal(
                refusal, self.send_plain, head=self._seen.method == "HEAD"
            )

    async def finish(self) -> None:
        """See to it that there is an answer: the application may have failed."""
        await self.refuse(_CRASH)

    async def send_plain(self, message: "Message") -> None:
        """Send what the guard itself says, whatever its status is."""
        if message["type"] == "http.response.start":
            await self._start(message)
        else:
            await self._pass(message)

    async def _say_whether(self, status: int) -> None:
        word = "ready" if status < 400 else "not ready"  # noqa: PLR2004 - of HTTP
        head = self._seen.method == "HEAD"
        await send_json(status, {"status": word}, self.send_plain, head=head)

    async def _start(self, message: "Message") -> None:
        self._started = True
        self.status = cast("int", message["status"])
        headers: Headers = [*message.get("headers", ())]
        if self.status < 400:  # noqa: PLR2004 - of HTTP
            self.session = dict(headers).get(_SESSION, b"").decode("latin-1")
        add_cors_headers(headers, self._seen)
        if self.private:
            headers = [_private(name, value) for name, value in headers]
            if (b"vary", b"Authorization") not in headers:
                headers.append((b"vary", b"Authorization"))
        await self._send({**message, "headers": headers})

    async def _pass(self, message: "Message") -> None:
        if self.stalled:
            raise TimeoutError
        try:
            async with timeout(self._timeout_s):
                await self._send(message)
        except TimeoutError:
            self.stalled = True
            raise
        self.ended = self.ended or not message.get("more_body", False)


def _private(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    if name.lower() != b"cache-control":
        return name, value
    parts = [part.strip() for part in value.split(b",")]
    kept = [part for part in parts if part.lower() not in (b"public", b"private")]
    return name, b", ".join([b"private", *kept])
