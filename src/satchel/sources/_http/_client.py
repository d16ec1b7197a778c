"""GET, and nothing else: bounded in bytes, time and redirects, retried where it helps.

httpcore2, the engine of httpx2, is used directly. A client would add what has no place
here: cookies, proxies and passwords of the environment, decompression without a bound,
redirects of its own, and a log line with the whole URL.
"""

import random
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import Final

import httpcore2

from satchel.errors import LimitExceededError, SourceUnavailableError
from satchel.sources._headers import checked_headers
from satchel.sources._http._network import (
    CheckedBackend,
    RequestRefusedError,
    Resolver,
    request_deadline,
    resolve_host,
)
from satchel.sources._http._urls import AllowedHosts, Url, parse_url
from satchel.text import clean_line

OK: Final = 200
_NOT_MODIFIED: Final = 304
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_BUSY: Final = frozenset({429, 502, 503, 504})
"""Answers that another attempt may change, in moments."""

MAX_REDIRECTS: Final = 5
ATTEMPTS: Final = 3
STALL_S: Final = 10.0
"""Seconds without a byte after which a server is taken for gone."""
BACK_OFF_S: Final = 0.25
"""Seconds before the second attempt; twice as many before each further one."""
MAX_WAIT_S: Final = 10.0
"""Seconds that a server may ask for with Retry-After; more is as good as away."""
CONNECTIONS: Final = 8

_MAX_ETAG_CHARS: Final = 1_024
_MAX_REASON_CHARS: Final = 160
_CONNECTION_ERRORS: Final = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
)


@dataclass(frozen=True, slots=True)
class HttpEnvironment:
    """What fetching asks of the machine; tests bring their own."""

    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    sleep: Callable[[float], object] | None = None
    jitter: Callable[[], float] = random.random
    resolve: Resolver = resolve_host
    backend: httpcore2.NetworkBackend | None = None


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One thing to fetch.

    ``limit`` names the limit for ``limit_bytes`` in errors. ``hosts`` are those that
    may be asked, those of redirects included; None is any. ``until`` ends all attempts,
    by the monotonic clock; None leaves it to the time-out.
    """

    url: Url
    limit: str
    limit_bytes: int
    hosts: AllowedHosts | None = None
    etag: str = ""
    until: float | None = None


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What came: ``status`` is 200, 304, or one from 400 to 499, then without a body.

    ``url`` is the one that answered in the end. ``encoding`` is empty, or how the body
    is compressed, although nothing of the kind was asked for.
    """

    status: int
    url: Url
    body: bytes = b""
    etag: str = ""
    encoding: str = ""

    @property
    def unchanged(self) -> bool:
        """Whether it is what the ETag stands for."""
        return self.status == _NOT_MODIFIED

    @property
    def packed(self) -> str:
        """What is wrong with the encoding of the body; empty if nothing."""
        if self.encoding in {"", "identity"}:
            return ""
        return "it is compressed, although that was not asked for"


class _RetryableError(Exception):
    """This attempt failed, another may not; ``after_s`` is what the server asks for."""

    def __init__(self, detail: str, after_s: float | None = None) -> None:
        super().__init__(detail)
        self.after_s = after_s


class _RetryableTimeoutError(_RetryableError, TimeoutError):
    """This attempt failed for want of an answer in time."""


