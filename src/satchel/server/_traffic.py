"""Counts of requests, answers and refusals, for ``/metrics``."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Final

BUCKETS_S: Final = (0.01, 0.1, 1.0)
"""Upper bounds of answer times in seconds; slower answers are in a fourth bucket."""
_AREAS: Final = {
    "mcp": "mcp",
    "v1": "v1",
    ".well-known": "discovery",
    "release.json": "releases",
    "releases": "releases",
    "healthz": "health",
    "readyz": "health",
    "metrics": "health",
    "": "home",
}
"""What the first part of a path belongs to; no caller can invent another label."""


class TrafficCounts:
    """Counts requests. Written by one event loop, read by any thread."""

    def __init__(self) -> None:
        self.streams: Callable[[], int] = int
        self.busy: Callable[[], int] = int
        self.waiting: Callable[[], int] = int
        self._answers: dict[tuple[str, int], int] = {}
        self._refusals: dict[str, int] = {}
        self._times: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}

    def answered(self, path: str, status: int, duration_s: float | None) -> None:
        """Count one answer; status 0 means that the client was gone.

        ``duration_s`` is None for a stream: how long it was open tells nothing.
        """
        area = _AREAS.get(path.lstrip("/").partition("/")[0], "other")
        self._answers[area, status] = self._answers.get((area, status), 0) + 1
        if duration_s is not None:
            times = self._times.setdefault(area, [0] * (len(BUCKETS_S) + 1))
            times[bisect_left(BUCKETS_S, duration_s)] += 1
            self._seconds[area] = self._seconds.get(area, 0.0) + duration_s

    def refused(self, code: str) -> None:
        """Count a request that the guard refused, by the code of the error."""
        self._refusals[code] = self._refusals.get(code, 0) + 1

    def lines(self) -> Iterator[str]:
        """Yield the counts as Prometheus reads them."""
        name = "satchel_http_requests_total"
        yield _head(name, "counter", "Requests by area and HTTP status.")
        for (area, status), count in sorted(self._answers.copy().items()):
            yield f'{name}{{part="{area}",status="{status}"}} {count}\n'
        name = "satchel_http_refusals_total"
        yield _head(name, "counter", "Requests that were refused, by reason.")
        for code, count in sorted(self._refusals.copy().items()):
            yield f'{name}{{reason="{code}"}} {count}\n'
        yield from self._durations("satchel_http_request_duration_seconds")
        for name, meaning, value in (
            ("satchel_http_streams", "Open streams.", self.streams()),
            ("satchel_http_busy", "Requests being answered.", self.busy()),
            ("satchel_http_waiting", "Requests that wait for it.", self.waiting()),
        ):
            yield f"{_head(name, 'gauge', meaning)}{name} {value}\n"

    def _durations(self, name: str) -> Iterator[str]:
        yield _head(name, "histogram", "How long answers took, without streams.")
        for area, times in sorted(self._times.copy().items()):
            total = 0
            for bound, count in zip((*BUCKETS_S, "+Inf"), tuple(times), strict=True):
                total += count
                yield f'{name}_bucket{{part="{area}",le="{bound}"}} {total}\n'
            yield f'{name}_count{{part="{area}"}} {total}\n'
            yield f'{name}_sum{{part="{area}"}} {self._seconds[area]:.6f}\n'


def _head(name: str, kind: str, meaning: str) -> str:
    return f"# HELP {name} {meaning}\n# TYPE {name} {kind}\n"
