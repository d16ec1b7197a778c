"""What all MCP handlers share: who asks, a thread to work in, errors and pages."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast

from anyio import to_thread
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, PaginatedRequestParams
from pydantic import ValidationError

from satchel.errors import (
    ChangedSinceSyncError,
    SkillError,
    SourceUnavailableError,
    echo,
)
from satchel.load import model_message
from satchel.runtime import CallerView
from satchel.server._errors import log_crash
from satchel.server._library import ANYONE, Caller, ServedLibrary
from satchel.text import clean_line

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext


McpContext: TypeAlias = "ServerRequestContext[Any, Any]"

MAX_CLIENT_CHARS: Final = 64
"""Characters of a client's name that an event keeps."""


def mcp_caller(ctx: McpContext) -> Caller:
    """Return whom the guard let in; anybody where there is none, as over stdio."""
    scope = getattr(ctx.request, "scope", None)
    state = cast("Mapping[str, object]", scope).get("state") if scope else None
    if not isinstance(state, Mapping):
        return ANYONE
    caller = cast("Mapping[str, object]", state).get("caller")
    return caller if isinstance(caller, Caller) else ANYONE


def client_name(ctx: McpContext) -> str:
    """Return what the program says it is called: one line, short, nothing hidden.

    Either era tells it: each request of the modern one, the handshake of the other.
    """
    params = ctx.session.client_params
    if params is None:
        return ""
    given = params.client_info.name
    return clean_line(given[: 4 * MAX_CLIENT_CHARS])[:MAX_CLIENT_CHARS]


def mcp_view(library: ServedLibrary, ctx: McpContext) -> CallerView:
    """Return the skills as whoever sent this request may have them."""
    return library.view(mcp_caller(ctx), via="mcp", client=client_name(ctx))


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class McpRequest:
    """One request: the skills as its sender may have them, and how long answers keep.

    ``scope`` is public only where everybody gets the same.
    """

    view: CallerView
    ttl_ms: int
    scope: Literal["public", "private"]

    @property
    def wire(self) -> dict[str, Any]:
        """The hint as a result that the package has no type for bears it."""
        return {"ttlMs": self.ttl_ms, "cacheScope": self.scope}


async def in_thread(work: Callable[[], _T]) -> _T:
    """Do what may wait for a disk or a network, off the event loop.

    Where the client goes away nobody waits for it any longer.
    """
    return await to_thread.run_sync(work, abandon_on_cancel=True)


async def run_handler(
    library: ServedLibrary,
    ctx: McpContext,
    work: Callable[[McpRequest], _T],
    *,
    near: object = None,
    lists: bool = False,
) -> _T:
    """Return what ``work`` gives for the sender of this request, in a thread.

    ``near`` is the id of the skill that it reads, if it reads no other: where the files
    of that are near, the way to a thread and back would take longer than the work.
    Where they are not, their source has threads of its own, and so has what reads many
    skills (``lists``).
    """
    scope: Literal["public", "private"] = "private"
    if mcp_caller(ctx) == ANYONE:
        scope = "public"
    ttl_ms = library.settings.ttl_s * 1_000

    def ask() -> _T:
        return work(McpRequest(mcp_view(library, ctx), ttl_ms, scope))

    if library.is_near(near):
        return ask()
    lane = library.lists if lists else library.lane(near)
    return await library.lanes.run(lane, ask)


_TEMPORARY: Final = (ChangedSinceSyncError, SourceUnavailableError)
"""What the same request may get a little later; all else is wrong with the request."""


def not_served_error(what: str, uri: str, why: str = "") -> MCPError:
    """Return the error for something that is not served here.

    ``data`` is what readers of earlier drafts tell it by.
    """
    message = f"{what}: not served here{why and f'; {why}'}"
    return MCPError(INVALID_PARAMS, message, {"uri": echo(uri)})


def mcp_error(error: SkillError) -> MCPError:
    """Return an error of the core as the protocol has it."""
    code = INTERNAL_ERROR if isinstance(error, _TEMPORARY) else INVALID_PARAMS
    return MCPError(code, model_message(error), {"code": error.code})


async def contain_errors(ctx: McpContext, call_next: CallNext) -> HandlerResult:
    """Let nothing pass that is no answer: the outermost middleware.

    Whatever a handler raises becomes an error of this one request; the protocol's own
    errors stay as they are. Text that cannot be written as UTF-8 is turned away before
    it is looked at, since an answer that repeats it could not be sent.
    """
    try:
        _check_text(ctx)
        return await call_next(ctx)
    except MCPError as error:
        if not isinstance(error.error.data, str):
            raise
        data = echo(error.error.data)  # an unknown method's name, say
        raise MCPError(error.error.code, error.error.message, data) from error
    except ValidationError:
        raise
    except SkillError as error:
        raise mcp_error(error) from error
    except Exception as error:
        log_crash(error)
        message = f"internal error: {type(error).__name__}"
        raise MCPError(INTERNAL_ERROR, message) from error


def _check_text(ctx: McpContext) -> None:
    if ctx.params is None:
        return
    try:
        json.dumps(ctx.params, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        message = "the parameters hold half a character (a lone surrogate)"
        raise MCPError(INVALID_PARAMS, message) from None
    except (RecursionError, ValueError):
        raise MCPError(INVALID_PARAMS, "the parameters are nested too deep") from None


_Item = TypeVar("_Item")

MAX_CURSOR_CHARS: Final = 8_192


def page_of(
    items: Sequence[_Item],
    key: Callable[[_Item], str],
    *,
    kind: str,
    cursor: str | None,
    size: int,
) -> tuple[Sequence[_Item], str | None]:
    """Return one page and the cursor of the next; None behind the last one.

    Args:
        items: The whole list, sorted by ``key``.
        key: Tells items apart.
        kind: Which list it is: a cursor of one is none of another.
        cursor: Where the page begins; None is at the beginning.
        size: Items on a page.

    Raises:
        MCPError: The cursor is none that this list gives: -32602.
    """
    start = 0
    if cursor is not None:
        start = bisect_right(items, _last_key(cursor, kind), key=key)
    page = items[start : start + size]
    if start + size >= len(items):
        return page, None
    text = f"{kind}\n{key(page[-1])}".encode("utf-8", "surrogatepass")
    return page, urlsafe_b64encode(text).decode().rstrip("=")


def reject_cursor(params: PaginatedRequestParams | None) -> None:
    """Let a request pass for a list that has one page, so that it has no cursors.

    Raises:
        MCPError: There is a cursor: -32602.
    """
    if params is not None and params.cursor is not None:
        raise _no_cursor()


def _no_cursor() -> MCPError:
    return MCPError(INVALID_PARAMS, "this is no cursor of this list")


def _last_key(cursor: str, kind: str) -> str:
    if len(cursor) <= MAX_CURSOR_CHARS:
        try:
            padding = "=" * (-len(cursor) % 4)
            raw = urlsafe_b64decode(cursor.encode("ascii") + padding.encode())
            given, line, last = raw.decode("utf-8", "surrogatepass").partition("\n")
        except ValueError:
            given = line = last = ""
        if given == kind and line:
            return last
    raise _no_cursor()
