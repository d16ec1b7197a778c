"""A bare server of the ``mcp`` package and of Starlette: the same JSON, from a dict.

``python -m benchmarks.serving.bare FOLDER PORT``: what a server costs that does nothing
for its answers. Its transport is set as ours is.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcp_types as types
import uvicorn
from mcp.server import Server
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from starlette.requests import Request


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

    skills = {name: _skill(name, text) for name, text in sorted(texts.items())}
    hints = {"resultType": "complete", "ttlMs": 60_000, "cacheScope": "public"}
    page = {**hints, "skills": [_listed(skill) for skill in skills.values()][:250]}
    catalog = _catalog(list(skills.values()))

    async def list_skills(
        _: ServerRequestContext[Any], params: types.PaginatedRequestParams
    ) -> dict[str, Any]:
        del params
        return {**page, "nextCursor": "c2tpbGxzCnNraWxsLTAwMjQ5"}

    async def get_catalog(_: Request) -> Response:
        return JSONResponse(catalog)

    async def get_skill(request: Request) -> Response:
        return JSONResponse(skills[request.path_params["id"]])

    server: Server[Any] = Server(
        "bare", version="1", on_read_resource=read, on_call_tool=call
    )
    listing = types.PaginatedRequestParams
    server.add_request_handler("skills/list", listing, list_skills)
    app = server.streamable_http_app(json_response=True)
    app.router.routes[:0] = [
        Route("/v1/catalog", get_catalog),
        Route("/v1/skills/{id}", get_skill),
    ]
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


def _skill(name: str, text: str) -> dict[str, Any]:
    description = text.split("description: ", 1)[1].partition("\n")[0]
    digest = f"sha256:{sha256(text.encode()).hexdigest()}"
    return {
        "id": name,
        "name": name,
        "description": description,
        "source": "skills",
        "release": "",
        "digest": digest,
        "instructions": text,
        "frontmatter": {"name": name, "description": description},
        "resources": [{"path": "SKILL.md", "digest": digest, "size": len(text)}],
        "notes": [],
    }


def _listed(skill: dict[str, Any]) -> dict[str, Any]:
    uri = f"skill://{skill['id']}/SKILL.md"
    file = {key: skill["resources"][0][key] for key in ("digest", "size")}
    resources = [{"uri": uri, **file}]
    return {"uri": uri, "frontmatter": skill["frontmatter"], "resources": resources}


def _catalog(skills: list[dict[str, Any]]) -> dict[str, Any]:
    keys = ("id", "name", "description", "source", "release", "digest")
    page = [{**{key: skill[key] for key in keys}, "resources": []} for skill in skills]
    next_id = page[99]["id"]
    return {"release": "", "total": len(page), "skills": page[:100], "next": next_id}


if __name__ == "__main__":
    main()
