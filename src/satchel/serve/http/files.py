"""One file of a pack as an answer: exact bytes, and nothing that a browser runs."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from satchel.model import Loaded
from satchel.serve.http.answers import Answers

__all__ = ["file_answer"]

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


def file_answer(answers: Answers, request: Request, loaded: Loaded) -> Response:
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
