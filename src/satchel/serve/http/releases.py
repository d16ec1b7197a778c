"""The release that is served, at the address that its digest names.

So a program that pins it needs nothing but this server: ``Satchel(url, pin=digest)``.
"""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from satchel.errors import SkillError
from satchel.model import SKILL_FILE, Resource
from satchel.model.release import RELEASE_FILE
from satchel.runtime.view import View
from satchel.serve.http.answers import JSON, refusal
from satchel.serve.http.files import file_answer
from satchel.serve.http.site import (
    ARCHIVE_SUFFIX,
    NOT_FOUND,
    Site,
    segments,
    tell_missed,
)
from satchel.serve.telling import tell
from satchel.sources.release import ReleaseSource
from satchel.sources.release_format import render_pointer

__all__ = ["releases_routes"]

_ROOT: Final = "/releases/"


def releases_routes(site: Site) -> list[Route]:
    """Return the routes of releases; they find nothing where none is served.

    What a release lists goes to those alone who may have all of it; a file of a skill
    to whoever may load the skill.
    """

    def current(request: Request) -> Response:
        release = site.library.catalog.release
        if not release:
            return refusal(request, NOT_FOUND)
        data = render_pointer(release)
        return site.answers.bytes(request, data, media_type=JSON)

    def answer(request: Request) -> Response:
        name, *rest = segments(request, _ROOT) or ("",)
        source = _source(site, name)
        try:
            found = _answer(site, request, source, rest) if source else None
        except SkillError as error:
            return refusal(request, tell(error))
        return refusal(request, NOT_FOUND) if found is None else found

    return [
        Route(f"/{RELEASE_FILE}", current),
        Route(f"{_ROOT}{{rest:path}}", site.laned(answer, lambda _: None)),
    ]


def _source(site: Site, name: str) -> ReleaseSource | None:
    """Return the source whose release has these digits."""
    for source in site.library.skills.registry.sources.values():
        if isinstance(source, ReleaseSource) and source.release.endswith(f":{name}"):
            return source
    return None


def _answer(
    site: Site, request: Request, source: ReleaseSource, rest: list[str]
) -> Response | None:
    view = site.view(request)
    if rest[:1] == ["skills"] and len(rest) > 2:  # noqa: PLR2004 - skills, id, path
        skill_id, file = rest[1], "/".join(rest[2:])
        if file != SKILL_FILE and not _is_listed(view, skill_id, file):
            tell_missed(view, request, skill_id, file)
            view.descriptor(skill_id)  # it may say why
            return None  # a release has addresses, and no short names
        used = file == SKILL_FILE and request.method != "HEAD"
        loaded = view.copy(skill_id) if used else view.peek(skill_id, file)
        return file_answer(site.answers, request, loaded)
    folder, _, name = (path := "/".join(rest)).partition("/")
    skill_id = name.removesuffix(ARCHIVE_SUFFIX) if folder == "archives" else ""
    held = _other(source, path) if _has_all(view, source) else None
    if held is None:
        tell_missed(view, request, skill_id)
        return None
    if skill_id and request.method != "HEAD":
        view.copy(skill_id)  # one sync, however many files it has
    return _held(site, request, source, held)


def _is_listed(view: View, skill_id: str, file: str) -> bool:
    try:
        return file in view.descriptor(skill_id).resources
    except SkillError:
        return False


def _other(source: ReleaseSource, path: str) -> Resource | None:
    """Return a file of a release that is of no skill alone, and its description."""
    release = source.open()
    others = (*release.others, release.document)
    return next((each for each in others if each.path == path), None)


def _has_all(view: View, source: ReleaseSource) -> bool:
    """Tell whether the caller may load every skill of the release."""
    try:
        for skill in source.open().skills:
            view.descriptor(skill.id)
    except SkillError:
        return False
    return True


def _held(
    site: Site, request: Request, source: ReleaseSource, held: Resource
) -> Response:
    media_type = JSON if held.path.endswith(".json") else "application/gzip"
    return site.answers.bytes(
        request,
        source.read_file(held),
        media_type=media_type,
        digest=held.digest,
    )
