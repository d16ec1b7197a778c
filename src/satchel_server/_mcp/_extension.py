"""MCP's skills extension: files of skills as resources, and methods of its own.

These are ``skills/list``, ``skills/get`` and directories.

Source: SEP-2640; modelcontextprotocol/ext-skills, specification/stable/skills.mdx.
"""

import json
import os
import time
from base64 import b64encode
from functools import partial
from typing import Any, Final, TypeAlias, cast

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    BlobResourceContents,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    RequestParams,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from satchel.files import LruCache
from satchel.load import media_type
from satchel.model import SKILL_FILE, Descriptor, Loaded
from satchel.runtime import As, View
from satchel.skill_md import named_files
from satchel.text import clean_line, printable
from satchel_server._library import is_copy_request, record_failed_load
from satchel_server._mcp._request import McpRequest, not_served_error, reject_cursor
from satchel_server._mcp._skills import (
    SCHEME,
    ExtensionCatalog,
    NotPortableError,
    UriTarget,
    skill_in,
    uri_of,
)
from satchel_server._purpose import PURPOSE_KEY, SYNC

IDENTIFIER: Final = "io.modelcontextprotocol/skills"
INDEX_URI: Final = f"{SCHEME}index.json"
TEMPLATE: Final = f"{SCHEME}{{+skill}}/{{+path}}"
DIRECTORY: Final = "inode/directory"
# The prefix of the extension's own keys in `_meta`.
META: Final = "io.modelcontextprotocol.skills/"

_SCHEMA: Final = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
_MANIFEST: Final = "_manifest"
# Seconds after the list of its files in which reads of a skill are a download.
_DOWNLOAD_S: Final = 60.0

_Contents: TypeAlias = TextResourceContents | BlobResourceContents


def _index_entry(skill: Descriptor) -> dict[str, str]:
    return {
        "name": skill.name,  # the last folder of its URL, as readers compare
        "type": "skill-md",
        "description": clean_line(skill.description),
        "url": uri_of(skill),
        "digest": skill.digest,
    }


def _is_manifest(target: UriTarget) -> bool:
    """Return whether a URI names the list of files, and no file of the skill."""
    return target.path == _MANIFEST and _MANIFEST not in target.entry.resources


class SkillParams(RequestParams):
    uri: str


class DirectoryParams(PaginatedRequestParams):
    uri: str


