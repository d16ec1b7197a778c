"""A short way for the two requests that agents send most, to the same answer.

The package reads, checks and writes every message several times over. Once it has
accepted an envelope (headers and ``_meta``), only what differs is looked at here. The
handler runs each time, so the policy is asked, the file read and the event written;
what is kept is how the package encoded the same content before.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from mcp.server.connection import Connection
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    CallToolRequestParams,
    CallToolResult,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
    TextResourceContents,
)
from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from satchel.files import LruCache
from satchel.server._mcp._request import McpContext, contain_errors

_Result: TypeAlias = CallToolResult | ReadResourceResult
_Handler: TypeAlias = Callable[[McpContext, Any], Awaitable[_Result]]

# A larger request takes the long way, so that keys of the caches are small.
MAX_REQUEST_BYTES: Final = 4_096
MAX_HEADER_BYTES: Final = 2_048
MAX_ID_CHARS: Final = 15
MAX_ENVELOPES: Final = 256
# All encodings together, with their keys.
MAX_KEPT_BYTES: Final = 16 * 1024 * 1024

_ENVELOPE: Final = (
    PROTOCOL_VERSION_META_KEY,
    CLIENT_INFO_META_KEY,
    CLIENT_CAPABILITIES_META_KEY,
)
_NAMES: Final = {"tools/call": "name", "resources/read": "uri"}
_KEYS: Final = {
    "tools/call": {"name", "arguments", "_meta"},
    "resources/read": {"uri", "_meta"},
}
_ERA: Final = (b"mcp-protocol-version", b"mcp-method")
# What the package looks at; `mcp-name` is compared for each request.
_HEADERS: Final = (b"host", b"origin", b"accept", b"content-type", *_ERA)
# A result, or an exception, that the handler has come to before the package asks it.
_made: ContextVar[_Result | Exception | None] = ContextVar("made", default=None)


def made_before(handler: _Handler) -> Any:  # noqa: ANN401 - the package names its type
    """Return the handler that gives what the short way has made, if it has."""

    async def handle(ctx: McpContext, params: object) -> _Result:
        made = _made.get()
        if isinstance(made, Exception):
            raise made
        return await handler(ctx, params) if made is None else made

    return handle


@dataclass(frozen=True, slots=True)
class _Context:
    """The part of a request's context that the two handlers look at."""

    request: Request
    session: Connection
    params: None = None  # no text of a short request is half a character


@dataclass(frozen=True, slots=True)
class _ShortRequest:
    method: str
    request_id: int | str
    params: dict[str, Any]
    envelope: tuple[object, ...]

    @property
    def head(self) -> bytes:
        """How the package begins the answer, before the result."""
        return (
            f'{{"jsonrpc":"2.0","id":{json.dumps(self.request_id)},"result":'.encode()
        )


