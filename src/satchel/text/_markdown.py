"""Text of packs in Markdown that a hosted page shows: no markup, mention or link."""

import re
from typing import Final

from satchel.text._suspicious import printable

_CELL_CHARS: Final = 400
_MARKUP: Final = re.compile(r"[\\`*_{}\[\]()~|!]")

_HTML: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})

# Where a hosted page would see a person, an issue or a link.
_CALLS: Final = re.compile(r"[@#](?=\w)|\bGH(?=-\d)|\bwww(?=\.)", re.IGNORECASE)


def markdown_text(text: str) -> str:
    """Return text that is not read as markup, a mention or a link to an issue."""
    text = _flat(text).translate(_HTML)
    text = _MARKUP.sub(r"\\\g<0>", text)
    # A zero-width space keeps a hosted page from mentioning people or linking issues.
    text = _CALLS.sub(r"\g<0>&#8203;", text)
    return text.replace("://", ":&#8203;//")


def markdown_code(text: str) -> str:
    """Return a code span, with a longer fence than any row of back-ticks in it."""
    text = _flat(text).replace("|", "\\|")
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _flat(text: str) -> str:
    text = " ".join(printable(text, keep="").split())
    return text if len(text) <= _CELL_CHARS else f"{text[: _CELL_CHARS - 1]}…"
