"""How a request is refused: one form for every reason, without a word of the caller."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from starlette.types import Send

__all__ = ["Refusal", "refuse", "say"]

_COMMON: Final = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that is not carried out: the status, a stable code, a sentence.

    ``headers`` are what the status asks for: WWW-Authenticate, Retry-After.
    """

    status: int
    code: str
    message: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


async def refuse(refusal: Refusal, send: "Send", *, head: bool = False) -> None:
    """Send ``{"error": {"code", "message"}}``; no body where ``head`` is true."""
    payload = {"error": {"code": refusal.code, "message": refusal.message}}
    await say(refusal.status, payload, send, head=head, headers=refusal.headers)


async def say(
    status: int,
    payload: object,
    send: "Send",
    *,
    head: bool = False,
    headers: tuple[tuple[bytes, bytes], ...] = (),
) -> None:
    """Send ``payload`` as JSON, as an answer that nobody keeps."""
    body = json.dumps(payload).encode()
    length = (b"content-length", b"%d" % len(body))
    start = {
        "type": "http.response.start",
        "status": status,
        "headers": [*_COMMON, length, *headers],
    }
    await send(start)
    await send({"type": "http.response.body", "body": b"" if head else body})
