"""Requests: limited in bytes, time and redirects, repeated if that can help.

The user's headers go to the origin of the address alone, also after a redirect.
"""

# httpcore2, the engine of httpx2, is used directly. A client of httpx2 would add
# cookies, proxies and passwords of the environment, decompression without a limit,
# redirects of its own, and a log line with the whole URL. Of these the user's proxy is
# used, for TLS alone.

import os
import random
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Final
from urllib.parse import unquote, urlsplit

import httpcore2

from satchel.errors import ConfigError, LimitExceededError, SourceUnavailableError
from satchel.text import clean_line
from satchel_store.http._addresses import (
    CheckedBackend,
    RequestRefusedError,
    Resolver,
    request_deadline,
    resolve_host,
)
from satchel_store.http._headers import checked_headers
from satchel_store.http._urls import AllowedHosts, Url, parse_url

OK: Final = 200
# Statuses without a body that others than GET may answer with.
_DONE: Final = range(200, 300)
_NO_CONTENT: Final = 204
_NOT_MODIFIED: Final = 304
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
# Statuses that another attempt may change soon.
_BUSY: Final = frozenset({429, 500, 502, 503, 504})
_PORTS: Final = {"http": 80, "https": 443}
_SENDING: Final = frozenset({"PATCH", "POST", "PUT"})

MAX_REDIRECTS: Final = 5
ATTEMPTS: Final = 3
# Seconds without a byte after which the server counts as gone.
STALL_S: Final = 10.0
# Seconds before the second attempt; twice as many before each further one.
BACK_OFF_S: Final = 0.25
# Seconds that a server may ask for with Retry-After; if it asks for more, the request
# fails.
MAX_WAIT_S: Final = 10.0

_MAX_ETAG_CHARS: Final = 1_024
_MAX_REASON_CHARS: Final = 160
_CONNECTION_ERRORS: Final = (
    httpcore2.NetworkError,
    httpcore2.ProxyError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
)


def proxy_of(url: Url) -> str:
    """Return the proxy that the user's environment names for a URL; empty for none.

    Without TLS only this machine and its network are asked, and no proxy is used.
    """
    names = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
    if url.scheme != "https" or not any(map(os.environ.get, names)):
        return ""
    from urllib.request import getproxies_environment, proxy_bypass

    proxies = getproxies_environment()
    if proxy_bypass(url.host):
        return ""
    return proxies.get("https") or proxies.get("all", "")


@dataclass(frozen=True, slots=True)
class HttpEnvironment:
    """What a client uses of the machine; tests bring their own."""

    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    sleep: Callable[[float], object] | None = None
    jitter: Callable[[], float] = random.random
    resolve: Resolver = resolve_host
    proxy_of: Callable[[Url], str] = proxy_of
    backend: httpcore2.NetworkBackend | None = None


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One thing to fetch, or to send.

    ``limit`` is the name of the limit ``limit_bytes`` in errors. ``hosts`` are the ones
    that may be asked, also after redirects; None is any. ``until`` ends all attempts,
    by the monotonic clock; None is the client's time-out alone. ``headers`` go to the
    origin of ``url`` only. What has a body follows no redirect. ``may_be_empty`` is
    whether a GET takes 204 for an answer.
    """

    url: Url
    limit: str
    limit_bytes: int
    hosts: AllowedHosts | None = None
    etag: str = ""
    until: float | None = None
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    attempts: int = ATTEMPTS
    may_be_empty: bool = False


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """An answer: ``status`` is 200, or 304 or 400 to 499, which have no body.

    A request that is no GET may have any status from 200 to 299. ``url`` is the one
    that answered after redirects. ``encoding`` is how the body is compressed, although
    that was not requested; usually empty. ``headers`` have names in lower case.
    """

    status: int
    url: Url
    body: bytes = b""
    etag: str = ""
    encoding: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def unchanged(self) -> bool:
        """Whether the content is still the one of the ETag."""
        return self.status == _NOT_MODIFIED

    @property
    def encoding_problem(self) -> str:
        """What is wrong with the encoding of the body; empty if nothing."""
        if self.encoding in {"", "identity"}:
            return ""
        return "it is compressed, although that was not requested"


class _RetryableError(Exception):
    """This attempt failed, another may not; ``after_s`` is the server's Retry-After."""

    def __init__(self, detail: str, after_s: float | None = None) -> None:
        super().__init__(detail)
        self.after_s = after_s


