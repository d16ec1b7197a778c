"""The application behind one port: MCP, the API, discovery, releases and health."""

from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeAlias

from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from satchel_server._errors import INTERNAL_ERROR, ErrorAnswer
from satchel_server._guard._authentication import Authenticator
from satchel_server._guard._messages import TrafficCounts
from satchel_server._guard._middleware import guard
from satchel_server._guard._page_sessions import PAGE_PATH
from satchel_server._guard._settings import GuardSettings
from satchel_server._http._discovery import discovery_routes, releases_routes
from satchel_server._http._endpoints import NOT_FOUND, HttpContext, HttpSettings
from satchel_server._http._health import UsageMetrics, health_routes, metrics_route
from satchel_server._http._loads import LOADS_PATH, loads_route
from satchel_server._http._repeats import RepeatedAnswers
from satchel_server._http._responses import ResponseFactory, error_response
from satchel_server._http._v1 import api_routes
from satchel_server._library import ServedLibrary
from satchel_server._mcp._server import streamable_http

if TYPE_CHECKING:
    from satchel_server._page._routes import LogIn

Application: TypeAlias = ASGIApp


def create_app(  # noqa: PLR0913 - by name, and each with a default
    library: ServedLibrary,
    settings: HttpSettings | None = None,
    *,
    used: UsageMetrics | None = None,
    guarded: GuardSettings | None = None,
    traffic: TrafficCounts | None = None,
    log_in: "LogIn | None" = None,
) -> Starlette:
    """Return the application; it checks no token and no Host header.

    `guard` does both, around it: see `guarded_app`.

    Args:
        library: What is served.
        settings: How it is offered over HTTP.
        used: Gives the metrics of use for ``/metrics``: `MetricsSink.render`.
        guarded: The settings of the guard around it, which alone decides about the
            Host header then; with None only loopback reaches ``/mcp``.
        traffic: The guard's counts, for ``/metrics``.
        log_in: Gives a session of the page for a token; None where none is needed.
    """
    responses = ResponseFactory(library.settings.ttl_s)
    http = HttpContext(library, settings or HttpSettings(), responses)
    if guarded is None:
        mcp = streamable_http(library)
    else:
        most = guarded.max_body_bytes
        mcp = streamable_http(library, security=None, max_body_bytes=most)
    routes: list[BaseRoute] = [
        Route("/mcp", mcp.app),  # first, since most requests go there
        *api_routes(http),
        *health_routes(http),
        loads_route(http),
        *discovery_routes(http),
        *releases_routes(http),
        metrics_route(http, used, traffic),
    ]
    if http.settings.page:
        page = _LazyPage(http, log_in)
        routes += [Route(PAGE_PATH, page), Route(f"{PAGE_PATH}/{{rest:path}}", page)]
    app = Starlette(
        routes=routes,
        exception_handlers={
            HTTPException: _route_error,
            Exception: lambda request, _: error_response(request, INTERNAL_ERROR),
        },
        lifespan=lambda _: mcp.lifespan(),
    )
    app.router.redirect_slashes = False  # each resource has one address
    return app


def guarded_app(  # noqa: PLR0913 - as `create_app`
    library: ServedLibrary,
    settings: GuardSettings,
    *,
    old_index: bool = False,
    used: UsageMetrics | None = None,
    usage: str = "",
    answered: Callable[[str], object] | None = None,
) -> Application:
    """Return the application behind its guard, as a server runs it.

    ``usage`` is where events are, for the page: a file, or the URL of a store.
    ``answered`` gets a line for each request, once its answer begins.

    Raises:
        ConfigError: ``settings.host`` is not loopback, and no token is needed.
    """
    traffic = TrafficCounts()
    authenticator = Authenticator(settings)
    app = create_app(
        library,
        HttpSettings(
            private=settings.asks, old_index=old_index, page=settings.page, usage=usage
        ),
        used=used,
        guarded=settings,
        traffic=traffic,
        log_in=authenticator.log_in if settings.asks else None,
    )
    return guard(
        RepeatedAnswers(app, library),
        settings,
        traffic=traffic,
        authenticator=authenticator,
        page=_error_page if settings.page else None,
        answered=answered,
    )


class _LazyPage:
    """The page, whose templates and tables are imported when a browser first asks."""

    def __init__(self, http: HttpContext, log_in: "LogIn | None") -> None:
        self._http, self._log_in = http, log_in
        self._app: ASGIApp | None = None

    def _open(self) -> ASGIApp:
        from satchel_server._page._routes import Page, page_app

        return page_app(Page(self._http, self._log_in))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is None:
            # Of two requests at once each may open one; they are alike.
            self._app = await to_thread.run_sync(self._open)
        await self._app(scope, receive, send)


async def _error_page(scope: Scope, error: ErrorAnswer, send: Send) -> None:
    from satchel_server._page._templates import send_error_page

    await send_error_page(scope, error, send)


def _route_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 0
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        methods = "POST" if request.url.path == LOADS_PATH else "GET, HEAD"
        message = f"only {methods.replace(', ', ' and ')} are answered here"
        not_allowed = ErrorAnswer(status, "method-not-allowed", message)
        return error_response(request, not_allowed, {"Allow": methods})
    return error_response(request, NOT_FOUND)
