"""Which pages in a browser may read the answers (the Fetch standard, CORS).

Nothing is ever answered with credentials of a browser: a page has to bring a token of
its own, so that an origin that is let in learns no more than any other program.
"""

from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Cors"]

_ANY: Final = "*"
_PUBLIC: Final = "/.well-known/"
_API: Final = "/v1/"
_PREFLIGHT: Final = {
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": "Authorization, If-None-Match",
    "Access-Control-Max-Age": "600",
    "Vary": "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
}


class Cors:
    """Lets pages of any origin read what is below ``/.well-known``.

    Those of ``origins`` may read ``/v1``, too; ``*`` is any. It stands before whatever
    asks for a token, since a browser asks for leave without one.
    """

    def __init__(self, app: "ASGIApp", origins: tuple[str, ...]) -> None:
        self._app = app
        self._origins = frozenset(each.lower().rstrip("/") for each in origins)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer what a browser asks beforehand; add to other answers who may read."""
        if scope["type"] != "http" or not scope["path"].startswith((_PUBLIC, _API)):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        allowed = self._allowed(scope["path"], headers.get("origin", ""))
        asked = "access-control-request-method" in headers
        if allowed and asked and scope["method"] == "OPTIONS":
            leave = {"Access-Control-Allow-Origin": allowed, **_PREFLIGHT}
            await Response(status_code=204, headers=leave)(scope, receive, send)
            return

        async def tell(message: "Message") -> None:
            if message["type"] == "http.response.start":
                around = MutableHeaders(scope=message)
                if allowed:
                    around["Access-Control-Allow-Origin"] = allowed
                    around["Access-Control-Expose-Headers"] = "ETag, Retry-After"
                if allowed != _ANY and self._origins:
                    around.add_vary_header("Origin")
            await send(message)

        await self._app(scope, receive, tell)

    def _allowed(self, path: str, origin: str) -> str:
        """Return which origin may read this; empty where this one may not."""
        if path.startswith(_PUBLIC) or _ANY in self._origins:
            return _ANY
        return origin if origin.lower() in self._origins else ""
