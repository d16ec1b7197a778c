"""Cut a description so that what is left can still be read."""

import re
from typing import Final

__all__ = ["shorten"]

_ELLIPSIS: Final = "…"
# What cannot begin a text of its own: marks, joiners, selectors, skin tones, tags.
_TRAILING: Final = (
    "\u0300-\u036f\u200c\u200d\u20d0-\u20ff\ufe00-\ufe0f\U0001f3fb-\U0001f3ff"
    "\U000e0020-\U000e007f\U000e0100-\U000e01ef"
)
_PART: Final = re.compile(f"[{_TRAILING}]")
_LOOSE_END: Final = " ,;:.-(\u2013\u2014\u200c\u200d"


def shorten(text: str, limit: int) -> str:
    """Return ``text`` in at most ``limit`` characters, "…" included where it was cut.

    Cut behind a word where one ends in the second half, else between characters,
    and never within an emoji sequence or before a combining mark.
    """
    if len(text) <= limit:
        return text
    end = text.rfind(" ", limit // 2, limit)
    if end < 0:
        end = limit - 1
        while end > 0 and (_PART.match(text, end) or text[end - 1] == "\u200d"):
            end -= 1
    return text[:end].rstrip(_LOOSE_END) + _ELLIPSIS
