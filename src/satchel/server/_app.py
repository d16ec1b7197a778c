"""The application behind one port: MCP, the API, discovery, releases and health."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from satchel.server._errors import INTERNAL_ERROR, ErrorAnswer
from satchel.server._guard._hosts import transport_security
from satchel.server._guard._middleware import guard
from satchel.server._guard._settings import GuardSettings
from satchel.server._http._discovery import discovery_routes
from satchel.server._http._endpoints import NOT_FOUND, HttpContext, HttpSettings
from satchel.server._http._health import UsageMetrics, health_routes, metrics_route
from satchel.server._http._loads import LOADS_PATH, loads_route
from satchel.server._http._openapi import api_routes
from satchel.server._http._releases import releases_routes
from satchel.server._http._responses import ResponseFactory, error_response
from satchel.server._library import ServedLibrary
from satchel.server._mcp._server import streamable_http
from satchel.server._traffic import TrafficCounts

Application: TypeAlias = ASGIApp


def create_app(
    library: ServedLibrary,
    settings: HttpSettings | None = None,
    *,
    used: UsageMetrics | None = None,
    guarded: GuardSettings | None = None,
    traffic: TrafficCounts | None = None,
) -> Starlette:
    """Return the application, which asks nobody for a token and looks at no Host.

    That is for `satchel.server._guard`, which goes around it: see `guarded_app`.

    Args:
        library: What is served.
        settings: How it is offered over HTTP.
        used: Gives the figures of use for ``/metrics``: `MetricsSink.render`.
        guarded: What the guard around it was told, so that ``/mcp`` refuses nothing
            that the guard lets in; None lets loopback alone reach ``/mcp``.
        traffic: What the guard counts, for ``/metrics``.
    """
    settings = settings or HttpSettings()
    site = HttpContext(library, settings, ResponseFactory(library.settings.ttl_s))
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
        loads_route(site),
        *api_routes(site),
        *discovery_routes(site),
        *releases_routes(site),
        metrics_route(site, used, traffic),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={HTTPException: _route_error, Exception: _internal_error},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # one thing has one address
    return app


def guarded_app(
    library: ServedLibrary,
    settings: GuardSettings,
    *,
    old_index: bool = False,
    used: UsageMetrics | None = None,
) -> Application:
    """Return the application behind its guard: what a server listens with.

    Raises:
        ConfigError: ``settings.host`` is not loopback, and nobody is asked who calls.
    """
    http = HttpSettings(private=settings.asks, old_index=old_index)
    traffic = TrafficCounts()
    app = create_app(library, http, used=used, guarded=settings, traffic=traffic)
    return guard(app, settings, traffic=traffic)


def _route_error(request: Request, error: Exception) -> Response:
    """Answer where no route, or none for this method, was found."""
    status = error.status_code if isinstance(error, HTTPException) else 0
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        may = "POST" if request.url.path == LOADS_PATH else "GET, HEAD"
        said = f"only {may.replace(', ', ' and ')} are answered here"
        told = ErrorAnswer(status, "method-not-allowed", said)
        return error_response(request, told, {"Allow": may})
    return error_response(request, NOT_FOUND)


def _internal_error(request: Request, error: Exception) -> Response:
    """Answer after a fault of our own; what it was is in the server's log alone."""
    del error
    return error_response(request, INTERNAL_ERROR)
