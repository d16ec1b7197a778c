"""The methods of MCP's skills extension: ``skills/list``, ``skills/get``, directories.

Source: SEP-2640; modelcontextprotocol/ext-skills, specification/stable/skills.mdx.
"""

from typing import Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, PaginatedRequestParams, RequestParams, Resource

from satchel.model import SKILL_FILE
from satchel.runtime import CallerView
from satchel.server._mcp._request import (
    McpContext,
    McpRequest,
    not_served_error,
    run_handler,
)
from satchel.server._mcp._resources import file_resource, main_resource
from satchel.server._mcp._skills import (
    ExtensionCatalog,
    NotPortableError,
    UriTarget,
    parts_of,
    uri_of,
)

IDENTIFIER: Final = "io.modelcontextprotocol/skills"

DIRECTORY: Final = "inode/directory"


class SkillParams(RequestParams):
    uri: str


class DirectoryParams(PaginatedRequestParams):
    uri: str


class SkillsExtension:
    def __init__(self, extension: ExtensionCatalog) -> None:
        self._extension = extension
        self._library = extension.library

    async def list_skills(
        self, ctx: McpContext, params: PaginatedRequestParams
    ) -> dict[str, Any]:
        listed_entry = ExtensionCatalog.listed_entry

        def work(mcp: McpRequest) -> dict[str, Any]:
            skills = self._extension.listable(mcp.view)
            page, cursor = mcp.page(skills, lambda s: s.id, params, kind="skills")
            entries = [
                self._extension.or_none(listed_entry, mcp.view, skill) for skill in page
            ]
            result = _result(mcp, cursor, skills=[e for e in entries if e])
            # One that cannot be read now will be there as soon as it can.
            return {**result, "ttlMs": 0} if False in entries else result

        return await run_handler(self._library, ctx, work, lists=True)

    async def get_skill(self, ctx: McpContext, params: SkillParams) -> dict[str, Any]:
        """Return the entry of one skill that is served, listed or not."""

        def work(mcp: McpRequest) -> dict[str, Any]:
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

        near = _skill_in_uri(params.uri)
        return await run_handler(self._library, ctx, work, near=near)

    async def read_directory(
        self, ctx: McpContext, params: DirectoryParams
    ) -> dict[str, Any]:
        def work(mcp: McpRequest) -> dict[str, Any]:
            target = self._extension.target(mcp.view, params.uri)
            children = [] if target is None else self._children(mcp.view, target)
            if not children:
                raise not_served_error("directory", params.uri)
            page, cursor = mcp.page(
                children, lambda child: child.uri, params, kind=params.uri
            )
            resources = [
                child.model_dump(by_alias=True, mode="json", exclude_none=True)
                for child in page
            ]
            return _result(mcp, cursor, resources=resources)

        near = _skill_in_uri(params.uri)
        return await run_handler(self._library, ctx, work, near=near)

    def _children(self, view: CallerView, target: UriTarget) -> list[Resource]:
        skill = target.entry
        if target.above:
            return [_folder(uri_of(skill, ""), skill.name)]
        inside = f"{target.path}/" if target.path else ""
        children: dict[str, Resource] = {}
        if not target.path:
            main = self._extension.or_none(main_resource, view, skill)
            # A skill whose SKILL.md cannot be described is not shown at all.
            if not main:
                return []
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
                children[uri] = file_resource(skill, path)
        return [children[uri] for uri in sorted(children)]


def _skill_in_uri(uri: str) -> str | None:
    return (parts_of(uri) or (None,))[0]


def _folder(uri: str, name: str) -> Resource:
    return Resource(uri=uri, name=name, mime_type=DIRECTORY)


def _result(mcp: McpRequest, cursor: str | None, **fields: object) -> dict[str, Any]:
    # The package has no types for these results, so no aliases for their fields.
    result: dict[str, Any] = {
        "resultType": "complete",
        "ttlMs": mcp.ttl_ms,
        "cacheScope": mcp.scope,
        **fields,
    }
    if cursor is not None:
        result["nextCursor"] = cursor
    return result
