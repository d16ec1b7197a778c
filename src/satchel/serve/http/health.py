"""Is it alive, is it ready, what is here: ``/healthz``, ``/readyz`` and ``/``."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from satchel.errors import SkillError
from satchel.serve.http.answers import JSON, PLAIN, fresh, to_json
from satchel.serve.http.readiness import Reason, readiness
from satchel.serve.http.site import Site
from satchel.text import printable

__all__ = ["health_routes"]

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


def health_routes(site: Site) -> list[Route]:
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
        return fresh(request, b'{"status":"ok"}')

    def readyz(request: Request) -> Response:
        return ready_answer(site, request)

    return [Route("/", home), Route("/healthz", healthz), Route("/readyz", readyz)]


def ready_answer(site: Site, request: Request) -> Response:
    """Answer 200 with what is served and what is wrong, or 503 where nothing is."""
    library = site.library
    catalog = library.catalog
    served = {
        "release": catalog.release,
        "skills": len(catalog),
        "withheld": len(catalog.withheld),
        "sources": len(catalog.sources),
    }
    usage = library.skills.usage_state
    found = readiness(library)
    around = {
        "degraded": _told(found.degraded),
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
        return fresh(request, to_json(value))
    count = len(found.against)
    reasons = f"{count} reason{'' if count == 1 else 's'}"
    value = {
        "error": {"code": "not-ready", "message": f"{reasons} not to use this server"},
        "status": "not-ready",
        **served,
        "reasons": _told(found.against),
        **around,
    }
    return fresh(request, to_json(value), media_type=JSON, status=503)


def _told(reasons: tuple[Reason, ...]) -> list[dict[str, str]]:
    return [
        {"code": each.code, "message": each.message} for each in reasons[:MAX_REASONS]
    ]
