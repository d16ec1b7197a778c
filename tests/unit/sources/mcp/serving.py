"""An MCP server for tests: honest by default; any of its answers can be replaced."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import anyio
import mcp_types as types
from mcp.client._memory import InMemoryTransport
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from satchel.skill_md import parse

if TYPE_CHECKING:
    from mcp.client import Transport
    from mcp.client._transport import TransportStreams

    Context = ServerRequestContext[Any]

__all__ = ["EXTENSION", "FakeServer", "digest", "entry_for"]

EXTENSION: Final = "io.modelcontextprotocol/skills"

Packs = Mapping[str, Mapping[str, bytes]]
Ask = Callable[[dict[str, Any]], dict[str, Any]]


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def frontmatter_of(data: bytes) -> dict[str, Any]:
    manifest = parse(data).manifest
    assert manifest is not None
    return dict(manifest.frontmatter)


def entry_for(root: str, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return what an honest server says of a skill."""
    return {
        "uri": f"{root}/SKILL.md",
        "frontmatter": frontmatter_of(files["SKILL.md"]),
        "resources": [
            {"uri": f"{root}/{path}", "digest": digest(data), "size": len(data)}
            for path, data in files.items()
        ],
    }


class Params(types.RequestParams):
    uri: str = ""
    cursor: str | None = None


@dataclass
class FakeServer:
    """Serves ``packs`` below ``skill://``; ``asked`` has each request, in order.

    ``entries`` and ``files`` can be changed at any time. ``answers`` replaces what is
    answered to a method.
    """

    packs: Packs = field(default_factory=dict[str, Mapping[str, bytes]])
    extension: bool = True
    answers: dict[str, Ask] = field(default_factory=dict[str, Ask])
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def __post_init__(self) -> None:
        self.entries: list[Any] = []
        self.files: dict[str, bytes | str] = {}
        for path, files in self.packs.items():
            self.add(f"skill://{path}", files)

    def add(self, root: str, files: Mapping[str, bytes]) -> dict[str, Any]:
        """Serve one more skill; return its entry."""
        entry = entry_for(root, files)
        self.entries.append(entry)
        self.files |= {f"{root}/{path}": data for path, data in files.items()}
        return entry

    @property
    def reads(self) -> list[str]:
        """The URIs that were read."""
        return [uri for method, uri in self.asked if method == "resources/read"]

    def server(self) -> Server[Any]:
        """Return it as mcp's client takes it; answers in the era of 2026 and 2025."""
        server = Server("fake", on_read_resource=self._read)
        server.add_request_handler("skills/list", Params, self._list)
        server.add_request_handler("skills/get", Params, self._get)
        if self.extension:
            server.extensions = {EXTENSION: {}}
        return server

    def legacy(self) -> Transport:
        """Return it as a server of 2025, which knows no ``server/discover``."""
        return older(self.server())

    def _note(self, method: str, params: Params) -> dict[str, Any] | None:
        self.asked.append((method, params.uri))
        given = self.answers.get(method)
        return None if given is None else given(params.model_dump())

    async def _list(self, _: Context, params: Params) -> dict[str, Any]:
        given = self._note("skills/list", params)
        return self._cacheable({"skills": self.entries}) if given is None else given

    async def _get(self, _: Context, params: Params) -> dict[str, Any]:
        given = self._note("skills/get", params)
        if given is not None:
            return given
        for entry in self.entries:
            if entry["uri"] == params.uri:
                return self._cacheable({"skill": entry})
        raise MCPError(types.INVALID_PARAMS, f"no skill at {params.uri}")

    async def _read(self, _: Context, params: types.ReadResourceRequestParams) -> Any:  # noqa: ANN401 - a plain dict; mcp would have its own class
        given = self._note("resources/read", Params(uri=params.uri))
        if given is not None:
            return self._cacheable(given)
        if params.uri not in self.files:
            raise MCPError(types.INVALID_PARAMS, f"no resource at {params.uri}")
        return self._cacheable(
            {"contents": [content(params.uri, self.files[params.uri])]}
        )

    @staticmethod
    def _cacheable(result: dict[str, Any]) -> dict[str, Any]:
        fresh: dict[str, Any] = {"ttlMs": 0, "cacheScope": "private"}
        return {"resultType": "complete", **fresh, **result}


@asynccontextmanager
async def older(
    server: Server[Any], unknown_methods: tuple[str, ...] = ("server/discover",)
) -> AsyncGenerator[TransportStreams]:
    """Connect to a server in memory, and answer a probe of 2026 as one of 2025 does."""
    answers, reading = anyio.create_memory_object_stream[SessionMessage | Exception](9)
    writing, questions = anyio.create_memory_object_stream[SessionMessage](9)
    unknown = types.ErrorData(code=types.METHOD_NOT_FOUND, message="unknown method")

    async def ask(write: Any) -> None:  # noqa: ANN401 - a stream of mcp's own
        async for message in questions:
            asked = message.message
            if (
                isinstance(asked, types.JSONRPCRequest)
                and asked.method in unknown_methods
            ):
                error = types.JSONRPCError(jsonrpc="2.0", id=asked.id, error=unknown)
                await answers.send(SessionMessage(error))
            else:
                await write.send(message)
        await write.aclose()

    async def answer(read: Any) -> None:  # noqa: ANN401
        async for message in read:
            await answers.send(message)

    async with (
        InMemoryTransport(server) as (read, write),
        anyio.create_task_group() as g,
    ):
        g.start_soon(ask, write)
        g.start_soon(answer, read)
        async with answers, reading, writing, questions:
            yield reading, writing
        g.cancel_scope.cancel()


def content(uri: str, data: bytes | str) -> dict[str, Any]:
    """Return a file as a server sends it: text where it is some, else in base64."""
    try:
        text = data if isinstance(data, str) else data.decode()
    except UnicodeDecodeError:
        assert isinstance(data, bytes)
        return {"uri": uri, "blob": base64.b64encode(data).decode()}
    return {"uri": uri, "text": text}
