"""Health, readiness and metrics: ``/healthz``, ``/readyz``, ``/metrics`` and ``/``."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from satchel.errors import SkillError
from satchel.model import Catalog, Finding
from satchel.runtime import Satchel
from satchel.text import plural, printable
from satchel_server._errors import is_machine_path
from satchel_server._guard._messages import TrafficCounts, metric_head
from satchel_server._guard._page_sessions import PAGE_PATH
from satchel_server._http._endpoints import HttpContext
from satchel_server._http._responses import PLAIN, json_bytes, uncached_response
from satchel_server._library import ServedLibrary

# Returns metrics as text that Prometheus reads, and the media type of that text.
UsageMetrics: TypeAlias = Callable[[], tuple[bytes, str]]

# Reasons that a response lists; it has the number of all of them, too.
MAX_REASONS: Final = 20
# Last names of a path that a response shows: a pack's folder, and the file in it.
_PATH_TAIL: Final = 2
# Findings that are reported by their source, or by their id, already.
_REPORTED_ELSEWHERE: Final = frozenset({"source-unavailable", "duplicate-skill"})
_SERVED_TO_USERS: Final = frozenset({"hidden", "deprecated"})
# The text format that every version of Prometheus reads.
_MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_HOME: Final = """\
{name}: {count} served by Satchel

/mcp                                   Model Context Protocol (Streamable HTTP)
/v1/catalog                            the skills, as JSON
/v1/prompt                             the catalog for a system prompt
/v1/skills/ID                          one skill; its files below /files/
/v1/find?q=WORDS                       search
/v1/openapi.json                       all of /v1, described
/.well-known/agent-skills/index.json   discovery, v0.2.0
{old}/healthz /readyz /metrics               for the operator
"""
_OLD_INDEX: Final = "/.well-known/skills/index.json         discovery, v0.1.0\n"


@dataclass(frozen=True, slots=True)
class ReadinessReason:
    """What is wrong: ``message`` has no path of this machine, ``detail`` may."""

    code: str
    message: str
    detail: str


@dataclass(frozen=True, slots=True)
class Readiness:
    """With ``not_ready`` nothing is served; ``degraded`` costs skills, or events."""

    not_ready: tuple[ReadinessReason, ...]
    degraded: tuple[ReadinessReason, ...]


def readiness(library: ServedLibrary) -> Readiness:
    allows_empty = library.settings.allow_empty
    not_ready = () if allows_empty else tuple(_empty_library(library.catalog))
    return Readiness(not_ready, tuple(_degraded(library.skills, library.labels_in)))


def _empty_library(catalog: Catalog) -> Iterator[ReadinessReason]:
    reasons = Counter(exclusion.reason for exclusion in catalog.excluded)
    # Hidden and deprecated skills are not listed, and still load by their ids.
    if catalog.entries or reasons.keys() & _SERVED_TO_USERS:
        return
    packs = sum(state.packs for state in catalog.sources)
    counted = f"{plural(packs, 'pack')} found"
    excluded = ", ".join(f"{count:,} {why}" for why, count in sorted(reasons.items()))
    message = f"no skill is served: {counted}{f'; {excluded}' if excluded else ''}"
    places = ", ".join(state.label for state in catalog.sources)
    advice = "look whether the folder is mounted, or allow it with --allow-empty"
    yield ReadinessReason("empty-library", message, f"{message} in {places}; {advice}")


def _degraded(
    skills: Satchel, labels_in: Callable[[Catalog], dict[str, str]]
) -> Iterator[ReadinessReason]:
    latest = skills.registry.latest
    # Degraded is not unready: for one bad pack a load balancer would take every
    # server out.
    for state in latest.sources:
        if state.error:
            label = labels_in(latest)[state.label]
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
        counts = f"{usage.lost:,} lost, {usage.waiting:,} waiting"
        message = f"events of use are not all kept{now}: {counts}"
        yield ReadinessReason("usage-not-kept", message, message)
    for finding in skills.findings:
        if finding.severity == "error" and finding.code not in _REPORTED_ELSEWHERE:
            message = f"error {finding.code}{_location(finding)}"
            yield ReadinessReason(finding.code, message, str(finding))


def _location(finding: Finding) -> str:
    """Return where a finding is; of a path of this machine only the last names."""
    path = finding.path
    if is_machine_path(path):
        path = "/".join(path.replace("\\", "/").split("/")[-_PATH_TAIL:])
    line = f", line {finding.line}" if finding.line else ""
    return f" in {path}{line}" if path else ""


def health_routes(http: HttpContext) -> list[Route]:
    def home(request: Request) -> Response:
        if http.settings.page and "text/html" in request.headers.get("accept", ""):
            headers = {"Location": PAGE_PATH, "Cache-Control": "no-store"}
            return Response(status_code=303, headers={**headers, "Vary": "Accept"})
        try:
            # Of this caller: how many skills there are in all is not for everyone.
            count = len(http.view(request).catalog)
        except SkillError:
            count = 0  # it is not served yet: /readyz says why
        text = _HOME.format(
            name=printable(http.library.settings.name, keep=""),
            count=plural(count, "skill"),
            old=_OLD_INDEX if http.settings.old_index else "",
        )
        response = http.responses.bytes(request, text.encode(), media_type=PLAIN)
        if http.settings.page:
            response.headers["Vary"] = "Accept"
        return response

    def healthz(request: Request) -> Response:
        return uncached_response(request, b'{"status":"ok"}')

    readyz = partial(ready_response, http.library)
    return [Route("/", home), Route("/healthz", healthz), Route("/readyz", readyz)]


def ready_response(library: ServedLibrary, request: Request) -> Response:
    """Answer 200 with what is served and what is wrong, or 503 if nothing is served."""
    catalog = library.catalog
    usage = library.skills.usage_state
    state = readiness(library)
    value: dict[str, object] = {"status": "ready"}
    if state.not_ready:
        reasons = plural(len(state.not_ready), "reason")
        message = f"{reasons} not to use this server"
        value = {
            "error": {"code": "not-ready", "message": message},
            "status": "not-ready",
        }
    labels = library.labels_in(catalog)
    releases = {labels[s.label]: s.release for s in catalog.sources if s.release}
    value |= {
        "release": catalog.release,
        **({"releases": releases} if len(releases) > 1 else {}),
        "skills": len(catalog),
        "withheld": len(catalog.excluded),
        "sources": len(catalog.sources),
    }
    if state.not_ready:
        value["reasons"] = _reasons_json(state.not_ready)
    value |= {
        "degraded": _reasons_json(state.degraded),
        "degraded_count": len(state.degraded),
        "usage": {
            "lost": usage.lost,
            "waiting": usage.waiting,
            "failures": usage.failures,
            "kept": not usage.problem,
        },
    }
    status = 503 if state.not_ready else 200
    return uncached_response(request, json_bytes(value), status=status)


def _reasons_json(reasons: tuple[ReadinessReason, ...]) -> list[dict[str, str]]:
    return [
        {"code": reason.code, "message": reason.message}
        for reason in reasons[:MAX_REASONS]
    ]


def metrics_route(
    http: HttpContext, usage: UsageMetrics | None, traffic: TrafficCounts | None
) -> Route:
    """Return the route of metrics: of use, the catalog, and a guard's requests."""

    def metrics(request: Request) -> Response:
        text, media_type = usage() if usage is not None else (b"", _MEDIA_TYPE)
        text += "".join(catalog_metrics(http.library)).encode()
        text += "".join(traffic.lines() if traffic is not None else ()).encode()
        return uncached_response(request, text, media_type=media_type)

    return Route("/metrics", metrics)


