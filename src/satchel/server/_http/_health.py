"""Health, readiness and metrics: `/healthz`, `/readyz`, `/metrics` and `/`."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from satchel.errors import SkillError
from satchel.model import Catalog, Finding
from satchel.runtime import Satchel
from satchel.server._errors import is_machine_path, public_labels
from satchel.server._http._endpoints import HttpContext
from satchel.server._http._responses import JSON, PLAIN, json_bytes, uncached_response
from satchel.server._library import ServedLibrary
from satchel.server._traffic import TrafficCounts
from satchel.text import printable

_TAIL: Final = 2
"""Last names of a path that are told: a pack's folder, and the file in it."""
_REPORTED_ELSEWHERE: Final = frozenset({"source-unavailable", "duplicate-skill"})
"""Findings that are told of by their source, or by their id, already."""
_LOADS: Final = frozenset({"hidden", "deprecated"})


@dataclass(frozen=True, slots=True)
class ReadinessReason:
    """What is wrong: a code and a sentence without a path of the machine.

    ``detail`` is for whoever runs the server, paths and all.
    """

    code: str
    message: str
    detail: str


@dataclass(frozen=True, slots=True)
class Readiness:
    """Why a server should get no requests, and what is wrong besides.

    ``against`` is that nothing is served. ``degraded`` costs some skills, or events of
    use: the others are as good as ever, and on another server it is likely the same.
    """

    against: tuple[ReadinessReason, ...]
    degraded: tuple[ReadinessReason, ...]

    @property
    def every(self) -> tuple[ReadinessReason, ...]:
        """All that is wrong."""
        return self.against + self.degraded


def readiness(library: ServedLibrary) -> Readiness:
    """Return whether a library is ready, and what is wrong with it."""
    skills = library.skills
    against = (
        () if library.settings.allow_empty else tuple(_empty_library(library.catalog))
    )
    return Readiness(against, tuple(_degraded(skills)))


def _empty_library(catalog: Catalog) -> Iterator[ReadinessReason]:
    if catalog.entries or any(held.reason in _LOADS for held in catalog.excluded):
        return
    by_reason = Counter(held.reason for held in catalog.excluded)
    packs = sum(state.packs for state in catalog.sources)
    found = f"{packs:,} pack{'' if packs == 1 else 's'} found"
    held = ", ".join(f"{count:,} {why}" for why, count in sorted(by_reason.items()))
    message = f"no skill is served: {found}{f'; {held}' if held else ''}"
    places = ", ".join(state.label for state in catalog.sources)
    advice = "look whether the folder is mounted, or allow it with --allow-empty"
    yield ReadinessReason("empty-library", message, f"{message} in {places}; {advice}")


def _degraded(skills: Satchel) -> Iterator[ReadinessReason]:
    latest = skills.registry.latest
    for state in latest.sources:
        if state.error:
            label = public_labels(latest)[state.label]
            yield ReadinessReason(
                "source-unavailable",
                f"source {label!r} does not answer; what it last had is served",
                f"source {state.label!r} does not answer: {state.error}",
            )
    for conflict in latest.unresolved:
        yield ReadinessReason(
            "duplicate-skill",
            f"skill {conflict.id!r} is claimed by {len(conflict.owners)} packs",
            f"skill {conflict.id!r} is claimed by {conflict.places}; {conflict.fix}",
        )
    usage = skills.usage_state
    if usage.problem or usage.lost:
        now = f" now ({usage.problem})" if usage.problem else ""
        message = f"events of use are not all kept{now}"
        counts = f"{usage.lost:,} lost, {usage.waiting:,} waiting"
        yield ReadinessReason(
            "usage-not-kept", f"{message}: {counts}", f"{message}: {counts}"
        )
    for finding in skills.findings:
        if finding.severity == "error" and finding.code not in _REPORTED_ELSEWHERE:
            where = _finding_location(finding)
            message = f"error {finding.code}{where}"
            yield ReadinessReason(finding.code, message, str(finding))


def _finding_location(finding: Finding) -> str:
    """Return where it is; of a path of the machine only the last names."""
    path = finding.path
    if is_machine_path(path):
        path = "/".join(path.replace("\\", "/").split("/")[-_TAIL:])
    line = f", line {finding.line}" if finding.line else ""
    return f" in {path}{line}" if path else ""


