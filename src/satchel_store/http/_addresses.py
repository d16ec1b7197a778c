"""Connections to checked addresses, which never outlast a request's deadline."""

# A name is looked up once, every address that it has is checked, and the connection
# goes to one of these very addresses: a second look-up could give another one. TLS
# still checks the certificate against the name.

import contextvars
import socket
import ssl
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, TypeAlias

import httpcore2


class AddressKind(Enum):
    """What connecting to an address means; the value is for messages."""

    PUBLIC = "public"
    LOOPBACK = "a loopback address"
    PRIVATE = "a private address"
    FORBIDDEN = "an address that no skill is fetched from"


# RFC 1918, and the shared space of RFC 6598, which private networks use.
_PRIVATE_V4: Final = [
    IPv4Network(network)
    for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
]
# RFC 4193.
_PRIVATE_V6: Final = IPv6Network("fc00::/7")
# The only block from which IANA assigns global addresses.
_UNICAST_V6: Final = IPv6Network("2000::/3")
# Where clouds give a machine its secrets, besides the link-local 169.254/16.
_FORBIDDEN: Final = [
    ip_address(text)
    for text in ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254")
]
# 0.0.0.0 reaches this machine; 192.88.99.0/24 was for relays of 6to4 (RFC 7526).
_FORBIDDEN_V4: Final = tuple(map(IPv4Network, ("0.0.0.0/8", "192.88.99.0/24")))
_FORBIDDEN_V6: Final = IPv6Network("3fff::/20")  # for documents: RFC 9637
_NAT64: Final = IPv6Network("64:ff9b::/96")


def address_kind(text: str) -> AddressKind:
    """Return the kind of an address; one that stands for IPv4 is judged as that."""
    try:
        address = _effective_address(ip_address(text))
    except ValueError:
        return AddressKind.FORBIDDEN
    # First: some of them are private addresses, which `allow_private` opens.
    if address in _FORBIDDEN:
        return AddressKind.FORBIDDEN
    if address.is_loopback:
        return AddressKind.LOOPBACK
    if isinstance(address, IPv4Address):
        if any(address in network for network in _PRIVATE_V4):
            return AddressKind.PRIVATE
        public = not any(address in network for network in _FORBIDDEN_V4)
    else:
        if address in _PRIVATE_V6:
            return AddressKind.PRIVATE
        public = address in _UNICAST_V6 and address not in _FORBIDDEN_V6
    # `is_global` alone is not enough: on older Pythons it accepts multicast and
    # site-local addresses, and judges IPv6 ones that stand for IPv4 by the wrong half.
    public = public and address.is_global and not address.is_multicast
    return AddressKind.PUBLIC if public else AddressKind.FORBIDDEN


def _effective_address(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that a mapped, NAT64 or 6to4 one stands for."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    # A 6to4 or NAT64 gateway would pass the request on to the IPv4 address.
    return address.ipv4_mapped or address.sixtofour or address


# Returns the addresses of a host; raises OSError if it has none.
Resolver: TypeAlias = Callable[[str, int], list[str]]


class RequestRefusedError(Exception):
    """A request that is not made; the message says why. Trying again cannot help."""


@dataclass(frozen=True, slots=True)
class _RequestDeadline:
    """The deadline of the request that this thread makes, and whether it is plain."""

    end: float
    now: Callable[[], float]
    plain: bool

    def left(self, timeout_s: float | None) -> float:
        """Return the seconds that one step may take, or raise ``ReadTimeout``."""
        left = self.end - self.now()
        if left <= 0:
            raise httpcore2.ReadTimeout("the whole request took too long")
        return left if timeout_s is None else min(left, timeout_s)


_deadline: Final[contextvars.ContextVar[_RequestDeadline]] = contextvars.ContextVar(
    "satchel_http_call"
)


@contextmanager
def request_deadline(
    end: float, now: Callable[[], float], *, plain: bool
) -> Generator[None]:
    """Give everything that this thread does on a connection a deadline, by ``now``.

    ``plain`` is whether the request is without TLS; no public address gets those.
    """
    token = _deadline.set(_RequestDeadline(end, now, plain))
    try:
        yield
    finally:
        _deadline.reset(token)


def resolve_host(host: str, port: int) -> list[str]:
    """Return the addresses that the system has for a host, each once."""
    infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in infos))


class CheckedBackend(httpcore2.NetworkBackend):
    """Connects to allowed addresses only."""

    def __init__(
        self,
        *,
        allow_private: bool,
        resolve: Resolver,
        inner: httpcore2.NetworkBackend | None = None,
        proxy: str = "",
    ) -> None:
        """Take the host of the user's own proxy, which may be anywhere."""
        self._allow_private = allow_private
        self._proxy = proxy
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
        """Connect to the first address that answers, if all of them are allowed."""
        call = _deadline.get()
        addresses = self._within(call.left(timeout), host, port)
        # One private address among public ones is enough to refuse: any may be tried.
        for address in addresses if host != self._proxy else ():
            self.check(host, address, plain=call.plain)
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

    def check(self, host: str, address: str, *, plain: bool) -> None:
        """Raise `RequestRefusedError` for an address that is not allowed."""
        kind = address_kind(address)
        if kind is AddressKind.PUBLIC and not plain:
            return
        if kind is AddressKind.PUBLIC:
            raise RequestRefusedError(f"{host} is a public address and needs https://")
        if kind is AddressKind.FORBIDDEN:
            raise RequestRefusedError(f"{host} leads to {kind.value}")
        if not self._allow_private:
            own = "name it in your own satchel.toml, with allow_private = true"
            hint = f"pass allow_private=True if it is yours, or {own}"
            raise RequestRefusedError(f"{host} leads to {kind.value}; {hint}")

    def _within(self, timeout_s: float, host: str, port: int) -> list[str]:
        """Look a name up in a thread, because the system's look-up has no time-out."""
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
    """A stream on which no step goes beyond the end of the request."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    # A server that sends a byte now and then keeps every step within its own time-out.
    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _deadline.get().left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _deadline.get().left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        left = _deadline.get().left(timeout)
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)
