"""Discovery: the indexes below ``/.well-known``, live, and what they name."""

import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from satchel.errors import SkillError
from satchel.files import digest_bytes
from satchel.model import SKILL_FILE, Catalog, Descriptor
from satchel.release import (
    INDEX_V1,
    INDEX_V2,
    Artifact,
    IndexEntry,
    artifact_bytes,
    index_v1,
    index_v2,
    plan_publication,
)
from satchel.runtime import CallerView
from satchel.server._errors import error_answer
from satchel.server._http._endpoints import (
    ARCHIVE_SUFFIX,
    NOT_FOUND,
    HttpContext,
    http_caller,
    path_segments,
    record_missing,
)
from satchel.server._http._responses import (
    JSON,
    error_response,
    file_response,
    json_bytes,
)
from satchel.server._library import Caller

MAX_DIGESTS: Final = 65_536
"""Digests of archives that are kept: four times the packs of a large library."""
MAX_INDEXES: Final = 64
"""Indexes that are kept: one for each caller and version."""

_V2: Final = f"/{INDEX_V2}".removesuffix("index.json")
_V1: Final = f"/{INDEX_V1}".removesuffix("index.json")

_Make: TypeAlias = Callable[[list[IndexEntry]], dict[str, object]]


class Indexes:
    """Makes indexes, and keeps them while their catalog lasts. Thread-safe.

    A skill whose files cannot be read now is in no index; the others are.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._digests: OrderedDict[tuple[object, ...], str] = OrderedDict()
        self._made: OrderedDict[tuple[Caller, str], tuple[Catalog, bytes]]
        self._made = OrderedDict()

    def index(self, view: CallerView, caller: Caller, version: str) -> bytes:
        """Return the index of one version as ``caller`` may see it."""
        catalog = view.catalog
        with self._lock:  # so that a cold start reads each pack once
            known = self._made.get((caller, version))
            if known is not None and known[0] is catalog:
                return known[1]
            entries = self._entries(view, catalog, caller, digests=version == "v2")
            make: _Make = index_v2 if version == "v2" else index_v1
            made = json_bytes(make(entries))
            self._made[caller, version] = catalog, made
            _keep_newest(self._made, MAX_INDEXES)
            return made

    def _entries(
        self, view: CallerView, catalog: Catalog, caller: Caller, *, digests: bool
    ) -> list[IndexEntry]:
        entries: list[IndexEntry] = []
        view = view.without_waiting  # one pack that is being written holds up no other
        for artifact in plan_publication(_offered(view, catalog)).artifacts:
            try:
                digest = self._digest(view, artifact, caller) if digests else ""
            except SkillError:
                continue
            entries.append(artifact.entry(digest, f"{_V2}{artifact.path}"))
        return entries

    def _digest(self, view: CallerView, artifact: Artifact, caller: Caller) -> str:
        entry = view.descriptor(artifact.id)
        if artifact.type == "skill-md" and entry.digest:
            return entry.digest
        key = caller, entry, entry.files
        digest = self._digests.get(key)
        if digest is None:
            digest = digest_bytes(artifact_bytes(artifact, _reader(view, artifact)))
            self._digests[key] = digest
            _keep_newest(self._digests, MAX_DIGESTS)
        return digest


def discovery_routes(site: HttpContext) -> list[Route]:
    """Return the routes of v0.2.0, and of v0.1.0 where the settings ask for it."""
    indexes = Indexes()

    def index(version: str) -> Callable[[Request], Awaitable[Response]]:
        def answer(request: Request) -> Response:
            try:
                view = site.view(request)
            except SkillError as error:
                return error_response(request, error_answer(error))
            data = indexes.index(view, http_caller(request), version)
            return site.answers.bytes(request, data, media_type=JSON)

        return site.laned(answer, lambda _: None)

    routes = [
        Route(f"/{INDEX_V2}", index("v2")),
        Route(f"{_V2}{{rest:path}}", _artifacts(site)),
    ]
    if site.settings.old_index:
        routes += [
            Route(f"/{INDEX_V1}", index("v1")),
            Route(f"{_V1}{{rest:path}}", _files(site)),
        ]
    return routes


def _artifacts(site: HttpContext) -> Callable[[Request], Awaitable[Response]]:
    def answer(request: Request) -> Response:
        path = "/".join(path_segments(request, _V2) or ())
        try:
            view = site.view(request)
            artifact = _planned(view, path.removesuffix(f"/{SKILL_FILE}"), path)
            if artifact is None:
                name, _, file = path.removesuffix(ARCHIVE_SUFFIX).partition("/")
                record_missing(view, request, name, file)
                return error_response(request, NOT_FOUND)
            if request.method != "HEAD":
                view.copy(artifact.id)  # one sync, however many files it has
            data = artifact_bytes(artifact, _reader(view, artifact))
        except SkillError as error:
            return error_response(request, error_answer(error))
        return site.answers.bytes(request, data, media_type=artifact.media_type)

    return site.laned(answer, partial(_name_in, _V2))


def _files(site: HttpContext) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers for one file, as v0.1.0 has them beside its index."""

    def answer(request: Request) -> Response:
        name, *rest = path_segments(request, _V1) or ("",)
        path = "/".join(rest)
        try:
            view = site.view(request)
            artifact = _planned(view, name, "")
            if artifact is None or path not in artifact.files:
                record_missing(view, request, name, path)
                return error_response(request, NOT_FOUND)
            counts = path == SKILL_FILE and request.method != "HEAD"
            loaded = view.copy(name) if counts else view.peek(name, path)
        except SkillError as error:
            return error_response(request, error_answer(error))
        return file_response(site.answers, request, loaded)

    return site.laned(answer, partial(_name_in, _V1))


def _name_in(behind: str, request: Request) -> str:
    """Return the skill that an address names, without what its archive ends in."""
    first = (path_segments(request, behind) or [""])[0]
    return first.removesuffix(ARCHIVE_SUFFIX)


def _offered(view: CallerView, catalog: Catalog) -> list[Descriptor]:
    """Return what may be installed: what models may have, and users alone, too."""
    hidden = [entry for entry in view.invocable if entry.id not in catalog]
    return [*catalog.entries, *hidden]


def _planned(view: CallerView, name: str, path: str) -> Artifact | None:
    """Return what is offered of a skill; None for nothing, or not at this path."""
    name = name.removesuffix(ARCHIVE_SUFFIX) if path else name
    found = _offered_skill(view, name)
    for artifact in plan_publication([found] if found else []).artifacts:
        if path in ("", artifact.path):
            return artifact
    return None


def _offered_skill(view: CallerView, name: str) -> Descriptor | None:
    """Return one skill that is offered, without a look at the others."""
    listed: Descriptor | None = view.catalog.get(name)
    if listed is not None:
        return listed
    try:
        held = view.descriptor(name)
    except SkillError:
        return None
    return None if held.model_invocable or not held.user_invocable else held


def _reader(view: CallerView, artifact: Artifact) -> Callable[[str], bytes]:
    return lambda path: view.peek(artifact.id, path).data


def _keep_newest(kept: OrderedDict[Any, Any], most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)
