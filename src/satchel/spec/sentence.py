"""The first sentence of a Markdown body: what an author may have meant to describe."""

import re
from typing import Final

__all__ = ["first_sentence"]

_LOOKED_AT_CHARS: Final = 3_000
_MAX_CHARS: Final = 200
_SKIPPED: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|^(```|~~~).*?(?:^\1|\Z)|^#{1,6}[^\n]*|^[ \t]*[-=*_|>!<][^\n]*",
    re.DOTALL | re.MULTILINE,
)
_END: Final = re.compile(r"[.!?](?=\s|\Z)|[。！？]")  # noqa: RUF001
_HEADING: Final = re.compile(r"^#{1,6}[ \t]+(\S[^\n]*)", re.MULTILINE)


def first_sentence(body: str) -> str:
    """Return the first sentence of running text, on one line, else the first heading.

    At most 200 characters; empty where the body holds neither.
    """
    text = body[:_LOOKED_AT_CHARS]
    prose = _SKIPPED.sub("", text).strip()
    if not prose:
        heading = _HEADING.search(text)
        return heading[1].strip()[:_MAX_CHARS] if heading else ""
    folded = " ".join(prose.split("\n\n", 1)[0].split())
    end = _END.search(folded)
    return (folded[: end.end()] if end else folded)[:_MAX_CHARS].strip()
