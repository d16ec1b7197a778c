"""Sessions of MCP's earlier era that any server of the same skills can answer.

A client of that era names its session in each request, and the package answers only
for sessions that it began itself: behind a balancer most requests would be refused, and
all of them after a restart. The id that clients get here holds what the client sent as
it began, so a server that does not have the session begins it, too, and then answers.
How many there may be at a time is up to the guard: `McpSessionLimit`.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from http import HTTPStatus
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import anyio
from mcp.server.auth.middleware.bearer_auth import (
    AuthenticatedUser,
    authorization_context,
)
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from satchel.files import LruCache
from satchel.text import clip
from satchel_server._guard._limits import discard, replay_body

if TYPE_CHECKING:
    from collections.abc import Iterable

_HEADER: Final = b"mcp-session-id"
_PREFIX: Final = "s1."
_MAX_ID_BYTES: Final = 1_024
# A client names itself; longer names are cut.
_MAX_CHARS: Final = 64
# Ids that a server remembers; one that it forgets is begun again.
_MAX_IDS: Final = 4_096


class _Client(NamedTuple):
    """What a session's id holds: who began it, and how."""

    owner: str
    protocol: str
    name: str
    version: str
    number: str


class SharedSessions:
    """Wraps the package's application for HTTP."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        # The package's own id of each session that it has here; empty once it ended.
        self._here: LruCache[str, str | None] = LruCache(_MAX_IDS)
        self._beginning = anyio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = [v for k, v in scope["headers"] if k == _HEADER]
        if not asked:
            await self._begun(scope, receive, send)
            return
        name = asked[0].decode("latin-1")
        client = _read_id(name) if len(asked) == 1 else None
        if client is None or client.owner != _owner_of(scope):
            await self._app(scope, receive, send)
            return
        read = _Replay(receive)
        # The package ends a session that was idle, and has not said so.
        for last in (False, True):
            own = self._here.find(name)
            if own is None:
                async with self._beginning:
                    own = self._here.find(name)
                    if own is None:
                        own = await self._begin(scope, name, client, send)
                if own is None:
                    return
            answer = _HeldAnswer(send, name, is_held=not last and bool(own))
            here = _with_session(scope, own.encode() if own else asked[0])
            await self._app(here, read.again(), answer)
            if not answer.is_refused:
                break
            self._here.put(name, None)
        if scope["method"] == "DELETE" and answer.status == HTTPStatus.OK:
            self._here.put(name, "")

    async def _begun(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request without a session; if it begins one, give it an id."""
        read = _Replay(receive)

        async def named(message: Message) -> None:
            own = _own_id(message)
            if own:
                is_begun = message["status"] < HTTPStatus.BAD_REQUEST
                name = _make_id(_owner_of(scope), read.body) if is_begun else ""
                if name:
                    self._here.put(name, own.decode("ascii"))
                message = {**message, "headers": _renamed(message, name)}
            await send(message)

        await self._app(scope, read, named)

    async def _begin(
        self, scope: Scope, name: str, client: _Client, send: Send
    ) -> str | None:
        """Begin a session as its client did; pass on why it cannot be begun."""
        about = {"name": client.name, "version": client.version}
        params = {"protocolVersion": client.protocol, "clientInfo": about}
        first = _request("initialize", {**params, "capabilities": {}}, {"id": 0})
        refused: list[Message] = []
        own = b""

        async def take(message: Message) -> None:
            nonlocal own
            own = _own_id(message) or own
            refused.append(message)

        host = [pair for pair in scope["headers"] if pair[0] in (b"host", b"origin")]
        accepted = b"application/json, text/event-stream"
        kinds = (b"content-type", b"application/json"), (b"accept", accepted)
        post = {**scope, "method": "POST", "headers": [*host, *kinds]}
        await self._app(post, replay_body(first, _nothing_more), take)
        if not own:
            for message in refused:
                await send(message)
            return None
        ready = _request("notifications/initialized", {}, {})
        here = _with_session(post, own)
        await self._app(here, replay_body(ready, _nothing_more), discard)
        self._here.put(name, own.decode("ascii"))
        return own.decode("ascii")


