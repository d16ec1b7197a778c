"""The release that is served, at the address that its digest names.

So a program that pins it needs only this server: ``Satchel(url, pin=digest)``.
"""

from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from satchel.errors import SkillError
from satchel.files import render_pointer
from satchel.model import RELEASE_FILE, SKILL_FILE, Resource
from satchel.runtime import CallerView
from satchel.server._http._endpoints import (
    ARCHIVE_SUFFIX,
    NOT_FOUND,
    HttpContext,
    path_segments,
    record_missing,
)
from satchel.server._http._responses import JSON, error_response
from satchel.sources import ReleaseSource

_ROOT: Final = "/releases/"


def releases_routes(http: HttpContext) -> list[Route]:
    """Return the routes of releases; they find nothing where none is served."""
    library = http.library

    def current(request: Request) -> Response:
        release = library.catalog.release
        if not release:
            return error_response(request, NOT_FOUND)
        data = render_pointer(release)
        return http.responses.bytes(request, data, media_type=JSON)

    answer = http.threaded(partial(_answer, http), lambda _: library.slow_sources)
    return [Route(f"/{RELEASE_FILE}", current), Route(f"{_ROOT}{{rest:path}}", answer)]


def _answer(http: HttpContext, request: Request) -> Response:
    digits, *path = path_segments(request, _ROOT) or ("",)
    for source in http.library.skills.registry.sources.values():
        if isinstance(source, ReleaseSource) and source.release.endswith(f":{digits}"):
            match path:
                case ["skills", skill_id, *file] if file:
                    response = _skill_file(http, request, skill_id, "/".join(file))
                case _:
                    response = _release_file(http, request, source, "/".join(path))
            return response or error_response(request, NOT_FOUND)
    return error_response(request, NOT_FOUND)


def _skill_file(
    http: HttpContext, request: Request, skill_id: str, file: str
) -> Response | None:
    view = http.view(request)
    if file != SKILL_FILE and not _is_listed(view, skill_id, file):
        record_missing(view, request, skill_id, file)
        view.descriptor(skill_id)  # it may raise an error that says why
        return None  # a release has addresses, and no short names
    # A client fetches every file, so the SKILL.md alone counts as the sync.
    counts = file == SKILL_FILE and request.method != "HEAD"
    loaded = view.copy(skill_id) if counts else view.peek(skill_id, file)
    return http.responses.file(request, loaded)


def _is_listed(view: CallerView, skill_id: str, file: str) -> bool:
    try:
        return file in view.descriptor(skill_id).resources
    except SkillError:
        return False


def _release_file(
    http: HttpContext, request: Request, source: ReleaseSource, path: str
) -> Response | None:
    """Answer with an archive, or with a file that describes the release."""
    view = http.view(request)
    folder, _, name = path.partition("/")
    skill_id = name.removesuffix(ARCHIVE_SUFFIX) if folder == "archives" else ""
    resource = _resource(source, path) if _may_load_all(view, source) else None
    if resource is None:
        record_missing(view, request, skill_id)
        return None
    if skill_id and request.method != "HEAD":
        view.copy(skill_id)  # one sync, however many files it has
    return http.responses.bytes(
        request,
        source.read_file(resource),
        media_type=JSON if path.endswith(".json") else "application/gzip",
        digest=resource.digest,
    )


def _resource(source: ReleaseSource, path: str) -> Resource | None:
    release = source.open()
    files = (*release.others, release.document)
    return next((file for file in files if file.path == path), None)


def _may_load_all(view: CallerView, source: ReleaseSource) -> bool:
    try:
        # A file about the release names every skill in it.
        for skill in source.open().skills:
            view.descriptor(skill.id)
    except SkillError:
        return False
    return True