class ShortWay:
    """Wraps the package's application."""

    def __init__(self, app: ASGIApp, handlers: Mapping[str, _Handler]) -> None:
        self._app = app
        self._handlers = handlers
        self._accepted: LruCache[tuple[object, ...], Connection]
        self._accepted = LruCache(MAX_ENVELOPES)
        self._encoded: LruCache[tuple[object, ...], bytes] = LruCache(MAX_KEPT_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Anyone who traces the server wants the package's spans.
        traced = not isinstance(get_tracer_provider(), ProxyTracerProvider)
        if traced or scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        first = [await receive()]

        async def replay() -> Message:
            return first.pop() if first else await receive()

        request = _short_request(scope, first[0])
        if request is None:
            await self._app(scope, replay, send)
            return
        connection = self._accepted.find(request.envelope)
        if connection is None:
            await self._app(scope, replay, self._watch(request, None, send))
            return
        made = await self._make(request, connection, scope)
        key = _content_key(request, made)
        cached = None if key is None else self._encoded.find(key)
        if cached is not None:
            await _send_json(request.head + cached, send)
            return
        token = _made.set(made)
        try:
            await self._app(scope, replay, self._watch(request, key, send))
        finally:
            _made.reset(token)

    async def _make(
        self, request: _ShortRequest, connection: Connection, scope: Scope
    ) -> _Result | Exception:
        params: CallToolRequestParams | ReadResourceRequestParams
        if request.method == "tools/call":
            given = {key: request.params[key] for key in ("name", "arguments")}
            params = CallToolRequestParams.model_construct(**given)
        else:
            given = {"uri": request.params["uri"], "meta": request.params["_meta"]}
            params = ReadResourceRequestParams.model_construct(**given)
        ctx = cast("McpContext", _Context(Request(scope), connection))
        handler = self._handlers[request.method]
        try:
            made = await contain_errors(ctx, lambda asked: handler(asked, params))
        except Exception as error:  # noqa: BLE001 - raised again, where it is encoded
            return error
        return cast("_Result", made)

    def _watch(
        self, request: _ShortRequest, key: tuple[object, ...] | None, send: Send
    ) -> Send:
        """Learn from an answer: that the envelope is accepted, how it is encoded."""

        async def watch(message: Message) -> None:
            body: bytes = message.get("body", b"")
            # An error has no result.
            if body.startswith(request.head) and not message.get("more_body"):
                if key is not None:
                    rest = body[len(request.head) :]
                    size = len(rest) + sum(len(str(part)) for part in key)
                    self._encoded.put(key, rest, size)
                meta = request.params["_meta"]
                connection = Connection.from_envelope(*map(meta.get, _ENVELOPE))
                self._accepted.put(request.envelope, connection)
            await send(message)

        return watch


def _short_request(scope: Scope, message: Message) -> _ShortRequest | None:
    """Return a request of which nothing but its envelope needs the package's checks."""
    body: bytes = message.get("body", b"")
    pairs = cast("list[tuple[bytes, bytes]]", scope["headers"])
    headers = dict(pairs)
    if (
        message.get("more_body")
        or len(body) > MAX_REQUEST_BYTES
        # Escapes may hide half a character, and a header may be there twice.
        or b"\\" in body
        or len(headers) != len(pairs)
        or sum(map(len, headers.values())) > MAX_HEADER_BYTES
        # A session is of the earlier era, whose requests the package answers elsewhere.
        or b"mcp-session-id" in headers
        or any(name.startswith(b"mcp-param-") for name in headers)
    ):
        return None
    try:
        given: Any = json.loads(body.decode())
        if given.keys() != {"jsonrpc", "id", "method", "params"}:
            return None
        method, params, request_id = given["method"], given["params"], given["id"]
        arguments = params.get("arguments", {})
        texts = [method, params[_NAMES[method]], *arguments.values()]
        if (
            given["jsonrpc"] != "2.0"
            or type(request_id) not in (int, str)
            or len(str(request_id)) > MAX_ID_CHARS
            or params.keys() != _KEYS[method]
            or not all(isinstance(text, str) for text in texts)
            or headers[b"mcp-name"] != texts[1].encode()
            # The package decodes such a header first.
            or texts[1].startswith("=?")
        ):
            return None
        looked_at = [headers.get(name) for name in _HEADERS]
        envelope = (method, repr(params["_meta"]), *looked_at)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return _ShortRequest(method, request_id, params, envelope)


def _content_key(
    request: _ShortRequest, made: _Result | Exception
) -> tuple[object, ...] | None:
    """Return everything that the encoding of a result shows; None if not kept."""
    version = request.params["_meta"][PROTOCOL_VERSION_META_KEY]
    match made:
        case CallToolResult(
            content=[TextContent(text=text)], structured_content=None, is_error=failed
        ):
            return version, "tools/call", failed, text
        case ReadResourceResult(
            contents=[TextResourceContents(uri=uri, mime_type=mime_type, text=text)],
            ttl_ms=ttl_ms,
            cache_scope=cache_scope,
        ):
            return version, uri, mime_type, ttl_ms, cache_scope, text
        case _:
            return None


async def _send_json(body: bytes, send: Send) -> None:
    headers = [
        (b"content-length", b"%d" % len(body)),
        (b"content-type", b"application/json"),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
