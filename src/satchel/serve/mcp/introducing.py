"""The catalog in the server's instructions: what a client reads before it asks."""

from collections.abc import Mapping
from typing import Any, cast

from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel.server import Server
from mcp_types import DiscoverResult, RequestParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from satchel.serve.library import Library
from satchel.serve.mcp.answering import Asked, answer
from satchel.serve.mcp.asking import Context
from satchel.serve.mcp.tools import Tools

__all__ = ["Introducing"]


class Introducing:
    """Tells each caller what it may load, in either era; it follows every sync."""

    def __init__(self, library: Library, tools: Tools, server: Server[Any]) -> None:
        self._library = library
        self._tools = tools
        self._server = server

    async def discover(self, ctx: Context, _: RequestParams) -> DiscoverResult:
        """Answer ``server/discover``."""

        def work(asked: Asked) -> DiscoverResult:
            return DiscoverResult(
                supported_versions=[*MODERN_PROTOCOL_VERSIONS],
                capabilities=self._server.get_capabilities(
                    protocol_version=ctx.protocol_version
                ),
                instructions=self._tools.section(asked.view) or None,
                ttl_ms=asked.ttl_ms,
                cache_scope=asked.scope,
            )

        return await answer(self._library, ctx, work)

    async def initialize(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Put the instructions into the answer of the handshake: a middleware."""
        result = await call_next(ctx)
        if ctx.method != "initialize" or not isinstance(result, Mapping):
            return result
        section = await answer(
            self._library, ctx, lambda asked: self._tools.section(asked.view)
        )
        told = {"instructions": section} if section else {}
        return {**cast("Mapping[str, Any]", result), **told}
