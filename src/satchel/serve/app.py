"""All that one port serves, as one application: MCP, the API, discovery, health."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp as Application

from satchel.serve.guard import GuardSettings, guard, transport_security
from satchel.serve.http.answers import Answers, refusal
from satchel.serve.http.api import api_routes
from satchel.serve.http.discovery import discovery_routes
from satchel.serve.http.figures import Used, figures_route
from satchel.serve.http.health import health_routes
from satchel.serve.http.releases import releases_routes
from satchel.serve.http.reporting import LOADS_PATH, reporting_route
from satchel.serve.http.settings import HttpSettings
from satchel.serve.http.site import NOT_FOUND, Site
from satchel.serve.library import Library
from satchel.serve.mcp import streamable_http
from satchel.serve.telling import INTERNAL, Told
from satchel.serve.traffic import Traffic

__all__ = ["Application", "create_app", "guarded_app"]


def create_app(
    library: Library,
    settings: HttpSettings | None = None,
    *,
    used: Used | None = None,
    guarded: GuardSettings | None = None,
    traffic: Traffic | None = None,
) -> Starlette:
    """Return the application, which asks nobody for a token and looks at no Host.

    That is for `satchel.serve.guard`, which goes around it: see `guarded_app`.

    Args:
        library: What is served.
        settings: How it is offered over HTTP.
        used: Gives the figures of use for ``/metrics``: `MetricsSink.render`.
        guarded: What the guard around it was told, so that ``/mcp`` refuses nothing
            that the guard lets in; None lets loopback alone reach ``/mcp``.
        traffic: What the guard counts, for ``/metrics``.
    """
    settings = settings or HttpSettings()
    site = Site(library, settings, Answers(library.settings.ttl_s))
    mcp = (
        streamable_http(library)
        if guarded is None
        else streamable_http(
            library,
            security=transport_security(guarded),
            max_body_bytes=guarded.max_body_bytes,
        )
    )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        del app
        async with mcp.lifespan():
            yield

    routes: list[BaseRoute] = [
        Route("/mcp", mcp.app),  # first: it is asked for most
        *health_routes(site),
        reporting_route(site),
        *api_routes(site),
        *discovery_routes(site),
        *releases_routes(site),
        figures_route(site, used, traffic),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={HTTPException: _refused, Exception: _failed},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # one thing has one address
    return app


def guarded_app(
    library: Library,
    settings: GuardSettings,
    *,
    old_index: bool = False,
    used: Used | None = None,
) -> Application:
    """Return the application behind its guard: what a server listens with.

    Raises:
        ConfigError: ``settings.host`` is not loopback, and nobody is asked who calls.
    """
    http = HttpSettings(private=settings.asks, old_index=old_index)
    traffic = Traffic()
    app = create_app(library, http, used=used, guarded=settings, traffic=traffic)
    return guard(app, settings, traffic=traffic)


def _refused(request: Request, error: Exception) -> Response:
    """Answer where no route, or none for this method, was found."""
    status = error.status_code if isinstance(error, HTTPException) else 0
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        may = "POST" if request.url.path == LOADS_PATH else "GET, HEAD"
        said = f"only {may.replace(', ', ' and ')} are answered here"
        told = Told(status, "method-not-allowed", said)
        return refusal(request, told, {"Allow": may})
    return refusal(request, NOT_FOUND)


def _failed(request: Request, error: Exception) -> Response:
    """Answer after a fault of our own; what it was is in the server's log alone."""
    del error
    return refusal(request, INTERNAL)
