"""A short way for the requests that agents send most, to the same answer.

The package reads, checks and writes every message several times over. Once it has
accepted an envelope (headers and ``_meta``) and has answered for a SKILL.md, a repeated
request is a load and nothing else: the policy is asked, the file read, its digest
compared and the event written. What is kept is the answer as the package encoded it,
and so are pages of the list of skills, as long as the catalog stays.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from mcp.server.connection import Connection
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    PROTOCOL_VERSION_META_KEY,
)
from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from satchel.files import IdentityCache, LruCache
from satchel.model import Catalog, Descriptor
from satchel.runtime import CallerView
from satchel.server._library import ServedLibrary
from satchel.server._mcp._request import name_of_client, scope_caller
from satchel.server._mcp._skills import parts_of, uri_of

# A larger request takes the long way, so that keys of the caches are small.
MAX_REQUEST_BYTES: Final = 4_096
MAX_HEADER_BYTES: Final = 2_048
MAX_ID_CHARS: Final = 15
MAX_ENVELOPES: Final = 256
# All answers together.
MAX_KEPT_BYTES: Final = 16 * 1024 * 1024

_ENVELOPE: Final = (
    PROTOCOL_VERSION_META_KEY,
    CLIENT_INFO_META_KEY,
    CLIENT_CAPABILITIES_META_KEY,
)
_ERA: Final = (b"mcp-protocol-version", b"mcp-method")
# What the package looks at; `mcp-name` is compared for each request.
_HEADERS: Final = (b"host", b"origin", b"accept", b"content-type", *_ERA)
# A session is of the earlier era; a purpose may make a load a copy.
_OTHER: Final = re.compile(rb"mcp-session-id|mcp-param-|purpose")
# A tool's result that failed, a list that is not complete; in texts quotes are escaped.
_PASSING: Final = re.compile(rb'"isError":true|"ttlMs":0[,}]')
_LIST: Final = "skills/list"

# With the skill of which the answer is the SKILL.md, None for a list.
_Answers: TypeAlias = LruCache[tuple[object, ...], tuple[Descriptor | None, bytes]]


@dataclass(frozen=True, slots=True)
class _ShortRequest:
    request_id: int | str
    meta: dict[str, Any]
    envelope: tuple[object, ...]
    # The method, and the id of a skill, a URI, or the cursor of a page.
    asked: tuple[str, str]

    @property
    def head(self) -> bytes:
        """How the package begins the answer, before the result."""
        number = self.request_id
        shown = number if isinstance(number, int) else json.dumps(number)
        return f'{{"jsonrpc":"2.0","id":{shown},"result":'.encode()


class ShortWay:
    """Wraps the package's application."""

    def __init__(self, app: ASGIApp, library: ServedLibrary) -> None:
        self._app = app
        self._library = library
        # The names of clients by what the package has accepted of them.
        self._accepted: LruCache[tuple[object, ...], str] = LruCache(MAX_ENVELOPES)
        self._by_catalog: IdentityCache[Catalog, _Answers]
        self._by_catalog = IdentityCache(1, lambda: library.catalog)

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
        library = self._library
        answers = self._by_catalog.get(
            library.catalog, lambda: _Answers(MAX_KEPT_BYTES)
        )
        caller = scope_caller(scope)
        client = self._accepted.find(request.envelope)
        key = caller, request.meta[PROTOCOL_VERSION_META_KEY], *request.asked
        answer = None if client is None else answers.find(key)
        if client is not None and answer is not None:
            entry = answer[0]
            view = library.view(caller, client=client)
            if entry is None or await self._load_again(view, entry):
                await _send_json(request.head + answer[1], send)
                return

        def learn(result: bytes) -> None:
            """Keep what an answer shows: an envelope, and how a skill is encoded."""
            meta = [request.meta[key] for key in _ENVELOPE]
            name = name_of_client(Connection.from_envelope(*meta))
            self._accepted.put(request.envelope, name)
            if _PASSING.search(result):
                return
            # The rules of a policy are asked for each list, too.
            is_list = request.asked[0] == _LIST and not library.skills.policy.rules
            entry = None if is_list else self._entry(*request.asked)
            # After a sync in between, nobody looks into these answers any more.
            if entry or is_list:
                answers.put(key, (entry, result), len(result))

        await self._app(scope, replay, _watch(request.head, learn, send))

    async def _load_again(self, view: CallerView, entry: Descriptor) -> bool:
        # A policy may call code of the operator, which may take long.
        if self._library.skills.policy.rules:
            return await self._library.threads.run(None, lambda: view.load_again(entry))
        return view.load_again(entry)

    def _entry(self, method: str, asked: str) -> Descriptor | None:
        """Return the skill of which a result is the SKILL.md, if it is read at once."""
        library = self._library
        is_read = method == "resources/read"
        skill_id = (parts_of(asked) or ("",))[0] if is_read else asked
        entry = library.catalog.get(skill_id)
        if entry is None or not entry.digest or not library.is_local(entry):
            return None
        # With older readers a read may be part of a download.
        if is_read and not library.settings.compat and asked == uri_of(entry):
            return entry
        is_lean_load = method == "tools/call" and library.settings.style == "lean"
        return entry if is_lean_load else None


def _watch(head: bytes, learn: Callable[[bytes], None], send: Send) -> Send:
    async def watch(message: Message) -> None:
        body: bytes = message.get("body", b"")
        # An error has no result.
        if body.startswith(head) and not message.get("more_body"):
            learn(body[len(head) :])
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
        or len(headers) != len(pairs)  # a header may be there twice
        or sum(map(len, headers.values())) > MAX_HEADER_BYTES
        or _OTHER.search(b" ".join(headers))
    ):
        return None
    try:
        given: Any = json.loads(body.decode())
        method, params, request_id = given["method"], given["params"], given["id"]
        meta = params["_meta"]
        named: str | None
        if method == _LIST:
            named, asked = None, params.get("cursor", "")
            expected = {"cursor": asked, "_meta": meta} if asked else {"_meta": meta}
        elif method == "tools/call":
            named = "load_skill"
            (asked,) = params["arguments"].values()
            expected = {"name": named, "arguments": {"skill_id": asked}, "_meta": meta}
        else:
            named = asked = params["uri"]
            method = "resources/read"
            expected = {"uri": asked, "_meta": meta}
        whole = {"jsonrpc": "2.0", "id": request_id, "method": method}
        if (
            given != {**whole, "params": expected}
            or type(request_id) not in (int, str)
            or len(str(request_id)) > MAX_ID_CHARS
            or not isinstance(asked, str)
            or headers.get(b"mcp-name", b"").decode() != (named or "")
            or meta.keys() != set(_ENVELOPE)
        ):
            return None
        envelope = (method, repr(meta), *map(headers.get, _HEADERS))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return _ShortRequest(request_id, meta, envelope, (method, asked))


async def _send_json(body: bytes, send: Send) -> None:
    headers = [
        (b"content-length", b"%d" % len(body)),
        (b"content-type", b"application/json"),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
