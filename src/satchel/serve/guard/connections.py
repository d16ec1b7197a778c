"""What uvicorn is told, and what it lacks: a time for heads, answers in one piece."""

import asyncio
from typing import TYPE_CHECKING, Any, Final, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from satchel.serve.guard.settings import GuardSettings

__all__ = ["uvicorn_options"]

_MAX_HEAD_BYTES: Final = 64 * 1024
_PIECE_BYTES: Final = 16 * 1024


def uvicorn_options(settings: "GuardSettings") -> dict[str, Any]:
    """Return keyword arguments for `uvicorn.Config` that go with the guard.

    Nothing that a proxy says of the client is believed: set ``proxy_headers`` and
    ``forwarded_allow_ips`` where there is one.
    """
    return {
        "host": settings.host,
        "http": _protocol(settings),
        "ws": "none",
        "h11_max_incomplete_event_size": _MAX_HEAD_BYTES,
        "timeout_keep_alive": 15,
        "timeout_graceful_shutdown": 5,
        "server_header": False,
        "proxy_headers": False,
    }


def _protocol(settings: "GuardSettings") -> type[asyncio.Protocol]:
    class Timed(_TimedProtocol):
        header_timeout_s = settings.header_timeout_s
        max_connections = settings.max_connections

    return Timed


class _Gathering:
    """A transport that sends what is written in one go as one piece.

    Uvicorn writes the head of an answer and its body one after the other, and each
    would be a system call, a packet, and a read of the client's. What is long goes at
    once, so that nothing piles up and the transport can say that it is too much.
    """

    def __init__(
        self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever transports have
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)
        if len(data) > _PIECE_BYTES:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts and not self._transport.is_closing():
            self._transport.write(b"".join(parts))


class _TimedProtocol(H11Protocol):
    """Uvicorn's own, that closes a connection whose next request does not arrive."""

    header_timeout_s: float
    max_connections: int
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        whole = _Gathering(cast("asyncio.Transport", transport), self.loop)
        super().connection_made(whole)  # type: ignore[arg-type]
        if len(self.connections) > self.max_connections:
            self.transport.abort()
            return
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer()
        elif self._head_timer is None:
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self._head_timer = self.loop.call_later(
            self.header_timeout_s, self.transport.abort
        )

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
