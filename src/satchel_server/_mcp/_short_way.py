"""A short way for requests that were answered before, to the same answer.

The package reads, checks and writes every message several times over. Where a request
differs from an earlier one in its id alone, only what may have changed is looked at:
for a SKILL.md the policy is asked, the file read, its digest compared and the event
written; a page of the list of skills stays as long as the catalog. What is kept is the
encoding.
"""

import json
import re
from typing import Any, Final, NamedTuple, cast

from mcp_types import CLIENT_INFO_META_KEY
from opentelemetry.trace import SpanKind, get_tracer, use_span
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from satchel.model import Descriptor
from satchel_server._library import ServedLibrary, caller_of
from satchel_server._mcp._request import shown_client
from satchel_server._mcp._skills import skill_in, uri_of
from satchel_server.usage import enter_call

MAX_REQUEST_BYTES: Final = 4_096

_ENVELOPE: Final = "io.modelcontextprotocol/"
# What the package looks at.
_VERSION: Final = b"mcp-protocol-version"
_HEADERS: Final = (
    *(b"host", b"origin", b"accept", b"content-type"),
    *(_VERSION, b"mcp-method", b"mcp-name"),
)
# A session is of the earlier era; a purpose may make a load a copy.
_OTHER_HEADERS: Final = re.compile(rb"mcp-session-id|mcp-param-|purpose")
_ID: Final = re.compile(rb'"id": ?(0|-?[1-9]\d{0,14}|"[ -!#-\[\]-~]{0,15}")')
# A tool's result that failed, a list that is not complete; in texts quotes are escaped.
_PASSING: Final = re.compile(rb'"isError":true|"ttlMs":0[,}]')


# The package's own, so that there is one kind of span.
_tracer: Final = get_tracer("mcp-python-sdk")


class _Answer(NamedTuple):
    # The skill of which it is the SKILL.md, None for a list.
    entry: Descriptor | None
    client: str
    result: bytes
    span: str
    attributes: dict[str, str]


class ShortWay:
    """Wraps the package's application."""

    def __init__(self, app: ASGIApp, library: ServedLibrary) -> None:
        self._app = app
        self._library = library

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        first = [message := await receive()]

        async def replay() -> Message:
            return first.pop() if first else await receive()

        body: bytes = message.get("body", b"")
        # Whether a script may run depends on what its caller has loaded.
        is_long = message.get("more_body") or caller_of(scope).scripts
        split = None if is_long else _split(scope, body)
        if split is None:
            await self._app(scope, replay, send)
            return
        number, rest = split
        head = b'{"jsonrpc":"2.0","id":%b,"result":' % number
        caller = caller_of(scope)
        # After a sync nobody looks into these answers any more.
        answers = self._library.answers
        answer: _Answer | None = answers.find((caller, rest))
        if answer is not None:
            about = {**answer.attributes, "jsonrpc.request.id": str(json.loads(number))}
            span = _tracer.start_span(
                answer.span, kind=SpanKind.SERVER, attributes=about
            )
            with use_span(span):
                is_current = await self._is_current(scope, answer)
            if is_current:
                await _send_json(head + answer.result, send)
                span.end()  # one that never ends is not reported
                return

        async def watch(message: Message) -> None:
            sent: bytes = message.get("body", b"")
            # An error has no result.
            if sent.startswith(head) and not message.get("more_body"):
                learned = self._learn(scope, json.loads(body), sent[len(head) :])
                if learned is not None:
                    answers.put((caller, rest), learned, len(sent) + len(body))
            await send(message)

        await self._app(scope, replay, watch)

    async def _is_current(self, scope: Scope, answer: _Answer) -> bool:
        """Load the skill again of which the answer is; it is an event, too."""
        library, entry = self._library, answer.entry
        if entry is None:
            return True
        enter_call(Headers(scope=scope))
        view = library.view(caller_of(scope), client=answer.client)
        # A policy may call code of the operator, which may take long.
        if library.skills.policy.rules:
            return await library.threads.run(None, lambda: view.load_again(entry))
        return view.load_again(entry)

    def _learn(
        self, scope: Scope, message: dict[str, Any], result: bytes
    ) -> _Answer | None:
        """Return what is kept of a message that the package has answered, if so."""
        library = self._library
        params = cast("dict[str, Any]", message.get("params") or {})
        meta = cast("dict[str, Any]", params.pop("_meta", None) or {})
        # What is not of the envelope may differ each time, such as a trace.
        others = [key for key in meta if not key.startswith(_ENVELOPE)]
        if others or _PASSING.search(result):
            return None
        entry: Descriptor | None = None
        method: str = message["method"]
        match method, params:
            # The rules of a policy are asked for each list.
            case "skills/list", _ if not library.skills.policy.rules:
                return _Answer(None, "", result, *_span_of(scope, method, {}))
            case "tools/call", {"name": "load_skill", "arguments": {"skill_id": asked}}:
                is_lean = library.settings.style == "lean"
                entry = library.catalog.get(asked) if is_lean else None
            # With older readers a read may be part of a download.
            case "resources/read", {"uri": uri} if not library.settings.compat:
                entry = library.catalog.get(skill_in(uri))
                entry = entry if entry and uri == uri_of(entry) else None
            case _:
                return None
        if entry is None or not entry.digest or library.slow_source(entry.id):
            return None
        about: Any = meta.get(CLIENT_INFO_META_KEY)
        client = shown_client(about["name"] if about else "")
        return _Answer(entry, client, result, *_span_of(scope, method, params))


def _span_of(
    scope: Scope, method: str, params: dict[str, Any]
) -> tuple[str, dict[str, str]]:
    """Return the span that the package makes of a request: name, and attributes."""
    version = dict(scope["headers"]).get(_VERSION, b"").decode()
    about = {"mcp.method.name": method, "mcp.protocol.version": version}
    if method != "tools/call":
        return method, about
    tool: str = params["name"]
    more = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
    return f"{method} {tool}", about | more


def _split(scope: Scope, body: bytes) -> tuple[bytes, tuple[bytes, ...]] | None:
    """Return the id of a request, and all else that the answer depends on."""
    pairs = cast("list[tuple[bytes, bytes]]", scope["headers"])
    headers = dict(pairs)
    match = _ID.search(body) if len(body) <= MAX_REQUEST_BYTES else None
    if (
        match is None
        # Another key may be meant, or be spelled with escapes.
        or body.count(b'"id"') != 1
        or b"\\" in body
        or len(headers) != len(pairs)  # a header may be there twice
        or _OTHER_HEADERS.search(b" ".join(headers))
    ):
        return None
    around = body[: match.start()], body[match.end() :]
    # No header has a line break.
    return match[1], (*around, *(headers.get(name, b"\n") for name in _HEADERS))


async def _send_json(body: bytes, send: Send) -> None:
    size = b"%d" % len(body)
    headers = [(b"content-length", size), (b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
