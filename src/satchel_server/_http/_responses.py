"""HTTP responses: JSON, exact bytes, files and errors, with their headers."""

import json
from collections.abc import Mapping
from hashlib import sha256
from http import HTTPStatus
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from satchel.model import Loaded
from satchel_server._errors import ErrorAnswer

JSON: Final = "application/json"
PLAIN: Final = "text/plain; charset=utf-8"

_NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})
# Seconds after which to ask again: a sync may have run, or a source be back.
_RETRY_S: Final = "5"

# No response is a web page, so a browser may run, load and frame nothing.
_SECURITY: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
}

# What a browser shows without running any of it; it saves everything else.
_HARMLESS: Final = frozenset(
    {
        *("text/plain", "text/markdown", "text/csv", "application/json"),
        *("image/png", "image/jpeg", "image/gif", "image/webp"),
    }
)


class ResponseFactory:
    """Makes responses that a client may cache for ``ttl_s`` seconds."""

    def __init__(self, ttl_s: int = 60) -> None:
        self._cache_control = f"public, max-age={ttl_s}"

    def json(self, request: Request, value: object) -> Response:
        """Return a JSON response whose ETag is the digest of its bytes."""
        return self.bytes(request, json_bytes(value), media_type=JSON)

    def bytes(
        self,
        request: Request,
        data: bytes,
        *,
        media_type: str,
        digest: str = "",
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> Response:
        """Return exact bytes; without them for HEAD, and if the caller has them."""
        tag = f'"{(digest or sha256(data).hexdigest()).rpartition(":")[2]}"'
        caching = {**_SECURITY, "ETag": tag, "Cache-Control": self._cache_control}
        if is_cached(request.headers, tag):
            return Response(status_code=304, headers=caching)
        return Response(
            b"" if request.method == "HEAD" else data,
            headers={
                **caching,
                "Content-Type": media_type,
                "Content-Length": str(len(data)),
                **headers,
            },
        )

    def file(self, request: Request, loaded: Loaded) -> Response:
        """Return the bytes of a file of a pack; their digest is the ETag."""
        return self.bytes(
            request,
            loaded.data,
            media_type=_content_type(loaded.media_type, loaded.data),
            digest=loaded.digest,
            headers=_disposition(loaded.media_type, loaded.file),
        )


def is_cached(headers: Mapping[str, str], tag: str) -> bool:
    """Return whether the sender of a request has the bytes of this tag."""
    tags = headers.get("if-none-match", "")
    if not tags:
        return False
    # RFC 9110, section 13.1.2: weak comparison.
    values = {value.strip().removeprefix("W/") for value in tags.split(",")}
    return not values.isdisjoint((tag, "*"))


def _content_type(media_type: str, data: bytes) -> str:
    """Return the type, with the charset if the bytes are certainly UTF-8."""
    if not media_type.startswith("text/"):
        return media_type
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return media_type
    return f"{media_type}; charset=utf-8"


def _disposition(media_type: str, path: str) -> Mapping[str, str]:
    if media_type in _HARMLESS:
        return _NO_HEADERS
    # Escaped in full: a line break would begin another header.
    name = quote(path.rpartition("/")[2], safe="", errors="replace")
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}


def uncached_response(
    request: Request, data: bytes, *, media_type: str = JSON, status: int = 200
) -> Response:
    return Response(
        b"" if request.method == "HEAD" else data,
        status,
        headers={
            **_SECURITY,
            "Content-Type": media_type,
            "Content-Length": str(len(data)),
            "Cache-Control": "no-store",
        },
    )


def error_response(
    request: Request, error: ErrorAnswer, headers: Mapping[str, str] = _NO_HEADERS
) -> Response:
    data = json_bytes(error.as_dict())
    response = uncached_response(request, data, status=error.status)
    if error.status == HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["Retry-After"] = _RETRY_S
    response.headers.update(headers)
    return response


def json_bytes(value: object) -> bytes:
    """Return JSON in ASCII, which every terminal and charset reads the same way."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    # json leaves DEL as it is, and terminals obey it.
    return text.replace("\x7f", "\\u007f").encode("ascii")
