"""A real client of a server in this process, and the skills that it reads."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.client import Client
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import ConfigDict

from satchel import Options, Policy, Satchel
from satchel.policy import OPEN_POLICY
from satchel.testing import write_pack
from satchel.usage import ListSink
from satchel_server import ServedLibrary, ServerSettings, build_server

ERAS = ("auto", "legacy")


class Params(types.RequestParams):
    model_config = ConfigDict(extra="allow")


class Anything(types.Result):
    model_config = ConfigDict(extra="allow")


class AnyRequest(types.Request[Params, str]):
    pass


def write_skills(folder: Path) -> Path:
    """Write alpha (with files of every kind), beta, and one that only people call."""
    write_pack(
        folder,
        "alpha",
        "Use for alpha.",
        "Do alpha.\n",
        files={
            "references/guide.md": "# Guide\r\n",
            "references/deep/more.md": "\ufeffMore.\n",
            "scripts/run.py": "print(1)\n",
            "assets/dot.png": b"\x89PNG\x00\xff",
            "assets/latin.txt": b"caf\xe9\n",
        },
    )
    write_pack(
        folder,
        "beta",
        "Use for beta.",
        "Turn $file into $kind.\n",
        arguments=["file", "kind"],
        argument_hint="<file> [pdf|docx]",
    )
    write_pack(
        folder,
        "handshake",
        "Only people.",
        "Shake $ARGUMENTS.\n",
        disable_model_invocation=True,
    )
    return folder


def library(
    *what: object,
    sink: ListSink | None = None,
    policy: Policy = OPEN_POLICY,
    **settings: Any,  # noqa: ANN401
) -> ServedLibrary:
    """Return an open library; ``settings`` are those of serving.

    In the style whose results are data, unless they say otherwise.
    """
    settings.setdefault("style", "packs")
    sinks = [sink] if sink else ()
    skills = Satchel(*what, sinks=sinks, policy=policy, options=Options(environ={}))  # type: ignore[arg-type]
    return ServedLibrary(skills, ServerSettings(**settings))


@asynccontextmanager
async def connected(
    served: ServedLibrary,
    era: str = "auto",
    **options: Any,  # noqa: ANN401
) -> AsyncGenerator[Client, None]:
    """Connect a client, without its cache, so that every question is asked."""
    server = build_server(served)
    async with Client(server, mode=era, cache=None, **options) as client:
        yield client


async def ask(client: Client, method: str, **params: object) -> dict[str, Any]:
    """Ask what the client has no method for."""
    request = AnyRequest(method=method, params=Params(**params))  # type: ignore[arg-type]
    result = await client.session.send_request(request, Anything)
    return result.model_dump(by_alias=True, exclude_none=True)


async def refused(waiting: Coroutine[Any, Any, Any]) -> MCPError:
    """Return the error with which a request was answered."""
    try:
        await waiting
    except MCPError as error:
        return error
    raise AssertionError("it was answered")


def run(work: Coroutine[Any, Any, Any]) -> None:
    """Run a test's coroutine, at most 20 seconds long."""
    asyncio.run(asyncio.wait_for(work, 20))


def context(**given: object) -> Any:  # noqa: ANN401
    """Return a request's context with nothing in it but what is given."""
    blank: dict[str, Any] = {
        "session": None,
        "lifespan_context": {},
        "protocol_version": "2026-07-28",
        "method": "",
    }
    return ServerRequestContext(**(blank | given))
