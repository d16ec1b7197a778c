"""Loads as Prometheus counts them."""

import threading
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from satchel.errors import ExtraMissingError
from satchel.model import ActEvent, CatalogSynced, SkillSynced, UsageEvent
from satchel.text import printable
from satchel_server.usage._background import Background
from satchel_server.usage._store import Row, Writer

try:
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry
    from prometheus_client.core import (
        CounterMetricFamily,
        GaugeMetricFamily,
        HistogramMetricFamily,
        Metric,
    )
    from prometheus_client.exposition import generate_latest
    from prometheus_client.registry import Collector
except ImportError as error:
    raise ExtraMissingError("satchel_server.usage._metrics", "serve") from error


# Seconds: a folder or memory, a near server, a remote server. Each skill has its own
# buckets, so there are few.
BUCKETS_S: Final = (0.001, 0.05, 1.0)


class MetricsSink(Background):
    """Counts loads, in a registry of its own; `render` gives what Prometheus reads.

    ``skill_load_total{name,source}`` and ``skill_load_duration_seconds{name}`` count
    successes; ``skill_load_tokens_total{name}`` their tokens;
    ``skill_load_errors_total{reason}`` failures by code; ``skill_sync_total{source}``
    files that were fetched for a copy, which are no loads. A name is a label only after
    a skill of that name was loaded, so that nobody can invent labels.
    ``skill_catalog_skills`` and ``skill_catalog_tokens`` are the size of the catalog.
    All figures are of this process since it started.

    Raises:
        ExtraMissingError: The extra ``serve`` is not installed.
    """

    def __init__(self) -> None:
        """Count from nothing."""
        self.registry: Final = CollectorRegistry(auto_describe=False)
        self._figures = _Figures()
        self.registry.register(self._figures)
        super().__init__(lambda: self._figures)

    def measure_catalog(self, tokens: Callable[[], int]) -> None:
        """Call ``tokens`` at each `render`: the tokens of the catalog in a prompt."""
        self._figures.catalog_tokens = tokens

    def name_sources(self, name_of: Callable[[str], str]) -> None:
        """Call ``name_of`` for the public name of a source, whose label may be a path.

        It is called at each load: the source may be gone at the next `render`.
        """
        self._figures.name_of = name_of

    def render(self) -> tuple[bytes, str]:
        """Return the figures as text, with every load so far, and the media type."""
        self.flush()
        return generate_latest(self.registry), CONTENT_TYPE_LATEST


def _family(
    name: str, about: str, counts: Mapping[tuple[str, ...], int], *labels: str
) -> CounterMetricFamily:
    """Return a counter for Prometheus; its keys are the values of its labels."""
    family = CounterMetricFamily(name, about, labels=labels)
    for key, count in sorted(counts.items()):
        family.add_metric(key, count)
    return family


class _Figures(Collector):
    """A store of sums; see `satchel.usage.EventStore`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loads: Counter[tuple[str, ...]] = Counter()
        self._tokens: Counter[tuple[str, ...]] = Counter()
        self._errors: Counter[tuple[str, ...]] = Counter()
        self._syncs: Counter[tuple[str, ...]] = Counter()
        self._times: defaultdict[str, list[int]] = defaultdict(
            lambda: [0] * (len(BUCKETS_S) + 1)
        )
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._skills: int | None = None
        self.catalog_tokens: Callable[[], int] | None = None
        self.name_of: Callable[[str], str] = printable

    def open(self, writer: Writer) -> None:
        """There is nothing to open."""

    def close(self, dropped: int, now: float) -> None:
        """There is nothing to close; the sums can still be read."""

    def write(self, rows: Sequence[Row], dropped: int, now: float) -> None:
        del dropped, now
        with self._lock:
            for _, event in rows:
                if isinstance(event, CatalogSynced):
                    self._skills = len(event.entries)
                elif isinstance(event, SkillSynced):
                    if event.code is None:
                        self._syncs[self.name_of(event.source),] += 1
                elif isinstance(event, ActEvent):
                    pass  # no load
                elif event.code is not None:
                    self._errors[event.code,] += 1
                else:
                    self._add(event)

    def _add(self, event: UsageEvent) -> None:
        name = event.name
        self._loads[name, self.name_of(event.source)] += 1
        self._tokens[name,] += event.tokens
        self._times[name][bisect_left(BUCKETS_S, event.duration_s)] += 1
        self._seconds[name] += event.duration_s

    def collect(self) -> Iterator[Metric]:
        """Yield the families, by name and label."""
        with self._lock:
            about = "Loads that succeeded, of SKILL.md and other files."
            loads = _family("skill_load", about, self._loads, "name", "source")
            durations = self._durations()
            about = "What loads cost, in tokens."
            tokens = _family("skill_load_tokens", about, self._tokens, "name")
            about = "Loads that failed, by code."
            errors = _family("skill_load_errors", about, self._errors, "reason")
            about = "Files that were fetched for a copy."
            syncs = _family("skill_sync", about, self._syncs, "source")
            skills = self._skills
        yield from (loads, durations, tokens, errors, syncs)
        if skills is not None:
            yield GaugeMetricFamily(
                "skill_catalog_skills", "Skills on offer.", value=skills
            )
        # Outside of the lock: it renders a prompt, and the writer should not wait for
        # that.
        if self.catalog_tokens is not None:
            about, cost = "What the catalog costs in a prompt.", self.catalog_tokens()
            yield GaugeMetricFamily("skill_catalog_tokens", about, value=cost)

    def _durations(self) -> HistogramMetricFamily:
        about = "How long loads that succeeded took."
        family = HistogramMetricFamily(
            "skill_load_duration_seconds", about, labels=["name"]
        )
        bounds = [*map(str, BUCKETS_S), "+Inf"]
        for name, times in sorted(self._times.items()):
            total = 0
            buckets: list[tuple[str, float]] = []
            for bound, count in zip(bounds, times, strict=True):
                total += count
                buckets.append((bound, total))
            family.add_metric([name], buckets, self._seconds[name])
        return family
