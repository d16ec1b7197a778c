"""HTTP responses: JSON, exact bytes, files and errors, with their headers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from satchel.model import Loaded
from satchel.server._errors import ErrorAnswer

JSON: Final = "application/json"
PLAIN: Final = "text/plain; charset=utf-8"

_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_RETRY_S: Final = "5"
"""Seconds after which to ask again: a sync, or a source, may have come by then."""

# No answer is a page, so none may run, load or frame anything in a browser.
_ALWAYS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
}


@dataclass(frozen=True, slots=True)
class ResponseFactory:
    """Makes responses; ``ttl_s`` is for how many seconds one may be kept.

    That a caller's answers are its own is said by whoever knows callers apart: the
    guard turns ``public`` into ``private``.
    """

    ttl_s: int = 60

    def json(self, request: Request, value: object) -> Response:
        """Return a JSON answer whose validator is the digest of its bytes."""
        return self.bytes(request, json_bytes(value), media_type=JSON)

    def bytes(
        self,
        request: Request,
        data: bytes,
        *,
        media_type: str,
        digest: str = "",
        headers: Mapping[str, str] = _NONE,
    ) -> Response:
        """Return exact bytes; without them for HEAD, and where the caller has them.

        ``digest`` is ``sha256:`` and the digest of the bytes; empty has it computed.
        """
        tag = f'"{(digest or sha256(data).hexdigest()).rpartition(":")[2]}"'
        around = {
            **_ALWAYS,
            "ETag": tag,
            "Cache-Control": f"public, max-age={self.ttl_s}",
        }
        if _has(request.headers.get("if-none-match", ""), tag):
            return Response(status_code=304, headers=around)
        body = b"" if request.method == "HEAD" else data
        return Response(
            body,
            headers={
                **around,
                "Content-Type": media_type,
                "Content-Length": str(len(data)),
                **headers,
            },
        )


def uncached_response(
    request: Request, data: bytes, *, media_type: str = JSON, status: int = 200
) -> Response:
    """Return an answer that nobody may keep."""
    return Response(
        b"" if request.method == "HEAD" else data,
        status,
        headers={
            **_ALWAYS,
            "Content-Type": media_type,
            "Content-Length": str(len(data)),
            "Cache-Control": "no-store",
        },
    )


def error_response(
    request: Request, told: ErrorAnswer, headers: Mapping[str, str] = _NONE
) -> Response:
    """Return an error in the one shape that all of them have."""
    response = uncached_response(
        request, json_bytes(told.as_dict()), status=told.status
    )
    response.headers.update(headers)
    if told.status == HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["Retry-After"] = _RETRY_S
    return response


def json_bytes(value: object) -> bytes:
    """Return JSON in ASCII, which no terminal and no charset can take for more."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("\x7f", "\\u007f").encode("ascii")


def _has(if_none_match: str, tag: str) -> bool:
    """Tell whether the caller has it (RFC 9110, section 13.1.2: weak comparison)."""
    tags = {each.strip().removeprefix("W/") for each in if_none_match.split(",")}
    return tag in tags or "*" in tags


# What a browser shows without running anything of it; all else it is told to save.
_HARMLESS: Final = frozenset(
    {
        "text/plain",
        "text/markdown",
        "text/csv",
        "application/json",
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/webp",
    }
)


def file_response(
    answers: ResponseFactory, request: Request, loaded: Loaded
) -> Response:
    """Return the bytes of what was loaded; their digest is the ETag."""
    return answers.bytes(
        request,
        loaded.data,
        media_type=_content_type(loaded.media_type, loaded.data),
        digest=loaded.digest,
        headers=_saved_as(loaded.media_type, loaded.file),
    )


def _content_type(media_type: str, data: bytes) -> str:
    """Return the type with its charset, where the bytes are of one for certain."""
    if not media_type.startswith("text/"):
        return media_type
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return media_type
    return f"{media_type}; charset=utf-8"


def _saved_as(media_type: str, path: str) -> Mapping[str, str]:
    if media_type in _HARMLESS:
        return {}
    name = quote(path.rpartition("/")[2], safe="", errors="replace")
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
