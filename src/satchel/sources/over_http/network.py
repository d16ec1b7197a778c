"""Connections to addresses that were checked, which never outlast their time.

A name is looked up once, every address that it has is judged, and the connection goes
to one of these very addresses: a second look-up could give another. The name stays what
TLS checks the certificate against, and what the server is asked for.
"""

import contextvars
import socket
import ssl
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeAlias

import httpcore2

from satchel.sources.over_http.addresses import AddressKind, kind_of

__all__ = ["CheckedBackend", "RefusedError", "Resolve", "calling", "look_up"]

Resolve: TypeAlias = Callable[[str, int], list[str]]
"""Returns the addresses of a host; raises OSError where it has none."""


class RefusedError(Exception):
    """A request that is not made; the message says why. Asking again cannot help."""


@dataclass(frozen=True, slots=True)
class _Call:
    """The request that this thread is making: until when, and how."""

    end: float
    now: Callable[[], float]
    plain: bool

    def left(self, timeout_s: float | None) -> float:
        """Return the seconds that one step may take.

        Raises:
            httpcore2.ReadTimeout: The time of the whole request is over.
        """
        left = self.end - self.now()
        if left <= 0:
            raise httpcore2.ReadTimeout("the whole request took too long")
        return left if timeout_s is None else min(left, timeout_s)


_call: Final[contextvars.ContextVar[_Call]] = contextvars.ContextVar(
    "satchel_http_call"
)


@contextmanager
def calling(end: float, now: Callable[[], float], *, plain: bool) -> Generator[None]:
    """Bind everything that this thread does on a connection to an end.

    Args:
        end: When it is over, by ``now``.
        now: Tells the time in seconds.
        plain: Whether it is a request without TLS, which no public address gets.
    """
    token = _call.set(_Call(end, now, plain))
    try:
        yield
    finally:
        _call.reset(token)


def look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a host, as the system knows them, each once."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class CheckedBackend(httpcore2.NetworkBackend):
    """Connects where it may."""

    def __init__(
        self,
        *,
        allow_private: bool,
        resolve: Resolve,
        inner: httpcore2.NetworkBackend | None = None,
    ) -> None:
        """Look names up with ``resolve``; ``inner`` makes the connections."""
        self._allow_private = allow_private
        self._resolve = resolve
        self._inner = inner or httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the first address of the host that answers.

        Raises:
            RefusedError: One of its addresses may not be connected to.
        """
        call = _call.get()
        addresses = self._within(call.left(timeout), host, port)
        for address in addresses:
            self._check(host, address, plain=call.plain)
        failure: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in addresses:
            try:
                stream = self._inner.connect_tcp(
                    address, port, call.left(timeout), local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
            else:
                return _TimedStream(stream)
        raise failure

    def _check(self, host: str, address: str, *, plain: bool) -> None:
        kind = kind_of(address)
        if kind is AddressKind.PUBLIC and not plain:
            return
        if kind is AddressKind.PUBLIC:
            raise RefusedError(f"{host} is a public address, and wants https://")
        if kind is AddressKind.NEVER:
            raise RefusedError(f"{host} leads to {kind.value}")
        if not self._allow_private:
            hint = "hand over allow_private=True if it is yours"
            raise RefusedError(f"{host} leads to {kind.value}; {hint}")

    def _within(self, timeout_s: float, host: str, port: int) -> list[str]:
        """Look a name up in a thread, for the system cannot be told to hurry."""
        answers: list[list[str] | Exception] = []

        def ask() -> None:
            try:
                answers.append(self._resolve(host, port))
            except (OSError, ValueError) as error:
                answers.append(error)

        thread = threading.Thread(target=ask, name="satchel look-up", daemon=True)
        thread.start()
        thread.join(timeout_s)
        if not answers:
            raise httpcore2.ConnectTimeout(f"{host} was not found in time")
        if isinstance(answers[0], Exception):
            raise httpcore2.ConnectError(f"{host} was not found") from answers[0]
        return answers[0]


class _TimedStream(httpcore2.NetworkStream):
    """A stream on which no step goes beyond the end of the request.

    A server that sends a byte now and then would keep every single step within time.
    """

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _call.get().left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _call.get().left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        left = _call.get().left(timeout)
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)
