"""Malformed MCP messages: over Streamable HTTP in both eras, and as lines of stdio."""

import base64
import json
from random import Random
from typing import Any, Final

from tests.abuse import junk
from tests.abuse.attack import Attack

MODERN: Final = "2026-07-28"
LEGACY: Final = "2025-11-25"
META: Final = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "abuse", "version": "1"},
}
URI: Final = "skill://house-style/SKILL.md"

GOOD: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("server/discover", {}),
    ("tools/list", {}),
    ("tools/call", {"name": "load_skill", "arguments": {"name": "house-style"}}),
    ("tools/call", {"name": "find_skills", "arguments": {"query": "invoice", "k": 3}}),
    ("resources/list", {"cursor": "MA=="}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": URI}),
    ("resources/directory/read", {"uri": "skill://pdf-forms"}),
    ("skills/list", {"cursor": "MA=="}),
    ("skills/get", {"uri": URI}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "house-style", "arguments": {"arguments": "now"}}),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "house-style"},
            "argument": {"name": "arguments", "value": "n"},
        },
    ),
    (
        "subscriptions/listen",
        {"notifications": {"toolsListChanged": True, "resourceSubscriptions": [URI]}},
    ),
    ("resources/subscribe", {"uri": URI}),
    ("logging/setLevel", {"level": "debug"}),
    ("ping", {}),
)
INITIALIZE: Final = {
    "protocolVersion": LEGACY,
    "capabilities": {"roots": {}},
    "clientInfo": {"name": "abuse", "version": "1"},
}


def message(
    method: str, params: dict[str, Any], number: int | str = 1
) -> dict[str, Any]:
    """Return one request of the present era."""
    params = {**params, "_meta": META}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def posted(body: bytes, headers: dict[str, str], verb: str = "POST") -> bytes:
    """Return an HTTP request to ``/mcp`` on a connection of its own."""
    head = {
        "host": "127.0.0.1",
        "connection": "close",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "content-length": str(len(body)),
        **headers,
    }
    lines = [f"{name}: {text}" for name, text in head.items()]
    start = "\r\n".join([f"{verb} /mcp HTTP/1.1", *lines, "", ""])
    return start.encode("latin-1", "replace") + body


def headers_for(request: dict[str, Any]) -> dict[str, str]:
    """Return the headers that go with a request of the present era."""
    params = request["params"]
    name = params.get("name") or params.get("uri")
    return {
        "mcp-protocol-version": MODERN,
        "mcp-method": request["method"],
        **({"mcp-name": name} if name else {}),
    }


def good(number: int | str = 1) -> dict[str, Any]:
    """Return a request that any server of skills answers."""
    return message("tools/call", GOOD[2][1], number)


def good_earlier(number: int | str) -> dict[str, Any]:
    """Return the same, as one of the earlier era."""
    method, params = GOOD[2]
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def hello() -> bytes:
    """Return the lines with which a client of the earlier era begins."""
    first = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE}
    then = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    return b"".join(json.dumps(item).encode() + b"\n" for item in (first, then))


def good_call() -> bytes:
    """Return a good request as it goes over HTTP."""
    request = good()
    return posted(json.dumps(request).encode(), headers_for(request))


def attack(random: Random) -> Attack:
    """Return one malformed request."""
    return random.choice(_KINDS)(random)


def line(random: Random) -> bytes:
    """Return what a client may write to a server's standard input, without its end."""
    request = message(*random.choice(GOOD))
    if random.random() < 0.2:
        request = message("initialize", INITIALIZE)
    kind = random.randrange(3)
    if kind == 0:
        data = junk.broken(random, _compact(request))
    elif kind == 1:
        data = junk.encoded(random, junk.mutated(random, request))
    else:
        data = junk.encoded(random, message(junk.text(random), request["params"]))
    # A line end would make two of it, and both would be what they are.
    return data.replace(b"\n", b" ")


def _compact(request: dict[str, Any]) -> bytes:
    return json.dumps(request, separators=(",", ":")).encode()


