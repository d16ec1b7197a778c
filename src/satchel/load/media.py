"""The media type of a file, by its name and by whether it is text."""

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mimetypes import MimeTypes

__all__ = ["media_type"]

MARKDOWN: Final = "text/markdown"
_TEXT_TYPES: Final = ("application/json", "application/xml", "image/svg+xml")


def media_type(path: str, *, text: bool) -> str:
    """Return a media type that does not depend on the machine.

    A file whose name says one thing and whose bytes another is plain text or plain
    bytes (``.ts`` is TypeScript more often than a film).
    """
    if path.endswith(".md"):
        return MARKDOWN
    guess, encoding = _types().guess_type(path)
    is_text_type = guess is not None and (
        guess.startswith("text/") or guess in _TEXT_TYPES
    )
    if guess is None or encoding is not None or is_text_type is not text:
        return "text/plain" if text else "application/octet-stream"
    return guess


@cache
def _types() -> "MimeTypes":
    """Return the standard library's own table, without that of the machine."""
    from mimetypes import MimeTypes

    return MimeTypes()