class _Replay:
    """The body of a request, which may be read again."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._messages: list[Message] = []
        self._at = 0

    def again(self) -> Receive:
        """Return it from its beginning."""
        self._at = 0
        return self

    @property
    def body(self) -> bytes:
        """All of it that was read."""
        return b"".join(message.get("body", b"") for message in self._messages)

    async def __call__(self) -> Message:
        if self._at == len(self._messages):
            message = await self._receive()
            if message["type"] != "http.request":
                return message
            self._messages.append(message)
        self._at += 1
        return self._messages[self._at - 1]


class _HeldAnswer:
    """Sends an answer with the client's name of the session; holds back a refusal."""

    def __init__(self, send: Send, name: str, *, is_held: bool) -> None:
        self._send = send
        self._name = name
        self._is_held = is_held
        self.is_refused = False
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.is_refused = self._is_held and self.status == HTTPStatus.NOT_FOUND
            name = self._name if _own_id(message) else ""
            message = {**message, "headers": _renamed(message, name)}
        if not self.is_refused:
            await self._send(message)


def _owner_of(scope: Scope) -> str:
    """Return a mark of the credential of a request: no other uses its sessions."""
    user = scope.get("user")
    if not isinstance(user, AuthenticatedUser):
        return ""
    return sha256(repr(authorization_context(user)).encode()).hexdigest()[:16]


def _make_id(owner: str, body: bytes) -> str:
    """Return the id of the session that a request began; empty if it began none."""
    try:
        message: Any = json.loads(body)
        params, about = message["params"], message["params"]["clientInfo"]
        texts = params["protocolVersion"], about["name"], about["version"]
        short = [clip(str(text), _MAX_CHARS) for text in texts]
        # Two sessions of one program differ in the last part.
        client = [owner, *short, token_hex(8)]
    # The package names a session for requests that begin none, too.
    except (ValueError, TypeError, LookupError, RecursionError):
        return ""
    return _PREFIX + urlsafe_b64encode(json.dumps(client).encode()).decode()


def _read_id(name: str) -> _Client | None:
    """Return what an id holds; None if it is none of ours."""
    if not name.startswith(_PREFIX) or len(name) > _MAX_ID_BYTES:
        return None
    try:
        parts: Any = json.loads(urlsafe_b64decode(name.removeprefix(_PREFIX)))
        client = _Client(*parts)
    except (ValueError, TypeError, RecursionError):
        return None
    # JSON has other types, too.
    return client if all(type(part) is str for part in client) else None


def _request(method: str, params: dict[str, Any], more: dict[str, Any]) -> bytes:
    message = {"jsonrpc": "2.0", "method": method, "params": params, **more}
    return json.dumps(message).encode()


def _with_session(scope: Scope, own: bytes) -> Scope:
    others = [pair for pair in scope["headers"] if pair[0] != _HEADER]
    return {**scope, "headers": [*others, (_HEADER, own)]}


def _pairs_of(message: Message) -> "Iterable[tuple[bytes, bytes]]":
    return cast("Iterable[tuple[bytes, bytes]]", message.get("headers", ()))


def _own_id(message: Message) -> bytes:
    """Return the package's id of a session in an answer; empty if it has none."""
    return dict(_pairs_of(message)).get(_HEADER, b"")


def _renamed(message: Message, name: str) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer with a session's name, or with none."""
    others = [pair for pair in _pairs_of(message) if pair[0].lower() != _HEADER]
    return [*others, (_HEADER, name.encode("ascii"))] if name else others


async def _nothing_more() -> Message:
    await anyio.sleep_forever()
    return {"type": "http.disconnect"}
