"""Who asks over MCP: the caller that the guard let in, and its program's name."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from satchel.runtime.view import View
from satchel.serve.caller import ANYBODY, Caller
from satchel.serve.library import Library
from satchel.text import clean_line

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

__all__ = ["Context", "caller_of", "client_of", "view_for"]

Context: TypeAlias = "ServerRequestContext[Any, Any]"

MAX_CLIENT_CHARS: Final = 64
"""Characters of a client's name that an event keeps."""


def caller_of(ctx: Context) -> Caller:
    """Return whom the guard let in; anybody where there is none, as over stdio."""
    scope = getattr(ctx.request, "scope", None)
    state = cast("Mapping[str, object]", scope).get("state") if scope else None
    if not isinstance(state, Mapping):
        return ANYBODY
    caller = cast("Mapping[str, object]", state).get("caller")
    return caller if isinstance(caller, Caller) else ANYBODY


def client_of(ctx: Context) -> str:
    """Return what the program says it is called: one line, short, nothing hidden.

    Either era tells it: each request of the modern one, the handshake of the other.
    """
    params = ctx.session.client_params
    if params is None:
        return ""
    given = params.client_info.name
    return clean_line(given[: 4 * MAX_CLIENT_CHARS])[:MAX_CLIENT_CHARS]


def view_for(library: Library, ctx: Context) -> View:
    """Return the skills as whoever sent this request may have them."""
    return library.view(caller_of(ctx), via="mcp", client=client_of(ctx))