class _RetryableTimeoutError(_RetryableError, TimeoutError):
    """This attempt failed because no answer came in time."""


class HttpClient:
    """Fetches from one site; reuses connections. Safe across threads."""

    def __init__(  # noqa: PLR0913 - keywords, each with a default
        self,
        url: str,
        *,
        label: str | None = None,
        allow_private: bool = False,
        hosts: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 30.0,
        environment: HttpEnvironment | None = None,
    ) -> None:
        """Connect nothing yet; the arguments are those of `satchel.sources.http`."""
        try:
            self.home: Final = _site_url(url)
            self.hosts: Final = AllowedHosts.of(tuple(hosts))
            self._headers = [
                (name.encode(), value.encode())
                for name, value in checked_headers(headers or {}).items()
            ]
        except ValueError as error:
            raise ConfigError("sources.http", str(error)) from None
        self.label: Final = str(self.home).rstrip("/") if label is None else label
        self.timeout_s: Final = timeout_s
        self.environment: Final = environment or HttpEnvironment()
        self._allow_private = allow_private
        self._closed = threading.Event()
        # By the address of the proxy, mostly none.
        self._pools: dict[str, httpcore2.ConnectionPool] = {}
        # A source that is never closed must not leave its connections open.
        weakref.finalize(self, _close_all, self._pools)

    def get(self, request: HttpRequest) -> HttpResponse:
        """Fetch one thing; `SourceUnavailableError` if no usable answer comes."""
        end = self.environment.monotonic() + self.timeout_s
        end = end if request.until is None else min(end, request.until)
        for attempt in range(1, request.attempts + 1):
            # Also between attempts: `close` ends the wait of another thread.
            if self._closed.is_set():
                raise SourceUnavailableError(self.label, "it is closed")
            try:
                return self._follow(request, end)
            except RequestRefusedError as error:
                raise SourceUnavailableError(self.label, str(error)) from error
            except _RetryableError as error:
                wait_s = self._wait_s(attempt, error.after_s)
                # A wait that outlasts the deadline could not end in an answer.
                late = self.environment.monotonic() + wait_s >= end
                if attempt == request.attempts or late or wait_s > MAX_WAIT_S:
                    raise SourceUnavailableError(self.label, str(error)) from error
            # An event and not `time.sleep`, so that `close` ends the wait.
            (self.environment.sleep or self._closed.wait)(wait_s)
        raise AssertionError  # the last attempt returns or raises

    def close(self) -> None:
        """Close every connection, and end every wait; a second call does nothing."""
        self._closed.set()
        _close_all(self._pools)

    def _pool(self, url: Url) -> httpcore2.ConnectionPool:
        """Return the connections that lead to a URL, maybe by the user's proxy."""
        written = self.environment.proxy_of(url)
        if written not in self._pools:
            proxy = _parsed_proxy(written) if written else None
            host = proxy.url.host.decode() if proxy else ""
            self._pools[written] = httpcore2.ConnectionPool(
                max_connections=8,
                keepalive_expiry=STALL_S,
                proxy=proxy,
                network_backend=self._backend(host),
            )
        if written:
            # The proxy looks names up; what is an address already is checked here.
            with suppress(ValueError):
                ip_address(url.host)
                self._backend("").check(url.host, url.host, plain=False)
        return self._pools[written]

    def _backend(self, proxy: str) -> CheckedBackend:
        return CheckedBackend(
            allow_private=self._allow_private,
            resolve=self.environment.resolve,
            inner=self.environment.backend,
            proxy=proxy,
        )

    def _wait_s(self, attempt: int, retry_after_s: float | None) -> float:
        # The jitter keeps many clients that failed at once from returning at once.
        jitter = 0.5 + self.environment.jitter()
        back_off = BACK_OFF_S * 2.0 ** (attempt - 1) * jitter
        return back_off if retry_after_s is None else max(retry_after_s, back_off)

    def _follow(self, request: HttpRequest, end: float) -> HttpResponse:
        url, own, first = request.url, True, True
        monotonic = self.environment.monotonic
        for _ in range(MAX_REDIRECTS + 1):
            # Each redirect again: an allowed host may redirect to one that is not.
            self._check(url, request.hosts)
            # Once a redirect has left the site, headers with keys are not sent, even on
            # the way back.
            own = own and url.origin == self.home.origin
            first = first and url.origin == request.url.origin
            headers = [*(self._headers if own else ())]
            if first:
                headers += [
                    (k.encode(), v.encode()) for k, v in request.headers.items()
                ]
            try:
                with request_deadline(end, monotonic, plain=url.scheme == "http"):
                    answer = self._send(url, request, end, headers)
            except _CONNECTION_ERRORS as error:
                late = isinstance(error, httpcore2.TimeoutException)
                kind = _RetryableTimeoutError if late else _RetryableError
                raise kind(f"{url}: {_failure_text(error)}") from error
            if isinstance(answer, HttpResponse):
                return answer
            if request.body:
                raise RequestRefusedError(f"{url}: a redirect of what is sent")
            url = _redirect_target(url, answer)
        raise RequestRefusedError(f"{request.url}: more than {MAX_REDIRECTS} redirects")

    def _check(self, url: Url, hosts: AllowedHosts | None) -> None:
        if url.scheme == "http" and not self._allow_private:
            hint = "allow_private allows http:// to this machine and network"
            raise RequestRefusedError(f"{url}: expected https://; {hint}")
        if hosts is not None and url not in hosts:
            hint = f"pass hosts=[{url.authority!r}] if it may be asked"
            raise RequestRefusedError(f"{url}: the host is not allowed; {hint}")

    def _send(
        self,
        url: Url,
        request: HttpRequest,
        end: float,
        more: Sequence[tuple[bytes, bytes]],
    ) -> HttpResponse | str:
        """Make one request; return the answer, or where it redirects to."""
        headers = [
            (b"Host", url.authority.encode()),
            (b"Accept-Encoding", b"identity"),
            (b"User-Agent", b"satchel"),
            *more,
        ]
        if not any(name.lower() == b"accept" for name, _ in more):
            headers.append((b"Accept", b"*/*"))
        if request.etag:
            headers.append((b"If-None-Match", request.etag.encode("latin-1")))
        if request.method in _SENDING:
            headers.append((b"Content-Length", b"%d" % len(request.body)))
        stall = min(STALL_S, self.timeout_s)
        # Waiting for one of the connections counts as well.
        pool_s = max(end - self.environment.monotonic(), 0.0)
        timeout = {"connect": stall, "read": stall, "write": stall, "pool": pool_s}
        address = httpcore2.URL(
            scheme=url.scheme.encode(),
            host=url.host.encode(),
            port=url.port,
            target=url.target.encode(),
        )
        with self._pool(url).stream(
            request.method,
            address,
            headers=headers,
            content=request.body or None,
            extensions={"timeout": timeout},
        ) as response:
            fields = {name.lower(): value for name, value in response.headers}
            return self._receive(response, fields, url, request)

    def _receive(
        self,
        response: httpcore2.Response,
        fields: Mapping[bytes, bytes],
        url: Url,
        request: HttpRequest,
    ) -> HttpResponse | str:
        status = response.status
        if status in _REDIRECTS:
            return fields.get(b"location", b"").decode("latin-1")
        if status in _BUSY:
            now = self.environment.now()
            wait_s = retry_after_s(fields.get(b"retry-after", b""), now)
            raise _RetryableError(f"{url}: the server answers {status}", wait_s)
        # Without an ETag there is nothing to reuse, so a 304 is a wrong answer.
        if status == _NOT_MODIFIED and request.etag:
            return HttpResponse(status, url, etag=request.etag)
        is_get = request.method == "GET"
        texts = {k.decode("latin-1"): v.decode("latin-1") for k, v in fields.items()}
        # These are answers: the caller decides whether a missing file matters.
        empty = status == _NO_CONTENT and (request.may_be_empty or not is_get)
        empty = empty or (request.method == "HEAD" and status in _DONE)
        if empty or 400 <= status < 500:  # noqa: PLR2004 - the client errors of HTTP
            return HttpResponse(status, url, headers=texts)
        if status != OK and (is_get or status not in _DONE):
            raise RequestRefusedError(f"{url}: the server answers {status}")
        etag = fields.get(b"etag", b"").decode("latin-1")
        encoding = fields.get(b"content-encoding", b"").decode("latin-1")
        return HttpResponse(
            status,
            url,
            _read_body(response, fields, url, request),
            # An ETag that is cut off would be another one.
            etag if len(etag) <= _MAX_ETAG_CHARS else "",
            encoding.strip().lower(),
            texts,
        )


