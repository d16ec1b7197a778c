"""Skills of MCP servers, as a source: Satchel as a host of the Skills extension."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from satchel.errors import ExtraMissingError
from satchel.lazy import lazy_door
from satchel.model import Limits

if TYPE_CHECKING:
    from satchel_server.mcp_source._source import McpSource as McpSource
    from satchel_server.mcp_source._target import McpServerAddress

__getattr__ = lazy_door(__name__, {"_source": "McpSource"})


def open_server(  # noqa: PLR0913 - those of `satchel.sources.mcp`
    server: object,
    *,
    label: str | None,
    headers: Mapping[str, str] | None,
    timeout_s: float,
    allowed_tools: Mapping[str, str] | None,
    also: Iterable[str],
    limits: Limits,
) -> "McpSource":
    """Return the source of a server; see `satchel.sources.mcp`."""
    try:
        from satchel_server.mcp_source._source import McpSource
        from satchel_server.mcp_source._target import McpTarget
    except ImportError as error:
        raise ExtraMissingError("a source of an MCP server", "mcp") from error
    target = McpTarget(
        cast("McpServerAddress", server),
        label=label,
        headers=headers,
        timeout_s=timeout_s,
        # A file as text or in base64, with escapes; or a page of skills.
        max_bytes=2 * max(limits.file_bytes, limits.skill_md_bytes) + (1 << 20),
    )
    return McpSource(target, allowed_tools=allowed_tools, also=also, limits=limits)
