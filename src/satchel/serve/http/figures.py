"""``/metrics``: what was used, and how the catalog is, as Prometheus reads it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from satchel.serve.http.answers import fresh
from satchel.serve.http.readiness import readiness
from satchel.serve.http.site import Site
from satchel.serve.telling import labels_outside
from satchel.serve.traffic import Traffic

__all__ = ["Used", "figures_route", "gauges"]

Used: TypeAlias = Callable[[], tuple[bytes, str]]
"""Gives figures as text that Prometheus reads, and the type of that text."""

_MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
"""The text format that Prometheus has always read."""


def figures_route(site: Site, used: Used | None, traffic: Traffic | None) -> Route:
    """Return the route; ``used`` gives the figures of what was used.

    ``traffic`` has those of what was asked, where a guard counts it.
    """

    def metrics(request: Request) -> Response:
        text, media_type = used() if used is not None else (b"", _MEDIA_TYPE)
        text += "".join(gauges(site)).encode()
        text += "".join(traffic.lines() if traffic is not None else ()).encode()
        return fresh(request, text, media_type=media_type)

    return Route("/metrics", metrics)


def gauges(site: Site) -> Iterator[str]:
    """Yield the figures of the catalog, a line each."""
    skills = site.library.skills
    catalog, latest = site.library.catalog, skills.registry.latest
    found = readiness(site.library)
    withheld = Counter(held.reason for held in catalog.withheld)
    findings = Counter(finding.severity for finding in skills.findings)
    names = labels_outside(latest)
    sources = [(names[state.label], state) for state in latest.sources]
    yield from _gauge(
        "satchel_catalog_withheld",
        "Packs that are not listed, by reason.",
        ((_label("reason", reason), count) for reason, count in withheld.items()),
    )
    yield from _gauge(
        "satchel_catalog_findings",
        "What there is to tell the authors of packs, by severity.",
        ((_label("severity", each), count) for each, count in findings.items()),
    )
    yield from _gauge(
        "satchel_source_packs",
        "Packs that a source holds.",
        ((_label("source", label), state.packs) for label, state in sources),
    )
    yield from _gauge(
        "satchel_source_up",
        "Whether a source answered the last sync.",
        ((_label("source", label), int(not state.error)) for label, state in sources),
    )
    yield from _gauge(
        "satchel_ready",
        "Whether /readyz says yes.",
        [("", int(not found.against))],
    )
    yield from _gauge(
        "satchel_degraded",
        "How many things are wrong that /readyz tells of and is ready all the same.",
        [("", len(found.degraded))],
    )
    usage = skills.usage_state
    yield from _gauge(
        "satchel_usage_events_waiting",
        "Events of use that are not written yet.",
        [("", usage.waiting)],
    )
    yield from _gauge(
        "satchel_usage_kept",
        "Whether events of use are kept now.",
        [("", int(not usage.problem))],
    )
    for name, meaning, value in (
        ("satchel_usage_events_lost_total", "Events that are lost.", usage.lost),
        ("satchel_usage_failures_total", "Failures to keep events.", usage.failures),
    ):
        yield f"# HELP {name} {meaning}\n# TYPE {name} counter\n{name} {value}\n"


def _gauge(name: str, meaning: str, values: Iterable[tuple[str, int]]) -> Iterator[str]:
    yield f"# HELP {name} {meaning}\n# TYPE {name} gauge\n"
    for label, value in sorted(dict(values).items()):
        yield f"{name}{label} {value}\n"


def _label(name: str, value: str) -> str:
    text = value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    return f'{{{name}="{text}"}}'
