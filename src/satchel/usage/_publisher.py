"""Report to a publisher which of its skills are loaded from a local copy."""

import errno
import http.client
import json
import ssl
import time
from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from satchel.errors import ConfigError
from satchel.model import UsageEvent
from satchel.usage._background import Background
from satchel.usage._store import Row, Writer

BOUND: Final = 1_000
"""Loads that wait at most; no load ever waits for a publisher."""
INTERVAL_S: Final = 2.0
TIMEOUT_S: Final = 5.0
QUIET_S: Final = 300.0
"""How long a publisher that takes no reports is left alone."""
_OK: Final = 200
_MOST_BYTES: Final = 64 * 1024
_BY_HAND: Final = "cli"


def report_to(
    url: str, *, source: str | None = None, token: str = "", prefix: str = ""
) -> Background:
    """Return a sink that tells a site of Satchel's which of its skills are loaded.

    It is told of loads that succeeded, of the skills of one source, and of nothing
    else: the id, the file, its digest, size and tokens, how long it took, and what
    the agent is called. At most 1,000 wait; what the site does not take within that is
    dropped and counted (``dropped``). Close it when you are done.

    Args:
        url: The site, as it was given to `satchel.sources.http`.
        source: The label of its source; None is what it has by default, the URL.
        token: The bearer token of the site, if it wants one.
        prefix: What its ids begin with here, and not there.

    Raises:
        ConfigError: ``url`` is no address of a site.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise ConfigError("report_to", "want a URL such as https://skills.example.com")
    label = url.rstrip("/") if source is None else source
    path = parts.path.rstrip("/")
    if path.endswith(".json"):
        path = ""
    report_filter = _ReportFilter(label, prefix)
    return Background(
        lambda: _ReportStore(_posting(parts, f"{path}/v1/loads", token), report_filter),
        bound=BOUND,
        interval_s=INTERVAL_S,
        patience_s=0.0,
    )


class _ReportFilter:
    """Which events are told of, and as what."""

    def __init__(self, label: str, prefix: str) -> None:
        self._label = label
        self._prefix = prefix

    def told(self, number: int, event: object) -> dict[str, object] | None:
        if not isinstance(event, UsageEvent) or event.code is not None:
            return None
        if event.source != self._label or event.via == _BY_HAND:
            return None
        return {
            "seq": number,
            "id": event.name.removeprefix(self._prefix),
            "file": event.file,
            "digest": event.digest,
            "size_bytes": event.size_bytes,
            "tokens": event.tokens,
            "duration_s": event.duration_s,
            "agent": event.agent,
        }


class _ReportStore:
    """One writer's reports; see `satchel.usage._store.EventStore`."""

    def __init__(
        self,
        post: Callable[[bytes], int],
        report_filter: _ReportFilter,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._post = post
        self._wanted = report_filter
        self._clock = clock
        self._writer = ""
        self._quiet_until = 0.0

    def open(self, writer: Writer) -> None:
        """Keep the name; nothing is sent before there is something to tell."""
        self._writer = writer.id

    def write(self, rows: Sequence[Row], dropped: int, now: float) -> None:
        """Send what is of interest there; a second time it counts nothing there.

        Raises:
            OSError: It was not taken; it is tried again, after a while where the
                site takes none at all.
        """
        del dropped, now
        loads = [load for row in rows if (load := self._wanted.told(*row)) is not None]
        if not loads:
            return
        if self._clock() < self._quiet_until:
            raise _connection_error("the site takes no reports")
        body = json.dumps({"writer": self._writer, "loads": loads}).encode()
        try:
            status = self._post(body)
        except http.client.HTTPException as error:
            raise _connection_error(type(error).__name__) from error
        if status != _OK:
            self._quiet_until = self._clock() + QUIET_S
            raise _connection_error(f"the site answers {status}")

    def close(self, dropped: int, now: float) -> None:
        """There is nothing to close."""


def _connection_error(why: str) -> ConnectionError:
    return ConnectionError(errno.EPROTO, why)  # the reason is for a log, too


def _posting(parts: Any, path: str, token: str) -> Callable[[bytes], int]:  # noqa: ANN401 - what urlsplit gives
    """Return what sends one body and gives the status; no redirect is followed."""
    headers = {"Content-Type": "application/json", "User-Agent": "satchel"}
    if token:
        headers["Authorization"] = f"Bearer {token}"

    def post(body: bytes) -> int:
        connection = (
            http.client.HTTPSConnection(
                parts.hostname,
                parts.port,
                timeout=TIMEOUT_S,
                context=ssl.create_default_context(),
            )
            if parts.scheme == "https"
            else http.client.HTTPConnection(
                parts.hostname, parts.port, timeout=TIMEOUT_S
            )
        )
        try:
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            answer.read(_MOST_BYTES)
            return answer.status
        finally:
            connection.close()

    return post