MAX_REASONS: Final = 20
"""Reasons that are told one by one; the number of all of them is told, too."""

_HOME: Final = """\
{name}: {count} served by Satchel

/mcp                                   Model Context Protocol (Streamable HTTP)
/v1/catalog                            the skills, as JSON
/v1/prompt                             the catalog for a system prompt
/v1/skills/ID                          one skill; its files below /files/
/v1/find?q=WORDS                       search
/v1/openapi.json                       all of /v1, described
/.well-known/agent-skills/index.json   discovery, v0.2.0
{old}/healthz /readyz /metrics               for whoever runs this
"""
_OLD: Final = "/.well-known/skills/index.json         discovery, v0.1.0\n"


def health_routes(site: HttpContext) -> list[Route]:
    """Return the three routes."""

    def home(request: Request) -> Response:
        try:
            count = len(site.view(request).catalog)
        except SkillError:
            count = 0  # it is not served yet: /readyz says why
        text = _HOME.format(
            name=printable(site.library.settings.name, keep=""),
            count=f"{count:,} skill{'' if count == 1 else 's'}",
            old=_OLD if site.settings.old_index else "",
        )
        return site.answers.bytes(request, text.encode(), media_type=PLAIN)

    def healthz(request: Request) -> Response:
        return uncached_response(request, b'{"status":"ok"}')

    def readyz(request: Request) -> Response:
        return ready_answer(site, request)

    return [Route("/", home), Route("/healthz", healthz), Route("/readyz", readyz)]


def ready_answer(site: HttpContext, request: Request) -> Response:
    """Answer 200 with what is served and what is wrong, or 503 where nothing is."""
    library = site.library
    catalog = library.catalog
    served = {
        "release": catalog.release,
        "skills": len(catalog),
        "withheld": len(catalog.excluded),
        "sources": len(catalog.sources),
    }
    usage = library.skills.usage_state
    found = readiness(library)
    around = {
        "degraded": _reasons_json(found.degraded),
        "degraded_count": len(found.degraded),
        "usage": {
            "lost": usage.lost,
            "waiting": usage.waiting,
            "failures": usage.failures,
            "kept": not usage.problem,
        },
    }
    if not found.against:
        value: dict[str, object] = {"status": "ready", **served, **around}
        return uncached_response(request, json_bytes(value))
    count = len(found.against)
    reasons = f"{count} reason{'' if count == 1 else 's'}"
    value = {
        "error": {"code": "not-ready", "message": f"{reasons} not to use this server"},
        "status": "not-ready",
        **served,
        "reasons": _reasons_json(found.against),
        **around,
    }
    return uncached_response(request, json_bytes(value), media_type=JSON, status=503)


def _reasons_json(reasons: tuple[ReadinessReason, ...]) -> list[dict[str, str]]:
    return [
        {"code": each.code, "message": each.message} for each in reasons[:MAX_REASONS]
    ]


UsageMetrics: TypeAlias = Callable[[], tuple[bytes, str]]
"""Gives figures as text that Prometheus reads, and the type of that text."""

_MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
"""The text format that Prometheus has always read."""


def metrics_route(
    site: HttpContext, used: UsageMetrics | None, traffic: TrafficCounts | None
) -> Route:
    """Return the route; ``used`` gives the figures of what was used.

    ``traffic`` has those of what was asked, where a guard counts it.
    """

    def metrics(request: Request) -> Response:
        text, media_type = used() if used is not None else (b"", _MEDIA_TYPE)
        text += "".join(catalog_gauges(site)).encode()
        text += "".join(traffic.lines() if traffic is not None else ()).encode()
        return uncached_response(request, text, media_type=media_type)

    return Route("/metrics", metrics)


def catalog_gauges(site: HttpContext) -> Iterator[str]:
    """Yield the figures of the catalog, a line each."""
    skills = site.library.skills
    catalog, latest = site.library.catalog, skills.registry.latest
    found = readiness(site.library)
    excluded = Counter(held.reason for held in catalog.excluded)
    findings = Counter(finding.severity for finding in skills.findings)
    names = public_labels(latest)
    sources = [(names[state.label], state) for state in latest.sources]
    yield from _gauge(
        "satchel_catalog_withheld",
        "Packs that are not listed, by reason.",
        ((_label("reason", reason), count) for reason, count in excluded.items()),
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
