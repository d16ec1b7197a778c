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
"""How long a publisher that refuses reports is not asked again."""
_OK: Final = 200
_MAX_ANSWER_BYTES: Final = 64 * 1024
_BY_HAND: Final = "cli"


def report_to(
    url: str, *, source: str | None = None, token: str = "", prefix: str = ""
) -> Background:
    """Return a sink that reports to a Satchel site which of its skills are loaded.

    It reports only loads that succeeded, of the skills of one source: the id, the file,
    its digest, size and tokens, the duration, and the name of the agent. At most 1,000
    wait; further ones are dropped and counted (``state.lost``). Close it at the end.

    Args:
        url: The site, as for `satchel.sources.http`.
        source: The label of its source; None is the default label, the URL.
        token: The bearer token for the site, if it needs one.
        prefix: What its ids begin with here, but not there.

    Raises:
        ConfigError: ``url`` is not the address of a site.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise ConfigError(
            "report_to", "expected a URL such as https://skills.example.com"
        )
    label = url.rstrip("/") if source is None else source
    path = parts.path.rstrip("/")
    if path.endswith(".json"):
        path = ""
    report_filter = _ReportFilter(label, prefix)
    return Background(
        lambda: _ReportStore(_posting(parts, f"{path}/v1/loads", token), report_filter),
        bound=BOUND,
        interval_s=INTERVAL_S,
        # No load waits for a publisher: what does not fit is dropped at once.
        patience_s=0.0,
    )


class _ReportFilter:
    """Which events are reported, and in what form."""

    def __init__(self, label: str, prefix: str) -> None:
        self._label = label
        self._prefix = prefix

    def load(self, number: int, event: object) -> dict[str, object] | None:
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
    """Sends reports; see `satchel.usage.EventStore`."""

    def __init__(
        self,
        post: Callable[[bytes], int],
        report_filter: _ReportFilter,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._post = post
        self._filter = report_filter
        self._clock = clock
        self._writer = ""
        self._quiet_until = 0.0

    def open(self, writer: Writer) -> None:
        """Remember the name of the writer."""
        self._writer = writer.id

    def write(self, rows: Sequence[Row], dropped: int, now: float) -> None:
        """Send the loads; the site ignores a second report of the same loads.

        Raises:
            OSError: The site did not take them; they are sent again, after a while if
                the site refuses reports.
        """
        del dropped, now
        loads = [load for row in rows if (load := self._filter.load(*row)) is not None]
        if not loads:
            return
        if self._clock() < self._quiet_until:
            raise _connection_error("the site refuses reports")
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
    return ConnectionError(errno.EPROTO, why)  # the log shows the reason


def _posting(parts: Any, path: str, token: str) -> Callable[[bytes], int]:  # noqa: ANN401 - what urlsplit gives
    """Return a function that sends a body and returns the status; no redirects."""
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
            # Bounded, because anyone may have written it; only the status counts.
            answer.read(_MAX_ANSWER_BYTES)
            return answer.status
        finally:
            connection.close()

    return post
