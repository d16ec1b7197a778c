"""All that one port serves, as one application: MCP, the API, discovery, health."""

from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from satchel.serve.http.answers import Answers, refusal
from satchel.serve.http.api import api_routes
from satchel.serve.http.discovery import discovery_routes
from satchel.serve.http.figures import figures_route
from satchel.serve.http.health import health_routes
from satchel.serve.http.settings import HttpSettings
from satchel.serve.http.site import NOT_FOUND, Site
from satchel.serve.library import Library
from satchel.serve.telling import INTERNAL, Told

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

__all__ = ["create_app"]


def create_app(
    library: Library,
    settings: HttpSettings | None = None,
    *,
    used: Callable[[], bytes] | None = None,
) -> Starlette:
    """Return the application; ``used`` gives the figures of use for ``/metrics``.

    It asks nobody for a token and looks at no Host: that is for `satchel.serve.guard`,
    which goes around it and says who calls.
    """
    settings = settings or HttpSettings()
    answers = Answers(library.settings.ttl_s, settings.private)
    site = Site(library, settings, answers)
    routes: list[BaseRoute] = [
        *health_routes(site),
        *api_routes(site),
        *discovery_routes(site),
        figures_route(site, used),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={HTTPException: _refused, Exception: _failed},
    )
    app.router.redirect_slashes = False  # one thing has one address
    return app


def _refused(request: Request, error: Exception) -> Response:
    """Answer where no route, or none for this method, was found."""
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        told = Told(405, "method-not-allowed", "only GET and HEAD are answered here")
        return refusal(request, told, {"Allow": "GET, HEAD"})
    return refusal(request, NOT_FOUND)


def _failed(request: Request, error: Exception) -> Response:
    """Answer after a fault of our own; what it was is in the server's log alone."""
    del error
    return refusal(request, INTERNAL)
