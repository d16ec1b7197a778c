"""Files of skills as MCP resources: listed, and read byte for byte."""

import json
import time
from base64 import b64encode
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

from satchel.files import LruCache
from satchel.load import media_type
from satchel.model import PURPOSE_KEY, SKILL_FILE, SYNC, Descriptor, Loaded
from satchel.runtime import CallerView
from satchel.server._library import is_copy_request
from satchel.server._mcp._request import (
    McpContext,
    McpRequest,
    not_served_error,
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


_Contents: TypeAlias = TextResourceContents | BlobResourceContents

INDEX_URI: Final = f"{SCHEME}index.json"

_SCHEMA: Final = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
_MANIFEST: Final = "_manifest"


def index_text(extension: ExtensionCatalog, view: CallerView) -> str:
    """Return the index of all listed skills, by id, without reading a file."""
    skills = [
        {
            "name": skill.name,  # the last folder of its URL, as readers compare
            "type": "skill-md",
            "description": clean_line(skill.description),
            "url": uri_of(skill),
            "digest": skill.digest,
        }
        for skill in extension.listed(view)
    ]
    return json.dumps({"$schema": _SCHEMA, "skills": skills})


def is_manifest(target: UriTarget) -> bool:
    """Return whether a URI names the list of files, and no file of the skill."""
    return target.path == _MANIFEST and _MANIFEST not in target.entry.resources


def manifest_text(view: CallerView, skill: Descriptor) -> str:
    """Return the paths, sizes and digests of a skill's files."""
    files = [
        {"path": file.path, "size": file.size, "hash": file.digest}
        for file in view.resources(skill.id)
    ]
    return json.dumps({"skill": skill.name, "files": files})


_MAX_DOWNLOADS: Final = 1_024
# Seconds after the list of its files in which reads of a skill are a download.
_DOWNLOAD_S: Final = 60.0

# The prefix of the extension's own keys in `_meta`.
META: Final = "io.modelcontextprotocol.skills/"

TEMPLATE: Final = f"{SCHEME}{{+skill}}/{{+path}}"


# Readers of the older form read that list before they read every file; hosts do not.
class _Downloads:
    """Which client downloads which skill: it has read the list of its files."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._begun: LruCache[tuple[CallerView, str], float]
        self._begun = LruCache(_MAX_DOWNLOADS)

    def began(self, view: CallerView, skill_id: str) -> None:
        self._begun.put((view, skill_id), self._monotonic())

    def is_running(self, view: CallerView, skill_id: str) -> bool:
        at = self._begun.find((view, skill_id))
        return at is not None and self._monotonic() - at <= _DOWNLOAD_S


class ResourceHandlers:
    def __init__(self, extension: ExtensionCatalog) -> None:
        self._extension = extension
        self._library = extension.library
        self._downloads = _Downloads()

    async def list(
        self, ctx: McpContext, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        def work(mcp: McpRequest) -> ListResourcesResult:
            page, cursor = mcp.page(
                self._extension.listed(mcp.view),
                lambda skill: skill.id,
                params,
                kind="resources",
            )
            resources = [
                self._extension.or_none(main_resource, mcp.view, skill)
                for skill in page
            ]
            return ListResourcesResult(
                resources=[entry for entry in resources if isinstance(entry, Resource)],
                next_cursor=cursor,
                **mcp.caching,
            )

        return await run_handler(self._library, ctx, work, lists=True)

    async def templates(
        self, ctx: McpContext, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        reject_cursor(params)

        def work(mcp: McpRequest) -> ListResourceTemplatesResult:
            return ListResourceTemplatesResult(
                resource_templates=[
                    ResourceTemplate(
                        name="skill-file",
                        title="A file of a skill",
                        uri_template=TEMPLATE,
                        description="A skill's SKILL.md, or a file next to it.",
                    )
                ],
                **mcp.caching,
            )

        return await run_handler(self._library, ctx, work)

    async def read(
        self, ctx: McpContext, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """Return the exact bytes of one file; it is a load, or a sync for a copy."""
        copy = _is_copy(ctx, params)

        def work(mcp: McpRequest) -> ReadResourceResult:
            return ReadResourceResult(
                contents=[self._contents(mcp.view, params.uri, copy=copy)],
                **mcp.caching,
            )

        first = parts_of(params.uri)
        near = first[0] if first else None
        return await run_handler(self._library, ctx, work, near=near)

    def _contents(self, view: CallerView, uri: str, *, copy: bool) -> _Contents:
        load = view.copy if copy else view.load
        compat = self._library.settings.compat
        if compat and uri == INDEX_URI:
            return _json(uri, index_text(self._extension, view))
        target = self._extension.target(view, uri)
        if target is None or target.above:
            if uri != INDEX_URI:  # readers of the older index ask whether there is one
                view.record_failed_load((parts_of(uri) or ("",))[0], copy=copy)
            raise not_served_error("resource", uri, self._extension.why_not(view, uri))
        skill, path = target.entry, target.path
        # Older readers do not say that they fetch for a copy.
        if compat and self._downloads.is_running(view, skill.id):
            load = view.copy
        if path == SKILL_FILE:
            # `load` asks the policy, and records what happened.
            return contents_of(load(skill.id), uri)
        if path in skill.resources:
            return contents_of(load(skill.id, path), uri)
        if compat and is_manifest(target):
            self._downloads.began(view, skill.id)
            return _json(uri, manifest_text(view, skill))
        # Readers ask whether there is a list of files; that is no failed load.
        if not is_manifest(target):
            view.record_failed_load(skill.id, path, copy=copy)
        raise not_served_error("resource", uri)


def _is_copy(ctx: McpContext, params: ReadResourceRequestParams) -> bool:
    """Return whether a client fetches for a copy, by ``_meta`` or a header."""
    meta = cast("Mapping[str, object]", params.meta or {})
    if meta.get(PURPOSE_KEY) == SYNC:
        return True
    headers = getattr(ctx.request, "headers", None)
    return headers is not None and is_copy_request(headers)


def contents_of(loaded: Loaded, uri: str) -> _Contents:
    """Return a file's bytes: as text only if UTF-8 gives the same bytes back."""
    if not loaded.is_binary:
        try:
            return TextResourceContents(
                uri=uri, mime_type=loaded.media_type, text=loaded.data.decode()
            )
        # Damaged text goes out as bytes, since its digest is of the bytes.
        except UnicodeDecodeError:
            pass
    return BlobResourceContents(
        uri=uri, mime_type=loaded.media_type, blob=b64encode(loaded.data).decode()
    )


def _json(uri: str, text: str) -> TextResourceContents:
    return TextResourceContents(uri=uri, mime_type="application/json", text=text)


def main_resource(
    extension: ExtensionCatalog, view: CallerView, skill: Descriptor
) -> Resource:
    """Return what a list says of a SKILL.md, in the words of its frontmatter."""
    return Resource(
        uri=uri_of(skill),
        name=skill.name,
        description=printable(str(extension.frontmatter(view, skill)["description"])),
        mime_type="text/markdown",
        size=skill.size,
        _meta={f"{META}digest": skill.digest},
    )


def file_resource(skill: Descriptor, path: str) -> Resource:
    """Return what a list says of another file, without reading it."""
    sizes = (stat.size for stat in skill.files if stat.path == path)
    return Resource(
        uri=uri_of(skill, path),
        name=path.rpartition("/")[2],
        mime_type=_likely_type(path),
        size=next(sizes, None),
    )


def _likely_type(path: str) -> str | None:
    """Return a file's media type by its name alone."""
    as_text = media_type(path, text=True)
    if as_text != "text/plain" or path.endswith(".txt"):
        return as_text
    as_bytes = media_type(path, text=False)
    return None if as_bytes == "application/octet-stream" else as_bytes