class HttpClient:
    """Fetches; holds connections open between requests. Safe across threads."""

    def __init__(  # noqa: PLR0913 - one keyword for each thing that can be said of it
        self,
        *,
        label: str,
        home: Url,
        allow_private: bool = False,
        headers: Mapping[str, str] = MappingProxyType({}),
        timeout_s: float = 30.0,
        environment: HttpEnvironment | None = None,
    ) -> None:
        """Connect to nothing yet.

        Args:
            label: What to call the source in errors.
            home: What the user named; only its origin gets ``headers``.
            allow_private: Whether private and loopback addresses are connected to,
                and these without TLS.
            headers: Such as ``Authorization``.
            timeout_s: Seconds for one thing, redirects and further attempts included.
            surroundings: The machine; None is this one.

        Raises:
            ValueError: A header cannot be sent.
        """
        self.around: Final = environment or HttpEnvironment()
        self._label = label
        self._home = home
        self._allow_private = allow_private
        self._headers = [
            (name.encode(), value.encode())
            for name, value in checked_headers(headers).items()
        ]
        self._timeout_s = timeout_s
        self._closed = threading.Event()
        self._pool = httpcore2.ConnectionPool(
            max_connections=CONNECTIONS,
            keepalive_expiry=STALL_S,
            network_backend=CheckedBackend(
                allow_private=allow_private,
                resolve=self.around.resolve,
                inner=self.around.backend,
            ),
        )
        # A source that nobody closes must not leave its connections open.
        weakref.finalize(self, self._pool.close)

    def get(self, wanted: HttpRequest) -> HttpResponse:
        """Fetch one thing.

        Raises:
            SourceUnavailableError: There was no answer, or none that can be used; or
                the request is one that is not made, and why.
            LimitExceededError: It has more bytes than are wanted.
        """
        end = self.around.monotonic() + self._timeout_s
        end = end if wanted.until is None else min(end, wanted.until)
        for attempt in range(1, ATTEMPTS + 1):
            if self._closed.is_set():
                raise SourceUnavailableError(self._label, "it is closed")
            try:
                return self._follow(wanted, end)
            except RequestRefusedError as error:
                raise SourceUnavailableError(self._label, str(error)) from error
            except _RetryableError as error:
                wait_s = self._wait_s(attempt, error.after_s)
                late = self.around.monotonic() + wait_s >= end
                if attempt == ATTEMPTS or late or wait_s > MAX_WAIT_S:
                    raise SourceUnavailableError(self._label, str(error)) from error
            (self.around.sleep or self._closed.wait)(wait_s)
        raise AssertionError  # the last attempt returns or raises

    def close(self) -> None:
        """Close every connection, and end every wait; a second call does nothing."""
        self._closed.set()
        self._pool.close()

    def _wait_s(self, attempt: int, asked_s: float | None) -> float:
        """Return how long to wait, so that many who failed at once do not return so."""
        back_off = BACK_OFF_S * 2.0 ** (attempt - 1) * (0.5 + self.around.jitter())
        return back_off if asked_s is None else max(asked_s, back_off)

    def _follow(self, wanted: HttpRequest, end: float) -> HttpResponse:
        url, own = wanted.url, True
        for _ in range(MAX_REDIRECTS + 1):
            self._check(url, wanted.hosts)
            own = own and url.origin == self._home.origin
            try:
                with request_deadline(
                    end, self.around.monotonic, plain=url.scheme == "http"
                ):
                    answer = self._ask(url, wanted, end, own=own)
            except _CONNECTION_ERRORS as error:
                late = isinstance(error, httpcore2.TimeoutException)
                kind = _RetryableTimeoutError if late else _RetryableError
                raise kind(f"{url}: {_failure_text(error)}") from error
            if isinstance(answer, HttpResponse):
                return answer
            url = self._redirected(url, answer)
        raise RequestRefusedError(f"{wanted.url}: more than {MAX_REDIRECTS} redirects")

    def _check(self, url: Url, hosts: AllowedHosts | None) -> None:
        if url.scheme == "http" and not self._allow_private:
            hint = "allow_private=True allows http:// to this machine and network"
            raise RequestRefusedError(f"{url}: want https://; {hint}")
        if hosts is not None and url not in hosts:
            hint = f"hand over hosts=[{url.authority!r}] if it may be asked"
            raise RequestRefusedError(
                f"{url}: the host is not among those named; {hint}"
            )

    def _redirected(self, url: Url, location: str) -> Url:
        try:
            target = parse_url(location, url)
        except ValueError as error:
            raise RequestRefusedError(
                f"{url}: a redirect that is not followed: {error}"
            ) from None
        if url.scheme == "https" and target.scheme != "https":
            raise RequestRefusedError(f"{url}: a redirect from https:// to http://")
        return target

    def _ask(
        self, url: Url, wanted: HttpRequest, end: float, *, own: bool
    ) -> HttpResponse | str:
        """Make one request; return the answer, or where it is to be had.

        Raises:
            RefusedError, _AgainError, LimitExceededError: As named.
        """
        headers = [
            (b"Host", url.authority.encode()),
            (b"Accept", b"*/*"),
            (b"Accept-Encoding", b"identity"),
            (b"User-Agent", b"satchel"),
        ]
        if wanted.etag:
            headers.append((b"If-None-Match", wanted.etag.encode("latin-1")))
        if own:
            headers += self._headers
        stall = min(STALL_S, self._timeout_s)
        pool_s = max(end - self.around.monotonic(), 0.0)
        timeout = {"connect": stall, "read": stall, "write": stall, "pool": pool_s}
        address = httpcore2.URL(
            scheme=url.scheme.encode(),
            host=url.host.encode(),
            port=url.port,
            target=url.target.encode(),
        )
        with self._pool.stream(
            "GET", address, headers=headers, extensions={"timeout": timeout}
        ) as response:
            says = {name.lower(): value for name, value in response.headers}
            return self._take(response, says, url, wanted)

    def _take(
        self,
        response: httpcore2.Response,
        says: Mapping[bytes, bytes],
        url: Url,
        wanted: HttpRequest,
    ) -> HttpResponse | str:
        status = response.status
        if status in _REDIRECTS:
            return says.get(b"location", b"").decode("latin-1")
        if status in _BUSY:
            detail = f"{url}: the server answers {status}"
            raise _RetryableError(detail, self._asked_s(says.get(b"retry-after", b"")))
        if status == _NOT_MODIFIED and wanted.etag:
            return HttpResponse(status, url, etag=wanted.etag)
        if 400 <= status < 500:  # noqa: PLR2004 - the client errors of HTTP
            return HttpResponse(status, url)
        if status != OK:
            raise RequestRefusedError(f"{url}: the server answers {status}")
        etag = says.get(b"etag", b"").decode("latin-1")
        return HttpResponse(
            status,
            url,
            _read_body(response, says, url, wanted),
            etag if len(etag) <= _MAX_ETAG_CHARS else "",
            says.get(b"content-encoding", b"").decode("latin-1").strip().lower(),
        )

    def _asked_s(self, value: bytes) -> float | None:
        """Return the seconds that Retry-After asks for, as a number or a date."""
        text = value.decode("latin-1").strip()
        if text.isascii() and text.isdigit():
            return float(text[:9])
        try:
            date = parsedate_to_datetime(text)
        except ValueError:
            return None
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        return max(date.timestamp() - self.around.now(), 0.0)


def _read_body(
    response: httpcore2.Response,
    says: Mapping[bytes, bytes],
    url: Url,
    wanted: HttpRequest,
) -> bytes:
    """Read at most one byte more than is wanted, whatever the server declares."""
    most = wanted.limit_bytes
    declared = says.get(b"content-length", b"")
    if declared.isdigit() and int(declared[:20]) > most:
        size = int(declared[:20])
        raise LimitExceededError(wanted.limit, most, size, "bytes", str(url))
    body = bytearray()
    for piece in response.iter_stream():
        body += piece
        if len(body) > most:
            size = len(body)
            raise LimitExceededError(wanted.limit, most, size, "bytes", str(url))
    return bytes(body)


def _failure_text(error: Exception) -> str:
    # What is wrong with an answer may be quoted from it, and as long as it is.
    said = clean_line(str(error))[:_MAX_REASON_CHARS]
    if isinstance(error, httpcore2.TimeoutException):
        return said or "no answer in time"
    if isinstance(error, httpcore2.ConnectError):
        return f"cannot connect: {said}"
    return f"the answer broke off: {said}" if said else "the answer broke off"
