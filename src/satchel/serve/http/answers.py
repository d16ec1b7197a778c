"""Answers with what HTTP wants around them: validators, caching, nothing sniffed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from satchel.serve.telling import Told

__all__ = ["JSON", "PLAIN", "Answers", "fresh", "refusal", "to_json"]

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
class Answers:
    """Makes responses; ``ttl_s`` is for how many seconds one may be kept.

    That a caller's answers are its own is said by whoever knows callers apart: the
    guard turns ``public`` into ``private``.
    """

    ttl_s: int = 60

    def json(self, request: Request, value: object) -> Response:
        """Return a JSON answer whose validator is the digest of its bytes."""
        return self.bytes(request, to_json(value), media_type=JSON)

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


def fresh(
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


def refusal(
    request: Request, told: Told, headers: Mapping[str, str] = _NONE
) -> Response:
    """Return an error in the one shape that all of them have."""
    response = fresh(request, to_json(told.as_dict()), status=told.status)
    response.headers.update(headers)
    if told.status == HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["Retry-After"] = _RETRY_S
    return response


def to_json(value: object) -> bytes:
    """Return JSON in ASCII, which no terminal and no charset can take for more."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("\x7f", "\\u007f").encode("ascii")


def _has(if_none_match: str, tag: str) -> bool:
    """Tell whether the caller has it (RFC 9110, section 13.1.2: weak comparison)."""
    tags = {each.strip().removeprefix("W/") for each in if_none_match.split(",")}
    return tag in tags or "*" in tags