def catalog_metrics(library: ServedLibrary) -> Iterator[str]:
    skills = library.skills
    latest = skills.registry.latest
    state = readiness(library)
    usage = skills.usage_state
    labels = library.labels_in(latest)
    packs = {labels[source.label]: source.packs for source in latest.sources}
    answers = {labels[source.label]: not source.error for source in latest.sources}
    reasons: Counter[str] = Counter(item.reason for item in library.catalog.excluded)
    severities: Counter[str] = Counter(item.severity for item in skills.findings)
    about = "Packs that are not listed, by reason."
    yield _labelled_metric("satchel_catalog_withheld", about, "reason", reasons)
    about = "Findings for the authors of packs, by severity."
    yield _labelled_metric("satchel_catalog_findings", about, "severity", severities)
    about = "Packs that a source has."
    yield _labelled_metric("satchel_source_packs", about, "source", packs)
    about = "Whether a source answered the last sync."
    yield _labelled_metric("satchel_source_up", about, "source", answers)
    yield _metric("satchel_ready", "Whether /readyz says yes.", not state.not_ready)
    about = "Problems that /readyz lists although it says yes."
    yield _metric("satchel_degraded", about, len(state.degraded))
    about = "Usage events that are not written yet."
    yield _metric("satchel_usage_events_waiting", about, usage.waiting)
    about = "Whether usage events are kept now."
    yield _metric("satchel_usage_kept", about, not usage.problem)
    about = "Usage events that are lost."
    yield _metric("satchel_usage_events_lost_total", about, usage.lost)
    about = "Failures to keep events."
    yield _metric("satchel_usage_failures_total", about, usage.failures)


def _metric(name: str, about: str, value: int) -> str:
    kind = "counter" if name.endswith("_total") else "gauge"
    return f"{metric_head(name, kind, about)}{name} {int(value)}\n"


def _labelled_metric(
    name: str, about: str, label: str, values: Mapping[str, int]
) -> str:
    rows = {_label(label, key): int(value) for key, value in values.items()}
    lines = (f"{name}{key} {value}\n" for key, value in sorted(rows.items()))
    return metric_head(name, "gauge", about) + "".join(lines)


def _label(name: str, value: str) -> str:
    # Prometheus's text format escapes these three characters.
    text = value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    return f'{{{name}="{text}"}}'
