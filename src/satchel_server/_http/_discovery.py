"""What programs copy from here: live indexes with the files that they name, releases.

Indexes are below ``/.well-known``. The release that is served is at the address that
its digest names, so a program that pins it needs only this server:
``Satchel(url, pin=digest)``.
"""

import threading
from collections.abc import Callable
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from satchel.errors import SkillError
from satchel.files import LruCache, digest_bytes
from satchel.model import RELEASE_FILE, SKILL_FILE, Catalog, Descriptor, Resource
from satchel.runtime import View
from satchel_server._errors import ErrorAnswer
from satchel_server._http._endpoints import (
    ARCHIVE_SUFFIX,
    NOT_FOUND,
    HttpContext,
    path_segments,
    record_missing,
    sender_of,
)
from satchel_server._http._responses import JSON, error_response, json_bytes
from satchel_server._library import Caller
from satchel_store.release import (
    DIGEST_HEADER,
    INDEX_V1,
    INDEX_V2,
    Artifact,
    IndexEntry,
    ReleaseSource,
    artifact_bytes,
    index_v1,
    index_v2,
    plan_publication,
    render_pointer,
)

# Digests of archives that are cached: four times the packs of a large library.
MAX_DIGESTS: Final = 65_536
# Indexes that are cached: one for each caller and version.
MAX_INDEXES: Final = 64

_V2: Final = f"/{INDEX_V2}".removesuffix("index.json")
_V1: Final = f"/{INDEX_V1}".removesuffix("index.json")
_RELEASES: Final = "/releases/"
_OTHER_RELEASE: Final = ErrorAnswer(
    503, "other-release", "this server has other bytes of it now; read the index again"
)


