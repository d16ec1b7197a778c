"""The release that is served, at the address that its digest names.

So a program that pins it needs nothing but this server: ``Satchel(url, pin=digest)``.
"""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from satchel.errors import SkillError
from satchel.files import render_pointer
from satchel.model import RELEASE_FILE, SKILL_FILE, Resource
from satchel.runtime import CallerView
from satchel.server._errors import error_answer
from satchel.server._http._endpoints import (
    ARCHIVE_SUFFIX,
    NOT_FOUND,
    HttpContext,
    path_segments,
    record_missing,
)
from satchel.server._http._responses import JSON, error_response, file_response
from satchel.sources import ReleaseSource

_ROOT: Final = "/releases/"


def releases_routes(site: HttpContext) -> list[Route]:
    """Return the routes of releases; they find nothing where none is served.

    What a release lists goes to those alone who may have all of it; a file of a skill
    to whoever may load the skill.
    """

    def current(request: Request) -> Response:
        release = site.library.catalog.release
        if not release:
            return error_response(request, NOT_FOUND)
        data = render_pointer(release)
        return site.answers.bytes(request, data, media_type=JSON)

    def answer(request: Request) -> Response:
        name, *rest = path_segments(request, _ROOT) or ("",)
        source = _source(site, name)
        try:
            found = _answer(site, request, source, rest) if source else None
        except SkillError as error:
            return error_response(request, error_answer(error))
        return error_response(request, NOT_FOUND) if found is None else found

    return [
        Route(f"/{RELEASE_FILE}", current),
        Route(f"{_ROOT}{{rest:path}}", site.laned(answer, lambda _: None)),
    ]


def _source(site: HttpContext, name: str) -> ReleaseSource | None:
    """Return the source whose release has these digits."""
    for source in site.library.skills.registry.sources.values():
        if isinstance(source, ReleaseSource) and source.release.endswith(f":{name}"):
            return source
    return None


def _answer(
    site: HttpContext, request: Request, source: ReleaseSource, rest: list[str]
) -> Response | None:
    view = site.view(request)
    if rest[:1] == ["skills"] and len(rest) > 2:  # noqa: PLR2004 - skills, id, path
        skill_id, file = rest[1], "/".join(rest[2:])
        if file != SKILL_FILE and not _is_listed(view, skill_id, file):
            record_missing(view, request, skill_id, file)
            view.descriptor(skill_id)  # it may say why
            return None  # a release has addresses, and no short names
        used = file == SKILL_FILE and request.method != "HEAD"
        loaded = view.copy(skill_id) if used else view.peek(skill_id, file)
        return file_response(site.answers, request, loaded)
    folder, _, name = (path := "/".join(rest)).partition("/")
    skill_id = name.removesuffix(ARCHIVE_SUFFIX) if folder == "archives" else ""
    held = _release_file(source, path) if _has_all(view, source) else None
    if held is None:
        record_missing(view, request, skill_id)
        return None
    if skill_id and request.method != "HEAD":
        view.copy(skill_id)  # one sync, however many files it has
    return _release_file_response(site, request, source, held)


def _is_listed(view: CallerView, skill_id: str, file: str) -> bool:
    try:
        return file in view.descriptor(skill_id).resources
    except SkillError:
        return False


def _release_file(source: ReleaseSource, path: str) -> Resource | None:
    """Return a file of a release that is of no skill alone, and its description."""
    release = source.open()
    others = (*release.others, release.document)
    return next((each for each in others if each.path == path), None)


def _has_all(view: CallerView, source: ReleaseSource) -> bool:
    """Tell whether the caller may load every skill of the release."""
    try:
        for skill in source.open().skills:
            view.descriptor(skill.id)
    except SkillError:
        return False
    return True


def _release_file_response(
    site: HttpContext, request: Request, source: ReleaseSource, held: Resource
) -> Response:
    media_type = JSON if held.path.endswith(".json") else "application/gzip"
    return site.answers.bytes(
        request,
        source.read_file(held),
        media_type=media_type,
        digest=held.digest,
    )
