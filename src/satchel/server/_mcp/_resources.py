"""Files of skills as MCP resources: listed, and read byte for byte."""

import json
import threading
import time
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from mcp_types import (
    BlobResourceContents,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from satchel.load import media_type
from satchel.model import PURPOSE_KEY, SKILL_FILE, SYNC, Descriptor, Loaded
from satchel.runtime import CallerView
from satchel.server._http._endpoints import is_copy
from satchel.server._mcp._request import (
    McpContext,
    McpRequest,
    not_served_error,
    page_of,
    reject_cursor,
    run_handler,
)
from satchel.server._mcp._skills import (
    SCHEME,
    ExtensionCatalog,
    UriTarget,
    parts_of,
    uri_of,
)
from satchel.text import clean_line, printable

if TYPE_CHECKING:
    from collections.abc import Mapping


INDEX_URI: Final = f"{SCHEME}index.json"

_SCHEMA: Final = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
_MANIFEST: Final = "_manifest"


def index_text(served: ExtensionCatalog, view: CallerView) -> str:
    """Return the index of all skills that are listed, by id; no file is read."""
    skills = [
        {
            "name": skill.name,  # the last folder of its URL, as readers compare
            "type": "skill-md",
            "description": clean_line(skill.description),
            "url": uri_of(skill),
            "digest": skill.digest,
        }
        for skill in served.listed(view)
    ]
    return json.dumps({"$schema": _SCHEMA, "skills": skills})


def is_manifest(place: UriTarget) -> bool:
    """Tell whether a manifest is sought here, where no file of the skill lies."""
    return place.path == _MANIFEST and _MANIFEST not in place.entry.resources


def manifest_text(view: CallerView, place: UriTarget) -> str:
    """Return the paths, sizes and digests of a skill's files.

    Raises:
        SkillError: A file cannot be read now.
    """
    files = [
        {"path": each.path, "size": each.size, "hash": each.digest}
        for each in view.resources(place.entry.id)
    ]
    return json.dumps({"skill": place.entry.name, "files": files})


_Contents: TypeAlias = TextResourceContents | BlobResourceContents

_MOST_DOWNLOADS: Final = 1_024
_DOWNLOAD_S: Final = 60.0
"""How long after the list of its files the reads of a skill are a download."""

META: Final = "io.modelcontextprotocol.skills/"
"""What the extension's own keys of ``_meta`` begin with."""

TEMPLATE: Final = f"{SCHEME}{{+skill}}/{{+path}}"


class _Downloads:
    """Who downloads which skill: a client that has read the list of its files.

    Readers of the older form do that before they read all of them; hosts do not.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._begun: OrderedDict[tuple[CallerView, str], float] = OrderedDict()

    def began(self, view: CallerView, skill_id: str) -> None:
        """Note that a client read the list of files."""
        with self._lock:
            self._begun[view, skill_id] = self._monotonic()
            self._begun.move_to_end((view, skill_id))
            while len(self._begun) > _MOST_DOWNLOADS:
                self._begun.popitem(last=False)

    def goes_on(self, view: CallerView, skill_id: str) -> bool:
        """Tell whether it did so a moment ago."""
        at = self._begun.get((view, skill_id))
        return at is not None and self._monotonic() - at <= _DOWNLOAD_S


class ResourceHandlers:
    """Answers the methods about resources that every server of resources has."""

    def __init__(self, served: ExtensionCatalog) -> None:
        self._served = served
        self._library = served.library
        self._downloads = _Downloads()

    async def list(
        self, ctx: McpContext, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        """Return a page: the SKILL.md of each skill."""

        def work(asked: McpRequest) -> ListResourcesResult:
            page, cursor = page_of(
                self._served.listed(asked.view),
                lambda skill: skill.id,
                kind="resources",
                cursor=params.cursor if params else None,
                size=self._library.settings.page_size,
            )
            return ListResourcesResult(
                resources=[
                    told
                    for skill in page
                    if (told := self._served.or_none(main_resource, asked.view, skill))
                ],
                next_cursor=cursor,
                ttl_ms=asked.ttl_ms,
                cache_scope=asked.scope,
            )

        return await run_handler(self._library, ctx, work, lists=True)

    async def templates(
        self, ctx: McpContext, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """Return the form of all URIs."""
        reject_cursor(params)

        def work(asked: McpRequest) -> ListResourceTemplatesResult:
            return ListResourceTemplatesResult(
                resource_templates=[
                    ResourceTemplate(
                        name="skill-file",
                        title="A file of a skill",
                        uri_template=TEMPLATE,
                        description="A skill's SKILL.md, or a file beside it.",
                    )
                ],
                ttl_ms=asked.ttl_ms,
                cache_scope=asked.scope,
            )

        return await run_handler(self._library, ctx, work)

    async def read(
        self, ctx: McpContext, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """Return one file, exactly; it is an event.

        It is a load, unless the request says that it is for a copy.
        """
        copy = _is_copy(ctx, params)

        def work(asked: McpRequest) -> ReadResourceResult:
            return ReadResourceResult(
                contents=[self._contents(asked.view, params.uri, copy=copy)],
                ttl_ms=asked.ttl_ms,
                cache_scope=asked.scope,
            )

        first = parts_of(params.uri)
        near = first[0] if first else None
        return await run_handler(self._library, ctx, work, near=near)

    def _contents(self, view: CallerView, uri: str, *, copy: bool) -> _Contents:
        load = view.copy if copy else view.load
        compat = self._library.settings.compat
        if compat and uri == INDEX_URI:
            return _json(uri, index_text(self._served, view))
        place = self._served.place(view, uri)
        if place is None or place.above:
            if uri != INDEX_URI:  # readers of the older index ask whether there is one
                view.missed((parts_of(uri) or ("",))[0], copy=copy)
            raise not_served_error("resource", uri, self._served.why_not(view, uri))
        skill, path = place.entry, place.path
        if compat and self._downloads.goes_on(view, skill.id):
            load = view.copy
        if path == SKILL_FILE:
            return contents_of(load(skill.id), uri)
        if path in skill.resources:
            return contents_of(load(skill.id, path), uri)
        if compat and is_manifest(place):
            self._downloads.began(view, skill.id)
            return _json(uri, manifest_text(view, place))
        if not is_manifest(place):
            view.missed(skill.id, path, copy=copy)
        raise not_served_error("resource", uri)


def _is_copy(ctx: McpContext, params: ReadResourceRequestParams) -> bool:
    """Tell whether a client fetches for a copy: by ``_meta``, or by a header."""
    said = cast("Mapping[str, object]", params.meta or {})
    if said.get(PURPOSE_KEY) == SYNC:
        return True
    headers = getattr(ctx.request, "headers", None)
    return headers is not None and is_copy(headers)


def contents_of(loaded: Loaded, uri: str) -> _Contents:
    """Return a file's bytes: as text only where UTF-8 gives the very same back."""
    if not loaded.is_binary:
        try:
            return TextResourceContents(
                uri=uri, mime_type=loaded.media_type, text=loaded.data.decode()
            )
        except UnicodeDecodeError:
            pass
    return BlobResourceContents(
        uri=uri, mime_type=loaded.media_type, blob=b64encode(loaded.data).decode()
    )


def _json(uri: str, text: str) -> TextResourceContents:
    return TextResourceContents(uri=uri, mime_type="application/json", text=text)


def main_resource(
    served: ExtensionCatalog, view: CallerView, skill: Descriptor
) -> Resource:
    """Return what a list tells of a SKILL.md, in the words of its frontmatter.

    What these hide is shown: a client may print them.

    Raises:
        SkillError: The file cannot be read now.
        UnfitError: The extension cannot carry the skill.
    """
    return Resource(
        uri=uri_of(skill),
        name=skill.name,
        description=printable(str(served.frontmatter(view, skill)["description"])),
        mime_type="text/markdown",
        size=skill.size,
        _meta={f"{META}digest": skill.digest},
    )


def file_resource(skill: Descriptor, path: str) -> Resource:
    """Return what a list tells of a file beside it, of which nothing is read."""
    sizes = (stat.size for stat in skill.files if stat.path == path)
    return Resource(
        uri=uri_of(skill, path),
        name=path.rpartition("/")[2],
        mime_type=_likely_type(path),
        size=next(sizes, None),
    )


def _likely_type(path: str) -> str | None:
    """Return a file's media type as far as its name tells it: nothing is read."""
    as_text = media_type(path, text=True)
    if as_text != "text/plain" or path.endswith(".txt"):
        return as_text
    as_bytes = media_type(path, text=False)
    return None if as_bytes == "application/octet-stream" else as_bytes