class Indexes:
    """Makes indexes, and caches them until the catalog changes. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._digests: LruCache[tuple[object, ...], str] = LruCache(MAX_DIGESTS)
        self._made: LruCache[tuple[Caller, str], tuple[Catalog, bytes]]
        self._made = LruCache(MAX_INDEXES)

    def index(self, view: View, caller: Caller, version: str) -> bytes:
        catalog = view.catalog
        with self._lock:  # so that a cold start reads each pack once
            # By the identity of the catalog, which is another object after a sync.
            cached = self._made.find((caller, version))
            if cached is not None and cached[0] is catalog:
                return cached[1]
            entries = self._entries(view, catalog, caller, digests=version == "v2")
            make = index_v2 if version == "v2" else index_v1
            index = json_bytes(make(entries))
            self._made.put((caller, version), (catalog, index))
            return index

    def _entries(
        self, view: View, catalog: Catalog, caller: Caller, *, digests: bool
    ) -> list[IndexEntry]:
        entries: list[IndexEntry] = []
        view = view.without_waiting  # a pack that is being written delays no other
        for artifact in plan_publication(_offered(view, catalog)).artifacts:
            try:
                digest = self._digest(view, artifact, caller) if digests else ""
            except SkillError:
                continue  # it cannot be read now, and hides no other skill
            entries.append(artifact.entry(digest, f"{_V2}{artifact.path}"))
        return entries

    def _digest(self, view: View, artifact: Artifact, caller: Caller) -> str:
        entry = view.descriptor(artifact.id)
        if artifact.type == "skill-md" and entry.digest:
            return entry.digest
        return self._digests.get(
            # `==` on entries leaves their files out, so they are part of the key.
            (caller, entry, entry.files),
            lambda: digest_bytes(artifact_bytes(artifact, _reader(view, artifact))),
        )


def discovery_routes(http: HttpContext) -> list[Route]:
    indexes = Indexes()

    def route(path: str, answer: Callable[[Request], Response], prefix: str) -> Route:
        def source(request: Request) -> str | None:
            if not prefix:
                return http.library.slow_sources
            # The skill that the address names, without the suffix of its archive.
            name = (path_segments(request, prefix) or [""])[0]
            return http.library.slow_source(name.removesuffix(ARCHIVE_SUFFIX))

        return Route(path, http.threaded(answer, source))

    def index(version: str, request: Request) -> Response:
        caller, _ = sender_of(request)
        data = indexes.index(http.view(request), caller, version)
        return http.responses.bytes(request, data, media_type=JSON)

    routes = [
        route(f"/{INDEX_V2}", partial(index, "v2"), ""),
        route(f"{_V2}{{rest:path}}", partial(_artifact_response, http), _V2),
    ]
    if http.settings.old_index:
        routes += [
            route(f"/{INDEX_V1}", partial(index, "v1"), ""),
            route(f"{_V1}{{rest:path}}", partial(_old_file_response, http), _V1),
        ]
    return routes


def _artifact_response(http: HttpContext, request: Request) -> Response:
    """Answer with an artifact: of the digest that its index announced, if any.

    Of several servers behind one address, another may have another release.
    """
    path = "/".join(path_segments(request, _V2) or ())
    announced = request.headers.get(DIGEST_HEADER, "")
    artifact, data = _artifact(http, request, path)
    if announced and (data is None or digest_bytes(data) != announced):
        http.library.catch_up()
        artifact, data = _artifact(http, request, path)
        if data is not None and digest_bytes(data) != announced:
            return error_response(request, _OTHER_RELEASE, {"Retry-After": "1"})
    view = http.view(request)
    if artifact is None or data is None:
        name, _, file = path.removesuffix(ARCHIVE_SUFFIX).partition("/")
        record_missing(view, request, name, file)
        return error_response(request, NOT_FOUND)
    if request.method != "HEAD":
        view.load(artifact.id, as_="copy")  # one sync, however many files it has
    return http.responses.bytes(request, data, media_type=artifact.media_type)


def _artifact(
    http: HttpContext, request: Request, path: str
) -> tuple[Artifact | None, bytes | None]:
    view = http.view(request)
    artifact = _planned(view, path.removesuffix(f"/{SKILL_FILE}"), path)
    if artifact is None:
        return None, None
    return artifact, artifact_bytes(artifact, _reader(view, artifact))


def _old_file_response(http: HttpContext, request: Request) -> Response:
    """Answer with one file, which v0.1.0 has next to its index."""
    name, *rest = path_segments(request, _V1) or ("",)
    path = "/".join(rest)
    view = http.view(request)
    artifact = _planned(view, name, "")
    if artifact is None or path not in artifact.files:
        record_missing(view, request, name, path)
        return error_response(request, NOT_FOUND)
    return _copied_file(http, request, name, path)


def _copied_file(
    http: HttpContext, request: Request, skill_id: str, path: str
) -> Response:
    view = http.view(request)
    # A client fetches every file, so the SKILL.md alone counts as the sync.
    counts = path == SKILL_FILE and request.method != "HEAD"
    loaded = (
        view.load(skill_id, as_="copy")
        if counts
        else view.load(skill_id, path, as_="look")
    )
    return http.responses.file(request, loaded)


def _offered(view: View, catalog: Catalog) -> list[Descriptor]:
    """Return the skills that can be installed, also those that only users invoke."""
    hidden = [entry for entry in view.invocable if entry.id not in catalog]
    return [*catalog.entries, *hidden]


def _planned(view: View, name: str, path: str) -> Artifact | None:
    """Return the artifact of a skill; None if there is none at this path."""
    name = name.removesuffix(ARCHIVE_SUFFIX) if path else name
    entry = _offered_skill(view, name)
    for artifact in plan_publication([entry] if entry else []).artifacts:
        if path in ("", artifact.path):
            return artifact
    return None


def _offered_skill(view: View, name: str) -> Descriptor | None:
    """Return one skill that can be installed, without looking at the others."""
    listed: Descriptor | None = view.catalog.get(name)
    if listed is not None:
        return listed
    try:
        hidden = view.descriptor(name)
    except SkillError:
        return None
    return None if hidden.model_invocable or not hidden.user_invocable else hidden


def _reader(view: View, artifact: Artifact) -> Callable[[str], bytes]:
    return lambda path: view.load(artifact.id, path, as_="look").data


def releases_routes(http: HttpContext) -> list[Route]:
    """Return the routes of releases; they find nothing where none is served."""
    library = http.library

    def current(request: Request) -> Response:
        release = library.catalog.release
        if not release:
            return error_response(request, NOT_FOUND)
        return http.responses.bytes(request, render_pointer(release), media_type=JSON)

    answer = http.threaded(
        partial(_release_response, http), lambda _: library.slow_sources
    )
    return [
        Route(f"/{RELEASE_FILE}", current),
        Route(f"{_RELEASES}{{rest:path}}", answer),
    ]


def _release_response(http: HttpContext, request: Request) -> Response:
    digits, *path = path_segments(request, _RELEASES) or ("",)
    if not http.library.catalog.release.endswith(f":{digits}"):
        http.library.catch_up()
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
    try:
        is_there = file == SKILL_FILE or file in view.descriptor(skill_id).resources
    except SkillError:
        record_missing(view, request, skill_id, file)
        raise
    if not is_there:
        record_missing(view, request, skill_id, file)
        return None  # a release has addresses, and no short names
    return _copied_file(http, request, skill_id, file)


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
        view.load(skill_id, as_="copy")  # one sync, however many files it has
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


def _may_load_all(view: View, source: ReleaseSource) -> bool:
    try:
        # A file about the release names every skill in it.
        for skill in source.open().skills:
            view.descriptor(skill.id)
    except SkillError:
        return False
    return True
