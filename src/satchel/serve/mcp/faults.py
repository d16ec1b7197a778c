"""What goes wrong, as JSON-RPC tells it: no traceback, no path of this machine."""

import json
from typing import Final

from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import ValidationError

from satchel.errors import (
    ChangedSinceSyncError,
    SkillError,
    SourceUnavailableError,
    echo,
)
from satchel.load.telling import tell
from satchel.serve.crashing import tell_crash
from satchel.serve.mcp.asking import Context

__all__ = ["contain", "error_of", "unknown"]

_LATER: Final = (ChangedSinceSyncError, SourceUnavailableError)
"""What the same request may get a little later; all else is wrong with the request."""


def unknown(what: str, uri: str, why: str = "") -> MCPError:
    """Return the error for something that is not served here.

    ``data`` is what readers of earlier drafts tell it by.
    """
    message = f"{what}: not served here{why and f'; {why}'}"
    return MCPError(INVALID_PARAMS, message, {"uri": echo(uri)})


def error_of(error: SkillError) -> MCPError:
    """Return an error of the core as the protocol has it."""
    code = INTERNAL_ERROR if isinstance(error, _LATER) else INVALID_PARAMS
    return MCPError(code, tell(error), {"code": error.code})


async def contain(ctx: Context, call_next: CallNext) -> HandlerResult:
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
        raise error_of(error) from error
    except Exception as error:
        tell_crash(error)
        message = f"internal error: {type(error).__name__}"
        raise MCPError(INTERNAL_ERROR, message) from error


def _check_text(ctx: Context) -> None:
    if ctx.params is None:
        return
    try:
        json.dumps(ctx.params, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        message = "the parameters hold half a character (a lone surrogate)"
        raise MCPError(INVALID_PARAMS, message) from None
    except (RecursionError, ValueError):
        raise MCPError(INVALID_PARAMS, "the parameters are nested too deep") from None