def _close_all(pools: Mapping[str, httpcore2.ConnectionPool]) -> None:
    for pool in [*pools.values()]:
        pool.close()


def _parsed_proxy(written: str) -> httpcore2.Proxy:
    """Return a proxy; what is wrong with it is said without its password."""
    try:
        parts = urlsplit(written if "://" in written else f"http://{written}")
        port = _PORTS[parts.scheme]
        port = parts.port or port
    except (KeyError, ValueError):
        detail = "the proxy of the environment is no http:// or https:// address"
        raise RequestRefusedError(detail) from None
    user = unquote(parts.username or ""), unquote(parts.password or "")
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    address = f"{parts.scheme}://{host}:{port}"
    return httpcore2.Proxy(address, auth=user if any(user) else None)


def retry_after_s(value: bytes, now: float) -> float | None:
    """Return the seconds that Retry-After asks for, as a number or a date."""
    text = value.decode("latin-1").strip()
    if text.isascii() and text.isdigit():
        # Nine digits are decades, and far above any wait.
        return float(text[:9])
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(date.timestamp() - now, 0.0)


def _site_url(text: str) -> Url:
    url = parse_url(text)
    if "#" in text:
        raise ValueError("url: pass a pin as pin=")
    if url.query and not url.path.endswith(".json"):
        raise ValueError("url: only the URL of an index may have a query")
    return url


