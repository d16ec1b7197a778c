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
    page_of,
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
    """What ``skills/get`` is asked."""

    uri: str


class DirectoryParams(PaginatedRequestParams):
    """What ``resources/directory/read`` is asked."""

    uri: str


class SkillsExtension:
    """Answers the methods that the extension adds."""

    def __init__(self, served: ExtensionCatalog) -> None:
        self._served = served
        self._library = served.library

    async def list_skills(
        self, ctx: McpContext, params: PaginatedRequestParams
    ) -> dict[str, Any]:
        """Return a page of entries, each of them whole."""

        def work(asked: McpRequest) -> dict[str, Any]:
            page, cursor = page_of(
                self._served.listable(asked.view),
                lambda skill: skill.id,
                kind="skills",
                cursor=params.cursor,
                size=self._library.settings.page_size,
            )
            told = self._served.or_none
            entries = (
                told(ExtensionCatalog.listed_entry, asked.view, skill) for skill in page
            )
            return _result(asked, cursor, skills=[*filter(None, entries)])

        return await run_handler(self._library, ctx, work, lists=True)

    async def get_skill(self, ctx: McpContext, params: SkillParams) -> dict[str, Any]:
        """Return the entry of one skill that is served, listed or not."""

        def work(asked: McpRequest) -> dict[str, Any]:
            place = self._served.place(asked.view, params.uri)
            if place is None or place.above or place.path != SKILL_FILE:
                why = self._served.why_not(asked.view, params.uri)
                raise not_served_error("skill", params.uri, why)
            try:
                entry = self._served.entry(asked.view, place.entry)
            except NotPortableError as error:
                raise not_served_error("skill", params.uri, error.why) from None
            except OSError as error:
                raise MCPError(INTERNAL_ERROR, "a file cannot be read now") from error
            return _result(asked, None, skill=entry)

        return await run_handler(
            self._library, ctx, work, near=_skill_in_uri(params.uri)
        )

    async def read_directory(
        self, ctx: McpContext, params: DirectoryParams
    ) -> dict[str, Any]:
        """Return a page of what lies directly in a folder of a skill."""

        def work(asked: McpRequest) -> dict[str, Any]:
            place = self._served.place(asked.view, params.uri)
            children = [] if place is None else self._children(asked.view, place)
            if not children:
                raise not_served_error("directory", params.uri)
            page, cursor = page_of(
                children,
                lambda child: child.uri,
                kind=params.uri,
                cursor=params.cursor,
                size=self._library.settings.page_size,
            )
            told = [
                child.model_dump(by_alias=True, mode="json", exclude_none=True)
                for child in page
            ]
            return _result(asked, cursor, resources=told)

        return await run_handler(
            self._library, ctx, work, near=_skill_in_uri(params.uri)
        )

    def _children(self, view: CallerView, place: UriTarget) -> list[Resource]:
        skill = place.entry
        if place.above:
            return [_folder(uri_of(skill, ""), skill.name)]
        inside = f"{place.path}/" if place.path else ""
        found: dict[str, Resource] = {}
        if not place.path:
            main = self._served.or_none(main_resource, view, skill)
            if main is None:
                return []
            found[main.uri] = main
        for path in skill.present:
            if not path.startswith(inside):
                continue
            name, below, _ = path.removeprefix(inside).partition("/")
            uri = uri_of(skill, inside + name)
            if below:
                found[uri] = _folder(uri, name)
            else:
                found[uri] = file_resource(skill, path)
        return [found[uri] for uri in sorted(found)]


def _skill_in_uri(uri: str) -> str | None:
    return (parts_of(uri) or (None,))[0]


def _folder(uri: str, name: str) -> Resource:
    return Resource(uri=uri, name=name, mime_type=DIRECTORY)


def _result(asked: McpRequest, cursor: str | None, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    result: dict[str, Any] = {"resultType": "complete", **asked.wire, **fields}
    if cursor is not None:
        result["nextCursor"] = cursor
    return result
