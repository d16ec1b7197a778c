"""A short way to answers of ``/v1`` that were given before.

As long as the catalog stays, an answer about it differs in nothing. What may have
changed is a SKILL.md: it is loaded again, which compares its digest, and is the event.
"""

import re
from http import HTTPStatus
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from satchel_server._http._endpoints import product_of
from satchel_server._http._responses import is_cached
from satchel_server._library import ServedLibrary, caller_of, is_copy_request
from satchel_server.usage import enter_call

# An id needs no escapes; what has some goes the long way.
_PATH: Final = re.compile(rb"/v1/(?:catalog|skills/([a-z0-9-]+))")


class RepeatedAnswers:
    """Wraps the application, as a middleware of Starlette."""

    def __init__(self, app: ASGIApp, library: ServedLibrary) -> None:
        self._app = app
        self._library = library

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = None
        if scope["type"] == "http" and scope["method"] == "GET":
            match = _PATH.fullmatch(scope.get("raw_path") or b"")
        if match is None or not await self._repeated(scope, match[1], send):
            await self._app(scope, receive, send)

    async def _repeated(self, scope: Scope, name: bytes | None, send: Send) -> bool:
        library, caller = self._library, caller_of(scope)
        skill_id = None if name is None else name.decode("ascii")
        before = library.answers.find((caller, skill_id, scope["query_string"]))
        if before is None or library.skills.policy.rules:
            return False
        pairs: list[tuple[bytes, bytes]] = scope["headers"]
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in pairs}
        if is_copy_request(headers):
            return False
        if skill_id is not None:
            entry = library.catalog.get(skill_id)
            agent = headers.get("user-agent", "")
            view = library.view(caller, via="http", client=product_of(agent))
            enter_call(headers)
            if entry is None or not view.load_again(entry):
                return False
        data, answered = before
        tag = dict(answered)[b"etag"] if "if-none-match" in headers else b""
        if is_cached(headers, tag.decode("latin-1")):
            left_out = (b"content-type", b"content-length")
            fewer = [pair for pair in answered if pair[0] not in left_out]
            await _send(HTTPStatus.NOT_MODIFIED, fewer, b"", send)
        else:
            await _send(HTTPStatus.OK, answered, data, send)
        return True


async def _send(
    status: int, headers: list[tuple[bytes, bytes]], data: bytes, send: Send
) -> None:
    start = {"type": "http.response.start", "status": int(status), "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": data})
