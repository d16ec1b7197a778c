"""Report to a publisher which of its skills are loaded from a local copy."""

import errno
import http.client
import json
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from ssl import create_default_context
from typing import Any, Final
from urllib.parse import urlsplit

from satchel.errors import ConfigError
from satchel.model import UsageEvent
from satchel_server.usage._background import Background
from satchel_server.usage._store import Row, Writer
from satchel_server.usage._sums import BY_HAND
from satchel_store.release import INDEX_V1, INDEX_V2

# Loads that wait at most; no load ever waits for a publisher.
BOUND: Final = 1_000
INTERVAL_S: Final = 2.0
TIMEOUT_S: Final = 5.0
# How long a publisher that refuses reports is not asked again.
QUIET_S: Final = 300.0
_OK: Final = 200


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
    path = parts.path
    # A URL may name the index or the release.json of a site, or another of its files.
    if path.endswith(".json"):
        path = path.removesuffix(INDEX_V2).removesuffix(INDEX_V1).rpartition("/")[0]
    post = _posting(parts, f"{path.rstrip('/')}/v1/loads", token)
    return Background(
        lambda: _ReportStore(post, label, prefix),
        bound=BOUND,
        interval_s=INTERVAL_S,
        # No load waits for a publisher: what does not fit is dropped at once.
        patience_s=0.0,
    )


class _ReportStore:
    """Sends reports; see `satchel.usage.EventStore`."""

    def __init__(self, post: Callable[[bytes], int], label: str, prefix: str) -> None:
        self._post, self._label, self._prefix = post, label, prefix
        self._writer = ""
        self._quiet_until = 0.0

    def open(self, writer: Writer) -> None:
        self._writer = writer.id

    def write(self, rows: Sequence[Row], dropped: int, now: float) -> None:
        """Send the loads, or raise; the site ignores a second report of a load."""
        del dropped, now
        loads = [load for row in rows if (load := self._load_of(*row)) is not None]
        if not loads:
            return
        if time.monotonic() < self._quiet_until:
            raise _connection_error("the site refuses reports")
        body = json.dumps({"writer": self._writer, "loads": loads}).encode()
        try:
            status = self._post(body)
        except http.client.HTTPException as error:
            raise _connection_error(type(error).__name__) from error
        if status != _OK:
            self._quiet_until = time.monotonic() + QUIET_S
            raise _connection_error(f"the site answers {status}")

    def _load_of(self, number: int, event: object) -> dict[str, object] | None:
        """Return what is reported of an event; None for nothing."""
        if (
            not isinstance(event, UsageEvent)
            or event.code is not None
            or event.source != self._label
            or event.via == BY_HAND
        ):
            return None
        fields = ("file", "digest", "size_bytes", "tokens", "duration_s", "agent")
        reported = {field: getattr(event, field) for field in fields}
        return {"seq": number, "id": event.name.removeprefix(self._prefix), **reported}

    def close(self, dropped: int, now: float) -> None:
        """There is nothing to close."""


def _connection_error(why: str) -> ConnectionError:
    return ConnectionError(errno.EPROTO, why)  # the log shows the reason


def _posting(parts: Any, path: str, token: str) -> Callable[[bytes], int]:  # noqa: ANN401 - what urlsplit gives
    """Return a function that sends a body and returns the status; no redirects."""
    headers = {"Content-Type": "application/json", "User-Agent": "satchel"}
    if token:
        headers["Authorization"] = f"Bearer {token}"

    connect: Callable[..., http.client.HTTPConnection] = http.client.HTTPConnection
    if parts.scheme == "https":
        # Our own context: a program may have turned the checks of the default one off.
        connect = partial(http.client.HTTPSConnection, context=create_default_context())

    def post(body: bytes) -> int:
        with closing(connect(parts.hostname, parts.port, timeout=TIMEOUT_S)) as site:
            site.request("POST", path, body, headers)
            answer = site.getresponse()
            # Bounded, because anyone may have written it; only the status counts.
            answer.read(64 * 1024)
            return answer.status

    return post
