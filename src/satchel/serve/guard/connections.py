"""What uvicorn is told, and what it lacks: a time limit for the head of a request."""

import asyncio
from typing import TYPE_CHECKING, Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from satchel.serve.guard.settings import GuardSettings

__all__ = ["uvicorn_options"]

_MAX_HEAD_BYTES: Final = 64 * 1024


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


class _TimedProtocol(H11Protocol):
    """Uvicorn's own, that closes a connection whose next request does not arrive."""

    header_timeout_s: float
    max_connections: int
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
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
