"""The routes of ``/v1``, made of the table."""

from importlib.metadata import version

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from satchel.serve.http.answers import refusal
from satchel.serve.http.described import described
from satchel.serve.http.site import NOT_FOUND, Site, segments
from satchel.serve.http.table import Ask, Endpoint
from satchel.serve.http.v1 import ENDPOINTS

__all__ = ["api_routes", "every_endpoint", "openapi"]

_SKILLS = "/v1/skills/"
_FILES = "files"


def openapi(*, private: bool = False) -> dict[str, object]:
    """Return the description of ``/v1``, itself included."""
    return described(
        every_endpoint(private=private), version=version("satchel"), private=private
    )


def every_endpoint(*, private: bool = False) -> tuple[Endpoint, ...]:
    """Return the endpoints of ``/v1``, with the one that describes them."""

    def answer(ask: Ask) -> Response:
        return ask.answers.json(ask.request, openapi(private=private))

    itself = Endpoint(
        "/v1/openapi.json",
        "getOpenapi",
        "This description",
        "OpenAPI 3.1.",
        answer,
        "OpenApi",
        {"openapi": "3.1.0"},
    )
    return (*ENDPOINTS, itself)


def api_routes(site: Site) -> list[Route]:
    """Return a route for each endpoint; those of one skill share one."""
    plain: list[Route] = []
    of_skill: dict[bool, Endpoint] = {}
    for each in every_endpoint(private=site.settings.private):
        if each.path.startswith(_SKILLS):
            of_skill[f"/{_FILES}/" in each.path] = each
        else:
            plain.append(Route(each.path, site.endpoint(each)))
    skill = site.endpoint(of_skill[False], _skill_in)
    file = site.endpoint(of_skill[True], _file_in)

    def choose(request: Request) -> Response:
        parts = segments(request, _SKILLS)
        if parts is None or not parts[0]:
            return refusal(request, NOT_FOUND)
        if len(parts) == 1:
            return skill(request)
        if parts[1] == _FILES and len(parts) > 2:  # noqa: PLR2004 - id, files, path
            return file(request)
        return refusal(request, NOT_FOUND)

    laned = site.laned(choose, lambda request: _skill_in(request)["id"])
    return [*plain, Route(f"{_SKILLS}{{rest:path}}", laned)]


def _skill_in(request: Request) -> dict[str, str]:
    return {"id": (segments(request, _SKILLS) or [""])[0]}


def _file_in(request: Request) -> dict[str, str]:
    skill_id, _, *path = segments(request, _SKILLS) or ["", "", ""]
    return {"id": skill_id, "path": "/".join(path)}