def _redirect_target(url: Url, location: str) -> Url:
    try:
        target = parse_url(location, url)
    except ValueError as error:
        raise RequestRefusedError(f"{url}: its redirect is refused: {error}") from None
    # Such a step would show the path to the network, and let it change the answer.
    if url.scheme == "https" and target.scheme != "https":
        raise RequestRefusedError(f"{url}: a redirect from https:// to http://")
    return target


def _read_body(
    response: httpcore2.Response,
    fields: Mapping[bytes, bytes],
    url: Url,
    request: HttpRequest,
) -> bytes:
    """Read the body, and stop after the limit, whatever length the server declares."""
    # Refused before the first byte; a server that declares less is stopped below.
    declared = fields.get(b"content-length", b"")
    _check_size(int(declared[:20]) if declared.isdigit() else 0, url, request)
    body = bytearray()
    for piece in response.iter_stream():
        body += piece
        _check_size(len(body), url, request)
    return bytes(body)


def _check_size(size: int, url: Url, request: HttpRequest) -> None:
    most = request.limit_bytes
    if size > most:
        raise LimitExceededError(request.limit, most, size, "bytes", str(url))


def _failure_text(error: Exception) -> str:
    # The text may quote the server's answer, and be as long as that.
    text = clean_line(str(error))[:_MAX_REASON_CHARS]
    if isinstance(error, httpcore2.TimeoutException):
        return text or "no answer in time"
    if isinstance(error, httpcore2.ConnectError):
        return f"cannot connect: {text}"
    return f"the answer broke off: {text}" if text else "the answer broke off"
