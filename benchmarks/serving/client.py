"""A client that costs little: requests made once, answers read and hardly looked at.

What is compared are servers, and both halves share two cores; so the client writes
bytes to sockets, and looks only for what proves that the answer is the right one.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Literal[
    "resources/read", "load_skill", "skills/list", "GET /v1/skills", "GET /v1/catalog"
]

PROTOCOL: Final = "2026-07-28"
_META: Final = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
}


@dataclass(frozen=True, slots=True)
class Wish:
    """One request as bytes, and bytes that only its right answer holds."""

    request: bytes
    proof: bytes


def wish(kind: Kind, skill: str, proof: str) -> Wish:
    """Return the request for one skill, or for the first page of a list."""
    if kind.startswith("GET "):
        path = f"/v1/skills/{skill}" if kind == "GET /v1/skills" else "/v1/catalog"
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:1\r\nAccept: */*\r\n\r\n"
        return Wish(head.encode(), proof.encode())
    params: dict[str, object] = {}
    name, method = "", "skills/list"
    if kind == "resources/read":
        name, method = f"skill://{skill}/SKILL.md", kind
        params = {"uri": name}
    elif kind == "load_skill":
        name, method = "load_skill", "tools/call"
        params = {"name": name, "arguments": {"skill_id": skill}}
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": method,
            "params": {**params, "_meta": _META},
        }
    ).encode()
    head = (
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:1\r\n"
        "Content-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\n"
        f"MCP-Protocol-Version: {PROTOCOL}\r\nMcp-Method: {method}\r\n"
        + (f"Mcp-Name: {name}\r\n" if name else "")
        + f"Content-Length: {len(body)}\r\n\r\n"
    )
    return Wish(head.encode() + body, proof.encode())


def rate(port: int, wishes: Sequence[Wish], clients: int, total: int) -> float:
    """Return answers a second: ``total`` requests by so many clients at once.

    Raises:
        ValueError: An answer is not the right one.
    """
    return asyncio.run(_rate(port, wishes, clients, total))


async def _rate(port: int, wishes: Sequence[Wish], clients: int, total: int) -> float:
    start = time.perf_counter()
    each = total // clients
    async with asyncio.TaskGroup() as group:
        for number in range(clients):
            own = [wishes[(number * each + n) % len(wishes)] for n in range(each)]
            group.create_task(_talk(port, own))
    return each * clients / (time.perf_counter() - start)


async def _talk(port: int, wishes: Sequence[Wish]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for each in wishes:
            writer.write(each.request)
            head = await reader.readuntil(b"\r\n\r\n")
            body = await _body(reader, head)
            if each.proof not in body:
                raise ValueError((head + body)[:2000].decode(errors="replace"))
    finally:
        writer.close()
        await writer.wait_closed()


async def _body(reader: asyncio.StreamReader, head: bytes) -> bytes:
    for line in head.lower().split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name == b"content-length":
            return await reader.readexactly(int(value))
    parts: list[bytes] = []
    while size := int((await reader.readuntil(b"\r\n")).strip(), 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
    return b"".join(parts)
