"""The requests of the Skills extension, and the plain values of their answers."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar, cast

import mcp_types as types
from mcp.client import Client
from pydantic import RootModel

from satchel.errors import SourceUnavailableError
from satchel.model import IS_LOAD, PURPOSE_KEY, SYNC
from satchel.sources._mcp._connection import McpConnection, UnexpectedAnswerError
from satchel.sources._mcp._target import EXTENSION
from satchel.sources._mcp._verification import raw_bytes

T = TypeVar("T")

INDEX_URI: Final = "skill://index.json"
# Error codes for what a server does not serve; the last one was used until 2025.
_NOT_SERVED_CODES: Final = frozenset(
    {types.INVALID_PARAMS, types.METHOD_NOT_FOUND, -32002}
)
_SYNC_META: Final = cast("types.RequestParamsMeta", {PURPOSE_KEY: SYNC})
_MAX_CURSOR_CHARS: Final = 4_096
# Far above what is used; a JSON number may have any count of digits.
_MAX_TTL_MS: Final = 10**9


class NotServedError(Exception):
    """The server does not serve what was asked for. Caught in this package."""


@dataclass(frozen=True, slots=True)
class SkillPage:
    """One page of ``skills/list``: its skills, the next page, and how long it holds."""

    skills: list[object]
    cursor: str | None
    ttl_s: float


class _AnyResult(RootModel[dict[str, Any]]):
    """Any object; its content is checked entry by entry, by the rules here."""


class _ListSkills(types.PaginatedRequest[Literal["skills/list"]]):
    method: Literal["skills/list"] = "skills/list"


class _UriParams(types.RequestParams):
    uri: str


class _GetSkill(types.Request[_UriParams, Literal["skills/get"]]):
    method: Literal["skills/get"] = "skills/get"


class McpRequests:
    """One request a call.

    Each raises `SourceUnavailableError` if no answer comes, and `NotServedError` if the
    server does not have what is asked for.
    """

    def __init__(self, connection: McpConnection, label: str) -> None:
        self._connection = connection
        self.label = label
        self.answers = 0
        """How many answers came so far."""

    def has_skills(self) -> bool:
        """Return whether the server declares the extension."""

        async def ask(client: Client) -> bool:
            return EXTENSION in (client.server_capabilities.extensions or {})

        return self._ask(ask)

    def page(self, cursor: str | None) -> SkillPage:
        """Return one page of the server's skills."""
        params = None
        if cursor is not None:
            params = types.PaginatedRequestParams(cursor=cursor)
        try:
            answer = self._send(_ListSkills(params=params))
        except NotServedError as error:  # although it declares the method
            raise self._error(f"it does not list its skills: {error}") from error
        skills, following = answer.get("skills"), answer.get("nextCursor")
        if not isinstance(skills, list):
            raise self._error("its list of skills is not a list")
        if following is not None and not (
            isinstance(following, str) and len(following) <= _MAX_CURSOR_CHARS
        ):
            raise self._error("its list of skills has an invalid cursor")
        return SkillPage(cast("list[object]", skills), following, _ttl_seconds(answer))

    def skill(self, uri: str) -> tuple[object, float]:
        """Return the entry of one skill, and for how many seconds it holds."""
        answer = self._send(_GetSkill(params=_UriParams(uri=uri)))
        return answer.get("skill"), _ttl_seconds(answer)

    def read(self, uri: str) -> bytes | None:
        """Return the bytes of one resource; None if the answer has none."""
        # Read here, in the caller's context: `ask` runs in another thread.
        meta = None if IS_LOAD.get() else _SYNC_META

        async def ask(client: Client) -> types.ReadResourceResult:
            return await client.session.read_resource(uri, meta=meta)

        contents = self._ask(ask).contents
        # Some servers send a folder; the file is the one with the URI that was asked
        # for.
        if len(contents) != 1:
            contents = [content for content in contents if content.uri == uri]
        if len(contents) != 1:
            return None
        return raw_bytes(contents[0])

    def index(self) -> object:
        """Return the older index of skills, parsed."""
        data = self.read(INDEX_URI)
        try:
            return json.loads(data or b"")
        except (ValueError, RecursionError):
            raise self._error(f"{INDEX_URI} is not JSON") from None

    def _ask(self, ask: Callable[[Client], Awaitable[T]]) -> T:
        try:
            answer = self._connection.call(ask)
        except UnexpectedAnswerError as error:
            if error.code in _NOT_SERVED_CODES:
                raise NotServedError(error.detail) from error
            raise self._error(error.detail) from error
        self.answers += 1
        return answer

    def _send(self, request: _ListSkills | _GetSkill) -> dict[str, Any]:
        async def ask(client: Client) -> dict[str, Any]:
            return (await client.session.send_request(request, _AnyResult)).root

        answer = self._ask(ask)
        if answer.get("resultType", "complete") != "complete":
            raise self._error("it asks for more input before it answers")
        return answer

    def _error(self, detail: str) -> SourceUnavailableError:
        return SourceUnavailableError(self.label, detail)


def _ttl_seconds(answer: dict[str, Any]) -> float:
    """Return how long the server says that its answer holds; 0 if it says nonsense."""
    ttl = answer.get("ttlMs")
    # "not >" instead of "<=" also refuses NaN.
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not ttl > 0:
        return 0.0
    # A huge integer cannot become a float.
    return min(ttl, _MAX_TTL_MS) / 1000