def _mutated(random: Random) -> Attack:
    request = message(*random.choice(GOOD))
    body = junk.encoded(random, junk.mutated(random, request))
    return Attack("mcp: wrong types", posted(body, headers_for(request)))


def _broken(random: Random) -> Attack:
    request = message(*random.choice(GOOD))
    body = junk.broken(random, _compact(request))
    return Attack("mcp: no JSON", posted(body, headers_for(request)))


def _method(random: Random) -> Attack:
    name = junk.text(random) if random.randrange(4) else "x" * 100_000
    request = message(name, {})
    shown = name[:200].encode("ascii", "replace").decode()
    shown = "".join(item if item.isprintable() else "?" for item in shown)
    headers = {"mcp-protocol-version": MODERN, "mcp-method": shown}
    return Attack("mcp: unknown method", posted(junk.encoded(random, request), headers))


def _header(random: Random) -> Attack:
    request = message(*random.choice(GOOD))
    headers = headers_for(request)
    names = [
        *(*headers, "accept", "content-type", "host", "origin", "mcp-session-id"),
        *("last-event-id", "mcp-param-name", "authorization", "content-encoding"),
    ]
    texts = (
        *("", "x", "*/*", "text/plain", "2025-06-18", "1900-01-01", "null", "-1"),
        *("=?base64?////?=", "=?base64?aG91c2Utc3R5bGU=?=", "a" * 3_000, "\xff\xfe"),
        *("gzip", "Bearer " + "x" * 500, "http://evil.test"),
    )
    for name in random.sample(names, random.randrange(1, 4)):
        headers[name] = random.choice(texts)
    kind = "mcp: wrong headers"
    return Attack(kind, posted(_compact(request), headers))


def _place(random: Random) -> Attack:
    """Ask for what is not there: cursors, URIs, names."""
    method, params = random.choice([item for item in GOOD if item[1]])
    wrong = {**params}
    for key in wrong:
        wrong[key] = junk.cursor(random) if key == "cursor" else junk.value(random)
        if key in ("uri", "name"):
            wrong[key] = junk.text(random)
    request = message(method, wrong)
    headers = {"mcp-protocol-version": MODERN, "mcp-method": method}
    name = wrong.get("name", wrong.get("uri"))
    if isinstance(name, str):
        headers["mcp-name"] = _header_value(name)
    return Attack("mcp: no such thing", posted(junk.encoded(random, request), headers))


def _arguments(random: Random) -> Attack:
    tool = random.choice(("load_skill", "find_skills", "nothing"))
    request = message("tools/call", {"name": tool, "arguments": junk.value(random)})
    body = junk.encoded(random, request)
    return Attack("mcp: arguments", posted(body, headers_for(request)))


def _legacy(random: Random) -> Attack:
    version = random.choice((LEGACY, "2025-06-18", "2025-03-26", "2024-11-05", ""))
    method, params = random.choice((*GOOD, ("initialize", INITIALIZE)))
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    if random.random() < 0.8:
        request = junk.mutated(random, request)
    headers = {"mcp-protocol-version": version} if version else {}
    if random.random() < 0.3:
        headers["mcp-session-id"] = random.choice(("x", "a" * 3_000, "../..", "0" * 32))
    verb = random.choice(("POST", "POST", "POST", "GET", "DELETE", "PUT", "OPTIONS"))
    body = junk.encoded(random, request)
    return Attack("mcp: earlier era", posted(body, headers, verb))


def _header_value(name: str) -> str:
    if name and name.isascii() and name.isprintable() and name == name.strip():
        return name
    coded = base64.b64encode(name.encode("utf-8", "surrogatepass")).decode()
    return f"=?base64?{coded}?="


# Kinds that come more often than the others are in it twice.
_KINDS: Final = (
    *(_mutated, _mutated, _broken, _broken, _method),
    *(_header, _place, _place, _arguments, _legacy),
)
