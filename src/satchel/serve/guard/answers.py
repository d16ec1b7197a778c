"""An answer on its way out: what the guard adds, keeps back and waits for."""

from asyncio import timeout
from typing import TYPE_CHECKING, Final, cast

from satchel.serve.guard.pages import Headers, allow_page
from satchel.serve.guard.refusals import Refusal, refuse, say

if TYPE_CHECKING:
    from starlette.types import Message, Send

    from satchel.serve.guard.requests import Seen

__all__ = ["Answer"]

_CRASH: Final = Refusal(
    500, "internal-error", "something went wrong here; it was logged"
)
_SESSION: Final = b"mcp-session-id"


class Answer:
    """The answer to one request.

    No body of a 500 goes out that others wrote: it may quote an exception. A client
    that takes nothing for ``timeout_s`` seconds is given up.
    """

    def __init__(self, seen: "Seen", send: "Send", timeout_s: float) -> None:
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
            await refuse(refusal, self.send_plain, head=self._seen.method == "HEAD")

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
        await say(status, {"status": word}, self.send_plain, head=head)

    async def _start(self, message: "Message") -> None:
        self._started = True
        self.status = cast("int", message["status"])
        headers: Headers = [*message.get("headers", ())]
        if self.status < 400:  # noqa: PLR2004 - of HTTP
            self.session = dict(headers).get(_SESSION, b"").decode("latin-1")
        allow_page(headers, self._seen)
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
