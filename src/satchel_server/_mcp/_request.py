"""What all MCP handlers share: who asks, a thread to work in, errors and pages."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

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
from satchel.runtime import View
from satchel.text import clean_line
from satchel_server._errors import log_crash
from satchel_server._library import (
    ANYONE,
    Caller,
    ServedLibrary,
    ServerSettings,
    caller_of,
)
from satchel_server.usage import enter_call

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

McpContext: TypeAlias = "ServerRequestContext[Any, Any]"

_T = TypeVar("_T")
_Item = TypeVar("_Item")
_Params = TypeVar("_Params")

# Characters of a client's name that an event has.
MAX_CLIENT_CHARS: Final = 64
MAX_CURSOR_CHARS: Final = 8_192
# Errors that may be gone a little later; all others are errors of the request.
_TEMPORARY: Final = (ChangedSinceSyncError, SourceUnavailableError)


@dataclass(frozen=True, slots=True)
class McpRequest:
    """The skills that a sender may have, and how long an answer is valid for whom."""

    ctx: McpContext
    view: View
    settings: ServerSettings

    @property
    def caching(self) -> dict[str, Any]:
        """The caching hints of a result, as fields of the package's types."""
        # Two tokens may open different skills, so a shared cache must not mix them.
        scope = "public" if mcp_caller(self.ctx) == ANYONE else "private"
        return {"ttl_ms": self.settings.ttl_s * 1_000, "cache_scope": scope}

    def page(
        self,
        items: Sequence[_Item],
        key: Callable[[_Item], str],
        params: PaginatedRequestParams | None,
        *,
        kind: str,
    ) -> tuple[Sequence[_Item], str | None]:
        """Return one page of items sorted by a unique key, and the next cursor."""
        start = 0
        # By key and not by position: a list may change between two pages, and nothing
        # that stays is repeated or left out.
        if params is not None and params.cursor is not None:
            start = bisect_right(items, _last_key(params.cursor, kind), key=key)
        end = start + self.settings.page_size
        page = items[start:end]
        if end >= len(items):
            return page, None
        text = f"{kind}\n{key(page[-1])}".encode("utf-8", "surrogatepass")
        return page, urlsafe_b64encode(text).decode().rstrip("=")


def mcp_caller(ctx: McpContext) -> Caller:
    return caller_of(getattr(ctx.request, "scope", None) or {})


def client_name(ctx: McpContext) -> str:
    """Return the name that the program gives itself: one short line, all visible."""
    # Each request of the modern era has it, and the handshake of the other.
    params = ctx.session.client_params
    return shown_client(params.client_info.name if params is not None else "")


def shown_client(name: str) -> str:
    # Cut before it is cleaned, since it may be megabytes long.
    return clean_line(name[: 4 * MAX_CLIENT_CHARS])[:MAX_CLIENT_CHARS]


def mcp_view(library: ServedLibrary, ctx: McpContext) -> View:
    enter_call(getattr(ctx.request, "headers", None))
    return library.view(mcp_caller(ctx), via="mcp", client=client_name(ctx))


async def run_handler(
    library: ServedLibrary,
    ctx: McpContext,
    work: Callable[[McpRequest], _T],
    *,
    near: object = None,
    lists: bool = False,
) -> _T:
    """Return what ``work`` returns; it reads the skill ``near``, or ``lists`` all."""

    def run() -> _T:
        return work(McpRequest(ctx, mcp_view(library, ctx), library.settings))

    source = library.slow_sources if lists else library.thread_for(near)
    return await library.threads.run(source, run)


def handler_of(
    library: ServedLibrary,
    work: Callable[[McpRequest, _Params], _T],
    *,
    near: Callable[[_Params], object] = lambda _: None,
    lists: bool = False,
) -> Callable[[McpContext, _Params], Awaitable[_T]]:
    """Return the handler of a method that ``work`` answers; see `run_handler`."""

    async def handler(ctx: McpContext, params: _Params) -> _T:
        return await run_handler(
            library, ctx, lambda mcp: work(mcp, params), near=near(params), lists=lists
        )

    return handler


def not_served_error(what: str, uri: str, why: str = "") -> MCPError:
    """Return the error for something that is not served here."""
    message = f"{what}: not served here{why and f'; {why}'}"
    return MCPError(INVALID_PARAMS, message, {"uri": echo(uri)})


def mcp_error(error: SkillError) -> MCPError:
    code = INTERNAL_ERROR if isinstance(error, _TEMPORARY) else INVALID_PARAMS
    return MCPError(code, model_message(error), {"code": error.code})


async def contain_errors(ctx: McpContext, call_next: CallNext) -> HandlerResult:
    """Turn every exception into an error of this request: the outermost middleware."""
    try:
        _check_text(ctx)
        return await call_next(ctx)
    except MCPError as error:
        if not isinstance(error.error.data, str):
            raise
        data = echo(error.error.data)  # an unknown method's name, for example
        raise MCPError(error.error.code, error.error.message, data) from error
    # The package itself answers it with -32602.
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
        # Finds a lone surrogate in any text at any depth, in one pass.
        json.dumps(ctx.params, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        message = "the parameters hold half a character (a lone surrogate)"
        raise MCPError(INVALID_PARAMS, message) from None
    except (RecursionError, ValueError):
        raise MCPError(INVALID_PARAMS, "the parameters are nested too deep") from None


def _last_key(cursor: str, kind: str) -> str:
    text = ""
    # Errors of base64 and of encodings are ValueErrors, too.
    with suppress(ValueError):
        if len(cursor) <= MAX_CURSOR_CHARS:
            padding = "=" * (-len(cursor) % 4)
            raw = urlsafe_b64decode(cursor.encode("ascii") + padding.encode())
            text = raw.decode("utf-8", "surrogatepass")
    cursor_kind, line, last = text.partition("\n")
    if cursor_kind != kind or not line:
        raise _cursor_error()
    return last


def reject_cursor(params: PaginatedRequestParams | None) -> None:
    """Refuse a cursor for a list that always has one page."""
    if params is not None and params.cursor is not None:
        raise _cursor_error()


def _cursor_error() -> MCPError:
    return MCPError(INVALID_PARAMS, "this is no cursor of this list")