class ExtensionHandlers:
    def __init__(self, extension: ExtensionCatalog) -> None:
        self._extension = extension
        # When which client read the list of which skill's files. Readers of the older
        # form do so before they read every file, for a copy; hosts do not.
        self._downloads: LruCache[tuple[View, str], float] = LruCache(1_024)

    def list_resources(
        self, mcp: McpRequest, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        skills = self._extension.listed(mcp.view)
        page, cursor = mcp.page(skills, lambda s: s.id, params, kind="resources")
        resources = [
            self._extension.or_none(main_resource, mcp.view, skill) for skill in page
        ]
        shown = [entry for entry in resources if isinstance(entry, Resource)]
        return ListResourcesResult(resources=shown, next_cursor=cursor, **mcp.caching)

    def list_templates(
        self, mcp: McpRequest, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        reject_cursor(params)
        template = ResourceTemplate(
            name="skill-file",
            title="A file of a skill",
            uri_template=TEMPLATE,
            description="A skill's SKILL.md, or a file next to it.",
        )
        return ListResourceTemplatesResult(resource_templates=[template], **mcp.caching)

    def read_resource(
        self, mcp: McpRequest, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """Return the exact bytes of one file; it is a load, or a sync for a copy."""
        as_: As = "copy" if _is_copy(mcp, params) else "use"
        contents = self._contents(mcp.view, params.uri, as_)
        return ReadResourceResult(contents=[contents], **mcp.caching)

    def _contents(self, view: View, uri: str, as_: As) -> _Contents:
        load = partial(view.load, as_=as_)
        compat = self._extension.library.settings.compat
        if compat and uri == INDEX_URI:
            listed = self._extension.listed(view)
            index = {"$schema": _SCHEMA, "skills": [*map(_index_entry, listed)]}
            return _json(uri, index)
        target = self._extension.target(view, uri)
        if target is None or target.above:
            if uri != INDEX_URI:  # readers of the older index ask whether there is one
                record_failed_load(view, skill_in(uri), as_=as_)
            raise not_served_error("resource", uri, self._extension.why_not(view, uri))
        skill, path = target.entry, target.path
        # Older readers do not say that they fetch for a copy.
        begun = self._downloads.find((view, skill.id)) if compat else None
        if begun is not None and time.monotonic() - begun <= _DOWNLOAD_S:
            load = partial(view.load, as_="copy")
        if path == SKILL_FILE:
            # `load` asks the policy, and records what happened.
            return _contents_of(load(skill.id), uri)
        if path in skill.resources:
            return _contents_of(load(skill.id, path), uri)
        if compat and _is_manifest(target):
            self._downloads.put((view, skill.id), time.monotonic())
            files = [
                {"path": file.path, "size": file.size, "hash": file.digest}
                for file in view.resources(skill.id)
            ]
            return _json(uri, {"skill": skill.name, "files": files})
        # As texts and models write a path, which a reader may have resolved.
        if len(named_files(path, skill.resources, (skill.id, skill.name))) == 1:
            return _contents_of(load(skill.id, path), uri)
        # Readers ask whether there is a list of files; that is no failed load.
        if not _is_manifest(target):
            record_failed_load(view, skill.id, path, as_=as_)
        raise not_served_error("resource", uri)

    def list_skills(
        self, mcp: McpRequest, params: PaginatedRequestParams
    ) -> dict[str, Any]:
        listed_entry = ExtensionCatalog.listed_entry
        unlisted = self._extension.portability.unlisted
        skills = [s for s in self._extension.listed(mcp.view) if not unlisted(s)]
        page, cursor = mcp.page(skills, lambda s: s.id, params, kind="skills")
        entries = [
            self._extension.or_none(listed_entry, mcp.view, skill) for skill in page
        ]
        result = _result(mcp, cursor, skills=[e for e in entries if e])
        # One that cannot be read now will be there as soon as it can.
        return {**result, "ttlMs": 0} if False in entries else result

    def get_skill(self, mcp: McpRequest, params: SkillParams) -> dict[str, Any]:
        """Return the entry of one skill that is served, listed or not."""
        target = self._extension.target(mcp.view, params.uri)
        if target is None or target.above or target.path != SKILL_FILE:
            why = self._extension.why_not(mcp.view, params.uri)
            raise not_served_error("skill", params.uri, why)
        try:
            entry = self._extension.entry(mcp.view, target.entry)
        except NotPortableError as error:
            raise not_served_error("skill", params.uri, error.why) from None
        except OSError as error:
            raise MCPError(INTERNAL_ERROR, "a file cannot be read now") from error
        return _result(mcp, None, skill=entry)

    def read_directory(
        self, mcp: McpRequest, params: DirectoryParams
    ) -> dict[str, Any]:
        target = self._extension.target(mcp.view, params.uri)
        children = None if target is None else self._children(mcp.view, target)
        if children is None:
            raise not_served_error("directory", params.uri)
        page, cursor = mcp.page(children, lambda it: it.uri, params, kind=params.uri)
        dump = partial(Resource.model_dump, by_alias=True, exclude_none=True)
        resources = [dump(child, mode="json") for child in page]
        return _result(mcp, cursor, resources=resources)

    def _children(self, view: View, target: UriTarget) -> list[Resource] | None:
        """Return what is directly in a folder; None where it is none."""
        skill = target.entry
        if target.above:
            return [_folder(uri_of(skill, ""), skill.name)]
        inside = f"{target.path}/" if target.path else ""
        children: dict[str, Resource] = {}
        if not target.path:
            main = self._extension.or_none(main_resource, view, skill)
            # A skill whose SKILL.md cannot be described is not shown at all.
            if not main:
                return None
            children[main.uri] = main
        for path in skill.present:
            if not path.startswith(inside):
                continue
            # Folders are not listed anywhere: they follow from the paths of the files.
            name, below, _ = path.removeprefix(inside).partition("/")
            uri = uri_of(skill, inside + name)
            if below:
                children[uri] = _folder(uri, name)
            else:
                children[uri] = _file_resource(skill, path)
        # Folders without a file of the skill, and those of the skills inside of it.
        reader = view.catalog.readers.get(skill.source)
        key = f"{skill.origin.key}/{target.path}".strip("/")
        folders = _folders_in(reader.root, key) if reader and reader.root else None
        for name in folders or ():
            nested = view.catalog.get(name)
            own = nested if nested and nested.origin.key == f"{key}/{name}" else None
            uri = uri_of(own, "") if own else uri_of(skill, inside + name)
            children.setdefault(uri, _folder(uri, name))
        if not children and folders is None:
            return None
        return [children[uri] for uri in sorted(children)]


def _is_copy(mcp: McpRequest, params: ReadResourceRequestParams) -> bool:
    """Return whether a client fetches for a copy, by ``_meta`` or a header."""
    meta = cast("dict[str, object]", params.meta or {})
    if meta.get(PURPOSE_KEY) == SYNC:
        return True
    headers = getattr(mcp.ctx.request, "headers", None)
    return headers is not None and is_copy_request(headers)


def _contents_of(loaded: Loaded, uri: str) -> _Contents:
    kind, is_binary = loaded.media_type, loaded.is_binary
    return contents_of(loaded.data, kind, uri, is_binary=is_binary)


def contents_of(data: bytes, kind: str, uri: str, *, is_binary: bool) -> _Contents:
    """Return a file's bytes: as text only if UTF-8 gives the same bytes back."""
    if not is_binary:
        try:
            return TextResourceContents(uri=uri, mime_type=kind, text=data.decode())
        # Damaged text goes out as bytes, since its digest is of the bytes.
        except UnicodeDecodeError:
            pass
    return BlobResourceContents(uri=uri, mime_type=kind, blob=b64encode(data).decode())


def _json(uri: str, value: object) -> TextResourceContents:
    kind, text = "application/json", json.dumps(value)
    return TextResourceContents(uri=uri, mime_type=kind, text=text)


def main_resource(
    extension: ExtensionCatalog, view: View, skill: Descriptor
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


def _file_resource(skill: Descriptor, path: str) -> Resource:
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


def _folders_in(root: str, key: str) -> list[str] | None:
    """Return the names of the folders in one; None where it is none, or a link."""
    place = os.path.join(os.path.realpath(root), key)  # noqa: PTH118 - as a text
    try:
        with os.scandir(place) as entries:
            names = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
            is_link = os.path.realpath(place) != place
    except (OSError, ValueError):
        return None
    hidden = is_link or any(part.startswith(".") for part in key.split("/")[1:])
    return None if hidden else sorted(n for n in names if not n.startswith("."))


def _folder(uri: str, name: str) -> Resource:
    return Resource(uri=uri, name=name, mime_type=DIRECTORY)


def _result(mcp: McpRequest, cursor: str | None, **fields: object) -> dict[str, Any]:
    # The package has no types for these results, so no aliases for their fields.
    hints = mcp.caching
    caching = {"ttlMs": hints["ttl_ms"], "cacheScope": hints["cache_scope"]}
    more = {} if cursor is None else {"nextCursor": cursor}
    return {"resultType": "complete", **caching, **fields, **more}
