"""A bare server of the ``mcp`` package: the same bytes, from a dict.

``python -m benchmarks.serving.bare FOLDER PORT``: what a server costs that does nothing
for its answers. Its transport is set as ours is.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcp_types as types
import uvicorn
from mcp.server import Server

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext


def main() -> None:
    """Serve until the process is stopped."""
    folder, port = Path(sys.argv[1]), int(sys.argv[2])
    texts = {path.parent.name: path.read_text() for path in folder.glob("*/SKILL.md")}
    answers = {name: _lean(name, text) for name, text in texts.items()}

    async def read(
        _: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        text = texts[uri.removeprefix("skill://").partition("/")[0]]
        content = types.TextResourceContents(
            uri=uri, text=text, mime_type="text/markdown"
        )
        return types.ReadResourceResult(contents=[content])

    async def call(
        _: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        answer = answers[(params.arguments or {})["skill_id"]]
        content = types.TextContent(type="text", text=answer)
        return types.CallToolResult(content=[content])

    server: Server[Any] = Server(
        "bare", version="1", on_read_resource=read, on_call_tool=call
    )
    app = server.streamable_http_app(json_response=True)
    # The parser that `satchel serve` uses; uvicorn would take another if it is there.
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=port,
        http="h11",
        log_level="error",
        access_log=False,
    )


def _lean(name: str, text: str) -> str:
    body = text.split("---\n", 2)[2].strip("\n")
    return f"Skill: {name}\n\n{body}"


if __name__ == "__main__":
    main()
