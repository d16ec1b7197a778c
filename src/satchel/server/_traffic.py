"""Counts of requests, answers and refusals, for `/metrics`."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Final

BUCKETS_S: Final = (0.01, 0.1, 1.0)
"""Seconds of an answer; more is the fourth bucket."""
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
"""By the first part of a path, what it belongs to; nobody can make up another."""


class TrafficCounts:
    """Counts requests. Used by one event loop, read by any thread."""

    def __init__(self) -> None:
        """Count from nothing."""
        self.streams: Callable[[], int] = _zero
        self.busy: Callable[[], int] = _zero
        self.waiting: Callable[[], int] = _zero
        self._answers: dict[tuple[str, int], int] = {}
        self._refusals: dict[str, int] = {}
        self._times: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}

    def answered(self, path: str, status: int, duration_s: float) -> None:
        """Count one answer; status 0 is that there was nobody left to answer."""
        self.ended(path, status)
        part = _area(path)
        times = self._times.setdefault(part, [0] * (len(BUCKETS_S) + 1))
        times[bisect_left(BUCKETS_S, duration_s)] += 1
        self._seconds[part] = self._seconds.get(part, 0.0) + duration_s

    def ended(self, path: str, status: int) -> None:
        """Count a stream that was open; how long says nothing of the server."""
        key = _area(path), status
        self._answers[key] = self._answers.get(key, 0) + 1

    def refused(self, code: str) -> None:
        """Count a request that the guard kept out, by the code of its refusal."""
        self._refusals[code] = self._refusals.get(code, 0) + 1

    def lines(self) -> Iterator[str]:
        """Yield the figures as Prometheus reads them."""
        name = "satchel_http_requests_total"
        yield _head(name, "counter", "Requests by what was asked, and HTTP status.")
        for (part, status), count in sorted(self._answers.copy().items()):
            yield f'{name}{{part="{part}",status="{status}"}} {count}\n'
        name = "satchel_http_refusals_total"
        yield _head(name, "counter", "Requests that were kept out, by reason.")
        for code, count in sorted(self._refusals.copy().items()):
            yield f'{name}{{reason="{code}"}} {count}\n'
        yield from self._durations("satchel_http_request_duration_seconds")
        for name, meaning, value in (
            ("satchel_http_streams", "Streams that are open.", self.streams()),
            ("satchel_http_busy", "Requests being answered.", self.busy()),
            ("satchel_http_waiting", "Requests that wait for it.", self.waiting()),
        ):
            yield f"{_head(name, 'gauge', meaning)}{name} {value}\n"

    def _durations(self, name: str) -> Iterator[str]:
        yield _head(name, "histogram", "How long answers took, streams left out.")
        for part, times in sorted(self._times.copy().items()):
            total = 0
            for bound, count in zip((*BUCKETS_S, "+Inf"), tuple(times), strict=True):
                total += count
                yield f'{name}_bucket{{part="{part}",le="{bound}"}} {total}\n'
            yield f'{name}_count{{part="{part}"}} {total}\n'
            yield f'{name}_sum{{part="{part}"}} {self._seconds[part]:.6f}\n'


def _zero() -> int:
    return 0


def _area(path: str) -> str:
    return _AREAS.get(path.lstrip("/").partition("/")[0], "other")


def _head(name: str, kind: str, meaning: str) -> str:
    return f"# HELP {name} {meaning}\n# TYPE {name} {kind}\n"
